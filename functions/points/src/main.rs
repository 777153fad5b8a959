use anchorage_adapters::{
    AwsSettings, DynamoStore, EmbedderSettings, QdrantIndex, QdrantSettings, RandomIds, SystemClock, aws_config,
    connect, secret_parameter,
};
use anchorage_lambda::{
    config::Config,
    http::{Frame, app, serve},
    telemetry,
};
use anchorage_service::Points;
use std::sync::Arc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    let config = Config::from_env();
    telemetry::init(config.log());
    let aws = aws_config(&AwsSettings { region: config.region()?.to_owned(), endpoint_url: None }).await;
    let api_key = secret_parameter(&aws, config.qdrant_api_key_parameter()).await?;
    let index = QdrantIndex::new(QdrantSettings {
        url: config.qdrant_url()?.to_owned(),
        api_key,
        collection: config.collection()?.to_owned(),
        vectors: config.embedders::<EmbedderSettings>()?.iter().map(EmbedderSettings::vector).collect(),
    });
    let store = DynamoStore::new(&aws, config.table()?);
    connect(&[&store, &index]).await;
    let points = Points { store: Arc::new(store), index: Arc::new(index) };
    let (routes, _description) = points::router(points).split_for_parts();
    let frame = Frame { function: "points", clock: Arc::new(SystemClock), ids: Arc::new(RandomIds) };
    serve(app(frame, routes)).await
}
