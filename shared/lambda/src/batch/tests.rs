use super::*;
use anchorage_domain::FailureCode;
use anchorage_memory::{ManualClock, MemoryQueue};
use serde_json::{Value, json};
use std::sync::Mutex;

const TENANT: &str = "01980000-0000-7000-8000-0000000000a1";
const FILE: &str = "01980000-0000-7000-8000-0000000000f1";

/// A handler whose answer is in the version of the object's key, and which panics or hangs at some.
#[derive(Debug, Default)]
struct Scripted {
    seen: Mutex<Vec<u32>>,
}

const SUCCEEDS: u32 = 1;
const RETRIES: u32 = 2;
const PANICS: u32 = 3;
const HANGS: u32 = 4;
const LEASED: u32 = 5;
const LEASE_LEFT: Duration = Duration::from_secs(77);

impl Handler for Scripted {
    async fn object(&self, _scope: &TenantScope, arrival: &ObjectArrival, _invocation: &Invocation) -> Outcome {
        self.seen.lock().unwrap().push(arrival.key.version);
        match arrival.key.version {
            RETRIES => Outcome::Retry { code: FailureCode::Throttled, after: Duration::ZERO },
            LEASED => Outcome::Retry { code: FailureCode::LeaseExpired, after: LEASE_LEFT },
            PANICS => panic!("as a parser might"),
            HANGS => std::future::pending().await,
            _ => Outcome::Ended(JobStatus::Succeeded),
        }
    }

    async fn job(&self, _scope: &TenantScope, _file: FileId, _job: JobId, _invocation: &Invocation) -> Outcome {
        Outcome::Ended(JobStatus::Succeeded)
    }
}

struct World {
    batches: Batches,
    queue: Arc<MemoryQueue>,
    handler: Arc<Scripted>,
    clock: Arc<ManualClock>,
}

fn world() -> World {
    let (queue, clock) = (Arc::new(MemoryQueue::default()), Arc::new(ManualClock::default()));
    let batches = Batches { function: "tested", queue: queue.clone(), clock: clock.clone() };
    World { batches, queue, handler: Arc::default(), clock }
}

/// A record as SQS delivers it.
fn record(id: &str, body: &str, received: u32) -> Value {
    json!({
        "messageId": id, "receiptHandle": format!("receipt of {id}"), "body": body,
        "attributes": {"ApproximateReceiveCount": received.to_string()},
    })
}

fn arrival(version: u32) -> String {
    let object = json!({"key": format!("uploads/{TENANT}/{FILE}/{version}")});
    json!({"Records": [{"eventName": "ObjectCreated:Put", "s3": {"object": object}}]}).to_string()
}

fn batch(records: &[Value]) -> SqsEvent {
    serde_json::from_value(json!({ "Records": records })).unwrap()
}

impl World {
    async fn run(&self, seconds: u64, records: Vec<Value>) -> Result<Vec<String>, Unreportable> {
        let deadline = self.clock.now().plus(Duration::from_secs(seconds));
        let invocation = Invocation { deadline, trace_id: None };
        let response = self.batches.run(&self.handler, batch(&records), &invocation).await?;
        Ok(response.batch_item_failures.into_iter().map(|failure| failure.item_identifier).collect())
    }

    fn postponed(&self) -> Vec<(String, Duration)> {
        self.queue.postponed().into_iter().map(|(receipt, delay)| (receipt.0, delay)).collect()
    }
}

/// Cases C04 and E9: a panic and a failure cost their own messages; the others are done.
#[tokio::test]
async fn only_messages_that_must_come_again_are_reported() {
    let world = world();
    let records = vec![
        record("ok", &arrival(SUCCEEDS), 1),
        record("panics", &arrival(PANICS), 1),
        record("retries", &arrival(RETRIES), 1),
        record("ok too", &arrival(SUCCEEDS), 1),
        record("leased", &arrival(LEASED), 1),
    ];
    assert_eq!(world.run(60, records).await.unwrap(), ["panics", "retries", "leased"]);
    let postponed = world.postponed();
    assert_eq!(
        postponed.iter().map(|(receipt, _)| receipt.as_str()).collect::<Vec<_>>(),
        ["receipt of panics", "receipt of retries", "receipt of leased"]
    );
    assert!(postponed[0].1 > Duration::from_mins(1) + LEASE_MARGIN, "the panicked attempt's claim runs out first");
    assert!(postponed[1].1 <= FIRST_DELAY);
    assert!(postponed[2].1 > LEASE_LEFT);
}

/// Case E13: what can never succeed is acknowledged; it is not tried again five times.
#[tokio::test]
async fn message_that_is_not_understood_or_asks_nothing_is_acknowledged() {
    let world = world();
    let test_event = include_str!("../../../../events/s3-test-event.json");
    let removed = include_str!("../../../../events/s3-object-removed.json");
    let bodies = ["", "{", "{}", test_event, removed, r#"{"anchorage":{"type":"run_job"}}"#];
    let records = bodies.iter().map(|body| record("m", body, 1)).collect();
    assert_eq!(world.run(60, records).await.unwrap(), Vec::<String>::new());
    assert_eq!(*world.handler.seen.lock().unwrap(), Vec::<u32>::new());
}

/// Case E3: a batch that cannot finish does not begin what it could not report.
#[tokio::test]
async fn message_without_time_left_is_not_begun_and_comes_again_soon() {
    let world = world();
    let failed = world.run(3, vec![record("late", &arrival(SUCCEEDS), 4)]).await.unwrap();
    assert_eq!((failed, world.handler.seen.lock().unwrap().len()), (vec!["late".to_owned()], 0));
    assert!(world.postponed()[0].1 < Duration::from_secs(10));
}

#[tokio::test(start_paused = true)]
async fn message_that_hangs_is_given_up_in_time_to_report_the_others() {
    let world = world();
    let records = vec![record("hangs", &arrival(HANGS), 1), record("ok", &arrival(SUCCEEDS), 1)];
    let started = tokio::time::Instant::now();
    assert_eq!(world.run(60, records).await.unwrap(), ["hangs"]);
    assert_eq!(started.elapsed() + RESERVE, Duration::from_mins(1));
}

/// Case E7: what failed before is run again by the same instance.
#[tokio::test]
async fn message_delivered_again_is_run_again() {
    let world = world();
    for received in 1..=3 {
        world.run(60, vec![record("again", &arrival(RETRIES), received)]).await.unwrap();
    }
    assert_eq!(*world.handler.seen.lock().unwrap(), [RETRIES; 3]);
    let delays: Vec<_> = world.postponed().into_iter().map(|(_, delay)| delay).collect();
    assert!(delays.is_sorted() && delays[0] < delays[2], "{delays:?}");
}

#[tokio::test]
async fn notification_of_several_objects_comes_again_when_one_of_them_must() {
    let world = world();
    let object = |version: u32| {
        let key = format!("uploads/{TENANT}/{FILE}/{version}");
        json!({"eventName": "ObjectCreated:Put", "s3": {"object": {"key": key}}})
    };
    let body = json!({"Records": [object(SUCCEEDS), object(RETRIES), object(SUCCEEDS)]}).to_string();
    assert_eq!(world.run(60, vec![record("three", &body, 1)]).await.unwrap(), ["three"]);
    assert_eq!(*world.handler.seen.lock().unwrap(), [SUCCEEDS, RETRIES, SUCCEEDS]);
}

/// An empty identifier would fail the whole batch without saying so (SQS, partial batch responses).
#[tokio::test]
async fn message_without_an_id_is_never_reported_by_an_empty_one() {
    let world = world();
    assert_eq!(world.run(60, vec![record("", &arrival(SUCCEEDS), 1)]).await, Ok(vec![]));
    assert_eq!(world.run(60, vec![record("", &arrival(RETRIES), 1)]).await, Err(Unreportable));
}

#[test]
fn delay_grows_with_deliveries_is_bounded_and_differs_between_messages() {
    for received in 0..40 {
        let grown = delay("m", received, Duration::ZERO);
        let most = FIRST_DELAY.saturating_mul(4_u32.saturating_pow(received.saturating_sub(1))).min(MAX_DELAY);
        assert!(most / 2 <= grown && grown <= most, "{received}: {grown:?}");
    }
    let delays: std::collections::BTreeSet<_> = (0..20).map(|n| delay(&format!("m{n}"), 2, Duration::ZERO)).collect();
    assert!(delays.len() > 15);
    let asked = delay("m", 9, LEASE_LEFT);
    assert!(LEASE_LEFT < asked && asked <= LEASE_LEFT + Duration::from_secs(1) + MAX_JITTER);
}

#[test]
fn deadline_that_is_over_when_the_work_begins_is_none() {
    let at = Timestamp::from_unix_millis;
    for (given, now, expected) in [(2_000, 1_000, 2_000), (1_000, 1_000, 61_000), (0, 1_000, 61_000)] {
        assert_eq!(usable(at(given), at(now)), at(expected), "{given} at {now}");
    }
}
