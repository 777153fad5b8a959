//! A job is the record of an attempt: `queued → running → succeeded | failed | skipped`. A terminal job never changes.

use crate::{
    Actor, AttemptId, Coverage, Failure, FailureCode, FileId, Generation, JobId, Revision, Sequencer, Stage, Timestamp,
    VersionId,
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Events kept with a job; past it the oldest after the first are dropped, so that a job's record stays small.
pub const MAX_JOB_EVENTS: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// Read a version's bytes and publish their points.
    Ingest,
    /// Remove what a deleted file left behind.
    Purge,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobStatus {
    Queued,
    Running,
    Succeeded,
    Failed,
    Skipped,
}

impl JobStatus {
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        match self {
            Self::Queued | Self::Running => false,
            Self::Succeeded | Self::Failed | Self::Skipped => true,
        }
    }
}

/// Why a job had nothing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipCause {
    /// A newer version or generation of the file is there already, or asked for.
    Superseded,
    /// The file was deleted.
    FileDeleted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobEventKind {
    Created,
    Uploaded,
    Claimed,
    Published,
    /// The time of an invocation was up; the next one goes on from there.
    Continued,
    Released,
    Succeeded,
    Failed,
    Skipped,
}

/// One line of a job's history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobEvent {
    pub at: Timestamp,
    pub kind: JobEventKind,
    pub attempt: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// What a job did, counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct JobCounters {
    pub bytes_read: u64,
    /// Chunks that were embedded.
    pub chunks_indexed: u32,
    /// Chunks whose vectors were there: of an earlier generation, or staged by an attempt that was interrupted.
    pub chunks_reused: u32,
    pub embed_calls: u32,
    /// Tokens the embedders billed.
    pub tokens: u64,
}

impl JobCounters {
    /// Adds what one attempt did.
    pub fn add(&mut self, attempt: &Self) {
        self.bytes_read += attempt.bytes_read;
        self.chunks_indexed += attempt.chunks_indexed;
        self.chunks_reused += attempt.chunks_reused;
        self.embed_calls += attempt.embed_calls;
        self.tokens += attempt.tokens;
    }
}

/// What a purge removed, and the count that proves nothing is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PurgeReceipt {
    pub points_removed: u64,
    pub objects_removed: u64,
    /// Points of the file counted after the removal. A purge succeeds only at zero.
    pub points_left: u64,
}

/// A claim on a job, and how long it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    pub attempt_id: AttemptId,
    pub expires_at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobRecord {
    pub job_id: JobId,
    pub file_id: FileId,
    pub kind: JobKind,
    pub status: JobStatus,
    /// The version of the file whose bytes this job reads.
    pub version: u32,
    /// The generation this job's points carry, through all its attempts.
    pub generation: Generation,
    /// The object version to read, once the bytes have arrived.
    pub object_version: Option<VersionId>,
    /// The last event applied to the object.
    pub sequencer: Option<Sequencer>,
    pub lease: Option<Lease>,
    /// Claims made so far.
    pub attempts: u32,
    pub counters: JobCounters,
    pub coverage: Option<Coverage>,
    pub receipt: Option<PurgeReceipt>,
    pub skip_cause: Option<SkipCause>,
    /// The last failure, also of an attempt that is tried again.
    pub failure: Option<Failure>,
    pub events: Vec<JobEvent>,
    pub created_by: Actor,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub revision: Revision,
}

/// Why a job cannot be claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ClaimRefusal {
    #[error("the job has ended")]
    Terminal(JobStatus),
    #[error("another attempt holds the job until {until}")]
    Leased { until: Timestamp },
}

/// The attempt no longer holds the job: another one took it over, or it has ended. The attempt may write nothing more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the attempt no longer holds the job")]
pub struct LostLease;

impl JobRecord {
    #[must_use]
    pub fn queued(
        job_id: JobId,
        file_id: FileId,
        kind: JobKind,
        version: u32,
        generation: Generation,
        created_by: Actor,
        now: Timestamp,
    ) -> Self {
        let mut job = Self {
            job_id,
            file_id,
            kind,
            status: JobStatus::Queued,
            version,
            generation,
            object_version: None,
            sequencer: None,
            lease: None,
            attempts: 0,
            counters: JobCounters::default(),
            coverage: None,
            receipt: None,
            skip_cause: None,
            failure: None,
            events: Vec::new(),
            created_by,
            created_at: now,
            updated_at: now,
            revision: Revision::NEW,
        };
        job.note(JobEventKind::Created, None, now);
        job
    }

    /// Takes the job for an attempt, also over from one whose lease has run out.
    ///
    /// # Errors
    /// When it has ended, or another attempt still holds it.
    pub fn claim(mut self, attempt_id: AttemptId, lease: Duration, now: Timestamp) -> Result<Self, ClaimRefusal> {
        if self.status.is_terminal() {
            return Err(ClaimRefusal::Terminal(self.status));
        }
        if let Some(held) = self.lease.filter(|held| held.expires_at > now) {
            return Err(ClaimRefusal::Leased { until: held.expires_at });
        }
        self.status = JobStatus::Running;
        self.lease = Some(Lease { attempt_id, expires_at: now.plus(lease) });
        self.attempts = self.attempts.saturating_add(1);
        self.note(JobEventKind::Claimed, None, now);
        Ok(self)
    }

    /// # Errors
    /// When `attempt` does not hold the job.
    pub fn held_by(&self, attempt: AttemptId) -> Result<(), LostLease> {
        let held = self.status == JobStatus::Running && self.lease.is_some_and(|lease| lease.attempt_id == attempt);
        held.then_some(()).ok_or(LostLease)
    }

    /// Hands the job on after a transient failure: it waits for the next delivery.
    ///
    /// # Errors
    /// When `attempt` does not hold the job.
    pub fn release(mut self, attempt: AttemptId, failure: Failure, now: Timestamp) -> Result<Self, LostLease> {
        self.held_by(attempt)?;
        self.status = JobStatus::Queued;
        self.lease = None;
        self.failure = Some(failure.clone());
        self.note(JobEventKind::Released, Some(failure), now);
        Ok(self)
    }

    /// Leaves the job to the next invocation, nothing having failed.
    ///
    /// # Errors
    /// When `attempt` does not hold the job.
    pub fn hand_on(mut self, attempt: AttemptId, now: Timestamp) -> Result<Self, LostLease> {
        self.held_by(attempt)?;
        self.status = JobStatus::Queued;
        self.lease = None;
        self.note(JobEventKind::Continued, None, now);
        Ok(self)
    }

    /// # Errors
    /// When `attempt` does not hold the job.
    pub fn succeed(mut self, attempt: AttemptId, now: Timestamp) -> Result<Self, LostLease> {
        self.held_by(attempt)?;
        self.end(JobStatus::Succeeded);
        self.failure = None;
        self.note(JobEventKind::Succeeded, None, now);
        Ok(self)
    }

    /// # Errors
    /// When `attempt` does not hold the job.
    pub fn fail(mut self, attempt: AttemptId, failure: Failure, now: Timestamp) -> Result<Self, LostLease> {
        self.held_by(attempt)?;
        self.end(JobStatus::Failed);
        self.failure = Some(failure.clone());
        self.note(JobEventKind::Failed, Some(failure), now);
        Ok(self)
    }

    /// Ends a job that has nothing left to do. A terminal job is returned unchanged.
    #[must_use]
    pub fn skip(mut self, cause: SkipCause, now: Timestamp) -> Self {
        if !self.status.is_terminal() {
            self.end(JobStatus::Skipped);
            self.skip_cause = Some(cause);
            self.note(JobEventKind::Skipped, None, now);
        }
        self
    }

    /// Ends a job that no delivery will bring back: its message reached the dead-letter queue.
    ///
    /// `lease_expired` when an attempt vanished without a word, else `retries_exhausted`.
    ///
    /// # Errors
    /// When it has ended, or an attempt still holds it.
    pub fn abandon(mut self, now: Timestamp) -> Result<Self, ClaimRefusal> {
        if self.status.is_terminal() {
            return Err(ClaimRefusal::Terminal(self.status));
        }
        if let Some(held) = self.lease.filter(|held| held.expires_at > now) {
            return Err(ClaimRefusal::Leased { until: held.expires_at });
        }
        let vanished = self.status == JobStatus::Running;
        let code = if vanished { FailureCode::LeaseExpired } else { FailureCode::RetriesExhausted };
        let (stage, detail, trace_id) = self.failure.as_ref().map_or_else(
            || (Stage::Claim, "no attempt reported a failure".to_owned(), None),
            |last| {
                (
                    last.stage,
                    format!("the last failure was {}: {}", last.code.as_str(), last.detail),
                    last.trace_id.clone(),
                )
            },
        );
        let failure =
            Failure { code, stage, detail, retryable: code.retryable(), attempt: self.attempts, trace_id, at: now };
        self.end(JobStatus::Failed);
        self.failure = Some(failure.clone());
        self.note(JobEventKind::Failed, Some(failure), now);
        Ok(self)
    }

    /// Adds to the job's history.
    pub fn note(&mut self, kind: JobEventKind, failure: Option<Failure>, now: Timestamp) {
        if self.events.len() >= MAX_JOB_EVENTS {
            // The first event says where the job came from and stays.
            self.events.remove(1);
        }
        self.events.push(JobEvent { at: now, kind, attempt: self.attempts, failure });
        self.updated_at = now;
    }

    fn end(&mut self, status: JobStatus) {
        self.status = status;
        self.lease = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    const LEASE: Duration = Duration::from_mins(1);

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_unix_millis(seconds * 1000)
    }

    fn attempt(n: u128) -> AttemptId {
        AttemptId::new(Uuid::from_u128(n))
    }

    fn job() -> JobRecord {
        let id = Uuid::from_u128(7);
        JobRecord::queued(
            JobId::new(id),
            FileId::new(id),
            JobKind::Ingest,
            1,
            Generation::new(1),
            Actor::Pipeline,
            at(0),
        )
    }

    fn failure(code: FailureCode) -> Failure {
        Failure {
            code,
            stage: Stage::Embed,
            detail: "embedder answered 503".into(),
            retryable: code.retryable(),
            attempt: 1,
            trace_id: None,
            at: at(1),
        }
    }

    /// Cases C06 and E4: a claim that died is taken over once its lease has run out, not before.
    #[test]
    fn claim_is_refused_while_leased_and_taken_over_afterwards() {
        let first = job().claim(attempt(1), LEASE, at(0)).unwrap();
        assert_eq!(first.clone().claim(attempt(2), LEASE, at(59)), Err(ClaimRefusal::Leased { until: at(60) }));
        let second = first.claim(attempt(2), LEASE, at(60)).unwrap();
        assert_eq!(second.attempts, 2);
        assert_eq!(second.held_by(attempt(1)), Err(LostLease));
        assert_eq!(second.clone().succeed(attempt(1), at(61)), Err(LostLease));
        assert_eq!(second.clone().fail(attempt(1), failure(FailureCode::NoText), at(61)), Err(LostLease));
        assert_eq!(second.release(attempt(1), failure(FailureCode::Throttled), at(61)), Err(LostLease));
    }

    #[test]
    fn terminal_job_never_changes() {
        let held = job().claim(attempt(1), LEASE, at(0)).unwrap();
        let ended = [
            held.clone().succeed(attempt(1), at(1)).unwrap(),
            held.clone().fail(attempt(1), failure(FailureCode::NoText), at(1)).unwrap(),
            held.skip(SkipCause::Superseded, at(1)),
        ];
        for job in ended {
            assert_eq!(job.clone().claim(attempt(2), LEASE, at(99)), Err(ClaimRefusal::Terminal(job.status)));
            assert_eq!(job.clone().abandon(at(99)), Err(ClaimRefusal::Terminal(job.status)));
            assert_eq!(job.clone().succeed(attempt(1), at(99)), Err(LostLease));
            assert_eq!(job.clone().skip(SkipCause::FileDeleted, at(99)), job);
        }
    }

    #[test]
    fn released_job_can_be_claimed_at_once() {
        let held = job().claim(attempt(1), LEASE, at(0)).unwrap();
        let released = held.release(attempt(1), failure(FailureCode::EmbeddingFailed), at(1)).unwrap();
        assert_eq!(released.status, JobStatus::Queued);
        assert!(released.claim(attempt(2), LEASE, at(1)).is_ok());
    }

    /// Case E12: the dead-letter consumer's terminal state says whether the attempt vanished or gave up.
    #[test]
    fn abandoned_job_names_why_and_waits_for_a_live_lease() {
        let held = job().claim(attempt(1), LEASE, at(0)).unwrap();
        assert!(matches!(held.clone().abandon(at(59)), Err(ClaimRefusal::Leased { .. })));
        let code = |job: JobRecord| job.failure.unwrap().code;
        assert_eq!(code(held.clone().abandon(at(60)).unwrap()), FailureCode::LeaseExpired);
        let released = held.release(attempt(1), failure(FailureCode::Throttled), at(1)).unwrap();
        let abandoned = released.abandon(at(2)).unwrap();
        assert!(abandoned.failure.as_ref().unwrap().detail.contains("throttled: embedder answered 503"));
        assert_eq!(code(abandoned), FailureCode::RetriesExhausted);
    }

    #[test]
    fn history_is_bounded_and_keeps_its_first_event() {
        let mut job = job();
        for second in 0..500 {
            job.note(JobEventKind::Claimed, None, at(second));
        }
        assert_eq!(job.events.len(), MAX_JOB_EVENTS);
        assert_eq!(job.events[0].kind, JobEventKind::Created);
        assert_eq!(job.events[MAX_JOB_EVENTS - 1].at, at(499));
    }
}
