//! The last stop of a message that no delivery could finish: its job gets a terminal state.

use super::{MAX_CONFLICTS, Nothing, Outcome, Stop, contended, retry};
use anchorage_domain::{
    ClaimRefusal, FailureCode, FileId, FileRecord, JobId, JobKind, JobStatus, ObjectKey, Stage, TenantScope,
};
use anchorage_ports::{Change, Clock, CommitError, DocumentStore, Outage};
use std::{sync::Arc, time::Duration};

/// What settles dead letters: it only writes down, so it needs nothing but the records.
#[derive(Debug, Clone)]
pub struct DeadLetters {
    pub store: Arc<dyn DocumentStore>,
    pub clock: Arc<dyn Clock>,
}

impl DeadLetters {
    /// The dead letter was an object's arrival.
    pub async fn abandon_arrival(&self, scope: &TenantScope, key: &ObjectKey) -> Outcome {
        let newest = match self.store.file(scope, key.file).await {
            Ok(Some(file)) => file.newest_job,
            Ok(None) => return Outcome::Nothing(Nothing::Unexpected),
            Err(outage) => return retry(&Stop::outage(Stage::Claim, &outage)),
        };
        match self.store.job(scope, key.file, newest).await {
            Ok(Some(job)) if job.kind == JobKind::Ingest && job.version == key.version => {
                self.abandon(scope, key.file, newest).await
            }
            Ok(_) => Outcome::Nothing(Nothing::Stale),
            Err(outage) => retry(&Stop::outage(Stage::Claim, &outage)),
        }
    }

    /// Ends a job that no delivery will bring back. While an attempt still holds it, the dead letter waits.
    pub async fn abandon(&self, scope: &TenantScope, file: FileId, job: JobId) -> Outcome {
        self.try_abandon(scope, file, job).await.unwrap_or_else(|outage| retry(&Stop::outage(Stage::Claim, &outage)))
    }

    async fn try_abandon(&self, scope: &TenantScope, file_id: FileId, job_id: JobId) -> Result<Outcome, Outage> {
        for _ in 0..MAX_CONFLICTS {
            let Some(job) = self.store.job(scope, file_id, job_id).await? else {
                return Ok(Outcome::Nothing(Nothing::Unexpected));
            };
            let (now, generation) = (self.clock.now(), job.generation);
            let abandoned = match job.abandon(now) {
                Ok(abandoned) => abandoned,
                Err(ClaimRefusal::Terminal(_)) => return Ok(Outcome::Nothing(Nothing::Duplicate)),
                Err(ClaimRefusal::Leased { until }) => {
                    let after: Duration = until.since(now);
                    return Ok(Outcome::Retry { code: FailureCode::LeaseExpired, after });
                }
            };
            let failure = abandoned.failure.clone();
            let mut changes = vec![Change::PutJob(abandoned)];
            // A job that published and only failed to clean up leaves its file ready.
            let published = |file: &FileRecord| file.current_generation() == Some(generation);
            let file = self.store.file(scope, file_id).await?;
            let file = file.filter(|file| file.is_newest(job_id) && !published(file));
            if let (Some(mut file), Some(failure)) = (file, failure) {
                tracing::error!(event = "ingest.job.abandoned", %file_id, %job_id, code = failure.code.as_str());
                file.fail(job_id, failure, now);
                changes.push(Change::PutFile(file));
            }
            match self.store.commit(scope, changes).await {
                Ok(()) => return Ok(Outcome::Ended(JobStatus::Failed)),
                Err(CommitError::Conflict) => {}
                Err(CommitError::Outage(outage)) => return Err(outage),
            }
        }
        Err(contended())
    }
}
