//! Content and identity hashes, and the point ids derived from them.

use crate::{DocumentType, DomainKey, FileId, Generation, InvalidId, PointId, TenantId};
use serde::{Deserialize, Serialize};
use sha2::Digest as _;
use std::{fmt, str::FromStr};
use uuid::Uuid;

/// A SHA-256 digest; 64 lower-case hex digits where it is shown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Sha256([u8; 32]);

impl Sha256 {
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha2::Sha256::digest(bytes).into())
    }

    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The digest of several parts, each preceded by its length, so that no two lists of parts share a digest.
    fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = sha2::Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Sha256 {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let wrong = || InvalidId::new("sha256", "must be 64 lower-case hexadecimal digits");
        if text.bytes().any(|b| b.is_ascii_uppercase()) {
            return Err(wrong());
        }
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| wrong())?;
        Ok(Self(bytes))
    }
}

impl TryFrom<String> for Sha256 {
    type Error = InvalidId;
    fn try_from(text: String) -> Result<Self, InvalidId> {
        text.parse()
    }
}

impl From<Sha256> for String {
    fn from(digest: Sha256) -> String {
        digest.to_string()
    }
}

/// Which document of a tenant something is, whatever it says today.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IdentityHash(Sha256);

impl IdentityHash {
    /// `unique_id` is the source's own name for the document; it is unique within `(tenant, domain, document_type)`.
    ///
    /// The domain takes part: one external id may stand in two domains of a tenant as two documents.
    #[must_use]
    pub fn new(tenant: TenantId, domain: &DomainKey, document_type: &DocumentType, unique_id: &str) -> Self {
        let tenant = tenant.as_uuid();
        Self(Sha256::of_parts(&[
            tenant.as_bytes(),
            domain.as_str().as_bytes(),
            document_type.as_str().as_bytes(),
            unique_id.as_bytes(),
        ]))
    }
}

impl fmt::Display for IdentityHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a document says, within its tenant and domain; the title does not take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ContentHash(Sha256);

impl ContentHash {
    #[must_use]
    pub fn new(tenant: TenantId, domain: &DomainKey, content: Sha256) -> Self {
        Self(Sha256::of_parts(&[tenant.as_uuid().as_bytes(), domain.as_str().as_bytes(), content.as_bytes()]))
    }
}

/// Namespace of every point id. Changing it would orphan every stored point.
const POINT_NAMESPACE: Uuid = Uuid::from_u128(0x6f1d_0a52_9c1b_5e0e_8a53_a1b2_a9c4_7d10);

/// The id of chunk `index` of one generation of a file. Staging a chunk twice writes one point.
#[must_use]
pub fn point_id(tenant: TenantId, file: FileId, generation: Generation, index: u32) -> PointId {
    let mut name = [0_u8; 44];
    let (ids, numbers) = name.split_at_mut(32);
    let (tenant_part, file_part) = ids.split_at_mut(16);
    tenant_part.copy_from_slice(tenant.as_uuid().as_bytes());
    file_part.copy_from_slice(file.as_uuid().as_bytes());
    let (generation_part, index_part) = numbers.split_at_mut(8);
    generation_part.copy_from_slice(&generation.get().to_be_bytes());
    index_part.copy_from_slice(&index.to_be_bytes());
    PointId::new(Uuid::new_v5(&POINT_NAMESPACE, &name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Cases C11 and V1: the id derives from tenant, file, generation and index, never from a name.
    #[test]
    fn point_id_differs_in_every_part_and_repeats_for_the_same_parts() {
        let (a, b) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let mut seen = HashSet::new();
        for tenant in [a, b] {
            for file in [a, b] {
                for generation in [1, 2] {
                    for index in 0..3 {
                        let id =
                            || point_id(TenantId::new(tenant), FileId::new(file), Generation::new(generation), index);
                        assert_eq!(id(), id());
                        assert!(seen.insert(id()));
                    }
                }
            }
        }
    }

    #[test]
    fn identity_hash_keeps_its_parts_apart() {
        let tenant = TenantId::new(Uuid::from_u128(1));
        let key = |text: &str| DomainKey::new(text).unwrap();
        let joined =
            |domain: &str, kind: &str, id: &str| IdentityHash::new(tenant, &key(domain), &kind.parse().unwrap(), id);
        assert_ne!(joined("a", "bc", "d"), joined("a", "b", "cd"));
        assert_ne!(joined("a", "b", "c"), joined("b", "b", "c"));
    }

    #[test]
    fn sha256_takes_only_lower_case_hex_of_full_length() {
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Sha256::of(b"abc").to_string(), text);
        assert_eq!(text.parse(), Ok(Sha256::of(b"abc")));
        assert!(text.to_uppercase().parse::<Sha256>().is_err());
        assert!(text[1..].parse::<Sha256>().is_err());
    }
}
