use crate::router;
use anchorage_domain::{DomainKey, DomainPolicy, DomainRecord, Language, Revision, ScopeSet, TenantId, TenantScope};
use anchorage_lambda::{
    http::{Frame, app},
    testing::{Caller, Reply, call},
};
use anchorage_memory::{ManualClock, MemoryBlobs, MemoryQueue, MemoryStore, SequentialIds};
use anchorage_ports::{Change, Clock, DocumentStore, Ids};
use anchorage_service::Files;
use axum::Router;
use serde_json::{Value, json};
use std::sync::Arc;

struct World {
    app: Router,
    caller: Caller,
}

#[expect(clippy::disallowed_methods, reason = "a test is its own operator")]
fn operator(tenant: TenantId) -> TenantScope {
    TenantScope::for_operator(tenant)
}

async fn world() -> World {
    let tenant: TenantId = "01980000-0000-7000-8000-0000000000aa".parse().unwrap();
    let store = Arc::new(MemoryStore::default());
    let (clock, ids): (Arc<dyn Clock>, Arc<dyn Ids>) =
        (Arc::new(ManualClock::default()), Arc::new(SequentialIds::default()));
    let scope = operator(tenant);
    let domain = DomainRecord {
        key: DomainKey::new("d").unwrap(),
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
        clock: Arc::clone(&clock),
        ids: Arc::clone(&ids),
    };
    let (routes, _) = router(files).split_for_parts();
    World {
        app: app(Frame { function: "upload-url", clock, ids }, routes),
        caller: Caller { tenant, scopes: ScopeSet::all() },
    }
}

impl World {
    async fn call(&self, method: &str, target: &str, body: Option<&Value>) -> Reply {
        call(&self.app, Some(&self.caller), method, target, body).await.unwrap()
    }
}

fn valid() -> Value {
    json!({"filename": "a.txt", "size_bytes": 1, "sha256": "0".repeat(64), "domain": "d"})
}

fn with(field: &str, value: Value) -> Value {
    let mut body = valid();
    body[field] = value;
    body
}

#[tokio::test]
async fn announcement_answers_with_a_ticket_once_and_the_same_file_afterwards() {
    let world = world().await;
    let first = world.call("POST", "/v1/files", Some(&valid())).await;
    assert_eq!((first.status, first.text("/status"), first.text("/upload/method")), (201, "awaiting_upload", "PUT"));
    let again = world.call("POST", "/v1/files", Some(&valid())).await;
    assert_eq!((again.status, again.text("/file_id")), (200, first.text("/file_id")));
    let file = world.call("GET", &format!("/v1/files/{}", first.text("/file_id")), None).await;
    assert_eq!((file.status, file.text("/jobs/0/job_id")), (200, first.text("/job_id")));
    let job = format!("/v1/files/{}/jobs/{}", first.text("/file_id"), first.text("/job_id"));
    assert_eq!(world.call("GET", &job, None).await.text("/events/0/kind"), "created");
}

#[tokio::test]
async fn announcement_with_invalid_values_points_at_each() {
    let world = world().await;
    for (body, status, pointer) in [
        (with("sha256", json!("abc")), 422, "/sha256"),
        (with("filename", json!("a/b")), 422, "/filename"),
        (with("domain", json!("Not A Key")), 422, "/domain"),
        (with("size_bytes", json!(0)), 422, "/size_bytes"),
        (with("size_bytes", json!(-1)), 422, "/size_bytes"),
        (with("tenant_id", json!("b")), 422, "/tenant_id"),
        (with("title", json!(" ")), 422, "/title"),
        (with("metadata", json!({"k": "x".repeat(17_000)})), 422, "/metadata"),
        (with("size_bytes", json!(1_u64 << 40)), 413, ""),
        (with("domain", json!("nowhere")), 400, ""),
    ] {
        let reply = world.call("POST", "/v1/files", Some(&body)).await;
        assert_eq!((reply.status, reply.text("/errors/0/pointer")), (status, pointer), "{body}: {}", reply.body);
    }
    let mut two = with("sha256", json!("abc"));
    two["filename"] = json!("a/b");
    assert_eq!(world.call("POST", "/v1/files", Some(&two)).await.body["errors"].as_array().map(Vec::len), Some(2));
    let none = world.call("GET", "/v1/files", None).await;
    assert_eq!(none.body["files"], json!([]));
}

#[tokio::test]
async fn listing_bounds_hold() {
    let world = world().await;
    for (target, status) in [
        ("/v1/files?limit=1", 200),
        ("/v1/files?limit=100", 200),
        ("/v1/files?limit=0", 422),
        ("/v1/files?limit=101", 422),
        ("/v1/files?limit=x", 422),
        ("/v1/files?status=gone", 422),
        ("/v1/files?cursor=x", 422),
        ("/v1/files?domain=A", 422),
    ] {
        assert_eq!(world.call("GET", target, None).await.status, status, "{target}");
    }
}

#[tokio::test]
async fn deleted_file_answers_like_one_that_never_was() {
    let world = world().await;
    let file = world.call("POST", "/v1/files", Some(&valid())).await.text("/file_id").to_owned();
    let target = format!("/v1/files/{file}");
    assert_eq!(world.call("POST", &format!("{target}/reingest"), None).await.text("/code"), "upload_pending");
    assert_eq!(world.call("GET", &format!("{target}/content"), None).await.text("/code"), "upload_pending");
    let purge = world.call("DELETE", &target, None).await;
    assert_eq!(purge.status, 202);
    let job = world.call("GET", &format!("{target}/jobs/{}", purge.text("/job_id")), None).await;
    assert_eq!((job.status, job.text("/kind")), (200, "purge"));
    let without_correlation = |mut reply: Reply| {
        reply.body["correlation_id"] = Value::Null;
        (reply.status, reply.body)
    };
    let gone = without_correlation(world.call("GET", &target, None).await);
    let never = without_correlation(world.call("GET", "/v1/files/01980000-0000-7000-8000-0000000000ff", None).await);
    assert_eq!(gone, never);
    assert_eq!(world.call("DELETE", &target, None).await.status, 404);
}
