use anchorage_adapters::{AwsSettings, DynamoStore, RandomIds, SystemClock, aws_config, connect};
use anchorage_lambda::{
    config::Config,
    http::{Frame, app, serve},
    telemetry,
};
use anchorage_ports::{Clock, Ids};
use anchorage_service::Domains;
use std::sync::Arc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    let config = Config::from_env();
    telemetry::init(config.log());
    let aws = aws_config(&AwsSettings { region: config.region()?.to_owned(), endpoint_url: None }).await;
    let (clock, ids): (Arc<dyn Clock>, Arc<dyn Ids>) = (Arc::new(SystemClock), Arc::new(RandomIds));
    let store = Arc::new(DynamoStore::new(&aws, config.table()?));
    connect(&[&*store]).await;
    let domains = Domains { store, clock: Arc::clone(&clock) };
    let (routes, _description) = domains::router(domains).split_for_parts();
    serve(app(Frame { function: "domains", clock, ids }, routes)).await
}
