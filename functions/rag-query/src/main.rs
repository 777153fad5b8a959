use anchorage_adapters::{
    AwsSettings, DynamoStore, EmbedderSettings, QdrantIndex, QdrantSettings, RandomIds, SystemClock, aws_config,
    embedder, secret_parameter,
};
use anchorage_lambda::{
    config::Config,
    http::{Frame, app, serve},
    telemetry,
};
use anchorage_ports::{Clock, Ids};
use anchorage_service::{Answering, Retrieval};
use std::sync::Arc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    let config = Config::from_env();
    telemetry::init(config.log());
    let aws = aws_config(&AwsSettings { region: config.region()?.to_owned(), endpoint_url: None }).await;
    let (mut keys, names) = ([None, None], [config.qdrant_api_key_parameter(), config.embedder_api_key_parameter()]);
    for (key, name) in keys.iter_mut().zip(names) {
        if let Some(name) = name {
            *key = Some(secret_parameter(&aws, name).await?);
        }
    }
    let ([api_key, embedder_key], settings) = (keys, config.embedders::<EmbedderSettings>()?);
    let vectors = settings.iter().map(EmbedderSettings::vector).collect();
    let (url, collection) = (config.qdrant_url()?.to_owned(), config.collection()?.to_owned());
    let index = QdrantIndex::new(QdrantSettings { url, api_key, collection, vectors });
    let embedders = settings.iter().map(|settings| embedder(settings, &aws, embedder_key.clone())).collect();
    let (clock, ids): (Arc<dyn Clock>, Arc<dyn Ids>) = (Arc::new(SystemClock), Arc::new(RandomIds));
    let store = Arc::new(DynamoStore::new(&aws, config.table()?));
    let retrieval = Retrieval::new(store.clone(), Arc::new(index), embedders, Arc::clone(&clock));
    let answering = Answering { retrieval, traces: store, clock: Arc::clone(&clock), ids: Arc::clone(&ids) };
    let (routes, _description) = rag_query::router(answering).split_for_parts();
    serve(app(Frame { function: "rag-query", clock, ids }, routes)).await
}
