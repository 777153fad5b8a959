//! From an object's arrival to its published points, however often the way there is interrupted.
//!
//! `run` is the one entry: claim → read → parse → embed → stage → publish → finish. Every step can happen twice. A job is
//! `running` until the old generation is gone, so whoever takes it over finishes what is left of it:
//! before publication it stages what is missing, after it only the clean-up remains.

mod dead_letter;
mod embed;
mod purge;
mod run;
mod stage;
#[cfg(test)]
mod tests;

pub use dead_letter::DeadLetters;

use anchorage_documents::Limits;
use anchorage_domain::{
    AttemptId, Failure, FailureCode, FileId, FileRecord, FileStatus, JobCounters, JobEventKind, JobId, JobKind,
    JobRecord, JobStatus, ObjectKey, Sequencer, SkipCause, Stage, TenantScope, Timestamp, VersionId,
};
use anchorage_ports::{
    BlobStore, Change, Clock, CommitError, DocumentStore, Embedder, Generations, Ids, IndexManifest, IngestMessage,
    JobQueue, MessageBody, Outage, OutageKind, Service, VectorIndex,
};
use std::{sync::Arc, time::Duration};

/// How often a decision is made anew because a record moved on in between.
const MAX_CONFLICTS: usize = 8;
/// How long a claim outlives its invocation: past it nobody can still be writing for it.
pub const LEASE_MARGIN: Duration = Duration::from_secs(15);
/// Time that must be left to begin another batch: one embedding call, one staging call and a release.
const MIN_BATCH_TIME: Duration = Duration::from_secs(8);

/// Everything ingestion needs of the outside.
#[derive(Debug, Clone)]
pub struct Ingestion {
    pub store: Arc<dyn DocumentStore>,
    pub blobs: Arc<dyn BlobStore>,
    pub index: Arc<dyn VectorIndex>,
    /// For jobs that go on in another invocation.
    pub queue: Arc<dyn JobQueue>,
    pub embedders: Vec<Arc<dyn Embedder>>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
    /// What this deployment writes; a collection built with anything else takes no points from it.
    pub manifest: IndexManifest,
    pub limits: Limits,
}

/// An object that arrived under a key of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectArrival {
    pub key: ObjectKey,
    pub version: Option<VersionId>,
    pub sequencer: Option<Sequencer>,
}

/// The time an invocation has, and the trace it logs under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    pub deadline: Timestamp,
    pub trace_id: Option<String>,
}

/// Why a message asked for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nothing {
    /// What it asks for has been done.
    Duplicate,
    /// A newer event on the object was applied before.
    Stale,
    /// No record expects the object; it was removed.
    Unexpected,
    /// Another attempt took the job over.
    LostLease,
}

/// What became of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The job has ended; the message is done with.
    Ended(JobStatus),
    Nothing(Nothing),
    /// The job goes on under a message of its own; this one is done with.
    Continued,
    /// The message must come again, not before `after`.
    Retry {
        code: FailureCode,
        after: Duration,
    },
}

/// Why an attempt stopped before its end.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stop {
    /// Passes with time.
    Transient {
        code: FailureCode,
        stage: Stage,
        detail: String,
    },
    /// Does not.
    Permanent {
        code: FailureCode,
        stage: Stage,
        detail: String,
    },
    /// The invocation has no time for another batch; `done` of its chunks are staged. What made progress goes on at once.
    OutOfTime {
        progress: bool,
        done: usize,
        of: usize,
    },
    Skip(SkipCause),
    LostLease,
}

impl Stop {
    fn outage(stage: Stage, outage: &Outage) -> Self {
        let code = match (outage.kind, outage.service) {
            (OutageKind::Throttled, _) => FailureCode::Throttled,
            (_, Service::VectorIndex) => FailureCode::IndexFailed,
            (_, Service::Embedder) => FailureCode::EmbeddingFailed,
            (_, Service::DocumentStore | Service::BlobStore | Service::Queue | Service::Parameters) => {
                FailureCode::StoreUnavailable
            }
        };
        Self::Transient { code, stage, detail: outage.to_string() }
    }
}

/// One claim on one job.
#[derive(Debug, Clone)]
struct Attempt<'a> {
    scope: &'a TenantScope,
    file: FileId,
    job: JobId,
    id: AttemptId,
    invocation: &'a Invocation,
}

impl Ingestion {
    /// An object of ours arrived: the job that waits for it is told, and run.
    pub async fn object_arrived(
        &self,
        scope: &TenantScope,
        arrival: &ObjectArrival,
        invocation: &Invocation,
    ) -> Outcome {
        match self.admit(scope, arrival).await {
            Ok(Ok(job)) => self.run(scope, arrival.key.file, job, invocation).await,
            Ok(Err(nothing)) => Outcome::Nothing(nothing),
            Err(outage) => retry(&Stop::outage(Stage::Upload, &outage)),
        }
    }

    /// The job that an arrival starts, its record brought up to date.
    async fn admit(&self, scope: &TenantScope, arrival: &ObjectArrival) -> Result<Result<JobId, Nothing>, Outage> {
        for _ in 0..MAX_CONFLICTS {
            let Some(mut file) = self.store.file(scope, arrival.key.file).await? else {
                self.blobs.remove(scope, &arrival.key).await?;
                return Ok(Err(Nothing::Unexpected));
            };
            if file.status == FileStatus::Deleted || arrival.key.version > file.version {
                self.blobs.remove(scope, &arrival.key).await?;
                return Ok(Err(Nothing::Unexpected));
            }
            let Some(mut job) = self.store.job(scope, file.file_id, file.newest_job).await? else {
                return Ok(Err(Nothing::Stale));
            };
            if job.kind != JobKind::Ingest || job.version != arrival.key.version {
                return Ok(Err(Nothing::Stale));
            }
            if job.status.is_terminal() {
                return Ok(Err(Nothing::Duplicate));
            }
            match (&job.sequencer, &arrival.sequencer) {
                // The same event again: the job may have been left halfway, and its claim decides.
                (Some(applied), Some(event)) if event == applied => return Ok(Ok(job.job_id)),
                (Some(applied), Some(event)) if event < applied => return Ok(Err(Nothing::Stale)),
                (Some(_), None) => return Ok(Ok(job.job_id)),
                (Some(_) | None, Some(_)) | (None, None) => {}
            }
            let now = self.clock.now();
            job.object_version.clone_from(&arrival.version);
            job.sequencer.clone_from(&arrival.sequencer);
            job.note(JobEventKind::Uploaded, None, now);
            let id = job.job_id;
            let mut changes = vec![Change::PutJob(job)];
            if file.status == FileStatus::AwaitingUpload {
                file.status = FileStatus::Queued;
                file.updated_at = now;
                changes.push(Change::PutFile(file));
            }
            match self.store.commit(scope, changes).await {
                Ok(()) => return Ok(Ok(id)),
                Err(CommitError::Conflict) => {}
                Err(CommitError::Outage(outage)) => return Err(outage),
            }
        }
        Err(contended())
    }

    /// Runs a job to its end, or hands it on.
    pub async fn run(&self, scope: &TenantScope, file: FileId, job: JobId, invocation: &Invocation) -> Outcome {
        let attempt = Attempt { scope, file, job, id: AttemptId::new(self.ids.next()), invocation };
        let claimed = match self.claim(&attempt).await {
            Ok(Ok(claimed)) => claimed,
            Ok(Err(outcome)) => return outcome,
            Err(stop) => return retry(&stop),
        };
        tracing::info!(event = "ingest.job.claimed", file_id = %file, job_id = %job, attempt = claimed.attempts);
        let mut spent = JobCounters::default();
        let ended = match claimed.kind {
            JobKind::Ingest => self.ingest(&attempt, claimed, &mut spent).await,
            JobKind::Purge => self.purge(&attempt).await,
        };
        match ended {
            Ok(()) => {
                tracing::info!(event = "ingest.job.succeeded", file_id = %file, job_id = %job);
                Outcome::Ended(JobStatus::Succeeded)
            }
            Err(stop) => self.conclude(&attempt, stop, spent).await,
        }
    }

    /// Takes the job, or says what to do with the message instead.
    async fn claim(&self, attempt: &Attempt<'_>) -> Result<Result<JobRecord, Outcome>, Stop> {
        let outage = |outage: Outage| Stop::outage(Stage::Claim, &outage);
        for _ in 0..MAX_CONFLICTS {
            let now = self.clock.now();
            let Some(job) = self.store.job(attempt.scope, attempt.file, attempt.job).await.map_err(outage)? else {
                return Ok(Err(Outcome::Nothing(Nothing::Unexpected)));
            };
            let lease = attempt.invocation.deadline.since(now) + LEASE_MARGIN;
            let claimed = match job.claim(attempt.id, lease, now) {
                Ok(claimed) => claimed,
                Err(anchorage_domain::ClaimRefusal::Terminal(_)) => {
                    return Ok(Err(Outcome::Nothing(Nothing::Duplicate)));
                }
                // Not acknowledged: this may be the only message left, and its holder may yet die.
                Err(anchorage_domain::ClaimRefusal::Leased { until }) => {
                    return Ok(Err(Outcome::Retry { code: FailureCode::LeaseExpired, after: until.since(now) }));
                }
            };
            let mut changes = vec![Change::PutJob(claimed.clone())];
            let file = self.store.file(attempt.scope, attempt.file).await.map_err(outage)?;
            // A take-over after publication only cleans up: the file is ready, and stays so.
            let waits = |file: &FileRecord| {
                file.is_newest(attempt.job) && file.current_generation() != Some(claimed.generation)
            };
            if let Some(mut file) = file.filter(|file| claimed.kind == JobKind::Ingest && waits(file)) {
                file.status = FileStatus::Processing;
                file.updated_at = now;
                changes.push(Change::PutFile(file));
            }
            match self.store.commit(attempt.scope, changes).await {
                Ok(()) => return Ok(Ok(claimed)),
                Err(CommitError::Conflict) => {}
                Err(CommitError::Outage(error)) => return Err(outage(error)),
            }
        }
        Err(outage(contended()))
    }

    /// Writes down why an attempt stopped, and says what becomes of its message.
    async fn conclude(&self, attempt: &Attempt<'_>, mut stop: Stop, spent: JobCounters) -> Outcome {
        if matches!(stop, Stop::Skip(_) | Stop::LostLease)
            && let Err(unswept) = self.sweep(attempt).await
        {
            let code = unswept.service.as_str();
            tracing::warn!(event = "ingest.sweep.failed", file_id = %attempt.file, job_id = %attempt.job, service = code);
            if stop != Stop::LostLease {
                stop = Stop::outage(Stage::Index, &unswept);
            }
        }
        if stop == Stop::LostLease {
            tracing::warn!(event = "ingest.lease.lost", file_id = %attempt.file, job_id = %attempt.job);
            return Outcome::Nothing(Nothing::LostLease);
        }
        match self.write_down(attempt, &stop, spent).await {
            Ok(Some(status)) => Outcome::Ended(status),
            // A message of its own: this one's receives are for failures, and a long document takes many invocations.
            Ok(None) if matches!(stop, Stop::OutOfTime { progress: true, .. }) => match self.send_on(attempt).await {
                Ok(()) => Outcome::Continued,
                Err(outage) => retry(&Stop::outage(Stage::Embed, &outage)),
            },
            Ok(None) => retry(&stop),
            Err(Stop::LostLease) => Outcome::Nothing(Nothing::LostLease),
            // The claim stands until its lease runs out; the message comes again and takes it over.
            Err(unwritten) => retry(&unwritten),
        }
    }

    async fn send_on(&self, attempt: &Attempt<'_>) -> Result<(), Outage> {
        let (tenant_id, file_id, job_id) = (attempt.scope.tenant(), attempt.file, attempt.job);
        let message = IngestMessage { anchorage: MessageBody::RunJob { tenant_id, file_id, job_id } };
        self.queue.send(attempt.scope, &message).await
    }

    /// Removes what an attempt staged for nothing, because the file went on or went away without it: whoever swept
    /// then may have done so before the attempt's last batch.
    async fn sweep(&self, attempt: &Attempt<'_>) -> Result<(), Outage> {
        let file = self.store.file(attempt.scope, attempt.file).await?;
        let generations = match file.filter(|file| file.status != FileStatus::Deleted) {
            None => Generations::All,
            Some(file) => match file.current_generation() {
                Some(current) => Generations::OlderThan(current),
                None => return Ok(()),
            },
        };
        self.index.remove(attempt.scope, attempt.file, generations).await.map(|_| ())
    }

    /// The terminal state written, or nothing when the job was handed on.
    async fn write_down(
        &self,
        attempt: &Attempt<'_>,
        stop: &Stop,
        spent: JobCounters,
    ) -> Result<Option<JobStatus>, Stop> {
        self.change(attempt, |now, job, mut file| {
            let mut job = job.clone();
            job.counters.add(&spent);
            let failure = |code: FailureCode, stage: Stage, detail: &str| Failure {
                code,
                stage,
                detail: detail.to_owned(),
                retryable: code.retryable(),
                attempt: job.attempts,
                trace_id: attempt.invocation.trace_id.clone(),
                at: now,
            };
            let ids = (attempt.file, attempt.job);
            let (job, status) = match stop {
                Stop::OutOfTime { progress: true, done, of } => {
                    tracing::info!(event = "ingest.job.continued", file_id = %ids.0, job_id = %ids.1, done, of);
                    (job.hand_on(attempt.id, now).map_err(|_| Stop::LostLease)?, None)
                }
                Stop::OutOfTime { progress: false, done, of } => {
                    let detail = format!("{done} of {of} chunks are staged");
                    tracing::warn!(event = "ingest.job.released", file_id = %ids.0, job_id = %ids.1, detail);
                    let failure = failure(FailureCode::LeaseExpired, Stage::Embed, &detail);
                    release(attempt, job, file.as_mut(), failure, now)?
                }
                Stop::Transient { code, stage, detail } => {
                    tracing::warn!(event = "ingest.job.released", file_id = %ids.0, job_id = %ids.1, code = code.as_str(), ?stage, detail);
                    let failure = failure(*code, *stage, detail);
                    release(attempt, job, file.as_mut(), failure, now)?
                }
                Stop::Permanent { code, stage, detail } => {
                    tracing::warn!(event = "ingest.job.failed", file_id = %ids.0, job_id = %ids.1, code = code.as_str(), ?stage, detail);
                    let failure = failure(*code, *stage, detail);
                    if let Some(file) = &mut file {
                        file.fail(attempt.job, failure.clone(), now);
                    }
                    let job = job.fail(attempt.id, failure, now).map_err(|_| Stop::LostLease)?;
                    (job, Some(JobStatus::Failed))
                }
                Stop::Skip(cause) => {
                    tracing::info!(event = "ingest.job.skipped", file_id = %ids.0, job_id = %ids.1, ?cause);
                    (job.skip(*cause, now), Some(JobStatus::Skipped))
                }
                Stop::LostLease => return Err(Stop::LostLease),
            };
            Ok((job, file, status))
        })
        .await
    }

    /// Changes the job and, when given back, its file, in one commit, while `attempt` holds the job.
    async fn change<T>(
        &self,
        attempt: &Attempt<'_>,
        decide: impl Fn(Timestamp, &JobRecord, Option<FileRecord>) -> Result<(JobRecord, Option<FileRecord>, T), Stop>,
    ) -> Result<T, Stop> {
        let outage = |outage: Outage| Stop::outage(Stage::Publish, &outage);
        for _ in 0..MAX_CONFLICTS {
            let (job, file) = futures::try_join!(
                self.store.job(attempt.scope, attempt.file, attempt.job),
                self.store.file(attempt.scope, attempt.file)
            )
            .map_err(outage)?;
            let job = job.ok_or(Stop::LostLease)?;
            job.held_by(attempt.id).map_err(|_| Stop::LostLease)?;
            let read = file.clone();
            let (job, file, result) = decide(self.clock.now(), &job, file)?;
            let mut changes = vec![Change::PutJob(job)];
            changes.extend(file.filter(|file| Some(file) != read.as_ref()).map(Change::PutFile));
            match self.store.commit(attempt.scope, changes).await {
                Ok(()) => return Ok(result),
                Err(CommitError::Conflict) => {}
                Err(CommitError::Outage(error)) => return Err(outage(error)),
            }
        }
        Err(outage(contended()))
    }
}

/// The job and its file wait for another attempt; nothing has ended.
fn release(
    attempt: &Attempt<'_>,
    job: JobRecord,
    file: Option<&mut FileRecord>,
    failure: Failure,
    now: Timestamp,
) -> Result<(JobRecord, Option<JobStatus>), Stop> {
    let published = |file: &FileRecord| file.current_generation() == Some(job.generation);
    if let Some(file) = file.filter(|file| file.is_newest(attempt.job) && !published(file)) {
        file.status = FileStatus::Queued;
        file.failure = Some(failure.clone());
        file.updated_at = now;
    }
    Ok((job.release(attempt.id, failure, now).map_err(|_| Stop::LostLease)?, None))
}

fn retry(stop: &Stop) -> Outcome {
    let code = match stop {
        Stop::Transient { code, .. } | Stop::Permanent { code, .. } => *code,
        Stop::OutOfTime { .. } => FailureCode::LeaseExpired,
        Stop::Skip(_) | Stop::LostLease => FailureCode::StoreUnavailable,
    };
    Outcome::Retry { code, after: Duration::ZERO }
}

fn contended() -> Outage {
    Outage::new(Service::DocumentStore, OutageKind::Throttled, "the record kept changing while it was to be written")
}
