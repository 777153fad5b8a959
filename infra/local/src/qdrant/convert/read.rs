//! Reads by id, page, count and facet.

use qdrant_client::qdrant::start_from::Value as Start;
use qdrant_client::qdrant::with_payload_selector::SelectorOptions as PayloadOptions;
use qdrant_client::qdrant::with_vectors_selector::SelectorOptions as VectorOptions;
use qdrant_client::qdrant::{
    CountPoints, Direction, FacetCounts, OrderBy, ScrollPoints, WithPayloadSelector, WithVectorsSelector,
};
use qdrant_edge::{
    CountRequest, EdgeConfig, FacetRequest, OrderBy as EngineOrder, OrderByInterface, PayloadSelector,
    PayloadSelectorExclude, PayloadSelectorInclude, ScrollRequest, WithPayloadInterface, WithVector,
};
use serde_json::{Map, Value, json};

use super::super::refusal::Refusal;
use super::{absent, filter, from_rest, limit, value, vectors};

/// The page size and facet length where none is asked for, as on the server.
const DEFAULT_LIMIT: u64 = 10;

pub(in super::super) fn with_payload(
    selector: Option<WithPayloadSelector>,
    default: bool,
) -> Result<WithPayloadInterface, Refusal> {
    Ok(match selector.map(|selector| selector.selector_options) {
        None => WithPayloadInterface::Bool(default),
        Some(Some(PayloadOptions::Enable(enable))) => WithPayloadInterface::Bool(enable),
        Some(Some(PayloadOptions::Include(include))) => WithPayloadInterface::Selector(PayloadSelector::Include(
            PayloadSelectorInclude::new(value::keys(&include.fields)?),
        )),
        Some(Some(PayloadOptions::Exclude(exclude))) => WithPayloadInterface::Selector(PayloadSelector::Exclude(
            PayloadSelectorExclude::new(value::keys(&exclude.fields)?),
        )),
        Some(None) => return Err(Refusal::invalid("the payload selector is empty")),
    })
}

pub(in super::super) fn with_vectors(
    selector: Option<WithVectorsSelector>,
    config: &EdgeConfig,
) -> Result<WithVector, Refusal> {
    Ok(match selector.map(|selector| selector.selector_options) {
        None => WithVector::Bool(false),
        Some(Some(VectorOptions::Enable(enable))) => WithVector::Bool(enable),
        Some(Some(VectorOptions::Include(include))) => WithVector::Selector(vectors::known(include.names, config)?),
        Some(None) => return Err(Refusal::invalid("the vector selector is empty")),
    })
}

pub(in super::super) fn order_by(order: OrderBy) -> Result<EngineOrder, Refusal> {
    let mut rest = Map::new();
    value::key(&order.key)?;
    rest.insert("key".to_owned(), order.key.into());
    if let Some(direction) = order.direction {
        let direction = match Direction::try_from(direction) {
            Ok(Direction::Asc) => "asc",
            Ok(Direction::Desc) => "desc",
            Err(_) => return Err(Refusal::invalid("unknown direction")),
        };
        rest.insert("direction".to_owned(), direction.into());
    }
    if let Some(start) = order.start_from {
        let start: Value = match start.value.ok_or_else(|| Refusal::invalid("start_from is empty"))? {
            Start::Float(number) if number.is_finite() => json!(number),
            Start::Float(_) => return Err(Refusal::invalid("start_from must be finite")),
            Start::Integer(number) => number.into(),
            Start::Timestamp(time) => time.to_string().into(),
            Start::Datetime(text) => text.into(),
        };
        rest.insert("start_from".to_owned(), start);
    }
    from_rest("the order", rest.into())
}

pub(in super::super) fn scroll(request: ScrollPoints, config: &EdgeConfig) -> Result<ScrollRequest, Refusal> {
    absent(request.shard_key_selector.as_ref(), "shard keys")?;
    if request.offset.is_some() && request.order_by.is_some() {
        return Err(Refusal::invalid("Validation error: offset cannot be used with order_by, use start_from"));
    }
    Ok(ScrollRequest {
        offset: request.offset.map(|id| value::point_id(Some(id))).transpose()?,
        limit: Some(limit(request.limit.map_or(DEFAULT_LIMIT, u64::from))?),
        filter: filter::optional(request.filter)?,
        with_payload: Some(with_payload(request.with_payload, true)?),
        with_vector: with_vectors(request.with_vectors, config)?,
        order_by: request.order_by.map(order_by).transpose()?.map(OrderByInterface::Struct),
    })
}

pub(in super::super) fn count(request: CountPoints) -> Result<CountRequest, Refusal> {
    absent(request.shard_key_selector.as_ref(), "shard keys")?;
    Ok(CountRequest { filter: filter::optional(request.filter)?, exact: request.exact.unwrap_or(true) })
}

pub(in super::super) fn facet(request: FacetCounts) -> Result<FacetRequest, Refusal> {
    absent(request.shard_key_selector.as_ref(), "shard keys")?;
    Ok(FacetRequest {
        key: value::key(&request.key)?,
        limit: limit(request.limit.unwrap_or(DEFAULT_LIMIT))?,
        filter: filter::optional(request.filter)?,
        exact: request.exact.unwrap_or(false),
    })
}
