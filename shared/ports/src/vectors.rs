use crate::Outage;
use anchorage_domain::{
    DomainKey, FileId, Generation, OrderId, PointId, QuarantineReason, Sha256, Source, SparseVector, TenantScope,
    Timestamp, VectorName,
};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    fmt::Debug,
};

/// What a collection was built with. Vectors of two manifests never mix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexManifest {
    pub vectors: Vec<VectorSpec>,
    /// Versions of all analyzers, as one text.
    pub analyzer: String,
    pub chunker: String,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct VectorSpec {
    pub name: VectorName,
    pub model: String,
    pub dims: u32,
}

/// One chunk as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    pub point_id: PointId,
    pub file_id: FileId,
    pub domain: DomainKey,
    pub generation: Generation,
    pub chunk_index: u32,
    pub order_id: OrderId,
    /// The text exactly as extracted.
    pub content: String,
    /// The text as folded for matching.
    pub content_folded: String,
    pub content_sha256: Sha256,
    pub title: Option<String>,
    pub heading_path: Vec<String>,
    pub source: Source,
    /// Why the text cannot be trusted without a look at the original, where it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quarantined: Option<QuarantineReason>,
    pub is_active: bool,
    pub document_type: String,
    pub metadata: Map<String, Value>,
    /// Counts the edits of this point, from 1.
    pub version: u32,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// The dense vectors of one text, by name.
pub type DenseVectors = BTreeMap<VectorName, Vec<f32>>;

/// A chunk to stage: the point and all its vectors. Every configured dense vector is there, or the index refuses it.
#[derive(Debug, Clone, PartialEq)]
pub struct PointDraft {
    pub point: Point,
    pub dense: DenseVectors,
    pub sparse: SparseVector,
}

/// Which generations of one file to remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Generations {
    /// Those older than the given one, so that a newer one staged meanwhile survives.
    OlderThan(Generation),
    All,
}

impl Generations {
    #[must_use]
    pub fn contains(self, generation: Generation) -> bool {
        match self {
            Self::OlderThan(newest) => generation < newest,
            Self::All => true,
        }
    }
}

/// A question to every vector of the collection at once. Only active points of the named domains match.
#[derive(Debug, Clone, PartialEq)]
pub struct HybridQuery {
    /// At least one.
    pub domains: Vec<DomainKey>,
    pub file: Option<FileId>,
    /// May be empty when no embedder answered.
    pub dense: DenseVectors,
    pub sparse: SparseVector,
    /// Candidates each vector contributes to the fusion.
    pub depth: u32,
    pub limit: u32,
    /// Ask for each stage's own rank and score as well; same round trip, more work for the index.
    pub explain: bool,
}

/// Rank (from 1) and score of a point in one stage.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StageScore {
    pub rank: u32,
    pub score: f32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub point: Point,
    /// Rank and score by stage: `fused` always, and each vector's name when explained.
    pub stages: BTreeMap<String, StageScore>,
}

/// A search for folded words, all of which must occur. Only active points match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeywordQuery {
    /// Folded as content was, at least one.
    pub terms: Vec<String>,
    pub domains: Vec<DomainKey>,
    pub file: Option<FileId>,
    pub limit: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CountFilter {
    pub file: Option<FileId>,
    pub generation: Option<Generation>,
    pub domain: Option<DomainKey>,
    pub active_only: bool,
}

/// The active points before and after one in its file's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Neighbours {
    pub previous: Option<PointId>,
    pub next: Option<PointId>,
}

/// What is searchable. Can be rebuilt from the document store and the blobs.
///
/// Writes are acknowledged only when a read issued afterwards sees them.
#[async_trait]
pub trait VectorIndex: Send + Sync + Debug {
    /// What the collection was built with; absent when it was never bootstrapped. The same for every tenant.
    async fn manifest(&self) -> Result<Option<IndexManifest>, Outage>;

    /// Writes points as given; the same points again change nothing. Batched by count and bytes inside.
    async fn stage(&self, scope: &TenantScope, points: &[PointDraft]) -> Result<(), Outage>;

    /// The chunk indexes of a generation that are staged already.
    async fn staged(&self, scope: &TenantScope, file: FileId, generation: Generation) -> Result<HashSet<u32>, Outage>;

    /// The dense vectors that texts have already among the points of a file, active or not, of whatever generation: the
    /// index is its own cache. A text is left out unless a point of it has every configured vector.
    async fn vectors(
        &self,
        scope: &TenantScope,
        file: FileId,
        texts: &BTreeSet<Sha256>,
    ) -> Result<HashMap<Sha256, DenseVectors>, Outage>;

    /// Makes every point of a generation active.
    async fn activate(&self, scope: &TenantScope, file: FileId, generation: Generation) -> Result<(), Outage>;

    /// Makes every point of a file inactive that `generations` names.
    async fn deactivate(&self, scope: &TenantScope, file: FileId, generations: Generations) -> Result<(), Outage>;

    /// Removes points. Says how many there were.
    async fn remove(&self, scope: &TenantScope, file: FileId, generations: Generations) -> Result<u64, Outage>;

    /// The point, active or not, of whatever generation.
    async fn point(&self, scope: &TenantScope, point: PointId) -> Result<Option<Point>, Outage>;

    /// Active points of one generation in order, from just after `after`.
    async fn list(
        &self,
        scope: &TenantScope,
        file: FileId,
        generation: Generation,
        after: Option<OrderId>,
        limit: u32,
    ) -> Result<Vec<Point>, Outage>;

    /// The neighbours of each given point, in the same order, in one round trip.
    async fn neighbours(&self, scope: &TenantScope, points: &[&Point]) -> Result<Vec<Neighbours>, Outage>;

    async fn count(&self, scope: &TenantScope, filter: &CountFilter) -> Result<u64, Outage>;

    async fn keyword(&self, scope: &TenantScope, query: &KeywordQuery) -> Result<Vec<Point>, Outage>;

    /// Best first, in one round trip.
    async fn search(&self, scope: &TenantScope, query: &HybridQuery) -> Result<Vec<Hit>, Outage>;
}
