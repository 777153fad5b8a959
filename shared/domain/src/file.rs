//! One document of a tenant through its versions, and the instant at which a generation becomes the visible one.

use crate::{
    Actor, Coverage, DocumentTitle, DocumentType, DomainKey, ExternalId, Failure, FileId, Filename, Generation,
    IdentityHash, JobId, Sha256, Skipped, Timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How often a stored record was written. A write names the revision it read, so no write undoes one it has not seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Revision(u64);

impl Revision {
    /// Of a record that is not stored yet.
    pub const NEW: Self = Self(0);

    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    #[must_use]
    pub const fn from_stored(number: u64) -> Self {
        Self(number)
    }

    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileStatus {
    AwaitingUpload,
    Queued,
    Processing,
    Ready,
    /// The newest version or re-ingestion failed. A generation published before still answers.
    Failed,
    Deleted,
}

impl FileStatus {
    pub const ALL: [Self; 6] =
        [Self::AwaitingUpload, Self::Queued, Self::Processing, Self::Ready, Self::Failed, Self::Deleted];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AwaitingUpload => "awaiting_upload",
            Self::Queued => "queued",
            Self::Processing => "processing",
            Self::Ready => "ready",
            Self::Failed => "failed",
            Self::Deleted => "deleted",
        }
    }
}

/// The generation readers see, and what it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Publication {
    pub generation: Generation,
    pub version: u32,
    pub content_sha256: Sha256,
    pub chunks: u32,
    pub coverage: Coverage,
    pub at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    pub file_id: FileId,
    pub domain: DomainKey,
    pub identity: IdentityHash,
    /// Part of the identity; `file` for uploads.
    #[serde(default)]
    pub document_type: DocumentType,
    pub external_id: Option<ExternalId>,
    pub filename: Filename,
    pub title: Option<DocumentTitle>,
    /// As declared by the uploader; the parser decides by content.
    pub content_type: String,
    /// Digest of the newest version's bytes, as declared; the object store refuses any others.
    pub content_sha256: Sha256,
    pub size_bytes: u64,
    pub metadata: Map<String, Value>,
    /// What the source left out before it handed the document over.
    #[serde(default)]
    pub skipped: Vec<Skipped>,
    pub status: FileStatus,
    /// Counts the contents announced for this file, from 1.
    pub version: u32,
    /// The generation handed to the newest job.
    pub newest_generation: Generation,
    pub newest_job: JobId,
    /// Absent until the first generation is published, and after deletion.
    pub published: Option<Publication>,
    pub failure: Option<Failure>,
    pub created_by: Actor,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub revision: Revision,
}

/// Which file an identity belongs to. Stored apart, so that two uploads at once cannot make two files of one document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdentityRecord {
    pub identity: IdentityHash,
    pub file_id: FileId,
    pub revision: Revision,
}

impl FileRecord {
    /// The generation readers see.
    #[must_use]
    pub fn current_generation(&self) -> Option<Generation> {
        self.published.as_ref().map(|publication| publication.generation)
    }

    /// Whether `job`'s outcome is this file's state: a newer job overrules an older one.
    #[must_use]
    pub fn is_newest(&self, job: JobId) -> bool {
        self.newest_job == job && self.status != FileStatus::Deleted
    }

    /// Hands the next generation to a new job, which becomes the newest.
    pub fn begin(&mut self, job: JobId, status: FileStatus, now: Timestamp) -> Generation {
        self.newest_generation = self.newest_generation.next();
        self.newest_job = job;
        self.status = status;
        self.failure = None;
        self.updated_at = now;
        self.newest_generation
    }

    /// Whether `generation` may become the visible one: the file lives and shows nothing newer.
    #[must_use]
    pub fn accepts(&self, generation: Generation) -> bool {
        self.status != FileStatus::Deleted && self.current_generation().is_none_or(|current| current < generation)
    }

    /// Makes a generation the visible one. The caller has asked [`Self::accepts`].
    pub fn publish(&mut self, publication: Publication, job: JobId, now: Timestamp) {
        if self.is_newest(job) {
            self.status = FileStatus::Ready;
            self.failure = None;
        }
        self.published = Some(publication);
        self.updated_at = now;
    }

    /// Marks the file as failed unless a newer job has taken over.
    pub fn fail(&mut self, job: JobId, failure: Failure, now: Timestamp) {
        if self.is_newest(job) {
            self.status = FileStatus::Failed;
            self.failure = Some(failure);
            self.updated_at = now;
        }
    }

    /// The tombstone: from this write on nothing of the file is visible.
    pub fn delete(&mut self, purge: JobId, now: Timestamp) -> Generation {
        let generation = self.begin(purge, FileStatus::Deleted, now);
        self.published = None;
        generation
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FailureCode, Stage, TenantId};
    use uuid::Uuid;

    fn now() -> Timestamp {
        Timestamp::from_unix_millis(1000)
    }

    fn job(n: u128) -> JobId {
        JobId::new(Uuid::from_u128(n))
    }

    fn file() -> FileRecord {
        let domain = DomainKey::new("d").unwrap();
        FileRecord {
            file_id: FileId::new(Uuid::from_u128(9)),
            identity: IdentityHash::new(TenantId::new(Uuid::from_u128(1)), &domain, &DocumentType::file(), "x"),
            domain,
            external_id: None,
            filename: Filename::new("a.txt").unwrap(),
            title: None,
            content_type: "text/plain".into(),
            content_sha256: Sha256::of(b"x"),
            size_bytes: 1,
            document_type: DocumentType::file(),
            metadata: Map::new(),
            skipped: Vec::new(),
            status: FileStatus::AwaitingUpload,
            version: 1,
            newest_generation: Generation::new(1),
            newest_job: job(1),
            published: None,
            failure: None,
            created_by: Actor::Operator,
            created_at: now(),
            updated_at: now(),
            revision: Revision::NEW,
        }
    }

    fn publication(generation: u64) -> Publication {
        Publication {
            generation: Generation::new(generation),
            version: 1,
            content_sha256: Sha256::of(b"x"),
            chunks: 1,
            coverage: Coverage::default(),
            at: now(),
        }
    }

    #[test]
    fn file_accepts_only_newer_generations_and_none_once_deleted() {
        let mut file = file();
        assert!(file.accepts(Generation::new(1)));
        file.publish(publication(2), job(1), now());
        assert!(!file.accepts(Generation::new(1)));
        assert!(!file.accepts(Generation::new(2)));
        assert!(file.accepts(Generation::new(3)));
        file.delete(job(3), now());
        assert!(!file.accepts(Generation::new(9)));
        assert_eq!(file.current_generation(), None);
    }

    #[test]
    fn outcome_of_an_older_job_does_not_change_the_status() {
        let mut file = file();
        assert_eq!(file.begin(job(2), FileStatus::Queued, now()), Generation::new(2));
        let failure = Failure {
            code: FailureCode::NoText,
            stage: Stage::Parse,
            detail: String::new(),
            retryable: false,
            attempt: 1,
            trace_id: None,
            at: now(),
        };
        file.fail(job(1), failure.clone(), now());
        assert_eq!(file.status, FileStatus::Queued);
        file.publish(publication(1), job(1), now());
        assert_eq!((file.status, file.current_generation()), (FileStatus::Queued, Some(Generation::new(1))));
        file.fail(job(2), failure, now());
        assert_eq!((file.status, file.current_generation()), (FileStatus::Failed, Some(Generation::new(1))));
    }
}
