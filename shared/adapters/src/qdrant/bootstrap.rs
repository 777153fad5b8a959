//! Makes the collection what this version needs. Run by the operator at deployment, never by a function; running it again
//! adds what is missing and changes nothing else.

use super::{
    MANIFEST_ID, QdrantIndex,
    client::{Call, CallError},
    convert::refused,
    schema::{Field, MANIFEST_KEY, SPARSE},
};
use anchorage_ports::{IndexManifest, Outage, VectorIndex as _};
use qdrant_client::qdrant::{
    CollectionInfo, CreateCollection, CreateCollectionBuilder, CreateFieldIndexCollectionBuilder, Distance,
    HnswConfigDiffBuilder, Modifier, NamedVectors, PointId as QdrantId, PointStruct, SparseVectorParamsBuilder,
    SparseVectorsConfigBuilder, Value, VectorParamsBuilder, VectorsConfigBuilder, vectors_config::Config,
};
use std::collections::{BTreeMap, HashMap};

/// Links of the graph that is built within each tenant; there is none across tenants.
const HNSW_PAYLOAD_M: u64 = 16;

/// What a bootstrap changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BootstrapReport {
    pub collection_created: bool,
    /// Payload keys that were not indexed before.
    pub indexes_created: Vec<String>,
    pub manifest_written: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BootstrapError {
    /// The collection holds what another configuration made. Vectors of the two would mix.
    #[error(
        "manifest_mismatch: {what} of the collection is {stored}, configured is {configured}; name another collection and re-ingest into it, or restore the configuration"
    )]
    Mismatch { what: &'static str, stored: String, configured: String },
    #[error(transparent)]
    Outage(#[from] Outage),
}

impl From<CallError> for BootstrapError {
    fn from(error: CallError) -> Self {
        Self::Outage(error.into())
    }
}

fn vectors(manifest: &IndexManifest) -> String {
    let mut parts: Vec<_> =
        manifest.vectors.iter().map(|spec| format!("{} ({}, {})", spec.name, spec.model, spec.dims)).collect();
    parts.sort();
    parts.join(", ")
}

fn compare(what: &'static str, stored: &str, configured: &str) -> Result<(), BootstrapError> {
    if stored == configured {
        return Ok(());
    }
    Err(BootstrapError::Mismatch { what, stored: stored.to_owned(), configured: configured.to_owned() })
}

/// # Errors
/// The first thing in which the two differ, with both values.
fn agree(stored: &IndexManifest, configured: &IndexManifest) -> Result<(), BootstrapError> {
    compare("vectors", &vectors(stored), &vectors(configured))?;
    compare("analyzer", &stored.analyzer, &configured.analyzer)?;
    compare("chunker", &stored.chunker, &configured.chunker)
}

/// The dense vectors a collection has, with their dimensions, as text.
fn collection_vectors(info: &CollectionInfo) -> String {
    let params = info.config.as_ref().and_then(|config| config.params.as_ref());
    let config = params.and_then(|params| params.vectors_config.as_ref()).and_then(|vectors| vectors.config.as_ref());
    let named: BTreeMap<&str, u64> = match config {
        Some(Config::ParamsMap(map)) => map.map.iter().map(|(name, params)| (name.as_str(), params.size)).collect(),
        Some(Config::Params(params)) => BTreeMap::from([("(unnamed)", params.size)]),
        None => BTreeMap::new(),
    };
    named.iter().map(|(name, size)| format!("{name} ({size})")).collect::<Vec<_>>().join(", ")
}

fn manifest_vectors(manifest: &IndexManifest) -> String {
    let named: BTreeMap<&str, u32> = manifest.vectors.iter().map(|spec| (spec.name.as_str(), spec.dims)).collect();
    named.iter().map(|(name, size)| format!("{name} ({size})")).collect::<Vec<_>>().join(", ")
}

fn collection(name: &str, manifest: &IndexManifest) -> CreateCollection {
    let mut dense = VectorsConfigBuilder::default();
    for spec in &manifest.vectors {
        let params = VectorParamsBuilder::new(u64::from(spec.dims), Distance::Cosine);
        dense.add_named_vector_params(spec.name.to_string(), params);
    }
    let mut sparse = SparseVectorsConfigBuilder::default();
    sparse.add_named_vector_params(SPARSE, SparseVectorParamsBuilder::default().modifier(Modifier::Idf));
    CreateCollectionBuilder::new(name)
        .vectors_config(dense)
        .sparse_vectors_config(sparse)
        .hnsw_config(HnswConfigDiffBuilder::default().m(0).payload_m(HNSW_PAYLOAD_M))
        .build()
}

impl QdrantIndex {
    async fn info(&self) -> Result<Option<CollectionInfo>, BootstrapError> {
        let name = &self.collection;
        match self.client.call(Call::Read, |qdrant| async move { qdrant.collection_info(name.as_str()).await }).await {
            Ok(answer) => Ok(answer.result),
            Err(CallError::NotFound) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn create_index(&self, field: Field) -> Result<(), BootstrapError> {
        let request =
            CreateFieldIndexCollectionBuilder::new(&self.collection, field.key(), field.field_type()).wait(true);
        let request = match field.index_params() {
            Some(params) => request.field_index_params(params),
            None => request,
        }
        .build();
        self.client
            .call(Call::Write, |qdrant| {
                let request = request.clone();
                async move { qdrant.create_field_index(request).await }
            })
            .await?;
        Ok(())
    }

    async fn write_manifest(&self, manifest: &IndexManifest) -> Result<(), BootstrapError> {
        let text = serde_json::to_string(manifest).map_err(|_| refused("the manifest cannot be written as JSON"))?;
        let payload = HashMap::from([(MANIFEST_KEY.to_owned(), Value::from(text))]);
        let record = PointStruct::new(QdrantId::from(MANIFEST_ID.to_string()), NamedVectors::default(), payload);
        Ok(self.upsert(vec![record]).await?)
    }

    /// Creates the collection, the missing indexes and the manifest. Indexes come before data.
    ///
    /// # Errors
    /// When the collection was built with another configuration, or the store cannot be reached.
    pub async fn bootstrap(&self, manifest: &IndexManifest) -> Result<BootstrapReport, BootstrapError> {
        let mut report = BootstrapReport::default();
        let info = if let Some(info) = self.info().await? {
            compare("vectors", &collection_vectors(&info), &manifest_vectors(manifest))?;
            info
        } else {
            let request = collection(&self.collection, manifest);
            self.client
                .call(Call::Write, |qdrant| {
                    let request = request.clone();
                    async move { qdrant.create_collection(request).await }
                })
                .await?;
            report.collection_created = true;
            CollectionInfo::default()
        };
        let stored = self.manifest().await?;
        if let Some(stored) = &stored {
            agree(stored, manifest)?;
        }
        for field in Field::ALL {
            match info.payload_schema.get(field.key()) {
                None => {
                    self.create_index(field).await?;
                    report.indexes_created.push(field.key().to_owned());
                }
                Some(index) => {
                    let (stored, wanted) = (index.data_type(), field.schema_type());
                    compare("index type", stored.as_str_name(), wanted.as_str_name())?;
                }
            }
        }
        if stored.is_none() {
            self.write_manifest(manifest).await?;
            report.manifest_written = true;
        }
        Ok(report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anchorage_domain::VectorName;
    use anchorage_ports::VectorSpec;

    fn manifest() -> IndexManifest {
        let vector = |name: &str| VectorSpec { name: VectorName::new(name).unwrap(), model: "m".into(), dims: 4 };
        IndexManifest { vectors: vec![vector("a"), vector("b")], analyzer: "fa-1".into(), chunker: "c-1".into() }
    }

    /// Case C27.
    #[test]
    fn another_manifest_is_refused_with_both_values() {
        let same = IndexManifest { vectors: manifest().vectors.into_iter().rev().collect(), ..manifest() };
        assert_eq!(agree(&same, &manifest()), Ok(()));
        let mut other_dims = manifest();
        other_dims.vectors[0].dims = 8;
        let mut other_model = manifest();
        other_model.vectors[1].model = "n".into();
        for (stored, values) in [
            (IndexManifest { analyzer: "fa-0".into(), ..manifest() }, ["fa-0", "fa-1"]),
            (IndexManifest { chunker: "c-0".into(), ..manifest() }, ["c-0", "c-1"]),
            (other_dims, ["a (m, 8)", "a (m, 4)"]),
            (other_model, ["b (n, 4)", "b (m, 4)"]),
        ] {
            let text = agree(&stored, &manifest()).unwrap_err().to_string();
            assert!(text.starts_with("manifest_mismatch") && values.iter().all(|value| text.contains(value)), "{text}");
        }
    }
}
