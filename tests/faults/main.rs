//! What a failing part may not do: lose a document, show half of one, or leave a job hanging.
//!
//! The tests of this binary break shared parts of the stack, so they run one at a time.
#![cfg(test)]

use acceptance::{
    processes::{VectorStore, kill_function},
    stack::{Document, PATIENCE, Tenant, eventually, setting, stack},
};
use serde_json::{Value, json};
use std::time::Instant;
use tokio::sync::Mutex;

static ONE_AT_A_TIME: Mutex<()> = Mutex::const_new(());

async fn embedder(mode: Value) {
    let url = setting("ANCHORAGE_TEST_EMBEDDER_CONTROL");
    let reply = stack().http.post(url).json(&mode).send().await.expect("the embedder answers");
    assert!(reply.status().is_success());
}

async fn visible_points(tenant: &Tenant) -> u64 {
    let count = tenant.get("/v1/points/count?domain=d").await.expect_status(200);
    count.body["count"].as_u64().expect("a count")
}

/// Waits until the newest job of a file has been tried and handed on.
async fn released(tenant: &Tenant, file: &str) {
    eventually("the attempt is handed on", async || {
        let reply = tenant.get(&format!("/v1/files/{file}")).await.expect_status(200);
        assert_eq!(visible_points(tenant).await, 0, "nothing is half visible");
        reply.body.to_string().contains("\"released\"").then_some(())
    })
    .await;
}

/// Cases C07, C18 and C55: the embedder's outage delays a document and does nothing else.
#[tokio::test]
async fn embedder_down_then_up_ends_ready_with_nothing_visible_in_between() {
    let _alone = ONE_AT_A_TIME.lock().await;
    let tenant = stack().tenant(&["d:en"]);
    embedder(json!({"mode": "down"})).await;
    let ticket = tenant.upload(&Document::text("d", "a.txt", "survives an outage of the embedder")).await;
    released(&tenant, ticket.text("/file_id")).await;
    // A search in the meantime is answered from what is left, and says so.
    let search = tenant.search("outage", "d").await;
    assert!(search.body["degraded"].to_string().contains("unavailable"), "{}", search.body);
    embedder(json!({"mode": "ok"})).await;
    tenant.wait_for(ticket.text("/file_id"), "ready").await;
    assert_eq!(visible_points(&tenant).await, 1);
}

/// The vector store is killed and comes back with everything it had acknowledged.
#[tokio::test]
async fn vector_store_killed_then_back_ends_ready_and_loses_nothing() {
    let _alone = ONE_AT_A_TIME.lock().await;
    let tenant = stack().tenant(&["d:en"]);
    let before = tenant.ingest(&Document::text("d", "before.txt", "written before the crash")).await;
    let store = VectorStore::of_stack();
    store.kill();
    let ticket = tenant.upload(&Document::text("d", "during.txt", "uploaded during the outage")).await;
    // An outage never reads as "there is no such document".
    let answer = tenant.ask("What was written before the crash?", "d").await;
    assert_eq!(
        (answer.text("/decision"), answer.text("/reason")),
        ("abstain", "retrieval_unavailable"),
        "{}",
        answer.body
    );
    store.start().await;
    tenant.wait_for(ticket.text("/file_id"), "ready").await;
    assert_eq!(visible_points(&tenant).await, 2);
    assert_eq!(tenant.search("written before the crash", "d").await.text("/results/0/file_id"), before);
}

/// Cases C06, E4 and E12: a function killed in the middle of a document.
#[tokio::test]
async fn ingest_killed_in_the_middle_ends_in_a_state_and_never_hangs() {
    let _alone = ONE_AT_A_TIME.lock().await;
    let tenant = stack().tenant(&["d:en"]);
    embedder(json!({"mode": "slow", "delay_ms": 3000})).await;
    let ticket = tenant.upload(&Document::text("d", "a.txt", "interrupted while it is embedded")).await;
    let file = ticket.text("/file_id").to_owned();
    tenant_is_processing(&tenant, &file).await;
    let killed = kill_function("ingest");
    embedder(json!({"mode": "ok"})).await;
    assert!(killed > 0, "an ingest function was running");
    assert_eq!(visible_points(&tenant).await, 0);
    let until = Instant::now() + PATIENCE * 3;
    loop {
        let reply = tenant.get(&format!("/v1/files/{file}")).await.expect_status(200);
        match reply.text("/status") {
            "ready" => break assert_eq!(visible_points(&tenant).await, 1),
            "failed" => break assert!(!reply.text("/failure/code").is_empty()),
            _ => assert!(Instant::now() < until, "the file hangs: {}", reply.body),
        }
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
}

async fn tenant_is_processing(tenant: &Tenant, file: &str) {
    eventually("the file is being processed", async || {
        (tenant.get(&format!("/v1/files/{file}")).await.text("/status") == "processing").then_some(())
    })
    .await;
}
