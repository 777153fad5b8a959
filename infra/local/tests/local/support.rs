//! A server per test, a collection of the shape the product uses, and short ways to say points and filters.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;

use anchorage_local::qdrant::Bound;
use qdrant_client::qdrant::{
    CreateCollection, CreateCollectionBuilder, CreateFieldIndexCollectionBuilder, Distance, FieldType,
    HnswConfigDiffBuilder, IntegerIndexParamsBuilder, KeywordIndexParamsBuilder, Modifier, MultiVectorComparator,
    MultiVectorConfigBuilder, NamedVectors, PointStruct, Query, SparseVectorParamsBuilder, SparseVectorsConfigBuilder,
    StrictModeConfigBuilder, TextIndexParamsBuilder, TokenizerType, UpsertPointsBuilder, Value, Vector, VectorInput,
    VectorParamsBuilder, VectorsConfigBuilder,
};
use qdrant_client::{Payload, Qdrant, QdrantError};
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::oneshot;
use tonic::Code;

static NEXT: AtomicU64 = AtomicU64::new(0);

/// A client, a collection name of the test's own, and what keeps the server's files alive.
pub struct Server {
    pub client: Qdrant,
    pub name: String,
    _running: Option<Embedded>,
}

#[expect(clippy::disallowed_methods, reason = "the one place where these tests read their environment")]
fn elsewhere() -> Option<String> {
    std::env::var("QDRANT_URL").ok().filter(|url| !url.is_empty())
}

pub fn connect(url: &str) -> Qdrant {
    Qdrant::from_url(url).skip_compatibility_check().build().unwrap()
}

pub fn fresh_name() -> String {
    format!("test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// An embedded server in this process, whatever the environment says.
pub struct Embedded {
    url: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    _data: TempDir,
}

impl Embedded {
    fn start() -> Self {
        let data = tempfile::tempdir().unwrap();
        let folder = data.path().to_owned();
        let (told, listening) = mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(
                async {
                    let bound = Bound::bind("127.0.0.1:0".parse().unwrap(), folder).await.unwrap();
                    told.send(bound.url()).unwrap();
                    tokio::select! { ended = bound.serve(std::future::pending()) => ended.unwrap(), _ = stopped => {} }
                },
            );
        });
        Self { url: listening.recv().unwrap(), stop: Some(stop), thread: Some(thread), _data: data }
    }
}

impl Drop for Embedded {
    /// The engine flushes when it is let go of, so it goes before its files.
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// The server under test, with nothing in it yet.
pub async fn empty() -> Server {
    if let Some(url) = elsewhere() {
        return Server { client: connect(&url), name: fresh_name(), _running: None };
    }
    alone()
}

fn alone() -> Server {
    let running = Embedded::start();
    Server { client: connect(&running.url), name: fresh_name(), _running: Some(running) }
}

/// The server under test with the product's kind of collection and its indexes.
pub async fn ready() -> Server {
    let server = empty().await;
    make(&server.client, &server.name).await;
    server
}

/// The same, embedded whatever the environment says: for what this server alone refuses.
pub async fn embedded_ready() -> Server {
    let server = alone();
    make(&server.client, &server.name).await;
    server
}

pub fn shape(name: &str) -> CreateCollection {
    let mut dense = VectorsConfigBuilder::default();
    dense.add_named_vector_params("dense", VectorParamsBuilder::new(4, Distance::Cosine));
    dense.add_named_vector_params(
        "late",
        VectorParamsBuilder::new(2, Distance::Dot)
            .multivector_config(MultiVectorConfigBuilder::new(MultiVectorComparator::MaxSim))
            .hnsw_config(HnswConfigDiffBuilder::default().m(0)),
    );
    let mut sparse = SparseVectorsConfigBuilder::default();
    sparse.add_named_vector_params("sparse", SparseVectorParamsBuilder::default().modifier(Modifier::Idf));
    CreateCollectionBuilder::new(name)
        .vectors_config(dense)
        .sparse_vectors_config(sparse)
        .hnsw_config(HnswConfigDiffBuilder::default().m(0).payload_m(16))
        .strict_mode_config(
            StrictModeConfigBuilder::default()
                .enabled(true)
                .unindexed_filtering_retrieve(false)
                .unindexed_filtering_update(false),
        )
        .build()
}

pub async fn make(client: &Qdrant, name: &str) {
    client.create_collection(shape(name)).await.unwrap();
    let index = |key: &str, kind| CreateFieldIndexCollectionBuilder::new(name, key, kind).wait(true);
    let tenant = KeywordIndexParamsBuilder::default().is_tenant(true);
    let text = TextIndexParamsBuilder::new(TokenizerType::Word).lowercase(true).phrase_matching(true);
    for index in [
        index("tenant_id", FieldType::Keyword).field_index_params(tenant),
        index("version", FieldType::Integer).field_index_params(IntegerIndexParamsBuilder::new(true, true)),
        index("order_id", FieldType::Integer),
        index("score", FieldType::Float),
        index("active", FieldType::Bool),
        index("created_at", FieldType::Datetime),
        index("file_id", FieldType::Uuid),
        index("content", FieldType::Text).field_index_params(text),
    ] {
        client.create_field_index(index).await.unwrap();
    }
}

/// A point of tenant `tenant` with a dense and a sparse vector.
pub fn point(id: u64, tenant: &str, dense: [f32; 4], sparse: &[(u32, f32)], more: serde_json::Value) -> PointStruct {
    let mut payload = json!({"tenant_id": tenant, "version": 1, "active": true, "order_id": id * 1024});
    let serde_json::Value::Object(more) = more else { panic!("{more} is no object") };
    payload.as_object_mut().unwrap().extend(more);
    let vectors =
        NamedVectors::default().add_vector("dense", dense.to_vec()).add_vector("sparse", Vector::from(sparse));
    PointStruct::new(id, vectors, Payload::try_from(payload).unwrap())
}

/// A point of tenant `a` whose vectors do not matter.
pub fn plain(id: u64, more: serde_json::Value) -> PointStruct {
    point(id, "a", [1.0, 0.0, 0.0, 0.0], &[(1, 1.0)], more)
}

/// A query of these terms.
pub fn terms(weights: &[(u32, f32)]) -> Query {
    let (indices, values): (Vec<u32>, Vec<f32>) = weights.iter().copied().unzip();
    Query::new_nearest(VectorInput::new_sparse(indices, values))
}

pub async fn put(server: &Server, points: Vec<PointStruct>) {
    server.client.upsert_points(UpsertPointsBuilder::new(&server.name, points).wait(true)).await.unwrap();
}

pub fn json(payload: &HashMap<String, Value>, key: &str) -> serde_json::Value {
    payload.get(key).cloned().map_or(serde_json::Value::Null, serde_json::Value::from)
}

pub fn number(id: Option<qdrant_client::qdrant::PointId>) -> u64 {
    match id.unwrap().point_id_options.unwrap() {
        qdrant_client::qdrant::point_id::PointIdOptions::Num(number) => number,
        qdrant_client::qdrant::point_id::PointIdOptions::Uuid(uuid) => panic!("{uuid} is no number"),
    }
}

/// The status and text of a refused call.
pub fn refused<T: std::fmt::Debug>(outcome: Result<T, QdrantError>) -> (Code, String) {
    match outcome.unwrap_err() {
        QdrantError::ResponseError { status } => (status.code(), status.message().to_owned()),
        error => panic!("not a status: {error}"),
    }
}

#[track_caller]
pub fn assert_refused<T: std::fmt::Debug>(outcome: Result<T, QdrantError>, code: Code, text: &str) {
    let (found, message) = refused(outcome);
    assert_eq!(found, code, "{message}");
    assert!(message.contains(text), "`{text}` is not in `{message}`");
}
