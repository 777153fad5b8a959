//! The pipeline's own messages to itself.

use crate::aws::outage;
use anchorage_domain::TenantScope;
use anchorage_ports::{IngestMessage, JobQueue, Outage, OutageKind, ReceiptHandle, Service};
use async_trait::async_trait;
use aws_config::SdkConfig;
use std::time::Duration;

/// Longest invisibility of a message (SQS quotas).
const MAX_VISIBILITY: Duration = Duration::from_hours(12);

#[derive(Debug, Clone)]
pub struct SqsQueue {
    client: aws_sdk_sqs::Client,
    url: String,
}

impl SqsQueue {
    #[must_use]
    pub fn new(config: &SdkConfig, url: impl Into<String>) -> Self {
        Self { client: aws_sdk_sqs::Client::new(config), url: url.into() }
    }
}

#[async_trait]
impl JobQueue for SqsQueue {
    async fn send(&self, scope: &TenantScope, message: &IngestMessage) -> Result<(), Outage> {
        let refused = |why| Outage::new(Service::Queue, OutageKind::Refused, format!("SendMessage: {why}"));
        if !message.is_of(scope) {
            return Err(refused("the message is not of the scope's tenant"));
        }
        let body = serde_json::to_string(message).map_err(|_| refused("the message has no JSON form"))?;
        let sent = self.client.send_message().queue_url(&self.url).message_body(body).send().await;
        sent.map(|_| ()).map_err(|error| outage(Service::Queue, "SendMessage", &error))
    }

    async fn postpone(&self, receipt: &ReceiptHandle, delay: Duration) -> Result<(), Outage> {
        let seconds = i32::try_from(delay.min(MAX_VISIBILITY).as_secs()).unwrap_or(i32::MAX);
        let request = self.client.change_message_visibility().queue_url(&self.url).receipt_handle(&receipt.0);
        let changed = request.visibility_timeout(seconds).send().await;
        changed.map(|_| ()).map_err(|error| outage(Service::Queue, "ChangeMessageVisibility", &error))
    }
}
