use crate::Outage;
use anchorage_domain::{
    DomainKey, DomainRecord, FileId, FileRecord, FileStatus, IdentityHash, IdentityRecord, JobId, JobRecord,
    TenantScope,
};
use async_trait::async_trait;
use serde::Serialize;
use std::fmt::Debug;

/// Records one commit writes at most.
pub const MAX_CHANGES: usize = 25;

/// Largest record in bytes of its JSON form; the store's own ceiling is 400 KB an item (DynamoDB quotas).
const MAX_RECORD_BYTES: usize = 350_000;

/// Whether a record, as the JSON it is stored as, is past what the store takes. Asked before anything is written.
#[must_use]
pub fn record_is_too_large<T: Serialize>(record: &T) -> bool {
    serde_json::to_vec(record).map_or(true, |json| json.len() > MAX_RECORD_BYTES)
}

/// One record to write together with others.
///
/// A record carries the revision it was read at ([`Revision::NEW`](anchorage_domain::Revision::NEW) when it must not be
/// there yet); the store keeps it with the next one. A commit in which any record has moved on changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    PutFile(FileRecord),
    PutJob(JobRecord),
    PutDomain(DomainRecord),
    PutIdentity(IdentityRecord),
    RemoveIdentity(IdentityRecord),
}

impl Change {
    /// Whether the record is past what the store takes.
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        match self {
            Self::PutFile(record) => record_is_too_large(record),
            Self::PutJob(record) => record_is_too_large(record),
            Self::PutDomain(record) => record_is_too_large(record),
            Self::PutIdentity(record) => record_is_too_large(record),
            Self::RemoveIdentity(_) => false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// Somebody wrote one of the records in between: read again and decide again.
    #[error("a record was changed in the meantime")]
    Conflict,
    #[error(transparent)]
    Outage(#[from] Outage),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePage {
    pub items: Vec<FileRecord>,
    /// Where the next page starts, when there may be more. A page can be short, even empty, and still have a next one.
    pub next: Option<FileId>,
}

/// Which files to list, newest first, deleted ones left out unless asked for by status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileListing {
    pub domain: Option<DomainKey>,
    pub status: Option<FileStatus>,
    pub limit: usize,
    /// The `next` of the page before.
    pub after: Option<FileId>,
}

/// The system of record: domains, files, jobs, identities. Reads see every commit acknowledged before them.
#[async_trait]
pub trait DocumentStore: Send + Sync + Debug {
    async fn domain(&self, scope: &TenantScope, key: &DomainKey) -> Result<Option<DomainRecord>, Outage>;

    /// All domains of the tenant, by key.
    async fn domains(&self, scope: &TenantScope) -> Result<Vec<DomainRecord>, Outage>;

    async fn file(&self, scope: &TenantScope, file: FileId) -> Result<Option<FileRecord>, Outage>;

    /// Those of `files` that exist, in any order, in one round trip for up to 100.
    async fn files(&self, scope: &TenantScope, files: &[FileId]) -> Result<Vec<FileRecord>, Outage>;

    async fn list_files(&self, scope: &TenantScope, listing: &FileListing) -> Result<FilePage, Outage>;

    async fn job(&self, scope: &TenantScope, file: FileId, job: JobId) -> Result<Option<JobRecord>, Outage>;

    /// The file's newest jobs, newest first, at most `limit`.
    async fn jobs(&self, scope: &TenantScope, file: FileId, limit: usize) -> Result<Vec<JobRecord>, Outage>;

    async fn identity(&self, scope: &TenantScope, identity: &IdentityHash) -> Result<Option<IdentityRecord>, Outage>;

    /// All of `changes` or none; 1 to [`MAX_CHANGES`], each on another record.
    async fn commit(&self, scope: &TenantScope, changes: Vec<Change>) -> Result<(), CommitError>;
}
