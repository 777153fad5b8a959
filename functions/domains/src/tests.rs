use crate::router;
use anchorage_domain::ScopeSet;
use anchorage_lambda::{
    http::{Frame, app},
    testing::{Caller, Reply, call},
};
use anchorage_memory::{ManualClock, MemoryStore, SequentialIds};
use anchorage_ports::{Clock, Ids};
use anchorage_service::Domains;
use axum::Router;
use serde_json::{Value, json};
use std::sync::Arc;

fn tested() -> Router {
    let (clock, ids): (Arc<dyn Clock>, Arc<dyn Ids>) =
        (Arc::new(ManualClock::default()), Arc::new(SequentialIds::default()));
    let (routes, _) =
        router(Domains { store: Arc::new(MemoryStore::default()), clock: Arc::clone(&clock) }).split_for_parts();
    app(Frame { function: "domains", clock, ids }, routes)
}

async fn ask(app: &Router, tenant: u8, method: &str, target: &str, body: Option<Value>) -> Reply {
    let tenant = format!("01980000-0000-7000-8000-0000000000{tenant:02x}").parse().unwrap();
    let caller = Caller { tenant, scopes: ScopeSet::all() };
    call(app, Some(&caller), method, target, body.as_ref()).await.unwrap()
}

#[tokio::test]
async fn domain_is_registered_once_and_seen_by_its_tenant_alone() {
    let app = tested();
    let body = json!({"key": "faq", "policy": {"language": "fa", "disclaimer": "تنها برای راهنمایی."}});
    let made = ask(&app, 1, "POST", "/v1/domains", Some(body.clone())).await;
    assert_eq!((made.status, made.body["active"].as_bool()), (201, Some(true)));
    let again = ask(&app, 1, "POST", "/v1/domains", Some(body)).await;
    assert_eq!((again.status, again.text("/code")), (409, "domain_exists"));
    assert_eq!(ask(&app, 1, "GET", "/v1/domains/faq", None).await.text("/policy/language"), "fa");
    assert_eq!(ask(&app, 1, "GET", "/v1/domains", None).await.text("/domains/0/key"), "faq");
    assert_eq!(ask(&app, 2, "GET", "/v1/domains/faq", None).await.status, 404);
    assert_eq!(ask(&app, 2, "GET", "/v1/domains", None).await.body, json!({"domains": []}));
}

#[tokio::test]
async fn change_keeps_what_is_left_out() {
    let app = tested();
    let policy = json!({"language": "en", "disclaimer": "Ask a doctor."});
    ask(&app, 1, "POST", "/v1/domains", Some(json!({"key": "d", "policy": policy}))).await;
    let off = ask(&app, 1, "PATCH", "/v1/domains/d", Some(json!({"active": false}))).await;
    assert_eq!((off.body["active"].as_bool(), off.text("/policy/disclaimer")), (Some(false), "Ask a doctor."));
    let other = ask(&app, 1, "PATCH", "/v1/domains/d", Some(json!({"policy": {"language": "vi"}}))).await;
    assert_eq!((other.body["active"].as_bool(), other.text("/policy/language")), (Some(false), "vi"));
    assert_eq!(ask(&app, 1, "PATCH", "/v1/domains/none", Some(json!({}))).await.status, 404);
}

#[tokio::test]
async fn invalid_values_are_pointed_at() {
    let app = tested();
    let policy = |policy: Value| json!({"key": "d", "policy": policy});
    for (body, pointer) in [
        (json!({"key": "Not A Key", "policy": {"language": "en"}}), "/key"),
        (json!({"key": "d"}), "/policy"),
        (policy(json!({"language": "de"})), "/policy/language"),
        (policy(json!({"language": "en", "disclaimer": " "})), "/policy/disclaimer"),
        (policy(json!({"language": "en", "colour": 1})), "/policy/colour"),
        (
            policy(json!({"language": "en", "chunking": {"max_tokens": 5, "overlap_tokens": 0}})),
            "/policy/chunking/max_tokens",
        ),
        (
            policy(json!({"language": "en", "chunking": {"max_tokens": 100, "overlap_tokens": 50}})),
            "/policy/chunking/overlap_tokens",
        ),
    ] {
        let reply = ask(&app, 1, "POST", "/v1/domains", Some(body.clone())).await;
        assert_eq!((reply.status, reply.text("/errors/0/pointer")), (422, pointer), "{body}");
    }
    ask(&app, 1, "POST", "/v1/domains", Some(policy(json!({"language": "en"})))).await;
    let renamed = ask(&app, 1, "PATCH", "/v1/domains/d", Some(json!({"key": "e"}))).await;
    assert_eq!((renamed.status, renamed.text("/errors/0/pointer")), (422, "/key"));
}
