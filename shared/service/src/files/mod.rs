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
/// The type of every uploaded document, as its identity has it.
pub const DOCUMENT_TYPE: &str = "file";
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

/// What an announcement led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announced {
    pub file: FileRecord,
    /// The announcement made the file; else it was known.
    pub created: bool,
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
    created: bool,
    next: Next,
}

enum Next {
    Ticket,
    Nothing,
    Remind(JobId),
}

impl Files {
    /// Announces a file and gives out the ticket to upload it with. The same announcement again leads to the same file.
    ///
    /// # Errors
    /// See [`FilesError`]; nothing was written unless an outage says so.
    pub async fn announce(&self, scope: &TenantScope, announcement: &Announcement) -> Result<Announced, FilesError> {
        let domain = &announcement.domain;
        match self.store.domain(scope, domain).await? {
            None => return Err(FilesError::DomainUnknown(domain.clone())),
            Some(record) if !record.active => return Err(FilesError::DomainDisabled(domain.clone())),
            Some(_) => {}
        }
        for _ in 0..MAX_DECISIONS {
            let plan = self.plan(scope, announcement).await?;
            if !self.commit(scope, plan.changes).await? {
                continue;
            }
            let upload = match plan.next {
                Next::Ticket => Some(self.ticket(scope, &plan.file).await?),
                Next::Nothing => None,
                Next::Remind(job) => {
                    self.send(scope, plan.file.file_id, job).await?;
                    None
                }
            };
            return Ok(Announced { file: plan.file, created: plan.created, upload });
        }
        Err(FilesError::Conflict)
    }

    async fn plan(&self, scope: &TenantScope, announcement: &Announcement) -> Result<Plan, FilesError> {
        let hash = announcement.sha256.to_string();
        let unique = announcement.external_id.as_ref().map_or(hash.as_str(), |id| id.as_str());
        let identity = IdentityHash::new(scope.tenant(), &announcement.domain, DOCUMENT_TYPE, unique);
        let known = self.store.identity(scope, &identity).await?;
        let file = match &known {
            Some(known) => self.store.file(scope, known.file_id).await?,
            None => None,
        };
        match file.filter(|file| file.status != FileStatus::Deleted) {
            None => Ok(self.plan_new(scope, announcement, identity, known)),
            Some(file) if file.content_sha256 == announcement.sha256 => Ok(self.plan_again(scope, announcement, file)),
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
            external_id: announcement.external_id.clone(),
            filename: announcement.filename.clone(),
            title: announcement.title.clone(),
            content_type: announcement.content_type.as_str().to_owned(),
            content_sha256: announcement.sha256,
            size_bytes: announcement.size.bytes(),
            metadata: announcement.metadata.entries().clone(),
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
        Plan { file, changes, created: true, next: Next::Ticket }
    }

    /// The content that the file has, or waits for.
    fn plan_again(&self, scope: &TenantScope, announcement: &Announcement, mut file: FileRecord) -> Plan {
        let settled = |file: FileRecord, next: Next| Plan { file, changes: Vec::new(), created: false, next };
        match file.status {
            FileStatus::Queued => {
                let job = file.newest_job;
                settled(file, Next::Remind(job))
            }
            FileStatus::AwaitingUpload => {
                let before = file.clone();
                describe(&mut file, announcement);
                if file == before {
                    return settled(file, Next::Ticket);
                }
                file.updated_at = self.clock.now();
                Plan { changes: vec![Change::PutFile(file.clone())], file, created: false, next: Next::Ticket }
            }
            FileStatus::Failed => {
                describe(&mut file, announcement);
                let job = self.begin(scope, &mut file, FileStatus::AwaitingUpload);
                let changes = vec![Change::PutFile(file.clone()), Change::PutJob(job)];
                Plan { file, changes, created: false, next: Next::Ticket }
            }
            FileStatus::Ready | FileStatus::Processing | FileStatus::Deleted => settled(file, Next::Nothing),
        }
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
        Ok(Plan { file, changes, created: false, next: Next::Ticket })
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
            let earlier = self.store.jobs(scope, file, JOBS_SHOWN).await?;
            let mut job = self.begin(scope, &mut record, FileStatus::Queued);
            job.object_version = earlier
                .into_iter()
                .find(|earlier| earlier.kind == JobKind::Ingest && earlier.version == job.version)
                .and_then(|earlier| earlier.object_version);
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

    async fn send(&self, scope: &TenantScope, file_id: FileId, job_id: JobId) -> Result<(), FilesError> {
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
}

#[cfg(test)]
mod tests;
