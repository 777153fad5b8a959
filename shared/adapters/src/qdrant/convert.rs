//! Points to and from Qdrant's own form.

use super::schema::{Field, SPARSE, TENANT_KEY};
use anchorage_domain::{PointId, Sha256, SparseVector, TenantScope};
use anchorage_ports::{DenseVectors, Outage, OutageKind, Point, PointDraft, Service, VectorSpec};
use qdrant_client::qdrant::{
    NamedVectors, PointId as QdrantId, PointStruct, RetrievedPoint, Value, Vector, VectorOutput,
    point_id::PointIdOptions, vector_output::Vector as Stored, vectors_output::VectorsOptions,
};
use std::collections::HashMap;

/// Bytes a point takes on the wire beyond its payload and its vectors, generously.
const POINT_OVERHEAD_BYTES: usize = 512;

pub(super) fn refused(detail: impl Into<String>) -> Outage {
    Outage::new(Service::VectorIndex, OutageKind::Refused, detail)
}

/// A stored record that this service cannot have written as it is.
fn corrupt(what: &str) -> Outage {
    refused(format!("a stored point has {what}"))
}

pub(super) fn point_id(id: Option<QdrantId>) -> Result<PointId, Outage> {
    match id.and_then(|id| id.point_id_options) {
        Some(PointIdOptions::Uuid(text)) => text.parse().map_err(|_| corrupt("no UUID for an id")),
        Some(PointIdOptions::Num(_)) | None => Err(corrupt("no UUID for an id")),
    }
}

pub(super) fn qdrant_id(id: PointId) -> QdrantId {
    QdrantId::from(id.to_string())
}

/// The stored payload is the point as it serialises, less its id, plus its tenant.
pub(super) fn point(id: Option<QdrantId>, payload: HashMap<String, Value>) -> Result<Point, Outage> {
    let id = point_id(id)?;
    let mut fields: serde_json::Map<_, _> = payload.into_iter().map(|(key, value)| (key, value.into())).collect();
    fields.remove(TENANT_KEY);
    fields.insert("point_id".into(), id.to_string().into());
    serde_json::from_value(fields.into()).map_err(|_| corrupt(&format!("an unknown payload: {id}")))
}

/// The digest of a stored point's text and its dense vectors, if it has all of `specs`.
pub(super) fn dense_vectors(
    point: RetrievedPoint,
    specs: &[VectorSpec],
) -> Result<Option<(Sha256, DenseVectors)>, Outage> {
    let digest = point.payload.get(Field::ContentSha256.key()).and_then(Value::as_str);
    let digest = digest.and_then(|digest| digest.parse().ok()).ok_or_else(|| corrupt("no digest of its text"))?;
    let Some(VectorsOptions::Vectors(mut named)) = point.vectors.and_then(|vectors| vectors.vectors_options) else {
        return Ok(None);
    };
    let mut vectors = DenseVectors::new();
    for spec in specs {
        let vector = named.vectors.remove(spec.name.as_str()).map(VectorOutput::into_vector);
        match vector {
            Some(Stored::Dense(dense)) if dense.data.len() == spec.dims as usize => {
                vectors.insert(spec.name.clone(), dense.data);
            }
            _ => return Ok(None),
        }
    }
    Ok(Some((digest, vectors)))
}

/// A draft in Qdrant's form, with its size in bytes.
pub(super) fn draft(
    scope: &TenantScope,
    draft: &PointDraft,
    vectors: &[VectorSpec],
) -> Result<(PointStruct, usize), Outage> {
    let mut named = HashMap::new();
    let mut bytes = POINT_OVERHEAD_BYTES;
    for spec in vectors {
        let values = draft.dense.get(&spec.name).map_or(&[][..], Vec::as_slice);
        if values.len() != spec.dims as usize {
            return Err(refused(format!("vector {} has {} dimensions, not {}", spec.name, values.len(), spec.dims)));
        }
        if !values.iter().all(|value| value.is_finite()) {
            return Err(refused(format!("vector {} has a value that is no number", spec.name)));
        }
        bytes = bytes.saturating_add(size_of_val(values));
        named.insert(spec.name.to_string(), Vector::new_dense(values));
    }
    if let Some(other) = draft.dense.keys().find(|name| vectors.iter().all(|spec| spec.name != **name)) {
        return Err(refused(format!("vector {other} is not one of the collection")));
    }
    let SparseVector { indices, values } = &draft.sparse;
    if indices.len() != values.len() {
        return Err(refused("the sparse vector has not one weight for each term"));
    }
    bytes = bytes.saturating_add(indices.len() * (size_of::<f32>() + size_of::<u32>()));
    named.insert(SPARSE.to_owned(), Vector::new_sparse(indices.as_slice(), values.as_slice()));

    let Ok(serde_json::Value::Object(mut fields)) = serde_json::to_value(&draft.point) else {
        return Err(refused("the point cannot be written as JSON"));
    };
    fields.remove("point_id");
    fields.insert(TENANT_KEY.into(), scope.tenant().to_string().into());
    bytes = bytes.saturating_add(serde_json::to_vec(&fields).map_or(0, |json| json.len()));
    let payload: HashMap<String, Value> = fields.into_iter().map(|(key, value)| (key, value.into())).collect();
    Ok((PointStruct::new(qdrant_id(draft.point.point_id), NamedVectors { vectors: named }, payload), bytes))
}
