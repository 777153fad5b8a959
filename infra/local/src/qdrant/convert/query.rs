//! The universal query: prefetches, nearest, fusion, order and sample.

use qdrant_client::qdrant::query::Variant;
use qdrant_client::qdrant::{Fusion, PrefetchQuery, Query, QueryPoints, Rrf, Sample, SearchParams};
use qdrant_edge::external::ordered_float::OrderedFloat;
use qdrant_edge::{
    DEFAULT_VECTOR_NAME, EdgeConfig, Filter, Fusion as EngineFusion, NamedQuery, Prefetch, QueryEnum, QueryRequest,
    Sample as EngineSample, ScoringQuery, SearchParams as EngineParams,
};

use super::super::refusal::Refusal;
use super::{MAX_LIMIT, absent, filter, limit, read, vectors};

/// The length of an answer or of a prefetch where none is asked for, as on the server.
const DEFAULT_LIMIT: u64 = 10;
/// The rank constant of the fusion where none is asked for, as on the server.
const DEFAULT_RRF_K: usize = 2;
/// How deep prefetches may nest.
const MAX_DEPTH: usize = 8;
/// The most prefetches side by side.
const MAX_PREFETCHES: usize = 64;

pub(in super::super) fn query(request: QueryPoints, config: &EdgeConfig) -> Result<QueryRequest, Refusal> {
    absent(request.shard_key_selector.as_ref(), "shard keys")?;
    absent(request.lookup_from.as_ref(), "lookup in another collection")?;
    let offset = request.offset.unwrap_or(0);
    if offset > MAX_LIMIT {
        return Err(Refusal::invalid(format!("offset is at most {MAX_LIMIT}")));
    }
    let sources = request.prefetch.len();
    let scoring = scoring(request.query, request.using, sources, config)?;
    if sources > 0 && scoring.is_none() {
        return Err(Refusal::invalid("A query is needed to merge the prefetches."));
    }
    Ok(QueryRequest {
        prefetches: prefetches(request.prefetch, config, MAX_DEPTH)?,
        query: scoring,
        filter: filter::optional(request.filter)?,
        score_threshold: threshold(request.score_threshold)?,
        limit: limit(request.limit.unwrap_or(DEFAULT_LIMIT))?,
        offset: usize::try_from(offset).map_err(|_| Refusal::invalid("offset is too large"))?,
        params: request.params.as_ref().map(params).transpose()?,
        with_vector: read::with_vectors(request.with_vectors, config)?,
        with_payload: read::with_payload(request.with_payload, false)?,
    })
}

fn prefetches(given: Vec<PrefetchQuery>, config: &EdgeConfig, depth: usize) -> Result<Vec<Prefetch>, Refusal> {
    if given.is_empty() {
        return Ok(Vec::new());
    }
    let depth = depth.checked_sub(1).ok_or_else(|| Refusal::invalid("prefetches are nested too deeply"))?;
    if given.len() > MAX_PREFETCHES {
        return Err(Refusal::invalid(format!("at most {MAX_PREFETCHES} prefetches")));
    }
    given.into_iter().map(|prefetch| one(prefetch, config, depth)).collect()
}

fn one(prefetch: PrefetchQuery, config: &EdgeConfig, depth: usize) -> Result<Prefetch, Refusal> {
    absent(prefetch.lookup_from.as_ref(), "lookup in another collection")?;
    let sources = prefetch.prefetch.len();
    let query = scoring(prefetch.query, prefetch.using, sources, config)?;
    if sources > 0 && query.is_none() {
        return Err(Refusal::invalid("A query is needed to merge the prefetches."));
    }
    Ok(Prefetch {
        prefetches: prefetches(prefetch.prefetch, config, depth)?,
        query,
        limit: limit(prefetch.limit.unwrap_or(DEFAULT_LIMIT))?,
        params: prefetch.params.as_ref().map(params).transpose()?,
        filter: filter::optional(prefetch.filter)?,
        score_threshold: threshold(prefetch.score_threshold)?,
    })
}

fn scoring(
    query: Option<Query>,
    using: Option<String>,
    sources: usize,
    config: &EdgeConfig,
) -> Result<Option<ScoringQuery>, Refusal> {
    let Some(query) = query else {
        return if using.is_some() { Err(Refusal::invalid("`using` needs a query")) } else { Ok(None) };
    };
    let using = using.unwrap_or_else(|| DEFAULT_VECTOR_NAME.to_owned());
    Ok(Some(match query.variant.ok_or_else(|| Refusal::invalid("the query is empty"))? {
        Variant::Nearest(input) => {
            let vector = vectors::query(Some(input), &using, config)?;
            ScoringQuery::Vector(QueryEnum::Nearest(NamedQuery { query: vector, using: Some(using) }))
        }
        Variant::OrderBy(order) => ScoringQuery::OrderBy(read::order_by(order)?),
        Variant::Fusion(fusion) => fuse(
            match Fusion::try_from(fusion) {
                Ok(Fusion::Rrf) => EngineFusion::Rrf { k: DEFAULT_RRF_K, weights: None },
                Ok(Fusion::Dbsf) => EngineFusion::Dbsf,
                Err(_) => return Err(Refusal::invalid("unknown fusion")),
            },
            sources,
        )?,
        Variant::Rrf(parameters) => fuse(rrf(parameters, sources)?, sources)?,
        Variant::Sample(sample) => match Sample::try_from(sample) {
            Ok(Sample::Random) => ScoringQuery::Sample(EngineSample::Random),
            Err(_) => return Err(Refusal::invalid("unknown sample")),
        },
        Variant::Recommend(_) => return Err(Refusal::Unsupported("recommend queries")),
        Variant::Discover(_) => return Err(Refusal::Unsupported("discover queries")),
        Variant::Context(_) => return Err(Refusal::Unsupported("context queries")),
        Variant::Formula(_) => return Err(Refusal::Unsupported("formula queries")),
        Variant::NearestWithMmr(_) => return Err(Refusal::Unsupported("maximal marginal relevance")),
        Variant::RelevanceFeedback(_) => return Err(Refusal::Unsupported("relevance feedback")),
        Variant::Text(_) => return Err(Refusal::Unsupported("text queries: they need server 1.20")),
    }))
}

fn fuse(fusion: EngineFusion, sources: usize) -> Result<ScoringQuery, Refusal> {
    if sources == 0 {
        return Err(Refusal::invalid("cannot apply Fusion without prefetches"));
    }
    Ok(ScoringQuery::Fusion(fusion))
}

fn rrf(parameters: Rrf, sources: usize) -> Result<EngineFusion, Refusal> {
    let k = match parameters.k {
        Some(0) => return Err(Refusal::invalid("Validation error: rrf.k must be 1 or larger")),
        Some(k) => usize::try_from(k).map_err(|_| Refusal::invalid("rrf.k is too large"))?,
        None => DEFAULT_RRF_K,
    };
    if parameters.weights.is_empty() {
        return Ok(EngineFusion::Rrf { k, weights: None });
    }
    if parameters.weights.len() != sources {
        return Err(Refusal::invalid("RRF needs one weight for each prefetch"));
    }
    if !parameters.weights.iter().all(|weight| weight.is_finite() && *weight >= 0.0) {
        return Err(Refusal::invalid("RRF weights are finite and not negative"));
    }
    Ok(EngineFusion::Rrf { k, weights: Some(parameters.weights.into_iter().map(OrderedFloat).collect()) })
}

fn threshold(score: Option<f32>) -> Result<Option<OrderedFloat<f32>>, Refusal> {
    if score.is_some_and(f32::is_nan) {
        return Err(Refusal::invalid("score_threshold is not a number"));
    }
    Ok(score.map(OrderedFloat))
}

fn params(params: &SearchParams) -> Result<EngineParams, Refusal> {
    absent(params.quantization.as_ref(), "quantization")?;
    absent(params.acorn.as_ref(), "ACORN search")?;
    absent(params.idf.as_ref(), "a corpus for IDF: it needs server 1.19")?;
    let hnsw_ef = params.hnsw_ef.map(usize::try_from).transpose();
    Ok(EngineParams {
        hnsw_ef: hnsw_ef.map_err(|_| Refusal::invalid("hnsw_ef is too large"))?,
        exact: params.exact.unwrap_or(false),
        quantization: None,
        indexed_only: params.indexed_only.unwrap_or(false),
        acorn: None,
    })
}

/// Every filter of a request, the root's and the prefetches'.
pub(in super::super) fn filters(request: &QueryRequest) -> Vec<&Filter> {
    request.filter_refs().into_iter().flatten().collect()
}
