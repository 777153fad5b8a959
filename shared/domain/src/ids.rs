//! Identifiers and bounded names. Each has one constructor that parses; a value in hand is a valid one.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};
use uuid::Uuid;

/// Why a text is not the identifier or name it was offered as.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} {problem}")]
pub struct InvalidId {
    what: &'static str,
    problem: String,
}

impl InvalidId {
    pub(crate) fn new(what: &'static str, problem: impl Into<String>) -> Self {
        Self { what, problem: problem.into() }
    }
}

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            #[must_use]
            pub const fn new(uuid: Uuid) -> Self {
                Self(uuid)
            }
            #[must_use]
            pub const fn as_uuid(&self) -> Uuid {
                self.0
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            /// Only the hyphenated form is taken: an identifier has one spelling.
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                match Uuid::try_parse(text) {
                    Ok(uuid) if text.len() == uuid::fmt::Hyphenated::LENGTH => Ok(Self(uuid)),
                    _ => Err(InvalidId::new($what, "is not a UUID like 01890a5d-ac96-774b-bcce-b302099a8057")),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }
    };
}

uuid_id!(
    /// A customer of the service; the boundary that no data crosses.
    TenantId, "tenant_id"
);
uuid_id!(
    /// One document of a tenant, through all its versions.
    FileId, "file_id"
);
uuid_id!(
    /// One record of an attempt to ingest or purge a file.
    JobId, "job_id"
);
uuid_id!(
    /// One claim on a job; whoever holds another one may write nothing.
    AttemptId, "attempt_id"
);
uuid_id!(
    /// One chunk in the vector index.
    PointId, "point_id"
);
uuid_id!(
    /// One answered question.
    TraceId, "trace_id"
);

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $what:literal, $check:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// # Errors
            /// Says which rule the text breaks.
            pub fn new(text: impl Into<String>) -> Result<Self, InvalidId> {
                let text = text.into();
                let check: fn(&str) -> Result<(), String> = $check;
                match check(&text) {
                    Ok(()) => Ok(Self(text)),
                    Err(problem) => Err(InvalidId::new($what, problem)),
                }
            }

            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;
            fn try_from(text: String) -> Result<Self, InvalidId> {
                Self::new(text)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                Self::new(text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_id!(
    /// The public half of an API key: 16 lower-case letters and digits.
    KeyId,
    "key id",
    |text| {
        (text.len() == 16 && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()))
            .then_some(())
            .ok_or_else(|| "must be 16 lower-case letters or digits".into())
    }
);
text_id!(
    /// A tenant's name for one of its bodies of knowledge: `^[a-z0-9][a-z0-9-]{0,62}$`, immutable.
    DomainKey,
    "domain",
    |text| {
        let shape = text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        (shape && (1..=63).contains(&text.len()) && !text.starts_with('-'))
            .then_some(())
            .ok_or_else(|| "must be 1 to 63 lower-case letters, digits or hyphens, and not start with a hyphen".into())
    }
);
text_id!(
    /// The name a file was uploaded under; shown to people, never used as a path.
    Filename,
    "filename",
    |text| {
        bounded(text, 255)?;
        if text.contains(['/', '\\']) { Err("must not contain a path separator".into()) } else { Ok(()) }
    }
);
text_id!(
    /// The caller's own name for a document: uploads that share it are versions of one file. At most 512 bytes.
    ExternalId,
    "external_id",
    |text| bounded(text, 512)
);
text_id!(
    /// What a document is in its source: `^[a-z][a-z0-9_]{0,62}$`. Part of its identity.
    DocumentType,
    "document type",
    |text| {
        let shape = text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        let first = text.bytes().next().is_some_and(|b| b.is_ascii_lowercase());
        (shape && first && text.len() <= 63)
            .then_some(())
            .ok_or_else(|| "must be 1 to 63 lower-case letters, digits or underscores, and start with a letter".into())
    }
);
text_id!(
    /// A document's title, at most 500 bytes.
    DocumentTitle,
    "title",
    |text| bounded(text, 500)
);
text_id!(
    /// One conversation of a tenant, at most 128 bytes.
    ConversationId,
    "conversation_id",
    |text| bounded(text, 128)
);
text_id!(
    /// Ties the log lines of one request together: `^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$`.
    CorrelationId,
    "x-correlation-id",
    |text| {
        let rest = text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._:-".contains(&b));
        let first = text.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric());
        (first && rest && text.len() <= 128).then_some(()).ok_or_else(|| {
            "must be 1 to 128 letters, digits or `._:-`, starting with a letter or digit".into()
        })
    }
);
text_id!(
    /// The name of a dense vector in the collection, which is also the name of its embedder in the configuration.
    VectorName,
    "vector name",
    |text| {
        let shape = text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        (shape && (1..=64).contains(&text.len()))
            .then_some(())
            .ok_or_else(|| "must be 1 to 64 lower-case letters, digits or underscores".into())
    }
);
text_id!(
    /// The object store's own name for one version of an object.
    VersionId,
    "version id",
    |text| bounded(text, 1024)
);

/// Not blank, no control characters, at most `max` bytes.
fn bounded(text: &str, max: usize) -> Result<(), String> {
    if text.trim().is_empty() {
        Err("must not be blank".into())
    } else if text.len() > max {
        Err(format!("must be at most {max} bytes, is {}", text.len()))
    } else if text.chars().any(char::is_control) {
        Err("must not contain control characters".into())
    } else {
        Ok(())
    }
}

impl DocumentType {
    /// Of whatever is uploaded.
    #[must_use]
    pub fn file() -> Self {
        Self("file".to_owned())
    }
}

impl Default for DocumentType {
    fn default() -> Self {
        Self::file()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: FromStr>(text: &str, valid: bool) {
        assert_eq!(text.parse::<T>().is_ok(), valid, "{text:?}");
    }

    #[test]
    fn domain_key_shapes_follow_the_contract() {
        for (text, valid) in [
            ("a", true),
            ("support-fa", true),
            ("0-a", true),
            ("", false),
            ("-a", false),
            ("A", false),
            ("a_b", false),
            ("a/b", false),
        ] {
            check::<DomainKey>(text, valid);
        }
        check::<DomainKey>(&"a".repeat(63), true);
        check::<DomainKey>(&"a".repeat(64), false);
    }

    #[test]
    fn correlation_id_shapes_follow_the_contract() {
        for (text, valid) in [("a", true), ("9.x:_-", true), (".a", false), ("", false), ("a b", false), ("a\n", false)]
        {
            check::<CorrelationId>(text, valid);
        }
        check::<CorrelationId>(&"a".repeat(128), true);
        check::<CorrelationId>(&"a".repeat(129), false);
    }

    #[test]
    fn file_id_takes_only_the_hyphenated_spelling() {
        check::<FileId>("01890a5d-ac96-774b-bcce-b302099a8057", true);
        check::<FileId>("01890a5dac96774bbcceb302099a8057", false);
        check::<FileId>("{01890a5d-ac96-774b-bcce-b302099a8057}", false);
        check::<FileId>("count", false);
    }

    #[test]
    fn filename_rejects_paths_control_characters_and_blanks() {
        for (text, valid) in [("گزارش ۱.txt", true), ("a/b", false), ("a\\b", false), ("a\u{0}b", false), ("  ", false)]
        {
            check::<Filename>(text, valid);
        }
        check::<Filename>(&"a".repeat(255), true);
        check::<Filename>(&"a".repeat(256), false);
    }

    #[test]
    fn deserialising_applies_the_same_rule_as_the_constructor() {
        assert!(serde_json::from_str::<DomainKey>("\"Not A Key\"").is_err());
    }
}
