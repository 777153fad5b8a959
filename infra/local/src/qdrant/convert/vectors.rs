//! Vectors in both directions, checked against the collection before anything is written.

use std::collections::{HashMap, HashSet};

use qdrant_client::qdrant::vector::Vector as Given;
use qdrant_client::qdrant::vector_input::Variant;
use qdrant_client::qdrant::vector_output::Vector as Answered;
use qdrant_client::qdrant::vectors::VectorsOptions;
use qdrant_client::qdrant::vectors_output::VectorsOptions as OutputOptions;
use qdrant_client::qdrant::{
    DenseVector, MultiDenseVector, NamedVectorsOutput, SparseVector, Vector, VectorInput, VectorOutput, Vectors,
    VectorsOutput,
};
use qdrant_edge::{
    DEFAULT_VECTOR_NAME, EdgeConfig, SparseVector as EngineSparse, TypedMultiDenseVector, VectorInternal,
    VectorPersisted, VectorStructInternal, VectorStructPersisted,
};

use super::super::refusal::Refusal;

/// The most vectors of one multivector.
const MAX_MULTI: usize = 4_096;
/// The most terms of one sparse vector.
const MAX_TERMS: usize = 65_536;

/// The vectors of a point. No vectors at all is a point without any, as on the server.
pub(in super::super) fn point(vectors: Option<Vectors>, config: &EdgeConfig) -> Result<VectorStructPersisted, Refusal> {
    match vectors.and_then(|vectors| vectors.vectors_options) {
        None => Ok(VectorStructPersisted::Named(HashMap::new())),
        Some(VectorsOptions::Vector(vector)) => match one(vector, DEFAULT_VECTOR_NAME, config)? {
            VectorPersisted::Dense(values) => Ok(VectorStructPersisted::Single(values)),
            VectorPersisted::MultiDense(rows) => Ok(VectorStructPersisted::MultiDense(rows)),
            VectorPersisted::Sparse(_) => Err(Refusal::invalid("Sparse vector must be named")),
        },
        Some(VectorsOptions::Vectors(named)) => {
            let checked = named.vectors.into_iter().map(|(name, vector)| {
                let vector = one(vector, &name, config)?;
                Ok((name, vector))
            });
            Ok(VectorStructPersisted::Named(checked.collect::<Result<_, Refusal>>()?))
        }
    }
}

fn one(vector: Vector, name: &str, config: &EdgeConfig) -> Result<VectorPersisted, Refusal> {
    Ok(match plain(vector)? {
        Given::Dense(dense) => {
            if expects_multi(name, config) {
                return Ok(VectorPersisted::MultiDense(multi(vec![dense], name, config)?));
            }
            VectorPersisted::Dense(row(dense.data, name, config)?)
        }
        Given::Sparse(given) => VectorPersisted::Sparse(sparse(given, name, config)?),
        Given::MultiDense(rows) => VectorPersisted::MultiDense(multi(rows.vectors, name, config)?),
        Given::Document(_) | Given::Image(_) | Given::Object(_) => {
            return Err(Refusal::Unsupported("inference: send vectors"));
        }
    })
}

/// The vector in today's form; clients before 1.16 send the parts side by side.
#[expect(deprecated, reason = "clients before 1.16 send only these fields")]
fn plain(vector: Vector) -> Result<Given, Refusal> {
    let Vector { data, indices, vectors_count, vector } = vector;
    if let Some(given) = vector {
        return Ok(given);
    }
    match (indices, vectors_count) {
        (Some(indices), None) => Ok(Given::Sparse(SparseVector { values: data, indices: indices.data })),
        (None, Some(count)) => {
            let count = usize::try_from(count).unwrap_or(0);
            if count == 0 || data.is_empty() || !data.len().is_multiple_of(count) {
                return Err(Refusal::invalid("a multivector's length is no multiple of its count"));
            }
            let rows = data.chunks(data.len() / count).map(|row| DenseVector { data: row.to_vec() });
            Ok(Given::MultiDense(MultiDenseVector { vectors: rows.collect() }))
        }
        (None, None) => Ok(Given::Dense(DenseVector { data })),
        (Some(_), Some(_)) => Err(Refusal::invalid("a vector is sparse or a multivector, not both")),
    }
}

/// The vector of a query, in the form that `using` asks for.
pub(in super::super) fn query(
    input: Option<VectorInput>,
    using: &str,
    config: &EdgeConfig,
) -> Result<VectorInternal, Refusal> {
    match input.and_then(|input| input.variant) {
        Some(Variant::Dense(dense)) => {
            if expects_multi(using, config) {
                return flat(&multi(vec![dense], using, config)?);
            }
            Ok(VectorInternal::Dense(row(dense.data, using, config)?))
        }
        Some(Variant::Sparse(given)) => Ok(VectorInternal::Sparse(sparse(given, using, config)?)),
        Some(Variant::MultiDense(rows)) => flat(&multi(rows.vectors, using, config)?),
        Some(Variant::Id(_)) => Err(Refusal::Unsupported("a query by point id: send the vector")),
        Some(Variant::Document(_) | Variant::Image(_) | Variant::Object(_)) => {
            Err(Refusal::Unsupported("inference: send vectors"))
        }
        None => Err(Refusal::invalid("a query needs a vector")),
    }
}

fn flat(rows: &[Vec<f32>]) -> Result<VectorInternal, Refusal> {
    let dims = rows.first().map_or(0, Vec::len);
    Ok(VectorInternal::MultiDense(TypedMultiDenseVector::try_from_flatten(rows.concat(), dims)?))
}

fn expects_multi(name: &str, config: &EdgeConfig) -> bool {
    config.vectors.get(name).is_some_and(|params| params.multivector_config.is_some())
}

/// That the collection has this dense vector, with these dimensions.
fn row(values: Vec<f32>, name: &str, config: &EdgeConfig) -> Result<Vec<f32>, Refusal> {
    let Some(params) = config.vectors.get(name) else { return Err(unknown(name, config)) };
    if params.size != values.len() {
        return Err(Refusal::invalid(format!(
            "Wrong input: Vector dimension error: expected dim: {}, got {}",
            params.size,
            values.len()
        )));
    }
    finite(&values)?;
    Ok(values)
}

fn multi(rows: Vec<DenseVector>, name: &str, config: &EdgeConfig) -> Result<Vec<Vec<f32>>, Refusal> {
    if config.vectors.contains_key(name) && !expects_multi(name, config) {
        return Err(Refusal::invalid(format!("Wrong input: vector `{name}` is not a multivector")));
    }
    if rows.is_empty() || rows.len() > MAX_MULTI {
        return Err(Refusal::invalid(format!("a multivector has 1 to {MAX_MULTI} vectors")));
    }
    rows.into_iter().map(|dense| row(dense.data, name, config)).collect()
}

fn sparse(given: SparseVector, name: &str, config: &EdgeConfig) -> Result<EngineSparse, Refusal> {
    if !config.sparse_vectors.contains_key(name) {
        return Err(unknown(name, config));
    }
    let SparseVector { values, indices } = given;
    if values.len() != indices.len() {
        return Err(Refusal::invalid("a sparse vector has as many values as indices"));
    }
    if indices.len() > MAX_TERMS {
        return Err(Refusal::invalid(format!("a sparse vector has at most {MAX_TERMS} terms")));
    }
    if indices.iter().collect::<HashSet<_>>().len() != indices.len() {
        return Err(Refusal::invalid("Validation error: sparse indices must be unique"));
    }
    finite(&values)?;
    // The engine scores by merging, so it needs them in order; callers need not send them so.
    let mut terms: Vec<(u32, f32)> = indices.into_iter().zip(values).collect();
    terms.sort_unstable_by_key(|(index, _)| *index);
    let (indices, values) = terms.into_iter().unzip();
    EngineSparse::new(indices, values).map_err(|_| Refusal::invalid("the sparse vector is not valid"))
}

fn finite(values: &[f32]) -> Result<(), Refusal> {
    if values.iter().all(|value| value.is_finite()) {
        Ok(())
    } else {
        Err(Refusal::invalid("a vector holds only finite numbers"))
    }
}

fn unknown(name: &str, config: &EdgeConfig) -> Refusal {
    if config.vectors.contains_key(name) || config.sparse_vectors.contains_key(name) {
        return Refusal::invalid(format!("Wrong input: vector `{name}` is of another kind (dense, sparse)"));
    }
    Refusal::invalid(format!("Wrong input: Not existing vector name error: {name}"))
}

/// That every name is a vector of the collection.
pub(in super::super) fn known(names: Vec<String>, config: &EdgeConfig) -> Result<Vec<String>, Refusal> {
    for name in &names {
        if !config.vectors.contains_key(name) && !config.sparse_vectors.contains_key(name) {
            return Err(unknown(name, config));
        }
    }
    Ok(names)
}

pub(in super::super) fn to_output(vectors: VectorStructInternal) -> VectorsOutput {
    let options = match vectors {
        VectorStructInternal::Single(values) => OutputOptions::Vector(answer(VectorInternal::Dense(values))),
        VectorStructInternal::MultiDense(rows) => OutputOptions::Vector(answer(VectorInternal::MultiDense(rows))),
        VectorStructInternal::Named(named) => OutputOptions::Vectors(NamedVectorsOutput {
            vectors: named.into_iter().map(|(name, vector)| (name, answer(vector))).collect(),
        }),
    };
    VectorsOutput { vectors_options: Some(options) }
}

fn answer(vector: VectorInternal) -> VectorOutput {
    let vector = match vector {
        VectorInternal::Dense(data) => Answered::Dense(DenseVector { data }),
        VectorInternal::Sparse(EngineSparse { indices, values }) => Answered::Sparse(SparseVector { values, indices }),
        VectorInternal::MultiDense(rows) => Answered::MultiDense(MultiDenseVector {
            vectors: rows.into_multi_vectors().into_iter().map(|data| DenseVector { data }).collect(),
        }),
    };
    VectorOutput { vector: Some(vector), ..VectorOutput::default() }
}
