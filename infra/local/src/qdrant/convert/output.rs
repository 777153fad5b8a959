//! What the engine answers → the API's messages.

use qdrant_client::qdrant::facet_value::Variant as FacetVariant;
use qdrant_client::qdrant::order_value::Variant as OrderVariant;
use qdrant_client::qdrant::{FacetHit, FacetValue, OrderValue, RetrievedPoint, ScoredPoint};
use qdrant_edge::external::uuid::Uuid;
use qdrant_edge::{
    FacetResponse, FacetValue as EngineFacet, OrderValue as EngineOrder, Record, ScoredPoint as EngineScored,
};

use super::{value, vectors};

pub(in super::super) fn record(record: Record) -> RetrievedPoint {
    RetrievedPoint {
        id: Some(value::to_point_id(record.id)),
        payload: value::to_payload(record.payload),
        vectors: record.vector.map(vectors::to_output),
        shard_key: None,
        order_value: record.order_value.map(order),
    }
}

pub(in super::super) fn scored(point: EngineScored) -> ScoredPoint {
    ScoredPoint {
        id: Some(value::to_point_id(point.id)),
        payload: value::to_payload(point.payload),
        score: point.score,
        version: point.version,
        vectors: point.vector.map(vectors::to_output),
        shard_key: None,
        order_value: point.order_value.map(order),
    }
}

fn order(value: EngineOrder) -> OrderValue {
    let variant = match value {
        EngineOrder::Int(number) => OrderVariant::Int(number),
        EngineOrder::Float(number) => OrderVariant::Float(number),
    };
    OrderValue { variant: Some(variant) }
}

pub(in super::super) fn facets(response: FacetResponse) -> Vec<FacetHit> {
    let hits = response.hits.into_iter().map(|hit| {
        let variant = match hit.value {
            EngineFacet::Keyword(text) => FacetVariant::StringValue(text),
            EngineFacet::Int(number) => FacetVariant::IntegerValue(number),
            EngineFacet::Uuid(number) => FacetVariant::StringValue(Uuid::from_u128(number).to_string()),
            EngineFacet::Bool(flag) => FacetVariant::BoolValue(flag),
        };
        FacetHit { value: Some(FacetValue { variant: Some(variant) }), count: hit.count as u64 }
    });
    hits.collect()
}
