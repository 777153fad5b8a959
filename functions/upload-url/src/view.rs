//! Files and jobs as callers see them.

use anchorage_domain::{
    Coverage, DomainKey, Failure, FileId, FileRecord, FileStatus, JobCounters, JobEventKind, JobId, JobKind, JobRecord,
    JobStatus, PurgeReceipt, Sha256, SkipCause, Timestamp,
};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Why a job or a file failed, and what to do.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Failure)]
pub struct FailureView {
    /// One of a closed list, such as `no_text` or `encrypted`.
    code: &'static str,
    /// The step that failed.
    #[schema(value_type = String)]
    stage: anchorage_domain::Stage,
    /// What happened and what to do, for the person who uploaded the file.
    text: &'static str,
    /// Particulars: sizes, limits, positions.
    detail: String,
    /// Whether the same bytes can succeed another time.
    retryable: bool,
    attempt: u32,
    trace_id: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
}

impl From<Failure> for FailureView {
    fn from(failure: Failure) -> Self {
        Self {
            code: failure.code.as_str(),
            stage: failure.stage,
            text: failure.code.text(),
            detail: failure.detail,
            retryable: failure.retryable,
            attempt: failure.attempt,
            trace_id: failure.trace_id,
            at: failure.at,
        }
    }
}

/// One document through its versions.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = File)]
pub struct FileView {
    #[schema(value_type = String, format = Uuid)]
    file_id: FileId,
    #[schema(value_type = String)]
    domain: DomainKey,
    /// `awaiting_upload`, `queued`, `processing`, `ready`, `failed` or `deleted`.
    #[schema(value_type = String)]
    status: FileStatus,
    filename: String,
    title: Option<String>,
    external_id: Option<String>,
    content_type: String,
    size_bytes: u64,
    #[schema(value_type = String)]
    sha256: Sha256,
    #[schema(value_type = Object)]
    metadata: Map<String, Value>,
    /// Counts the contents announced for this file.
    version: u32,
    /// The version that answers; absent until one does.
    published_version: Option<u32>,
    /// Chunks of the version that answers.
    chunks: u32,
    /// What was read of the version that answers, and what was left out.
    #[schema(value_type = Option<Object>)]
    coverage: Option<Coverage>,
    failure: Option<FailureView>,
    #[schema(value_type = String, format = Uuid)]
    newest_job_id: JobId,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

impl From<FileRecord> for FileView {
    fn from(file: FileRecord) -> Self {
        let published_version = file.published.as_ref().map(|publication| publication.version);
        let chunks = file.published.as_ref().map_or(0, |publication| publication.chunks);
        Self {
            file_id: file.file_id,
            domain: file.domain,
            status: file.status,
            filename: file.filename.to_string(),
            title: file.title.map(String::from),
            external_id: file.external_id.map(String::from),
            content_type: file.content_type,
            size_bytes: file.size_bytes,
            sha256: file.content_sha256,
            metadata: file.metadata,
            version: file.version,
            published_version,
            chunks,
            coverage: file.published.map(|publication| publication.coverage),
            failure: file.failure.map(FailureView::from),
            newest_job_id: file.newest_job,
            created_at: file.created_at,
            updated_at: file.updated_at,
        }
    }
}

/// One line of a job's history.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = JobEvent)]
pub struct JobEventView {
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// What happened, such as `claimed` or `published`.
    #[schema(value_type = String)]
    kind: JobEventKind,
    attempt: u32,
    failure: Option<FailureView>,
}

/// One attempt to ingest or purge a file.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Job)]
pub struct JobView {
    #[schema(value_type = String, format = Uuid)]
    job_id: JobId,
    #[schema(value_type = String, format = Uuid)]
    file_id: FileId,
    /// `ingest` or `purge`.
    #[schema(value_type = String)]
    kind: JobKind,
    /// `queued`, `running`, `succeeded`, `failed` or `skipped`.
    #[schema(value_type = String)]
    status: JobStatus,
    version: u32,
    attempts: u32,
    /// `bytes_read`, `chunks_indexed`, `chunks_reused`, `embed_calls`, `tokens`.
    #[schema(value_type = Object)]
    counters: JobCounters,
    #[schema(value_type = Option<Object>)]
    coverage: Option<Coverage>,
    /// Of a purge: `points_removed`, `objects_removed`, and `points_left`, which is 0 once it has succeeded.
    #[schema(value_type = Option<Object>)]
    receipt: Option<PurgeReceipt>,
    #[schema(value_type = Option<String>)]
    skip_cause: Option<SkipCause>,
    failure: Option<FailureView>,
    events: Vec<JobEventView>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

impl From<JobRecord> for JobView {
    fn from(job: JobRecord) -> Self {
        let events = job.events.into_iter().map(|event| JobEventView {
            at: event.at,
            kind: event.kind,
            attempt: event.attempt,
            failure: event.failure.map(FailureView::from),
        });
        Self {
            job_id: job.job_id,
            file_id: job.file_id,
            kind: job.kind,
            status: job.status,
            version: job.version,
            attempts: job.attempts,
            counters: job.counters,
            coverage: job.coverage,
            receipt: job.receipt,
            skip_cause: job.skip_cause,
            failure: job.failure.map(FailureView::from),
            events: events.collect(),
            created_at: job.created_at,
            updated_at: job.updated_at,
        }
    }
}

/// A job that was begun.
#[derive(Debug, Serialize, ToSchema)]
pub struct JobBegun {
    #[schema(value_type = String, format = Uuid)]
    file_id: FileId,
    #[schema(value_type = String, format = Uuid)]
    job_id: JobId,
    /// The job's status.
    #[schema(value_type = String)]
    status: JobStatus,
}

impl From<JobRecord> for JobBegun {
    fn from(job: JobRecord) -> Self {
        Self { file_id: job.file_id, job_id: job.job_id, status: job.status }
    }
}
