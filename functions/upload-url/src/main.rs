use anchorage_adapters::{AwsSettings, DynamoStore, RandomIds, S3Blobs, SqsQueue, SystemClock, aws_config, connect};
use anchorage_lambda::{
    config::Config,
    http::{Frame, app, serve},
    telemetry,
};
use anchorage_ports::{Clock, Ids};
use anchorage_service::Files;
use std::sync::Arc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    let config = Config::from_env();
    telemetry::init(config.log());
    let aws = aws_config(&AwsSettings { region: config.region()?.to_owned(), endpoint_url: None }).await;
    let (clock, ids): (Arc<dyn Clock>, Arc<dyn Ids>) = (Arc::new(SystemClock), Arc::new(RandomIds));
    let store = Arc::new(DynamoStore::new(&aws, config.table()?));
    connect(&[&*store]).await;
    let files = Files {
        store,
        blobs: Arc::new(S3Blobs::new(&aws, config.bucket()?)),
        queue: Arc::new(SqsQueue::new(&aws, config.queue_url()?)),
        clock: Arc::clone(&clock),
        ids: Arc::clone(&ids),
    };
    let (routes, _description) = upload_url::router(files).split_for_parts();
    serve(app(Frame { function: "upload-url", clock, ids }, routes)).await
}
