//! The recorded events of events/, each handed to the code that gets it from AWS.
#![cfg(test)]

use anchorage_domain::{
    ApiKey, ApiKeyRecord, DomainKey, DomainPolicy, DomainRecord, Language, Revision, ScopeSet, TenantId, TenantScope,
};
use anchorage_lambda::{
    events::{Incoming, ObjectEvent, decode},
    http::{Frame, app},
    testing::{Reply, deliver},
};
use anchorage_memory::{ManualClock, MemoryBlobs, MemoryQueue, MemoryStore, SequentialIds};
use anchorage_ports::{Change, Clock as _, Directory as _, DocumentStore as _};
use anchorage_service::Files;
use serde_json::{Value, json};
use std::{fs, path::PathBuf, sync::Arc};

const TENANT: &str = "01980000-0000-7000-8000-0000000000a1";

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../events")
}

fn event(name: &str) -> Value {
    let text = fs::read_to_string(folder().join(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "a test is its own operator")]
fn operator() -> TenantScope {
    TenantScope::for_operator(TENANT.parse::<TenantId>().unwrap())
}

/// What the files of a tenant answer that has one domain, `handbook`.
async fn files(name: &str) -> Reply {
    let (store, clock, scope) = (Arc::new(MemoryStore::default()), Arc::new(ManualClock::default()), operator());
    let domain = DomainRecord {
        key: DomainKey::new("handbook").unwrap(),
        active: true,
        policy: DomainPolicy::new(Language::En),
        created_by: scope.actor().clone(),
        created_at: clock.now(),
        updated_at: clock.now(),
        revision: Revision::NEW,
    };
    store.commit(&scope, vec![Change::PutDomain(domain)]).await.unwrap();
    let files = Files {
        store,
        blobs: Arc::new(MemoryBlobs::default()),
        queue: Arc::new(MemoryQueue::default()),
        clock: clock.clone(),
        ids: Arc::new(SequentialIds::default()),
    };
    let (routes, _) = upload_url::router(files).split_for_parts();
    let frame = Frame { function: "upload-url", clock, ids: Arc::new(SequentialIds::default()) };
    deliver(&app(frame, routes), event(name)).await.unwrap()
}

#[tokio::test]
async fn http_event_is_answered_for_the_tenant_of_its_authorizer() {
    assert_eq!(files("http-get.json").await.status, 200);
    for name in ["http-post.json", "http-post-base64.json"] {
        let reply = files(name).await;
        assert_eq!((reply.status, reply.text("/status")), (201, "awaiting_upload"), "{name}: {}", reply.body);
    }
}

#[tokio::test]
async fn authorizer_event_is_allowed_once_its_key_is_there() {
    let event = event("authorizer-request.json");
    let key = ApiKey::parse(event["identitySource"][0].as_str().unwrap()).unwrap();
    let (store, clock) = (Arc::new(MemoryStore::default()), ManualClock::default());
    let record = ApiKeyRecord {
        key_id: key.id.clone(),
        tenant_id: TENANT.parse().unwrap(),
        secret_sha256: key.secret.sha256(),
        scopes: ScopeSet::default_scopes(),
        label: String::new(),
        created_at: clock.now(),
        expires_at: None,
        revoked_at: None,
    };
    let authorizer = authorizer::Authorizer { directory: store.clone(), clock: Arc::new(clock) };
    let judged = |verdict: authorizer::Verdict| serde_json::to_value(verdict).unwrap();
    assert_eq!(judged(authorizer.judge(&event).await.unwrap()), json!({"isAuthorized": false}));
    store.put_key(&operator(), &record).await.unwrap();
    assert_eq!(judged(authorizer.judge(&event).await.unwrap())["context"]["tenant_id"], TENANT);
}

/// What each message of a batch asks for, in a word.
fn asked(name: &str) -> Vec<&'static str> {
    let records = event(name)["Records"].as_array().unwrap().clone();
    let word = |event: &ObjectEvent| match event {
        ObjectEvent::Arrived { scope, .. } => {
            assert_eq!(scope.tenant().to_string(), TENANT);
            "arrived"
        }
        ObjectEvent::Removed => "removed",
        ObjectEvent::Unexpected => "unexpected",
    };
    let words = |record: &Value| match decode(record["body"].as_str().unwrap()) {
        Incoming::Objects(events) => events.iter().map(word).collect(),
        Incoming::Run { .. } => vec!["run"],
        Incoming::TestEvent => vec!["test"],
        Incoming::Malformed(_) => vec!["malformed"],
    };
    records.iter().flat_map(words).collect()
}

#[test]
fn queue_event_asks_for_what_its_messages_say() {
    for (name, expected) in [
        ("sqs-object-created.json", &["arrived", "unexpected", "unexpected"][..]),
        ("sqs-object-removed.json", &["unexpected"]),
        ("sqs-test-event.json", &["test"]),
        ("sqs-run-job.json", &["run"]),
        ("sqs-malformed.json", &["malformed"]),
        ("dlq.json", &["arrived", "run"]),
    ] {
        assert_eq!(asked(name), expected, "{name}");
    }
}

#[test]
fn queue_event_wraps_the_notification_as_the_object_store_writes_it() {
    let created = event("sqs-object-created.json");
    let body: Value = serde_json::from_str(created["Records"][0]["body"].as_str().unwrap()).unwrap();
    let shape = |notification: &Value| -> Vec<String> {
        let record = notification["Records"][0].as_object().unwrap();
        let object = record["s3"]["object"].as_object().unwrap();
        record.keys().chain(object.keys()).cloned().collect()
    };
    assert_eq!(shape(&body), shape(&event("s3-object-created.json")));
}
