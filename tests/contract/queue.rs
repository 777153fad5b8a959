use crate::{fresh_id, fresh_scope, real::Real};
use anchorage_adapters::SqsQueue;
use anchorage_domain::{FileId, JobId, TenantScope};
use anchorage_memory::MemoryQueue;
use anchorage_ports::{IngestMessage, JobQueue, MessageBody, OutageKind, ReceiptHandle};
use serde_json::{Value, json};
use std::time::Duration;

fn message(scope: &TenantScope) -> IngestMessage {
    let (file_id, job_id) = (FileId::new(fresh_id()), JobId::new(fresh_id()));
    IngestMessage { anchorage: MessageBody::RunJob { tenant_id: scope.tenant(), file_id, job_id } }
}

async fn contract(queue: &dyn JobQueue) -> (TenantScope, IngestMessage) {
    let (own, other) = (fresh_scope(), fresh_scope());
    let foreign = queue.send(&own, &message(&other)).await.unwrap_err();
    assert_eq!(foreign.kind, OutageKind::Refused, "a message of another tenant is not taken");
    let sent = message(&own);
    queue.send(&own, &sent).await.unwrap();
    (own, sent)
}

#[tokio::test]
async fn queue_in_memory_keeps_the_contract() {
    let queue = MemoryQueue::default();
    let (_, sent) = contract(&queue).await;
    assert_eq!(queue.receive(), Some(sent), "what was sent is what is received, and nothing else");
    assert_eq!(queue.receive(), None);
    let receipt = ReceiptHandle("r".into());
    queue.postpone(&receipt, Duration::from_secs(9)).await.unwrap();
    assert_eq!(queue.postponed(), [(receipt, Duration::from_secs(9))]);
}

/// One call of the SQS JSON protocol; the port itself has no way to receive, the trigger does that.
async fn call(real: &Real, operation: &str, body: Value) -> Value {
    let endpoint = real.config.endpoint_url().unwrap();
    let request = reqwest::Client::new()
        .post(endpoint)
        .header("content-type", "application/x-amz-json-1.0")
        .header("x-amz-target", format!("AmazonSQS.{operation}"))
        // Names the service to an emulator; it is no signature, so this half needs an endpoint that asks for none.
        .header(
            "authorization",
            "AWS4-HMAC-SHA256 Credential=test/20260101/eu-central-1/sqs/aws4_request, SignedHeaders=host, Signature=0",
        )
        .body(body.to_string());
    let answer = request.send().await.unwrap().text().await.unwrap();
    serde_json::from_str(&answer).unwrap_or_else(|_| panic!("{operation}: {answer}"))
}

#[tokio::test]
async fn queue_over_sqs_keeps_the_contract() {
    let Some(real) = Real::find("the queue").await else { return };
    let queue = SqsQueue::new(&real.config, &real.queue_url);
    let (_, sent) = contract(&queue).await;
    let received = call(&real, "ReceiveMessage", json!({"QueueUrl": real.queue_url, "MaxNumberOfMessages": 10})).await;
    let delivered = received["Messages"].as_array().into_iter().flatten().find(|message| {
        message["Body"]
            .as_str()
            .is_some_and(|body| serde_json::from_str(body).is_ok_and(|body: IngestMessage| body == sent))
    });
    let receipt = ReceiptHandle(delivered.unwrap()["ReceiptHandle"].as_str().unwrap().to_owned());
    queue.postpone(&receipt, Duration::from_hours(13)).await.expect("a delay past twelve hours is cut, not refused");
    let gone = queue.postpone(&ReceiptHandle("no such receipt".into()), Duration::ZERO).await.unwrap_err();
    assert_eq!(gone.kind, OutageKind::Refused, "an unknown receipt is refused");
}
