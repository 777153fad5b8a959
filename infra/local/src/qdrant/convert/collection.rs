//! A collection's creation: proto → the engine's configuration and the description that is answered.

use qdrant_client::qdrant::vectors_config::Config;
use qdrant_client::qdrant::{
    CollectionConfig, CollectionInfo, CollectionParams, CreateCollection, Datatype, Distance, HnswConfigDiff, Memory,
    Modifier, OptimizersConfigDiff, ShardingMethod, SparseVectorParams, StrictModeConfig, VectorParams,
};
use qdrant_edge::{EdgeConfig, EdgeOptimizersConfig, EdgeSparseVectorParams, EdgeVectorParams, HnswIndexConfig};
use serde_json::{Map, Value, json};

use super::super::refusal::Refusal;
use super::{absent, from_rest};

/// The largest vector, in dimensions, as the server has it.
const MAX_DIMS: u64 = 65_536;
/// The most named vectors of one collection.
const MAX_VECTORS: usize = 64;

#[expect(deprecated, reason = "`on_disk_payload` is what clients up to 1.18 send for placement")]
pub(in super::super) fn parse(request: CreateCollection) -> Result<(EdgeConfig, CollectionInfo), Refusal> {
    refuse_unsupported(&request)?;
    let hnsw = hnsw(HnswIndexConfig::default(), request.hnsw_config.as_ref())?;
    let mut config = EdgeConfig {
        on_disk_payload: request.on_disk_payload.unwrap_or(true),
        hnsw_config: hnsw,
        optimizers: optimizers(request.optimizers_config.as_ref())?,
        ..EdgeConfig::default()
    };
    match request.vectors_config.as_ref().and_then(|vectors| vectors.config.as_ref()) {
        Some(Config::Params(params)) => {
            config.vectors.insert(String::new(), dense(params, hnsw)?);
        }
        Some(Config::ParamsMap(named)) => {
            for (name, params) in &named.map {
                config.vectors.insert(named_vector(name)?, dense(params, hnsw)?);
            }
        }
        None => {}
    }
    for (name, params) in request.sparse_vectors_config.iter().flat_map(|sparse| &sparse.map) {
        let clash = config.vectors.contains_key(name);
        if clash || config.sparse_vectors.insert(named_vector(name)?, sparse(params)?).is_some() {
            return Err(Refusal::invalid(format!("two vectors are named `{name}`")));
        }
    }
    if config.vectors.len() + config.sparse_vectors.len() > MAX_VECTORS {
        return Err(Refusal::invalid(format!("a collection has at most {MAX_VECTORS} vectors")));
    }
    Ok((config, describe(request)))
}

#[expect(deprecated, reason = "`on_disk_payload` is what clients up to 1.18 read for placement")]
fn describe(request: CreateCollection) -> CollectionInfo {
    let params = CollectionParams {
        shard_number: 1,
        on_disk_payload: request.on_disk_payload.unwrap_or(true),
        vectors_config: request.vectors_config,
        replication_factor: Some(1),
        write_consistency_factor: Some(1),
        sparse_vectors_config: request.sparse_vectors_config,
        ..CollectionParams::default()
    };
    let strict = StrictModeConfig {
        enabled: Some(true),
        unindexed_filtering_retrieve: Some(false),
        unindexed_filtering_update: Some(false),
        ..StrictModeConfig::default()
    };
    let config = CollectionConfig {
        params: Some(params),
        hnsw_config: Some(request.hnsw_config.unwrap_or_default()),
        optimizer_config: Some(request.optimizers_config.unwrap_or_default()),
        strict_mode_config: Some(strict),
        metadata: request.metadata,
        ..CollectionConfig::default()
    };
    CollectionInfo { config: Some(config), ..CollectionInfo::default() }
}

fn refuse_unsupported(request: &CreateCollection) -> Result<(), Refusal> {
    absent(request.wal_config.as_ref(), "WAL configuration")?;
    absent(request.quantization_config.as_ref(), "quantization")?;
    absent(request.payload.as_ref(), "payload storage parameters")?;
    absent(request.id_tracker.as_ref(), "id tracker parameters")?;
    let copies = [request.shard_number, request.replication_factor, request.write_consistency_factor];
    if copies.into_iter().flatten().any(|number| number != 1) {
        return Err(Refusal::Unsupported("more than one shard or replica"));
    }
    if request.sharding_method.is_some_and(|method| method != i32::from(ShardingMethod::Auto)) {
        return Err(Refusal::Unsupported("custom sharding"));
    }
    let Some(strict) = &request.strict_mode_config else { return Ok(()) };
    if strict.enabled == Some(false)
        || strict.unindexed_filtering_retrieve == Some(true)
        || strict.unindexed_filtering_update == Some(true)
    {
        return Err(Refusal::Unsupported("unindexed filtering: strict mode is always on"));
    }
    let known = StrictModeConfig {
        enabled: strict.enabled,
        unindexed_filtering_retrieve: strict.unindexed_filtering_retrieve,
        unindexed_filtering_update: strict.unindexed_filtering_update,
        ..StrictModeConfig::default()
    };
    if *strict == known { Ok(()) } else { Err(Refusal::Unsupported("strict mode limits beyond unindexed filtering")) }
}

fn named_vector(name: &str) -> Result<String, Refusal> {
    if name.is_empty() { Err(Refusal::invalid("a named vector needs a name")) } else { Ok(name.to_owned()) }
}

#[expect(deprecated, reason = "`on_disk` is what clients up to 1.18 send for placement")]
fn dense(params: &VectorParams, global: HnswIndexConfig) -> Result<EdgeVectorParams, Refusal> {
    absent(params.quantization_config.as_ref(), "quantization")?;
    absent(params.memory.as_ref(), "`memory` of a vector")?;
    if !(1..=MAX_DIMS).contains(&params.size) {
        return Err(Refusal::invalid(format!("Validation error: size must be 1 to {MAX_DIMS}, got {}", params.size)));
    }
    let distance = match params.distance() {
        Distance::Cosine => "Cosine",
        Distance::Euclid => "Euclid",
        Distance::Dot => "Dot",
        Distance::Manhattan => "Manhattan",
        Distance::UnknownDistance => return Err(Refusal::invalid("unknown distance")),
    };
    let mut rest = Map::new();
    rest.insert("size".to_owned(), params.size.into());
    rest.insert("distance".to_owned(), distance.into());
    if let Some(on_disk) = params.on_disk {
        rest.insert("on_disk".to_owned(), on_disk.into());
    }
    if params.multivector_config.is_some() {
        // The one comparator there is.
        rest.insert("multivector_config".to_owned(), json!({"comparator": "max_sim"}));
    }
    if let Some(datatype) = params.datatype {
        rest.insert("datatype".to_owned(), storage(datatype)?);
    }
    let mut engine: EdgeVectorParams = from_rest("the vector", rest.into())?;
    if params.hnsw_config.is_some() {
        engine.hnsw_config = Some(hnsw(global, params.hnsw_config.as_ref())?);
    }
    Ok(engine)
}

#[expect(deprecated, reason = "`on_disk` is what clients up to 1.18 send for placement")]
fn sparse(params: &SparseVectorParams) -> Result<EdgeSparseVectorParams, Refusal> {
    let mut rest = Map::new();
    if let Some(index) = &params.index {
        absent(index.memory.as_ref(), "`memory` of a sparse index")?;
        if let Some(threshold) = index.full_scan_threshold {
            rest.insert("full_scan_threshold".to_owned(), threshold.into());
        }
        if let Some(on_disk) = index.on_disk {
            rest.insert("on_disk".to_owned(), on_disk.into());
        }
        if let Some(datatype) = index.datatype {
            rest.insert("datatype".to_owned(), storage(datatype)?);
        }
    }
    if let Some(modifier) = params.modifier {
        let modifier = match Modifier::try_from(modifier) {
            Ok(Modifier::None) => "none",
            Ok(Modifier::Idf) => "idf",
            Err(_) => return Err(Refusal::invalid("unknown sparse modifier")),
        };
        rest.insert("modifier".to_owned(), modifier.into());
    }
    from_rest("the sparse vector", rest.into())
}

fn storage(datatype: i32) -> Result<Value, Refusal> {
    Ok(match Datatype::try_from(datatype) {
        Ok(Datatype::Default | Datatype::Float32) => "float32".into(),
        Ok(Datatype::Float16) => "float16".into(),
        Ok(Datatype::Uint8) => "uint8".into(),
        Ok(Datatype::Turbo4 | Datatype::Turbo8 | Datatype::Turbo16) => {
            return Err(Refusal::Unsupported("turbo data types"));
        }
        Err(_) => return Err(Refusal::invalid("unknown data type")),
    })
}

#[expect(deprecated, reason = "`on_disk` is what clients up to 1.18 send for placement")]
fn hnsw(base: HnswIndexConfig, diff: Option<&HnswConfigDiff>) -> Result<HnswIndexConfig, Refusal> {
    let Some(diff) = diff else { return Ok(base) };
    absent(diff.memory.as_ref().map(|memory| Memory::try_from(*memory)).as_ref(), "`memory` of a graph")?;
    absent(diff.inline_storage.filter(|on| *on).as_ref(), "vectors stored inline")?;
    let number = |asked: Option<u64>, or: usize| asked.map_or(Ok(or), usize::try_from);
    let too_large = |_| Refusal::invalid("an HNSW parameter is too large");
    let ef_construct = number(diff.ef_construct, base.ef_construct).map_err(too_large)?;
    if ef_construct < 4 {
        return Err(Refusal::invalid("Validation error: ef_construct must be 4 or larger"));
    }
    Ok(HnswIndexConfig {
        m: number(diff.m, base.m).map_err(too_large)?,
        ef_construct,
        full_scan_threshold: number(diff.full_scan_threshold, base.full_scan_threshold).map_err(too_large)?,
        max_indexing_threads: number(diff.max_indexing_threads, base.max_indexing_threads).map_err(too_large)?,
        on_disk: diff.on_disk.or(base.on_disk),
        payload_m: match diff.payload_m {
            Some(links) => Some(usize::try_from(links).map_err(too_large)?),
            None => base.payload_m,
        },
        inline_storage: base.inline_storage,
    })
}

fn optimizers(diff: Option<&OptimizersConfigDiff>) -> Result<EdgeOptimizersConfig, Refusal> {
    let Some(diff) = diff else { return Ok(EdgeOptimizersConfig::default()) };
    // Nothing is optimised in the background, so a threshold would be a promise that nobody keeps.
    if *diff == OptimizersConfigDiff::default() {
        Ok(EdgeOptimizersConfig::default())
    } else {
        Err(Refusal::Unsupported("optimizer configuration: nothing is optimised in the background"))
    }
}
