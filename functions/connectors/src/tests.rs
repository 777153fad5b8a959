use crate::router;
use anchorage_domain::{DomainKey, DomainPolicy, DomainRecord, Language, Revision, ScopeSet, TenantId, TenantScope};
use anchorage_lambda::{
    http::{Frame, app},
    testing::{Caller, Reply, call},
};
use anchorage_memory::{ManualClock, MemoryBlobs, MemoryQueue, MemoryStore, SequentialIds};
use anchorage_ports::{Change, Clock, DocumentStore as _, Ids};
use anchorage_service::{Connectors, Files};
use axum::Router;
use serde_json::{Value, json};
use std::sync::Arc;

const TENANT: &str = "01980000-0000-7000-8000-000000000001";

#[expect(clippy::disallowed_methods, reason = "a test is its own operator")]
fn scope() -> TenantScope {
    TenantScope::for_operator(TENANT.parse::<TenantId>().unwrap())
}

async fn tested() -> Router {
    let (clock, ids): (Arc<dyn Clock>, Arc<dyn Ids>) =
        (Arc::new(ManualClock::default()), Arc::new(SequentialIds::default()));
    let store = Arc::new(MemoryStore::default());
    for (key, active) in [("d", true), ("off", false)] {
        let domain = DomainRecord {
            key: DomainKey::new(key).unwrap(),
            active,
            policy: DomainPolicy::new(Language::En),
            created_by: scope().actor().clone(),
            created_at: clock.now(),
            updated_at: clock.now(),
            revision: Revision::NEW,
        };
        store.commit(&scope(), vec![Change::PutDomain(domain)]).await.unwrap();
    }
    let (blobs, queue) = (Arc::new(MemoryBlobs::default()), Arc::new(MemoryQueue::default()));
    let files = Files { store, blobs, queue, clock: Arc::clone(&clock), ids: Arc::clone(&ids) };
    let (routes, _) = router(Connectors { files }).split_for_parts();
    app(Frame { function: "connectors", clock, ids }, routes)
}

async fn send(app: &Router, connector: &str, body: &Value) -> Reply {
    let caller = Caller { tenant: TENANT.parse().unwrap(), scopes: ScopeSet::all() };
    call(app, Some(&caller), "POST", &format!("/v1/connectors/{connector}/documents"), Some(body)).await.unwrap()
}

#[tokio::test]
async fn items_are_counted_and_a_bad_one_is_named() {
    let app = tested().await;
    let items = json!([{"path": "a.md", "content": "One thing."}, {"path": "b.md", "content": " "}]);
    let reply = send(&app, "obsidian", &json!({"domain": "d", "items": items})).await;
    assert_eq!(reply.status, 202, "{}", reply.body);
    let counts =
        ["accepted", "unchanged", "title_updated", "duplicates", "removed"].map(|name| reply.body[name].as_u64());
    assert_eq!(counts, [Some(1), Some(0), Some(0), Some(0), Some(0)]);
    assert_eq!(
        (reply.body["rejected"][0]["index"].as_u64(), reply.text("/rejected/0/code")),
        (Some(1), "blank_content")
    );
}

#[tokio::test]
async fn request_that_cannot_be_taken_is_told_what_would_be_right() {
    let app = tested().await;
    let item = json!({"path": "a.md", "content": "One thing."});
    let with = |domain: &str, items: Value| json!({"domain": domain, "items": items});
    for (connector, body, status, at) in [
        ("fax", with("d", json!([item])), 404, ""),
        ("obsidian", with("off", json!([item])), 400, ""),
        ("obsidian", with("none", json!([item])), 400, ""),
        ("obsidian", with("B A D", json!([item])), 422, "/domain"),
        ("obsidian", with("d", json!([])), 422, "/items"),
        ("obsidian", with("d", json!(vec![item.clone(); 101])), 422, "/items"),
        ("obsidian", json!({"domain": "d", "items": [item], "more": 1}), 422, "/more"),
    ] {
        let reply = send(&app, connector, &body).await;
        assert_eq!((reply.status, reply.text("/errors/0/pointer")), (status, at), "{}", reply.body);
    }
}
