//! The API's description, made of the routes that the functions serve.

use anchorage_memory::{ManualClock, MemoryBlobs, MemoryIndex, MemoryQueue, MemoryStore, SequentialIds};
use anchorage_service::{Answering, Connectors, Domains, Files, Points, Retrieval};
use health::Health;
use std::sync::Arc;
use utoipa::openapi::{
    ComponentsBuilder, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder,
    security::{ApiKey, ApiKeyValue, SecurityScheme},
};
use utoipa_axum::router::OpenApiRouter;

/// All routes of all functions. They are never called: only their descriptions are read.
fn routes() -> OpenApiRouter {
    let store = Arc::new(MemoryStore::default());
    let clock = Arc::new(ManualClock::default());
    let ids = Arc::new(SequentialIds::default());
    let index = Arc::new(MemoryIndex::new(None));
    let files = Files {
        store: store.clone(),
        blobs: Arc::new(MemoryBlobs::default()),
        queue: Arc::new(MemoryQueue::default()),
        clock: clock.clone(),
        ids: ids.clone(),
    };
    let points = Points { store: store.clone(), index: index.clone() };
    let retrieval = Retrieval::new(store.clone(), index, Vec::new(), clock.clone());
    let answering = Answering { retrieval, traces: store.clone(), clock: clock.clone(), ids };
    OpenApiRouter::new()
        .merge(connectors::router(Connectors { files: files.clone() }))
        .merge(upload_url::router(files))
        .merge(domains::router(Domains { store, clock }))
        .merge(points::router(points))
        .merge(rag_query::router(answering))
        .merge(health::router(Health::new(Err(Vec::new()))))
}

/// The whole document.
#[must_use]
pub fn description() -> OpenApi {
    let key = SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::with_description(
        "x-api-key",
        "`ank_<key id>_<secret>`. The scopes an operation names are those the key must have.",
    )));
    let license = LicenseBuilder::new().name("Apache-2.0").identifier(Some("Apache-2.0")).build();
    let info = InfoBuilder::new()
        .title("Anchorage")
        .version("1")
        .description(Some(
            "Multi-tenant retrieval with cited answers. Every response carries `x-correlation-id`; every failure is a \
             problem document (RFC 9457) with a code of a closed list.",
        ))
        .license(Some(license))
        .build();
    let components = ComponentsBuilder::new().security_scheme("api_key", key).build();
    let mut whole = OpenApiBuilder::new().info(info).components(Some(components)).build();
    whole.merge(routes().into_openapi());
    whole
}

/// The document as it is committed.
#[must_use]
pub fn description_text() -> String {
    let mut text = description().to_pretty_json().expect("a description is JSON");
    text.push('\n');
    text
}
