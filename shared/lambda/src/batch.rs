//! One batch of a queue: every message on its own, and only those reported that must come again.
//!
//! A message that can never succeed is acknowledged, one that passes with time is made visible again after a growing,
//! jittered delay. Nothing of a message outlives its invocation here.

use crate::{
    correlation::xray_trace,
    events::{Incoming, ObjectEvent, decode},
    metrics::{self, Unit},
};
use anchorage_domain::{FileId, JobId, JobStatus, TenantScope, Timestamp};
use anchorage_ports::{Clock, JobQueue, ReceiptHandle};
use anchorage_service::{
    Ingestion,
    ingestion::{DeadLetters, Invocation, LEASE_MARGIN, Nothing, ObjectArrival, Outcome},
};
use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent, SqsMessage};
use futures::{StreamExt as _, stream};
use lambda_runtime::{LambdaEvent, service_fn};
use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::Arc,
    time::Duration,
};
use tracing::Instrument as _;

/// Messages of a batch worked on at once: each can hold a whole document in memory.
const MAX_CONCURRENT: usize = 2;
/// Time a message must have to be begun; with less the batch could not be reported.
const MIN_TIME: Duration = Duration::from_secs(4);
/// Time kept back for reporting the batch.
const RESERVE: Duration = Duration::from_secs(2);
/// Time an invocation has whose runtime does not say.
const ASSUMED_TIME: Duration = Duration::from_mins(1);
/// Delay after the first failed delivery; each further one waits four times as long.
const FIRST_DELAY: Duration = Duration::from_secs(5);
/// Longest such delay.
const MAX_DELAY: Duration = Duration::from_mins(15);
/// Most that chance adds to a delay whose length was asked for.
const MAX_JITTER: Duration = Duration::from_secs(4);

/// What a function does with the messages of its queue.
pub trait Handler: Send + Sync + 'static {
    fn object(
        &self,
        scope: &TenantScope,
        arrival: &ObjectArrival,
        invocation: &Invocation,
    ) -> impl Future<Output = Outcome> + Send;

    fn job(
        &self,
        scope: &TenantScope,
        file: FileId,
        job: JobId,
        invocation: &Invocation,
    ) -> impl Future<Output = Outcome> + Send;
}

impl Handler for Ingestion {
    async fn object(&self, scope: &TenantScope, arrival: &ObjectArrival, invocation: &Invocation) -> Outcome {
        self.object_arrived(scope, arrival, invocation).await
    }

    async fn job(&self, scope: &TenantScope, file: FileId, job: JobId, invocation: &Invocation) -> Outcome {
        self.run(scope, file, job, invocation).await
    }
}

impl Handler for DeadLetters {
    async fn object(&self, scope: &TenantScope, arrival: &ObjectArrival, _invocation: &Invocation) -> Outcome {
        self.abandon_arrival(scope, &arrival.key).await
    }

    async fn job(&self, scope: &TenantScope, file: FileId, job: JobId, _invocation: &Invocation) -> Outcome {
        self.abandon(scope, file, job).await
    }
}

/// What the runner of a function's batches needs.
#[derive(Debug, Clone)]
pub struct Batches {
    /// The function's name, as its metrics carry it.
    pub function: &'static str,
    /// The queue the batches come from.
    pub queue: Arc<dyn JobQueue>,
    pub clock: Arc<dyn Clock>,
}

/// A message must come again but has no id to report it by, so the whole batch comes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a message that must come again has no id")]
pub struct Unreportable;

/// How a message ended, in a word of a small closed set, and after what delay it must come again if it must.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Verdict {
    outcome: &'static str,
    again: Option<Duration>,
}

impl Verdict {
    const fn done(outcome: &'static str) -> Self {
        Self { outcome, again: None }
    }

    /// The one to report of two objects of one message: whatever must come again takes the message along.
    fn or(self, other: Self) -> Self {
        if self.again > other.again { self } else { other }
    }
}

/// Runs the function until the platform ends it.
///
/// # Errors
/// When the platform's runtime API cannot be reached.
pub async fn serve(batches: Batches, handler: impl Handler) -> Result<(), lambda_runtime::Error> {
    let handler = Arc::new(handler);
    lambda_runtime::run(service_fn(|event: LambdaEvent<SqsEvent>| {
        let given = Timestamp::from_unix_millis(i64::try_from(event.context.deadline).unwrap_or(i64::MAX));
        let deadline = usable(given, batches.clock.now());
        let trace_id = event.context.xray_trace_id.as_deref().and_then(xray_trace);
        let (batches, handler) = (batches.clone(), Arc::clone(&handler));
        async move {
            let invocation = Invocation { deadline, trace_id };
            batches.run(&handler, event.payload, &invocation).await.map_err(lambda_runtime::Error::from)
        }
    }))
    .await
}

/// The deadline, or one of our own where the runtime gives none: the platform never begins what is over already, and
/// emulators of it leave the deadline out.
fn usable(given: Timestamp, now: Timestamp) -> Timestamp {
    if given > now { given } else { now.plus(ASSUMED_TIME) }
}

impl Batches {
    /// Works through one batch and names the messages that must come again.
    ///
    /// # Errors
    /// When such a message cannot be named.
    pub async fn run<H: Handler>(
        &self,
        handler: &Arc<H>,
        event: SqsEvent,
        invocation: &Invocation,
    ) -> Result<SqsBatchResponse, Unreportable> {
        let settled = stream::iter(event.records).map(|message| self.settle(handler, message, invocation));
        let settled: Vec<_> = settled.buffered(MAX_CONCURRENT).collect().await;
        let mut response = SqsBatchResponse::default();
        for again in settled {
            if let Some(id) = again? {
                response.add_failure(id);
            }
        }
        Ok(response)
    }

    /// Works on one message. Its id when it must come again.
    async fn settle<H: Handler>(
        &self,
        handler: &Arc<H>,
        message: SqsMessage,
        invocation: &Invocation,
    ) -> Result<Option<String>, Unreportable> {
        let verdict = self.attempt(handler, &message, invocation).await;
        let dimensions = [("function", self.function), ("outcome", verdict.outcome)];
        metrics::emit(self.clock.now(), &dimensions, &[("messages", Unit::Count, 1.0)]);
        let Some(after) = verdict.again else {
            return Ok(None);
        };
        let id = message.message_id.filter(|id| !id.is_empty()).ok_or(Unreportable)?;
        let received = message.attributes.get("ApproximateReceiveCount").and_then(|text| text.parse().ok());
        let delay = delay(&id, received.unwrap_or(1), after);
        if let Some(receipt) = message.receipt_handle
            && let Err(outage) = self.queue.postpone(&ReceiptHandle(receipt), delay).await
        {
            // The queue's own time-out brings the message back as well, only later.
            tracing::warn!(event = "ingest.message.not_postponed", message_id = id, error = %outage);
        }
        Ok(Some(id))
    }

    /// Lets the handler have the message in a task of its own, so that a panic or an endless one costs this message alone.
    async fn attempt<H: Handler>(&self, handler: &Arc<H>, message: &SqsMessage, invocation: &Invocation) -> Verdict {
        let now = self.clock.now();
        let left = invocation.deadline.since(now);
        if left < MIN_TIME {
            return Verdict { outcome: "not_taken", again: Some(Duration::from_secs(1)) };
        }
        let time = left.saturating_sub(RESERVE);
        let id = message.message_id.as_deref();
        let span = tracing::info_span!("message", message_id = id, trace_id = invocation.trace_id.as_deref());
        let own = Invocation { deadline: now.plus(time), trace_id: invocation.trace_id.clone() };
        let body = message.body.clone().unwrap_or_default();
        let task = tokio::spawn(perform(Arc::clone(handler), body, own).instrument(span));
        let abort = task.abort_handle();
        // A claim that a lost task leaves behind holds until then.
        let lost = |outcome| Verdict { outcome, again: Some(left + LEASE_MARGIN) };
        match tokio::time::timeout(time, task).await {
            Ok(Ok(verdict)) => verdict,
            Ok(Err(_)) => {
                tracing::error!(event = "ingest.message.panicked", message_id = id);
                lost("panicked")
            }
            Err(_) => {
                abort.abort();
                tracing::error!(event = "ingest.message.timed_out", message_id = id);
                lost("timed_out")
            }
        }
    }
}

async fn perform<H: Handler>(handler: Arc<H>, body: String, invocation: Invocation) -> Verdict {
    match decode(&body) {
        Incoming::Run { scope, file, job } => {
            let outcome = handler.job(&scope, file, job, &invocation).await;
            concluded(&scope, file, &outcome)
        }
        Incoming::Objects(events) => {
            let mut verdict = Verdict::done("nothing");
            for event in events {
                let next = match event {
                    ObjectEvent::Arrived { scope, arrival } => {
                        let outcome = handler.object(&scope, &arrival, &invocation).await;
                        concluded(&scope, arrival.key.file, &outcome)
                    }
                    ObjectEvent::Removed => Verdict::done("removed"),
                    ObjectEvent::Unexpected => {
                        tracing::warn!(event = "ingest.event.unexpected", "the object's key is none of this service's");
                        Verdict::done("unexpected")
                    }
                };
                verdict = verdict.or(next);
            }
            verdict
        }
        Incoming::TestEvent => {
            tracing::info!(event = "ingest.event.test");
            Verdict::done("test")
        }
        Incoming::Malformed(why) => {
            tracing::error!(event = "ingest.event.malformed", %why);
            Verdict::done("malformed")
        }
    }
}

fn concluded(scope: &TenantScope, file: FileId, outcome: &Outcome) -> Verdict {
    let tenant_id = scope.tenant();
    match outcome {
        Outcome::Ended(JobStatus::Skipped) => Verdict::done("skipped"),
        Outcome::Ended(JobStatus::Failed) => Verdict::done("failed"),
        Outcome::Ended(JobStatus::Succeeded | JobStatus::Queued | JobStatus::Running) => Verdict::done("succeeded"),
        Outcome::Nothing(Nothing::Duplicate) => {
            tracing::info!(event = "ingest.event.duplicate", %tenant_id, file_id = %file);
            Verdict::done("duplicate")
        }
        Outcome::Nothing(Nothing::Stale) => {
            tracing::info!(event = "ingest.event.stale", %tenant_id, file_id = %file);
            Verdict::done("stale")
        }
        Outcome::Nothing(Nothing::Unexpected) => {
            tracing::warn!(event = "ingest.event.unexpected", %tenant_id, file_id = %file);
            Verdict::done("unexpected")
        }
        Outcome::Nothing(Nothing::LostLease) => Verdict::done("lost_lease"),
        Outcome::Continued => Verdict::done("continued"),
        Outcome::Retry { code, after } => {
            tracing::warn!(event = "ingest.message.retried", %tenant_id, file_id = %file, code = code.as_str());
            Verdict { outcome: "retried", again: Some(*after) }
        }
    }
}

/// How long a message stays away: `after` and a little when that was asked for, else longer with every delivery.
fn delay(message_id: &str, received: u32, after: Duration) -> Duration {
    let mut hasher = DefaultHasher::new();
    (message_id, received).hash(&mut hasher);
    // Thousandths, spread over messages and deliveries: those that failed together do not come back together.
    let chance = u32::try_from(hasher.finish() % 1000).unwrap_or(0);
    let share = |most: Duration| most * chance / 1000;
    if after > Duration::ZERO {
        // The queue counts whole seconds, downwards.
        return after + Duration::from_secs(1) + share(MAX_JITTER);
    }
    let grown = FIRST_DELAY.saturating_mul(4_u32.saturating_pow(received.saturating_sub(1))).min(MAX_DELAY);
    grown / 2 + share(grown / 2)
}

#[cfg(test)]
mod tests;
