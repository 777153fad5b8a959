//! A question to ranked evidence: embed, one search, one read of the files in the list.
//!
//! A stage that fails or is late is left out and named in `degraded`; only when the search itself fails is it an error.

mod cache;

use crate::points::current_generations;
use anchorage_documents::sparse_query;
use anchorage_domain::{DomainKey, DomainRecord, FileId, SparseVector, TenantScope, Timestamp, VectorName};
use anchorage_ports::{
    Clock, DocumentStore, EmbedError, Embedder, Hit, HybridQuery, InputKind, Outage, OutageKind, Service, VectorIndex,
};
use cache::QueryCache;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

/// Candidates each vector contributes to the fusion.
const PREFETCH_DEPTH: u32 = 50;
/// What embedding a question may take at most; less when the deadline is near.
const EMBED_TIMEOUT: Duration = Duration::from_secs(6);
/// What is kept of the time for whatever follows the search.
const RESERVE: Duration = Duration::from_millis(500);

/// Why nothing could be retrieved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RetrievalError {
    #[error("the tenant has no domain {0}")]
    DomainUnknown(DomainKey),
    #[error("the domain {0} is switched off")]
    DomainDisabled(DomainKey),
    #[error(transparent)]
    Outage(#[from] Outage),
}

/// What to look for, and where. The domains come from [`Retrieval::domains`].
#[derive(Debug, Clone, PartialEq)]
pub struct SearchRequest<'a> {
    pub query: &'a str,
    pub domains: &'a [DomainRecord],
    pub file: Option<FileId>,
    pub limit: u32,
    /// Rank and score of every stage with each hit.
    pub explain: bool,
    pub deadline: Timestamp,
}

/// Published chunks, best first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Retrieved {
    pub hits: Vec<Hit>,
    /// Stages left out, as `stage:why`.
    pub degraded: Vec<String>,
    pub stage_millis: BTreeMap<String, u64>,
}

/// The retrieval use case.
#[derive(Debug, Clone)]
pub struct Retrieval {
    pub store: Arc<dyn DocumentStore>,
    pub index: Arc<dyn VectorIndex>,
    pub embedders: Vec<Arc<dyn Embedder>>,
    pub clock: Arc<dyn Clock>,
    cache: Arc<QueryCache>,
}

impl Retrieval {
    #[must_use]
    pub fn new(
        store: Arc<dyn DocumentStore>,
        index: Arc<dyn VectorIndex>,
        embedders: Vec<Arc<dyn Embedder>>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { store, index, embedders, clock, cache: Arc::default() }
    }

    /// The domains a question is put to: those named, each of which must be there and active, or all active ones.
    ///
    /// # Errors
    /// Names the first domain that is not there or switched off; an outage when the store did not answer in time.
    pub async fn domains(
        &self,
        scope: &TenantScope,
        named: &[DomainKey],
        deadline: Timestamp,
    ) -> Result<Vec<DomainRecord>, RetrievalError> {
        let mut domains = self.within(deadline, Service::DocumentStore, self.store.domains(scope)).await?;
        for key in named {
            match domains.iter().find(|domain| domain.key == *key) {
                None => return Err(RetrievalError::DomainUnknown(key.clone())),
                Some(domain) if !domain.active => return Err(RetrievalError::DomainDisabled(key.clone())),
                Some(_) => {}
            }
        }
        domains.retain(|domain| domain.active && (named.is_empty() || named.contains(&domain.key)));
        Ok(domains)
    }

    /// # Errors
    /// When the index or the store did not answer in time.
    pub async fn search(&self, scope: &TenantScope, request: &SearchRequest<'_>) -> Result<Retrieved, RetrievalError> {
        let mut retrieved = Retrieved::default();
        if request.domains.is_empty() {
            return Ok(retrieved);
        }
        let started = self.clock.now();
        let dense = self.embed(request, &mut retrieved.degraded).await;
        let embedded = self.clock.now();
        let query = HybridQuery {
            domains: request.domains.iter().map(|domain| domain.key.clone()).collect(),
            file: request.file,
            dense,
            sparse: sparse(request),
            depth: PREFETCH_DEPTH,
            // Twice as many as asked for: while a file is being published, both of its generations answer.
            limit: request.limit.saturating_mul(2),
            explain: request.explain,
        };
        if query.dense.is_empty() && query.sparse.indices.is_empty() {
            return Ok(retrieved);
        }
        let mut hits = self.within(request.deadline, Service::VectorIndex, self.index.search(scope, &query)).await?;
        let searched = self.clock.now();
        // The store says which generation is published; what the index calls active is only a candidate.
        let files = hits.iter().map(|hit| hit.point.file_id);
        let current = current_generations(self.store.as_ref(), scope, files);
        let current = self.within(request.deadline, Service::DocumentStore, current).await?;
        hits.retain(|hit| current.get(&hit.point.file_id) == Some(&hit.point.generation));
        hits.truncate(request.limit as usize);
        retrieved.hits = hits;
        let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        retrieved.stage_millis = BTreeMap::from([
            ("embed".to_owned(), millis(embedded.since(started))),
            ("search".to_owned(), millis(searched.since(embedded))),
            ("generations".to_owned(), millis(self.clock.now().since(searched))),
        ]);
        Ok(retrieved)
    }

    /// A call's outcome, if it comes while there is time left to do something with it.
    pub(crate) async fn within<T>(
        &self,
        deadline: Timestamp,
        service: Service,
        call: impl Future<Output = Result<T, Outage>>,
    ) -> Result<T, Outage> {
        let left = deadline.since(self.clock.now()).saturating_sub(RESERVE);
        let late = || Outage::new(service, OutageKind::TimedOut, "the request's time was up");
        tokio::time::timeout(left, call).await.map_err(|_| late())?
    }

    /// The question's vectors, side by side, from those embedders that answer.
    async fn embed(&self, request: &SearchRequest<'_>, degraded: &mut Vec<String>) -> BTreeMap<VectorName, Vec<f32>> {
        let left = request.deadline.since(self.clock.now()).saturating_sub(RESERVE);
        let timeout = EMBED_TIMEOUT.min(left / 2);
        let one = async |embedder: &Arc<dyn Embedder>| {
            let name = &embedder.spec().name;
            if let Some(vector) = self.cache.get(name, request.query) {
                return (name.clone(), Ok(vector));
            }
            let inputs = [request.query];
            let call = embedder.embed(&inputs, InputKind::Query, timeout);
            let why = match tokio::time::timeout(timeout, call).await {
                Ok(Ok(embedded)) => match embedded.vectors.into_iter().next() {
                    Some(vector) => {
                        self.cache.put(name, request.query, &vector);
                        return (name.clone(), Ok(vector));
                    }
                    None => "unavailable",
                },
                Ok(Err(EmbedError::Rejected { .. })) => "rejected",
                Ok(Err(EmbedError::Outage(outage))) => match outage.kind {
                    OutageKind::Throttled => "throttled",
                    OutageKind::TimedOut => "timeout",
                    OutageKind::Unavailable | OutageKind::Refused => "unavailable",
                },
                Err(_) => "timeout",
            };
            (name.clone(), Err(why))
        };
        let mut dense = BTreeMap::new();
        for (name, outcome) in futures::future::join_all(self.embedders.iter().map(one)).await {
            match outcome {
                Ok(vector) => {
                    dense.insert(name, vector);
                }
                Err(why) => {
                    tracing::warn!(event = "retrieval.embedder.skipped", embedder = %name, why);
                    degraded.push(format!("{name}:{why}"));
                }
            }
        }
        dense
    }
}

/// The question's terms in every language that its domains are written in.
fn sparse(request: &SearchRequest<'_>) -> SparseVector {
    let languages: BTreeSet<_> = request.domains.iter().map(|domain| domain.policy.language).collect();
    let terms: BTreeSet<u32> =
        languages.into_iter().flat_map(|language| sparse_query(language, request.query).indices).collect();
    SparseVector { values: vec![1.0; terms.len()], indices: terms.into_iter().collect() }
}
