//! Point ids, payload keys and payload values.

use std::collections::HashMap;

use qdrant_client::qdrant::point_id::PointIdOptions;
use qdrant_client::qdrant::{PointId, Value};
use qdrant_edge::external::uuid::Uuid;
use qdrant_edge::{JsonPath, Payload, PointId as EngineId};

use super::super::refusal::Refusal;

pub(in super::super) fn point_id(id: Option<PointId>) -> Result<EngineId, Refusal> {
    match id.and_then(|id| id.point_id_options) {
        Some(PointIdOptions::Num(number)) => Ok(EngineId::NumId(number)),
        Some(PointIdOptions::Uuid(text)) => {
            let uuid = Uuid::parse_str(&text).map_err(|_| Refusal::invalid("Unable to parse UUID of a point id"))?;
            Ok(EngineId::Uuid(uuid))
        }
        None => Err(Refusal::invalid("No ID options provided")),
    }
}

pub(in super::super) fn point_ids(ids: Vec<PointId>) -> Result<Vec<EngineId>, Refusal> {
    ids.into_iter().map(|id| point_id(Some(id))).collect()
}

pub(in super::super) fn to_point_id(id: EngineId) -> PointId {
    match id {
        EngineId::NumId(number) => PointId::from(number),
        EngineId::Uuid(uuid) => PointId::from(uuid.to_string()),
    }
}

pub(in super::super) fn key(path: &str) -> Result<JsonPath, Refusal> {
    path.parse().map_err(|()| Refusal::invalid(format!("Invalid json path: '{path}'")))
}

pub(in super::super) fn keys(paths: &[String]) -> Result<Vec<JsonPath>, Refusal> {
    paths.iter().map(|path| key(path)).collect()
}

pub(in super::super) fn payload(values: HashMap<String, Value>) -> Payload {
    Payload(values.into_iter().map(|(key, value)| (key, serde_json::Value::from(value))).collect())
}

pub(in super::super) fn to_payload(payload: Option<Payload>) -> HashMap<String, Value> {
    payload.into_iter().flat_map(|payload| payload.0).map(|(key, value)| (key, Value::from(value))).collect()
}
