use anchorage_adapters::{AwsSettings, DynamoStore, RandomIds, S3Blobs, SqsQueue, SystemClock, aws_config, connect};
use anchorage_lambda::{
    config::Config,
    http::{Frame, app, serve},
    telemetry,
};
use anchorage_ports::{Clock, Ids};
use anchorage_service::{Connectors, Files};
use std::sync::Arc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    let config = Config::from_env();
    telemetry::init(config.log());
    let aws = aws_config(&AwsSettings { region: config.region()?.to_owned(), endpoint_url: None }).await;
    let (clock, ids): (Arc<dyn Clock>, Arc<dyn Ids>) = (Arc::new(SystemClock), Arc::new(RandomIds));
    let store = Arc::new(DynamoStore::new(&aws, config.table()?));
    let blobs = Arc::new(S3Blobs::new(&aws, config.bucket()?));
    connect(&[&*store, &*blobs]).await;
    let queue = Arc::new(SqsQueue::new(&aws, config.queue_url()?));
    let files = Files { store, blobs, queue, clock: Arc::clone(&clock), ids: Arc::clone(&ids) };
    let (routes, _description) = connectors::router(Connectors { files }).split_for_parts();
    serve(app(Frame { function: "connectors", clock, ids }, routes)).await
}
