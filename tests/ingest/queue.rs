//! The ingest queue, as the object store and an operator see it.

use acceptance::stack::setting;
use anchorage_adapters::{AwsSettings, aws_config};
use aws_sdk_sqs::types::QueueAttributeName;

#[derive(Debug)]
pub struct IngestQueue {
    client: aws_sdk_sqs::Client,
    url: String,
}

impl IngestQueue {
    pub async fn of_stack() -> Self {
        let endpoint = setting("ANCHORAGE_TEST_ENDPOINT");
        let config = aws_config(&AwsSettings { region: "us-east-1".to_owned(), endpoint_url: Some(endpoint) }).await;
        Self { client: aws_sdk_sqs::Client::new(&config), url: setting("ANCHORAGE_TEST_QUEUE_URL") }
    }

    pub async fn send(&self, body: &str) {
        self.client.send_message().queue_url(&self.url).message_body(body).send().await.expect("the queue takes it");
    }

    /// Messages waiting, delayed or being worked on.
    pub async fn messages(&self) -> u64 {
        let names = [
            QueueAttributeName::ApproximateNumberOfMessages,
            QueueAttributeName::ApproximateNumberOfMessagesNotVisible,
            QueueAttributeName::ApproximateNumberOfMessagesDelayed,
        ];
        let request = self.client.get_queue_attributes().queue_url(&self.url).set_attribute_names(Some(names.to_vec()));
        let attributes = request.send().await.expect("the queue answers").attributes.unwrap_or_default();
        names.iter().filter_map(|name| attributes.get(name)?.parse::<u64>().ok()).sum()
    }
}
