//! What an upload may say about its file.

use anchorage_domain::{DocumentTitle, DocumentType, DomainKey, ExternalId, Filename, Sha256, Skipped};
use serde_json::{Map, Value};

/// Largest file, in bytes.
pub const MAX_FILE_BYTES: u64 = 50 * 1024 * 1024;
/// Most entries of a file's metadata.
pub const MAX_METADATA_ENTRIES: usize = 64;
/// Largest metadata, in bytes of its JSON form: far below what a stored record or a point may hold.
pub const MAX_METADATA_BYTES: usize = 16 * 1024;
/// Longest content type, in bytes.
const MAX_CONTENT_TYPE_BYTES: usize = 255;

/// Why a size is none that a file may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSize {
    #[error("must be at least 1")]
    Empty,
    #[error("must be at most {MAX_FILE_BYTES}")]
    TooLarge,
}

/// A file's size in bytes, 1 to [`MAX_FILE_BYTES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSize(u64);

impl FileSize {
    /// # Errors
    /// Which bound is passed.
    pub const fn new(bytes: u64) -> Result<Self, InvalidSize> {
        match bytes {
            0 => Err(InvalidSize::Empty),
            1..=MAX_FILE_BYTES => Ok(Self(bytes)),
            _ => Err(InvalidSize::TooLarge),
        }
    }

    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

/// The text is no content type that a header could carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a media type like text/plain, at most {MAX_CONTENT_TYPE_BYTES} visible ASCII characters")]
pub struct InvalidContentType;

/// A declared media type. Only a hint: the parser decides by content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentType(String);

impl ContentType {
    /// # Errors
    /// When a header could not carry it, or it is no media type.
    pub fn new(text: impl Into<String>) -> Result<Self, InvalidContentType> {
        let text = text.into();
        let visible = text.bytes().all(|b| b.is_ascii_graphic() || b == b' ');
        let essence = text.split(';').next().unwrap_or_default().trim();
        let two_parts = essence.split_once('/').is_some_and(|(kind, sub)| !kind.is_empty() && !sub.is_empty());
        let fits = text.len() <= MAX_CONTENT_TYPE_BYTES && text.trim() == text;
        if visible && two_parts && fits { Ok(Self(text)) } else { Err(InvalidContentType) }
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for ContentType {
    /// Of bytes that nothing is said about.
    fn default() -> Self {
        Self("application/octet-stream".to_owned())
    }
}

/// Metadata past its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have at most {MAX_METADATA_ENTRIES} entries and {MAX_METADATA_BYTES} bytes")]
pub struct InvalidMetadata;

/// The caller's own words about a file, within [`MAX_METADATA_ENTRIES`] and [`MAX_METADATA_BYTES`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Metadata(Map<String, Value>);

impl Metadata {
    /// # Errors
    /// When a bound is passed.
    pub fn new(entries: Map<String, Value>) -> Result<Self, InvalidMetadata> {
        let bytes = serde_json::to_vec(&entries).map_or(usize::MAX, |json| json.len());
        let fits = entries.len() <= MAX_METADATA_ENTRIES && bytes <= MAX_METADATA_BYTES;
        if fits { Ok(Self(entries)) } else { Err(InvalidMetadata) }
    }

    #[must_use]
    pub const fn entries(&self) -> &Map<String, Value> {
        &self.0
    }
}

/// A file that is announced before its bytes are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcement {
    pub domain: DomainKey,
    pub filename: Filename,
    pub size: FileSize,
    pub sha256: Sha256,
    pub content_type: ContentType,
    pub title: Option<DocumentTitle>,
    /// Uploads that share it are versions of one file; without it the content is the file's identity.
    pub external_id: Option<ExternalId>,
    pub metadata: Metadata,
    /// What it is in its source; [`DocumentType::file`] for uploads.
    pub document_type: DocumentType,
    /// What the source left out of it.
    pub skipped: Vec<Skipped>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn file_size_bounds_hold_at_the_limit_and_past_it() {
        assert_eq!(FileSize::new(0), Err(InvalidSize::Empty));
        assert_eq!(FileSize::new(1).map(FileSize::bytes), Ok(1));
        assert!(FileSize::new(MAX_FILE_BYTES).is_ok());
        assert_eq!(FileSize::new(MAX_FILE_BYTES + 1), Err(InvalidSize::TooLarge));
    }

    #[test]
    fn content_type_is_one_that_a_header_can_carry() {
        for (text, valid) in [
            ("text/plain", true),
            ("text/plain; charset=utf-8", true),
            ("text", false),
            ("/plain", false),
            ("text/plain\r\nx: y", false),
            (" text/plain", false),
            ("", false),
        ] {
            assert_eq!(ContentType::new(text).is_ok(), valid, "{text:?}");
        }
    }

    /// Case V10: what would not fit a record is refused before anything is written.
    #[test]
    fn metadata_bounds_hold_at_the_limit_and_past_it() {
        let entries = |count: usize| Metadata::new((0..count).map(|n| (n.to_string(), json!(n))).collect());
        assert!(entries(MAX_METADATA_ENTRIES).is_ok());
        assert!(entries(MAX_METADATA_ENTRIES + 1).is_err());
        let bytes = |count: usize| Metadata::new(Map::from_iter([("k".to_owned(), json!("x".repeat(count)))]));
        assert!(bytes(MAX_METADATA_BYTES - 8).is_ok());
        assert!(bytes(MAX_METADATA_BYTES - 7).is_err());
    }
}
