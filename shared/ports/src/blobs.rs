use crate::Outage;
use anchorage_domain::{FileId, Filename, ObjectKey, Sha256, TenantScope, Timestamp, VersionId};
use async_trait::async_trait;
use std::{collections::BTreeMap, fmt::Debug, time::Duration};

/// What an upload may be: exactly these bytes, under exactly this key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadTicket {
    pub key: ObjectKey,
    pub size_bytes: u64,
    pub sha256: Sha256,
    pub content_type: String,
    pub valid_for: Duration,
}

/// A request that anybody holding it may make until it expires. Every header is part of the signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresignedRequest {
    pub method: &'static str,
    pub url: String,
    pub headers: BTreeMap<String, String>,
    pub expires_at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    pub bytes: Vec<u8>,
    pub content_type: Option<String>,
    pub version: Option<VersionId>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BlobError {
    #[error("there is no such object, or no such version of it")]
    NotFound,
    /// Nothing past the limit was read.
    #[error("the object is larger than {limit} bytes")]
    TooLarge { limit: u64 },
    #[error(transparent)]
    Outage(#[from] Outage),
}

/// The uploaded bytes. A key of another tenant than the scope's is [`BlobError::NotFound`] without a call.
#[async_trait]
pub trait BlobStore: Send + Sync + Debug {
    /// A signed PUT that the store itself refuses for any other size, type or checksum. Makes no call.
    async fn presign_upload(
        &self,
        scope: &TenantScope,
        ticket: &UploadTicket,
        now: Timestamp,
    ) -> Result<PresignedRequest, BlobError>;

    /// A signed GET that downloads under `filename`. Makes no call.
    async fn presign_download(
        &self,
        scope: &TenantScope,
        key: &ObjectKey,
        filename: &Filename,
        valid_for: Duration,
        now: Timestamp,
    ) -> Result<PresignedRequest, BlobError>;

    /// Writes one object, whole. The same object again is another version of it.
    async fn put(
        &self,
        scope: &TenantScope,
        key: &ObjectKey,
        content_type: &str,
        bytes: Vec<u8>,
    ) -> Result<(), BlobError>;

    /// The bytes of one version (the newest when none is named), read once and never more than `max_bytes`.
    async fn read(
        &self,
        scope: &TenantScope,
        key: &ObjectKey,
        version: Option<&VersionId>,
        max_bytes: u64,
    ) -> Result<Blob, BlobError>;

    /// Removes one object with every version of it. Says how many versions were removed; none is no error.
    async fn remove(&self, scope: &TenantScope, key: &ObjectKey) -> Result<u64, Outage>;

    /// Removes everything ever uploaded for a file. Says how many object versions were removed; none is no error.
    async fn remove_file(&self, scope: &TenantScope, file: FileId) -> Result<u64, Outage>;
}
