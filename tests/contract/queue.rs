use crate::{fresh_id, fresh_scope, real::Real};
use anchorage_adapters::SqsQueue;
use anchorage_domain::{FileId, JobId, TenantScope};
use anchorage_memory::MemoryQueue;
use anchorage_ports::{IngestMessage, JobQueue, MessageBody, OutageKind, ReceiptHandle};
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

#[tokio::test]
async fn queue_over_sqs_keeps_the_contract() {
    let Some(real) = Real::find("the queue").await else { return };
    let queue = SqsQueue::new(&real.config, &real.queue_url);
    let (_, sent) = contract(&queue).await;
    // The port itself has no way to receive: the trigger does that.
    let client = aws_sdk_sqs::Client::new(&real.config);
    let request = client.receive_message().queue_url(&real.queue_url).max_number_of_messages(10);
    let received = request.send().await.expect("the queue answers").messages.unwrap_or_default();
    let delivered = received.iter().find(|message| {
        message.body().is_some_and(|body| serde_json::from_str(body).is_ok_and(|body: IngestMessage| body == sent))
    });
    let receipt = ReceiptHandle(delivered.expect("what was sent").receipt_handle().expect("a receipt").to_owned());
    queue.postpone(&receipt, Duration::from_hours(13)).await.expect("a delay past twelve hours is cut, not refused");
    let gone = queue.postpone(&ReceiptHandle("no such receipt".into()), Duration::ZERO).await.unwrap_err();
    assert_eq!(gone.kind, OutageKind::Refused, "an unknown receipt is refused");
}
