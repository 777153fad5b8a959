//! From the configuration to what readiness is asked of.

use crate::Health;
use anchorage_adapters::{AwsSettings, EmbedderSettings, QdrantIndex, QdrantSettings, aws_config, secret_parameter};
use anchorage_lambda::config::Config;
use anchorage_ports::Outage;
use anchorage_service::{Lack, Readiness, index_manifest};
use std::sync::Arc;

/// What connecting takes.
struct Settings {
    region: String,
    url: String,
    api_key_parameter: Option<String>,
    collection: String,
    embedders: Vec<EmbedderSettings>,
}

/// Whatever the configuration lacks is readiness's to tell: the function itself starts with any.
#[must_use]
pub fn health(config: &Config) -> Health {
    match settings(config) {
        Ok(settings) => {
            let settings = Arc::new(settings);
            Health::new(Ok(Arc::new(move || Box::pin(readiness(Arc::clone(&settings))))))
        }
        Err(lacks) => Health::new(Err(lacks)),
    }
}

fn settings(config: &Config) -> Result<Settings, Vec<Lack>> {
    let embedders = config.embedders::<EmbedderSettings>();
    let (region, url, collection) = (config.region(), config.qdrant_url(), config.collection());
    // The other functions need the rest.
    let rest = [config.table(), config.bucket(), config.queue_url()];
    match (region, url, collection, embedders) {
        (Ok(region), Ok(url), Ok(collection), Ok(embedders)) if rest.iter().all(Result::is_ok) => Ok(Settings {
            region: region.to_owned(),
            url: url.to_owned(),
            api_key_parameter: config.qdrant_api_key_parameter().map(ToOwned::to_owned),
            collection: collection.to_owned(),
            embedders,
        }),
        (region, url, collection, embedders) => {
            let wrong =
                [region, url, collection].into_iter().chain(rest).filter_map(Result::err).chain(embedders.err());
            Err(wrong.map(|error| Lack { part: "configuration", detail: error.to_string() }).collect())
        }
    }
}

async fn readiness(settings: Arc<Settings>) -> Result<Readiness, Outage> {
    let aws = aws_config(&AwsSettings { region: settings.region.clone(), endpoint_url: None }).await;
    let api_key = secret_parameter(&aws, settings.api_key_parameter.as_deref()).await?;
    let vectors: Vec<_> = settings.embedders.iter().map(EmbedderSettings::vector).collect();
    let index = QdrantIndex::new(QdrantSettings {
        url: settings.url.clone(),
        api_key,
        collection: settings.collection.clone(),
        vectors: vectors.clone(),
    });
    Ok(Readiness { index: Arc::new(index), manifest: index_manifest(vectors) })
}
