use anchorage_adapters::{
    AwsSettings, DynamoStore, EmbedderSettings, QdrantIndex, QdrantSettings, RandomIds, SystemClock, aws_config,
    connect, embedder, secret_parameter,
};
use anchorage_lambda::{
    config::Config,
    http::{Frame, app, serve},
    telemetry,
};
use anchorage_ports::{Clock, Ids};
use anchorage_service::{Answering, Retrieval};
use futures::future::try_join;
use std::sync::Arc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    let config = Config::from_env();
    telemetry::init(config.log());
    let aws = aws_config(&AwsSettings { region: config.region()?.to_owned(), endpoint_url: None }).await;
    let secret = |parameter| secret_parameter(&aws, parameter);
    let (qdrant, embedders) = (config.qdrant_api_key_parameter(), config.embedder_api_key_parameter());
    let (api_key, embedder_key) = try_join(secret(qdrant), secret(embedders)).await?;
    let settings = config.embedders::<EmbedderSettings>()?;
    let vectors = settings.iter().map(EmbedderSettings::vector).collect();
    let (url, collection) = (config.qdrant_url()?.to_owned(), config.collection()?.to_owned());
    let index = QdrantIndex::new(QdrantSettings { url, api_key, collection, vectors });
    let embedders: Vec<_> = settings.iter().map(|one| embedder(one, &aws, embedder_key.clone())).collect();
    let (clock, ids): (Arc<dyn Clock>, Arc<dyn Ids>) = (Arc::new(SystemClock), Arc::new(RandomIds));
    let store = Arc::new(DynamoStore::new(&aws, config.table()?));
    connect(&[&*store, &index, &embedders]).await;
    let retrieval = Retrieval::new(store.clone(), Arc::new(index), embedders, Arc::clone(&clock));
    let answering = Answering { retrieval, traces: store, clock: Arc::clone(&clock), ids: Arc::clone(&ids) };
    let (routes, _description) = rag_query::router(answering).split_for_parts();
    serve(app(Frame { function: "rag-query", clock, ids }, routes)).await
}
