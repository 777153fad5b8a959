use anchorage_adapters::{
    AwsSettings, DynamoStore, EmbedderSettings, QdrantIndex, QdrantSettings, RandomIds, S3Blobs, SqsQueue, SystemClock,
    aws_config, connect, embedder, secret_parameter,
};
use anchorage_lambda::batch::{Batches, serve};
use anchorage_lambda::{config::Config, telemetry};
use anchorage_service::{Ingestion, index_manifest};
use futures::future::try_join;
use std::sync::Arc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    let config = Config::from_env();
    telemetry::init(config.log());
    let aws = aws_config(&AwsSettings { region: config.region()?.to_owned(), endpoint_url: None }).await;
    let keys = (config.qdrant_api_key_parameter(), config.embedder_api_key_parameter());
    let (api_key, embedder_key) = try_join(secret_parameter(&aws, keys.0), secret_parameter(&aws, keys.1)).await?;
    let settings = config.embedders::<EmbedderSettings>()?;
    let vectors: Vec<_> = settings.iter().map(EmbedderSettings::vector).collect();
    let (url, collection) = (config.qdrant_url()?.to_owned(), config.collection()?.to_owned());
    let store = Arc::new(DynamoStore::new(&aws, config.table()?));
    let blobs = Arc::new(S3Blobs::new(&aws, config.bucket()?));
    let index = Arc::new(QdrantIndex::new(QdrantSettings { url, api_key, collection, vectors: vectors.clone() }));
    let embedders: Vec<_> = settings.iter().map(|one| embedder(one, &aws, embedder_key.clone())).collect();
    connect(&[&*store, &*blobs, &*index, &embedders]).await;
    let queue = Arc::new(SqsQueue::new(&aws, config.queue_url()?));
    let ingestion = Ingestion {
        store,
        blobs,
        index,
        queue: queue.clone(),
        embedders,
        clock: Arc::new(SystemClock),
        ids: Arc::new(RandomIds),
        manifest: index_manifest(vectors),
        limits: anchorage_documents::Limits::default(),
    };
    serve(Batches { function: "ingest", queue, clock: Arc::new(SystemClock) }, ingestion).await
}
