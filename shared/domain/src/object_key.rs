//! What an object's key says about it.

use crate::{FileId, TenantId};
use std::{fmt, str::FromStr};

/// Where the bytes of one version of an uploaded file lie: `uploads/<tenant>/<file>/<version>`.
///
/// Only the upload ticket signs such a key, so the tenant in it is the one the authorizer vouched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ObjectKey {
    pub tenant: TenantId,
    pub file: FileId,
    pub version: u32,
}

/// The key is none that this service gives out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the object key is not of the form uploads/<tenant>/<file>/<version>")]
pub struct UnknownKey;

impl ObjectKey {
    /// The prefix under which every version of a file lies, its last slash included: no other file's key starts with it.
    #[must_use]
    pub fn file_prefix(tenant: TenantId, file: FileId) -> String {
        format!("uploads/{tenant}/{file}/")
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "uploads/{}/{}/{}", self.tenant, self.file, self.version)
    }
}

impl FromStr for ObjectKey {
    type Err = UnknownKey;

    /// Takes the one spelling that [`fmt::Display`] gives: `/01` or an upper-case UUID is another object.
    fn from_str(text: &str) -> Result<Self, UnknownKey> {
        let mut parts = text.split('/');
        let mut next = || parts.next().ok_or(UnknownKey);
        if next()? != "uploads" {
            return Err(UnknownKey);
        }
        let key = Self {
            tenant: next()?.parse().map_err(|_| UnknownKey)?,
            file: next()?.parse().map_err(|_| UnknownKey)?,
            version: next()?.parse().map_err(|_| UnknownKey)?,
        };
        (key.to_string() == text).then_some(key).ok_or(UnknownKey)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn object_key_reads_back_and_refuses_other_spellings() {
        let key = ObjectKey {
            tenant: TenantId::new(Uuid::from_u128(0xa1)),
            file: FileId::new(Uuid::from_u128(0xb2)),
            version: 3,
        };
        let text = key.to_string();
        assert_eq!(text.parse(), Ok(key));
        for other in [
            text.to_uppercase(),
            format!("{text}/"),
            format!("{text}/x"),
            text.replace("/3", "/03"),
            text.replace("/3", "/+3"),
            text.replace("uploads", "derived"),
            String::new(),
        ] {
            assert_eq!(other.parse::<ObjectKey>(), Err(UnknownKey), "{other}");
        }
    }

    /// Case C53: one file's prefix is no prefix of another file's objects.
    #[test]
    fn file_prefix_ends_where_the_file_id_ends() {
        let tenant = TenantId::new(Uuid::from_u128(1));
        let file = FileId::new(Uuid::from_u128(2));
        assert!(ObjectKey::file_prefix(tenant, file).ends_with(&format!("{file}/")));
        assert!(ObjectKey { tenant, file, version: 1 }.to_string().starts_with(&ObjectKey::file_prefix(tenant, file)));
    }
}
