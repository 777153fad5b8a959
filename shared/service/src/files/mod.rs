//! Files of a tenant from their announcement to their deletion.
//!
//! State is committed first and the queue is told afterwards, so a crash in between loses the message, never the state.
//! It heals by asking again: an announcement, a re-ingestion or a deletion that finds its job still waiting sends the
//! message once more. A message too many is harmless, for a job can be claimed by one attempt only.

mod request;

pub use request::{
    Announcement, ContentType, FileSize, InvalidContentType, InvalidMetadata, InvalidSize, MAX_FILE_BYTES,
    MAX_METADATA_BYTES, MAX_METADATA_ENTRIES, Metadata,
};

use anchorage_domain::{
    DomainKey, FileId, FileRecord, FileStatus, Generation, IdentityHash, IdentityRecord, JobId, JobKind, JobRecord,
    JobStatus, ObjectKey, Revision, SkipCause, TenantScope, Timestamp,
};
use anchorage_ports::{
    BlobError, BlobStore, Change, Clock, CommitError, DocumentStore, FileListing, FilePage, Ids, IngestMessage,
    JobQueue, MessageBody, Outage, PresignedRequest, UploadTicket,
};
use std::{sync::Arc, time::Duration};

/// How long an upload's ticket is good.
pub const TICKET_VALID_FOR: Duration = Duration::from_mins(15);
/// How long a download's address is good: the client follows the redirect at once.
pub const DOWNLOAD_VALID_FOR: Duration = Duration::from_mins(5);
/// Jobs that are shown with a file, and looked through for the bytes of its version.
const JOBS_SHOWN: usize = 20;
/// How often a write that met another one is decided anew.
const MAX_DECISIONS: usize = 8;

/// Why a request about files came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilesError {
    #[error("the domain {0} is not registered")]
    DomainUnknown(DomainKey),
    #[error("the domain {0} is switched off")]
    DomainDisabled(DomainKey),
    #[error("there is no such file")]
    NotFound,
    #[error("the file is being ingested")]
    Busy,
    #[error("the file's bytes have not arrived yet")]
    UploadPending,
    #[error("other requests keep changing the same file")]
    Conflict,
    #[error(transparent)]
    Outage(#[from] Outage),
}

impl From<BlobError> for FilesError {
    fn from(error: BlobError) -> Self {
        match error {
            BlobError::NotFound | BlobError::TooLarge { .. } => Self::NotFound,
            BlobError::Outage(outage) => outage.into(),
        }
    }
}

/// What of an announced document was known before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// The announcement made the file.
    Not,
    /// The document, with other content.
    Document,
    /// The document and its content, with another title, name or metadata.
    Content,
    /// All of it.
    Everything,
}

/// What an announcement led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announced {
    pub file: FileRecord,
    pub known: Known,
    /// Absent when the bytes are there already.
    pub upload: Option<PresignedRequest>,
}

/// The file use cases.
#[derive(Debug, Clone)]
pub struct Files {
    pub store: Arc<dyn DocumentStore>,
    pub blobs: Arc<dyn BlobStore>,
    pub queue: Arc<dyn JobQueue>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
}

/// What to write for an announcement, and what to do once it is written.
struct Plan {
    file: FileRecord,
    changes: Vec<Change>,
    known: Known,
    next: Next,
}

/// An announcement that is written down.
#[derive(Debug)]
pub(crate) struct Admitted {
    pub file: FileRecord,
    pub known: Known,
    pub next: Next,
}

/// What an announcement still needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// The bytes.
    Bytes,
    Nothing,
    /// That its job is called to mind: it waits, and its message may be lost.
    Remind(JobId),
}

impl Files {
    /// Announces a file and gives out the ticket to upload it with. The same announcement again leads to the same file.
    ///
    /// # Errors
    /// See [`FilesError`]; nothing was written unless an outage says so.
    pub async fn announce(&self, scope: &TenantScope, announcement: &Announcement) -> Result<Announced, FilesError> {
        self.open_domain(scope, &announcement.domain).await?;
        let Admitted { file, known, next } = self.admit(scope, announcement).await?;
        let upload = match next {
            Next::Bytes => Some(self.ticket(scope, &file).await?),
            Next::Nothing => None,
            Next::Remind(job) => {
                self.send(scope, file.file_id, job).await?;
                None
            }
        };
        Ok(Announced { file, known, upload })
    }

    /// # Errors
    /// When the domain takes nothing in, or on an outage.
    pub(crate) async fn open_domain(&self, scope: &TenantScope, domain: &DomainKey) -> Result<(), FilesError> {
        match self.store.domain(scope, domain).await? {
            None => Err(FilesError::DomainUnknown(domain.clone())),
            Some(record) if !record.active => Err(FilesError::DomainDisabled(domain.clone())),
            Some(_) => Ok(()),
        }
    }

    /// Writes an announcement down. Its domain is open.
    pub(crate) async fn admit(&self, scope: &TenantScope, announcement: &Announcement) -> Result<Admitted, FilesError> {
        for _ in 0..MAX_DECISIONS {
            let Plan { file, changes, known, next } = self.plan(scope, announcement).await?;
            if self.commit(scope, changes).await? {
                return Ok(Admitted { file, known, next });
            }
        }
        Err(FilesError::Conflict)
    }

    async fn plan(&self, scope: &TenantScope, announcement: &Announcement) -> Result<Plan, FilesError> {
        let hash = announcement.sha256.to_string();
        let unique = announcement.external_id.as_ref().map_or(hash.as_str(), |id| id.as_str());
        let identity = IdentityHash::new(scope.tenant(), &announcement.domain, &announcement.document_type, unique);
        let known = self.store.identity(scope, &identity).await?;
        let file = match &known {
            Some(known) => self.store.file(scope, known.file_id).await?,
            None => None,
        };
        match file.filter(|file| file.status != FileStatus::Deleted) {
            None => Ok(self.plan_new(scope, announcement, identity, known)),
            Some(file) if file.content_sha256 == announcement.sha256 => {
                self.plan_again(scope, announcement, file).await
            }
            Some(file) => self.plan_version(scope, announcement, file).await,
        }
    }

    fn plan_new(
        &self,
        scope: &TenantScope,
        announcement: &Announcement,
        identity: IdentityHash,
        known: Option<IdentityRecord>,
    ) -> Plan {
        let (now, first) = (self.clock.now(), Generation::new(1));
        let (file_id, job_id) = (FileId::new(self.ids.next()), JobId::new(self.ids.next()));
        let file = FileRecord {
            file_id,
            domain: announcement.domain.clone(),
            identity,
            document_type: announcement.document_type.clone(),
            external_id: announcement.external_id.clone(),
            filename: announcement.filename.clone(),
            title: announcement.title.clone(),
            content_type: announcement.content_type.as_str().to_owned(),
            content_sha256: announcement.sha256,
            size_bytes: announcement.size.bytes(),
            metadata: announcement.metadata.entries().clone(),
            skipped: announcement.skipped.clone(),
            status: FileStatus::AwaitingUpload,
            version: 1,
            newest_generation: first,
            newest_job: job_id,
            published: None,
            failure: None,
            created_by: scope.actor().clone(),
            created_at: now,
            updated_at: now,
            revision: Revision::NEW,
        };
        let job = JobRecord::queued(job_id, file_id, JobKind::Ingest, 1, first, scope.actor().clone(), now);
        // An identity whose file is gone is taken over at the revision it was read at.
        let revision = known.map_or(Revision::NEW, |known| known.revision);
        let changes = vec![
            Change::PutIdentity(IdentityRecord { identity, file_id, revision }),
            Change::PutFile(file.clone()),
            Change::PutJob(job),
        ];
        Plan { file, changes, known: Known::Not, next: Next::Bytes }
    }

    /// The content that the file has, or waits for.
    async fn plan_again(
        &self,
        scope: &TenantScope,
        announcement: &Announcement,
        file: FileRecord,
    ) -> Result<Plan, FilesError> {
        let before = file.clone();
        let mut file = file;
        describe(&mut file, announcement);
        let known = if file == before { Known::Everything } else { Known::Content };
        let (jobs, next) = match file.status {
            FileStatus::AwaitingUpload => (None, Next::Bytes),
            FileStatus::Queued => (None, Next::Remind(file.newest_job)),
            FileStatus::Failed => (Some(self.begin(scope, &mut file, FileStatus::AwaitingUpload)), Next::Bytes),
            FileStatus::Ready | FileStatus::Processing if known == Known::Content => {
                // What is said of a document stands beside each of its chunks, so they are published anew; their vectors
                // are there.
                let job = self.again(scope, &mut file).await?;
                let id = job.job_id;
                (Some(job), Next::Remind(id))
            }
            FileStatus::Ready | FileStatus::Processing | FileStatus::Deleted => (None, Next::Nothing),
        };
        let mut changes = Vec::new();
        if file != before {
            file.updated_at = self.clock.now();
            changes.push(Change::PutFile(file.clone()));
        }
        changes.extend(jobs.map(Change::PutJob));
        Ok(Plan { file, changes, known, next })
    }

    /// A new job for the bytes that are there.
    async fn again(&self, scope: &TenantScope, file: &mut FileRecord) -> Result<JobRecord, FilesError> {
        let earlier = self.store.jobs(scope, file.file_id, JOBS_SHOWN).await?;
        let mut job = self.begin(scope, file, FileStatus::Queued);
        job.object_version = earlier
            .into_iter()
            .find(|earlier| earlier.kind == JobKind::Ingest && earlier.version == job.version)
            .and_then(|earlier| earlier.object_version);
        Ok(job)
    }

    /// Other content of a known document.
    async fn plan_version(
        &self,
        scope: &TenantScope,
        announcement: &Announcement,
        mut file: FileRecord,
    ) -> Result<Plan, FilesError> {
        let superseded = self.waiting_for_bytes(scope, &file).await?;
        describe(&mut file, announcement);
        file.version = file.version.saturating_add(1);
        let job = self.begin(scope, &mut file, FileStatus::AwaitingUpload);
        let mut changes = vec![Change::PutFile(file.clone()), Change::PutJob(job)];
        let now = self.clock.now();
        changes.extend(superseded.map(|job| Change::PutJob(job.skip(SkipCause::Superseded, now))));
        Ok(Plan { file, changes, known: Known::Document, next: Next::Bytes })
    }

    /// The newest job when its bytes never came: no message will ever end it, so whoever supersedes it does.
    async fn waiting_for_bytes(&self, scope: &TenantScope, file: &FileRecord) -> Result<Option<JobRecord>, FilesError> {
        if file.status != FileStatus::AwaitingUpload {
            return Ok(None);
        }
        let job = self.store.job(scope, file.file_id, file.newest_job).await?;
        Ok(job.filter(|job| job.status == JobStatus::Queued))
    }

    fn begin(&self, scope: &TenantScope, file: &mut FileRecord, status: FileStatus) -> JobRecord {
        let (job_id, now) = (JobId::new(self.ids.next()), self.clock.now());
        let generation = file.begin(job_id, status, now);
        let actor = scope.actor().clone();
        JobRecord::queued(job_id, file.file_id, JobKind::Ingest, file.version, generation, actor, now)
    }

    async fn ticket(&self, scope: &TenantScope, file: &FileRecord) -> Result<PresignedRequest, FilesError> {
        let ticket = UploadTicket {
            key: ObjectKey { tenant: scope.tenant(), file: file.file_id, version: file.version },
            size_bytes: file.size_bytes,
            sha256: file.content_sha256,
            content_type: file.content_type.clone(),
            valid_for: TICKET_VALID_FOR,
        };
        Ok(self.blobs.presign_upload(scope, &ticket, self.clock.now()).await?)
    }

    /// # Errors
    /// On an outage.
    pub async fn list(&self, scope: &TenantScope, listing: &FileListing) -> Result<FilePage, FilesError> {
        Ok(self.store.list_files(scope, listing).await?)
    }

    async fn live(&self, scope: &TenantScope, file: FileId) -> Result<FileRecord, FilesError> {
        let record = self.store.file(scope, file).await?;
        record.filter(|file| file.status != FileStatus::Deleted).ok_or(FilesError::NotFound)
    }

    /// The file and its newest jobs, newest first.
    ///
    /// # Errors
    /// When there is none, it was deleted, or on an outage.
    pub async fn get(&self, scope: &TenantScope, file: FileId) -> Result<(FileRecord, Vec<JobRecord>), FilesError> {
        let record = self.live(scope, file).await?;
        let jobs = self.store.jobs(scope, file, JOBS_SHOWN).await?;
        Ok((record, jobs))
    }

    /// One job, also of a deleted file: its purge is watched that way.
    ///
    /// # Errors
    /// When there is none, or on an outage.
    pub async fn job(&self, scope: &TenantScope, file: FileId, job: JobId) -> Result<JobRecord, FilesError> {
        self.store.job(scope, file, job).await?.ok_or(FilesError::NotFound)
    }

    /// An address for the bytes of the version that answers, or of the newest while none does.
    ///
    /// # Errors
    /// When there is no such file, its bytes have not arrived, or on an outage.
    pub async fn content(&self, scope: &TenantScope, file: FileId) -> Result<PresignedRequest, FilesError> {
        let record = self.live(scope, file).await?;
        let version = match &record.published {
            Some(publication) => publication.version,
            None if record.status == FileStatus::AwaitingUpload => return Err(FilesError::UploadPending),
            None => record.version,
        };
        let key = ObjectKey { tenant: scope.tenant(), file, version };
        let now = self.clock.now();
        Ok(self.blobs.presign_download(scope, &key, &record.filename, DOWNLOAD_VALID_FOR, now).await?)
    }

    /// Ingests the bytes that are there once more, as a new job.
    ///
    /// # Errors
    /// When there is no such file, it is being ingested or waits for its bytes, or on an outage.
    pub async fn reingest(&self, scope: &TenantScope, file: FileId) -> Result<JobRecord, FilesError> {
        for _ in 0..MAX_DECISIONS {
            let mut record = self.live(scope, file).await?;
            match record.status {
                FileStatus::AwaitingUpload => return Err(FilesError::UploadPending),
                FileStatus::Queued => {
                    self.send(scope, file, record.newest_job).await?;
                    return Err(FilesError::Busy);
                }
                FileStatus::Processing => return Err(FilesError::Busy),
                FileStatus::Ready | FileStatus::Failed | FileStatus::Deleted => {}
            }
            let job = self.again(scope, &mut record).await?;
            if self.commit(scope, vec![Change::PutFile(record), Change::PutJob(job.clone())]).await? {
                self.send(scope, file, job.job_id).await?;
                return Ok(job);
            }
        }
        Err(FilesError::Conflict)
    }

    /// Deletes a file: from the commit on nothing of it is visible; the returned job removes what is left.
    ///
    /// # Errors
    /// When there is no such file or it was deleted before, or on an outage.
    pub async fn delete(&self, scope: &TenantScope, file: FileId) -> Result<JobRecord, FilesError> {
        for _ in 0..MAX_DECISIONS {
            let mut record = self.store.file(scope, file).await?.ok_or(FilesError::NotFound)?;
            if record.status == FileStatus::Deleted {
                let purge = self.store.job(scope, file, record.newest_job).await?;
                if purge.is_some_and(|purge| !purge.status.is_terminal()) {
                    self.send(scope, file, record.newest_job).await?;
                }
                return Err(FilesError::NotFound);
            }
            let now = self.clock.now();
            let waiting = self.waiting_for_bytes(scope, &record).await?;
            let purge = self.tombstone(scope, &mut record, now);
            let mut changes = Vec::new();
            changes.extend(waiting.map(|job| Change::PutJob(job.skip(SkipCause::FileDeleted, now))));
            let identity = self.store.identity(scope, &record.identity).await?;
            changes.extend(identity.filter(|known| known.file_id == file).map(Change::RemoveIdentity));
            changes.extend([Change::PutFile(record), Change::PutJob(purge.clone())]);
            if self.commit(scope, changes).await? {
                self.send(scope, file, purge.job_id).await?;
                return Ok(purge);
            }
        }
        Err(FilesError::Conflict)
    }

    fn tombstone(&self, scope: &TenantScope, file: &mut FileRecord, now: Timestamp) -> JobRecord {
        let job_id = JobId::new(self.ids.next());
        let generation = file.delete(job_id, now);
        let actor = scope.actor().clone();
        JobRecord::queued(job_id, file.file_id, JobKind::Purge, file.version, generation, actor, now)
    }

    /// False when another write came first.
    async fn commit(&self, scope: &TenantScope, changes: Vec<Change>) -> Result<bool, FilesError> {
        if changes.is_empty() {
            return Ok(true);
        }
        match self.store.commit(scope, changes).await {
            Ok(()) => Ok(true),
            Err(CommitError::Conflict) => Ok(false),
            Err(CommitError::Outage(outage)) => Err(outage.into()),
        }
    }

    pub(crate) async fn send(&self, scope: &TenantScope, file_id: FileId, job_id: JobId) -> Result<(), FilesError> {
        let body = MessageBody::RunJob { tenant_id: scope.tenant(), file_id, job_id };
        Ok(self.queue.send(scope, &IngestMessage { anchorage: body }).await?)
    }
}

/// Takes over what the announcement says of the file.
fn describe(file: &mut FileRecord, announcement: &Announcement) {
    file.filename = announcement.filename.clone();
    file.title.clone_from(&announcement.title);
    announcement.content_type.as_str().clone_into(&mut file.content_type);
    file.content_sha256 = announcement.sha256;
    file.size_bytes = announcement.size.bytes();
    file.metadata.clone_from(announcement.metadata.entries());
    file.skipped.clone_from(&announcement.skipped);
}

#[cfg(test)]
mod tests;
