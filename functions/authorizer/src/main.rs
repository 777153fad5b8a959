use anchorage_adapters::{AwsSettings, DynamoStore, SystemClock, aws_config, connect};
use anchorage_lambda::{config::Config, telemetry};
use authorizer::Authorizer;
use lambda_runtime::{LambdaEvent, service_fn};
use serde_json::Value;
use std::sync::Arc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    let config = Config::from_env();
    telemetry::init(config.log());
    let aws = aws_config(&AwsSettings { region: config.region()?.to_owned(), endpoint_url: None }).await;
    let directory = Arc::new(DynamoStore::new(&aws, config.table()?));
    connect(&[&*directory]).await;
    let authorizer = Authorizer { directory, clock: Arc::new(SystemClock) };
    lambda_runtime::run(service_fn(async |event: LambdaEvent<Value>| {
        authorizer.judge(&event.payload).await.map_err(|outage| {
            tracing::error!(event = "authorizer.store_failed", detail = %outage);
            lambda_runtime::Error::from(outage)
        })
    }))
    .await
}
