use anchorage_adapters::{AwsSettings, DynamoStore, SqsQueue, SystemClock, aws_config};
use anchorage_lambda::{
    batch::{Batches, serve},
    config::Config,
    telemetry,
};
use anchorage_service::ingestion::DeadLetters;
use std::sync::Arc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    let config = Config::from_env();
    telemetry::init(config.log());
    let aws = aws_config(&AwsSettings { region: config.region()?.to_owned(), endpoint_url: None }).await;
    let store = Arc::new(DynamoStore::new(&aws, config.table()?));
    let queue = Arc::new(SqsQueue::new(&aws, config.queue_url()?));
    let batches = Batches { function: "ingest-dlq", queue, clock: Arc::new(SystemClock) };
    serve(batches, DeadLetters { store, clock: Arc::new(SystemClock) }).await
}
