use crate::router;
use anchorage_domain::ScopeSet;
use anchorage_lambda::{
    http::{Frame, app},
    testing::{Caller, Reply, call, deliver, event},
};
use anchorage_service::{Answering, Retrieval};
use axum::Router;
use serde_json::{Value, json};
use testing::{DISCLAIMER, World, scope, tenant};

#[path = "../../../shared/service/src/testing.rs"]
mod testing;

fn app_of(world: &World) -> Router {
    let retrieval =
        Retrieval::new(world.store.clone(), world.index.clone(), vec![world.embedder.clone()], world.clock.clone());
    let answering =
        Answering { retrieval, traces: world.store.clone(), clock: world.clock.clone(), ids: world.ids.clone() };
    let (routes, _) = router(answering).split_for_parts();
    app(Frame { function: "rag-query", clock: world.clock.clone(), ids: world.ids.clone() }, routes)
}

fn caller(last: u8) -> Caller {
    Caller { tenant: tenant(last), scopes: ScopeSet::all() }
}

async fn post(app: &Router, target: &str, body: Value) -> Reply {
    call(app, Some(&caller(1)), "POST", target, Some(&body)).await.unwrap()
}

#[tokio::test]
async fn answer_has_the_whole_contract() {
    let world = World::new().await;
    let file = world.publish(&scope(1), "en", "hours", "The Halden branch opens at nine on weekdays.").await;
    let app = app_of(&world);
    let body = json!({"query": "When does the Halden branch open?", "domain": "en", "answer_mode": "concise",
        "subject_scope": "branches", "intent": "hours", "conversation_id": "c-1", "top_k": 5});
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let parent = format!("00-{trace}-00f067aa0ba902b7-01");
    let headers = [("traceparent", parent.as_str()), ("x-correlation-id", "mine-1")];
    let mut event = event("POST", "/v1/rag/query", &headers, Some(&body.to_string()));
    event["requestContext"]["authorizer"] = json!({"lambda": caller(1).context()});
    let mut answer = deliver(&app, event).await.unwrap();
    assert_eq!(answer.status, 200, "{}", answer.body);
    let chunk = answer.body["citations"][0]["chunk_id"].take();
    assert!(!answer.body["trace_id"].take().is_null());
    assert!(answer.body["citations"][0]["score"].take().is_number());
    assert!(answer.body["usage"]["stage_millis"].take().is_object());
    let quote = "The Halden branch opens at nine on weekdays.";
    assert_eq!(
        answer.body,
        json!({
            "trace_id": null, "correlation_id": "mine-1", "otel_trace_id": trace,
            "decision": "answerable", "reason": "quoted", "answer": quote, "resolved_entity_ids": [],
            "citations": [{
                "chunk_id": null, "file_id": file, "source_document": "hours.txt", "section_key": null,
                "section_title": null, "source": {"kind": "bytes", "start": 0, "end": quote.len()},
                "printed_page_start": null, "printed_page_end": null, "physical_page": null, "block_id": null,
                "bbox": null, "source_crop": null, "attachment": null, "evidence_text": quote, "entity_id": null,
                "entity_name": null, "score": null,
            }],
            "generated": false, "quick_replies": [],
            "blocks": [{"title": null, "kind": "quote", "claims": [{"text": quote, "source_ids": [chunk]}]}],
            "answer_mode": "concise", "answer_plan": null, "candidate_assessments": [], "disclaimer": DISCLAIMER,
            "degraded": [], "usage": {"stage_millis": null},
        })
    );
}

#[tokio::test]
async fn answers_are_those_of_the_asking_tenant_and_domain() {
    let world = World::new().await;
    world.publish(&scope(2), "en", "theirs", "The Halden branch opens at nine.").await;
    let vi = world.publish(&scope(1), "vi", "vi", "Thuốc Zelora uống hai viên mỗi ngày sau bữa ăn.").await;
    let app = app_of(&world);
    let foreign = post(&app, "/v1/rag/query", json!({"query": "When does the Halden branch open?"})).await;
    assert_eq!(foreign.text("/decision"), "abstain");
    assert!(!foreign.body.to_string().contains("nine"));
    let own = post(&app, "/v1/rag/query", json!({"query": "Thuốc Zelora uống mấy viên mỗi ngày?"})).await;
    assert_eq!((own.text("/reason"), own.text("/citations/0/file_id")), ("quoted", vi.to_string().as_str()));
    let elsewhere = json!({"query": "Thuốc Zelora uống mấy viên mỗi ngày?", "domains": ["en", "fa"]});
    assert_eq!(post(&app, "/v1/rag/query", elsewhere).await.text("/reason"), "no_hits");
}

#[tokio::test]
async fn search_explains_each_rank() {
    let world = World::new().await;
    let first = world.publish(&scope(1), "en", "a", "The gate fee is nine crowns.").await;
    world.publish(&scope(1), "en", "b", "The harbour has a fee as well.").await;
    let app = app_of(&world);
    let found = post(&app, "/v1/rag/search", json!({"query": "gate fee", "domain": "en"})).await;
    assert_eq!(found.text("/results/0/file_id"), first.to_string());
    for stage in ["fused", "sparse", "dense_test"] {
        assert_eq!(found.body["results"][0]["stages"][stage]["rank"], 1, "{stage}: {}", found.body);
    }
    let only = json!({"query": "gate fee", "file_id": first, "top_k": 1});
    let only = post(&app, "/v1/rag/search", only).await;
    assert_eq!(only.body["results"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn invalid_questions_are_pointed_at() {
    let world = World::new().await;
    let app = app_of(&world);
    let with = |field: &str, value: Value| {
        let mut body = json!({"query": "q"});
        body[field] = value;
        body
    };
    for (body, status, pointer) in [
        (json!({}), 422, "/query"),
        (with("query", json!("")), 422, "/query"),
        (with("query", json!(" \n")), 422, "/query"),
        (with("query", json!("ی".repeat(4_000))), 200, ""),
        (with("query", json!("ی".repeat(4_001))), 422, "/query"),
        (with("top_k", json!(0)), 422, "/top_k"),
        (with("top_k", json!(51)), 422, "/top_k"),
        (with("domain", json!("Not A Key")), 422, "/domain"),
        (with("domains", json!([])), 422, "/domains"),
        (with("domains", json!(["en", "B A D"])), 422, "/domains/1"),
        (json!({"query": "q", "domain": "en", "domains": ["en"]}), 422, "/domains"),
        (with("domain", json!("nowhere")), 400, ""),
        (with("domain", json!("off")), 400, ""),
        (with("tenant_id", json!("x")), 422, "/tenant_id"),
    ] {
        for target in ["/v1/rag/query", "/v1/rag/search"] {
            let reply = post(&app, target, body.clone()).await;
            assert_eq!((reply.status, reply.text("/errors/0/pointer")), (status, pointer), "{target} {}", reply.body);
        }
    }
    for (body, pointer) in [
        (with("conversation_id", json!("c".repeat(129))), "/conversation_id"),
        (with("answer_mode", json!("long")), "/answer_mode"),
        (with("intent", json!("i".repeat(129))), "/intent"),
    ] {
        let reply = post(&app, "/v1/rag/query", body).await;
        assert_eq!((reply.status, reply.text("/errors/0/pointer")), (422, pointer), "{}", reply.body);
    }
    let disabled = post(&app, "/v1/rag/query", with("domain", json!("off"))).await;
    assert_eq!(disabled.text("/code"), "domain_disabled");
}
