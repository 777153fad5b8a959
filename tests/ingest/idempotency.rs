//! The same thing twice is the same thing once.

use crate::queue::IngestQueue;
use acceptance::stack::{Document, Tenant, eventually, setting, stack};
use serde_json::{Value, json};

async fn points(tenant: &Tenant, file: &str) -> Vec<Value> {
    let list = tenant.get(&format!("/v1/files/{file}/points?limit=100")).await.expect_status(200);
    list.list("/points").iter().map(|point| point["point_id"].clone()).collect()
}

/// The file's jobs: what was done for it, and what was paid.
async fn jobs(tenant: &Tenant, file: &str) -> Value {
    tenant.get(&format!("/v1/files/{file}")).await.expect_status(200).body["jobs"].clone()
}

/// Cases C15, C20 (upload form) and V1.
#[tokio::test]
async fn same_bytes_again_are_the_same_file_with_the_same_points_and_no_embedding() {
    let tenant = stack().tenant(&["d:en"]);
    let document = Document::text("d", "a.txt", "A paragraph that stands alone.");
    let file = tenant.ingest(&document).await;
    let before = (points(&tenant, &file).await, jobs(&tenant, &file).await);
    assert_eq!(before.0.len(), 1);
    assert_eq!(before.1[0]["counters"]["embed_calls"], 1, "{}", before.1);

    for _ in 0..2 {
        let again = tenant.upload(&document).await.expect_status(200);
        assert_eq!(again.text("/file_id"), file);
        assert_eq!(again.body["upload"], Value::Null);
    }
    assert_eq!((points(&tenant, &file).await, jobs(&tenant, &file).await), before);
}

#[tokio::test]
async fn identical_announcements_at_once_make_one_file() {
    let tenant = stack().tenant(&["d:en"]);
    let document = Document::text("d", "a.txt", "announced eight times at once");
    let body = document.announcement();
    let replies = futures::future::join_all((0..8).map(|_| tenant.post("/v1/files", &body))).await;
    let mut files: Vec<_> = replies.iter().map(|reply| reply.text("/file_id").to_owned()).collect();
    files.dedup();
    assert_eq!(files.len(), 1, "{replies:?}");
    assert!(replies.iter().filter(|reply| reply.status == 201).count() <= 1);
}

/// Cases C02 and E5: the notification again, and several times at once, changes nothing.
#[tokio::test]
async fn same_event_again_and_in_parallel_has_one_jobs_effect() {
    let tenant = stack().tenant(&["d:en"]);
    let file = tenant.ingest(&Document::text("d", "a.txt", "one paragraph")).await;
    let before = tenant.get(&format!("/v1/files/{file}")).await.expect_status(200).body;
    let points_before = points(&tenant, &file).await;

    let event = json!({"Records": [{
        "eventVersion": "2.1", "eventSource": "aws:s3", "awsRegion": "us-east-1", "eventTime": "2026-01-01T00:00:00.000Z",
        "eventName": "ObjectCreated:Put",
        "s3": {"s3SchemaVersion": "1.0",
            "bucket": {"name": setting("ANCHORAGE_TEST_BUCKET"), "arn": "arn:aws:s3:::bucket"},
            "object": {"key": format!("uploads/{}/{file}/1", tenant.id), "size": 13, "sequencer": "00"}},
    }]});
    let body = event.to_string();
    let queue = IngestQueue::of_stack().await;
    futures::future::join_all((0..4).map(|_| queue.send(&body))).await;

    // A later document passing through the same queue shows that the repeated events have been consumed.
    tenant.ingest(&Document::text("d", "b.txt", "another paragraph")).await;
    eventually("the queue is empty", async || (queue.messages().await == 0).then_some(())).await;
    assert_eq!(tenant.get(&format!("/v1/files/{file}")).await.expect_status(200).body, before);
    assert_eq!(points(&tenant, &file).await, points_before);
}
