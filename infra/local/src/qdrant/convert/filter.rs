//! Filters: proto → the REST shape → the engine's type.

use qdrant_client::qdrant::condition::ConditionOneOf;
use qdrant_client::qdrant::r#match::MatchValue;
use qdrant_client::qdrant::point_id::PointIdOptions;
use qdrant_client::qdrant::{
    Condition, DatetimeRange, FieldCondition, Filter, GeoLineString, GeoPoint, PointId, Range, ValuesCount,
};
use qdrant_edge::Filter as EngineFilter;
use serde_json::{Map, Value, json};

use super::super::refusal::Refusal;
use super::{from_rest, value};

/// How deep filters may nest.
const MAX_DEPTH: usize = 16;

pub(in super::super) fn filter(filter: Filter) -> Result<EngineFilter, Refusal> {
    from_rest("the filter", rest(filter, MAX_DEPTH)?)
}

pub(in super::super) fn optional(wanted: Option<Filter>) -> Result<Option<EngineFilter>, Refusal> {
    wanted.map(filter).transpose()
}

fn rest(filter: Filter, depth: usize) -> Result<Value, Refusal> {
    let depth = depth.checked_sub(1).ok_or_else(|| Refusal::invalid("the filter is nested too deeply"))?;
    let list = |conditions: Vec<Condition>| -> Result<Vec<Value>, Refusal> {
        conditions.into_iter().map(|one| condition(one, depth)).collect()
    };
    let mut out = Map::new();
    for (name, conditions) in [("should", filter.should), ("must", filter.must), ("must_not", filter.must_not)] {
        if !conditions.is_empty() {
            out.insert(name.to_owned(), list(conditions)?.into());
        }
    }
    if let Some(least) = filter.min_should {
        let conditions = list(least.conditions)?;
        out.insert("min_should".to_owned(), json!({"conditions": conditions, "min_count": least.min_count}));
    }
    Ok(out.into())
}

fn condition(condition: Condition, depth: usize) -> Result<Value, Refusal> {
    let one = condition.condition_one_of.ok_or_else(|| Refusal::invalid("a filter condition is empty"))?;
    Ok(match one {
        ConditionOneOf::Field(condition) => field(condition)?,
        ConditionOneOf::IsEmpty(empty) => json!({"is_empty": {"key": checked(&empty.key)?}}),
        ConditionOneOf::IsNull(null) => json!({"is_null": {"key": checked(&null.key)?}}),
        ConditionOneOf::HasId(has) => {
            let ids: Result<Vec<Value>, Refusal> = has.has_id.into_iter().map(id).collect();
            json!({"has_id": ids?})
        }
        ConditionOneOf::Filter(inner) => rest(inner, depth)?,
        ConditionOneOf::Nested(nested) => {
            let inner = nested.filter.ok_or_else(|| Refusal::invalid("a nested condition needs a filter"))?;
            json!({"nested": {"key": checked(&nested.key)?, "filter": rest(inner, depth)?}})
        }
        ConditionOneOf::HasVector(has) => json!({"has_vector": has.has_vector}),
        ConditionOneOf::Slice(_) => return Err(Refusal::Unsupported("slice conditions")),
    })
}

/// A path that does not parse is told by its text, not as "the filter".
fn checked(path: &str) -> Result<&str, Refusal> {
    value::key(path).map(|_| path)
}

fn id(id: PointId) -> Result<Value, Refusal> {
    // Through the engine's own reading, so that a malformed UUID is refused and not matched as nothing.
    value::point_id(Some(id)).map(|id| match value::to_point_id(id).point_id_options {
        Some(PointIdOptions::Num(number)) => number.into(),
        Some(PointIdOptions::Uuid(uuid)) => uuid.into(),
        None => Value::Null,
    })
}

fn field(condition: FieldCondition) -> Result<Value, Refusal> {
    let mut out = Map::new();
    let mut put = |name: &str, value: Value| out.insert(name.to_owned(), value);
    put("key", checked(&condition.key)?.into());
    let mut tests = 0_u32;
    if let Some(wanted) = condition.r#match {
        let wanted = wanted.match_value.ok_or_else(|| Refusal::invalid("a match condition needs a value"))?;
        put("match", matching(wanted)?);
        tests += 1;
    }
    if let Some(wanted) = condition.range {
        put("range", range(wanted)?);
        tests += 1;
    }
    if let Some(wanted) = condition.datetime_range {
        if tests > 0 && condition.range.is_some() {
            return Err(Refusal::invalid("a field condition has one range"));
        }
        put("range", datetime_range(wanted)?);
        tests += 1;
    }
    if let Some(area) = condition.geo_bounding_box {
        put("geo_bounding_box", json!({"top_left": geo(area.top_left)?, "bottom_right": geo(area.bottom_right)?}));
        tests += 1;
    }
    if let Some(area) = condition.geo_radius {
        put("geo_radius", json!({"center": geo(area.center)?, "radius": finite(f64::from(area.radius))?}));
        tests += 1;
    }
    if let Some(area) = condition.geo_polygon {
        let interiors: Result<Vec<Value>, Refusal> = area.interiors.into_iter().map(|line| ring(Some(line))).collect();
        put("geo_polygon", json!({"exterior": ring(area.exterior)?, "interiors": interiors?}));
        tests += 1;
    }
    if let Some(count) = condition.values_count {
        put("values_count", values_count(&count)?);
        tests += 1;
    }
    if let Some(empty) = condition.is_empty {
        put("is_empty", empty.into());
        tests += 1;
    }
    if let Some(null) = condition.is_null {
        put("is_null", null.into());
        tests += 1;
    }
    if tests == 0 {
        return Err(Refusal::invalid(format!("the condition on '{}' tests nothing", condition.key)));
    }
    Ok(out.into())
}

fn matching(wanted: MatchValue) -> Result<Value, Refusal> {
    Ok(match wanted {
        MatchValue::Keyword(keyword) => json!({"value": keyword}),
        MatchValue::Integer(integer) => json!({"value": integer}),
        MatchValue::Boolean(flag) => json!({"value": flag}),
        MatchValue::Text(text) => json!({"text": text}),
        MatchValue::TextAny(text) => json!({"text_any": text}),
        MatchValue::Phrase(text) => json!({"phrase": text}),
        MatchValue::Keywords(any) => json!({"any": any.strings}),
        MatchValue::Integers(any) => json!({"any": any.integers}),
        MatchValue::ExceptKeywords(except) => json!({"except": except.strings}),
        MatchValue::ExceptIntegers(except) => json!({"except": except.integers}),
        MatchValue::Prefix(_) => return Err(Refusal::Unsupported("prefix match")),
        MatchValue::Substring(_) => return Err(Refusal::Unsupported("substring match")),
    })
}

/// JSON has no infinities: a bound that is not a number would turn into no bound.
fn finite(number: f64) -> Result<f64, Refusal> {
    if number.is_finite() { Ok(number) } else { Err(Refusal::invalid("a bound must be a finite number")) }
}

fn bounds<T>(named: [(&str, Option<T>); 4], write: impl Fn(T) -> Result<Value, Refusal>) -> Result<Value, Refusal> {
    let mut out = Map::new();
    for (name, bound) in named {
        if let Some(bound) = bound {
            out.insert(name.to_owned(), write(bound)?);
        }
    }
    if out.is_empty() {
        return Err(Refusal::invalid("a range needs a bound"));
    }
    Ok(out.into())
}

fn range(range: Range) -> Result<Value, Refusal> {
    let named = [("lt", range.lt), ("gt", range.gt), ("gte", range.gte), ("lte", range.lte)];
    bounds(named, |bound| Ok(finite(bound)?.into()))
}

fn datetime_range(range: DatetimeRange) -> Result<Value, Refusal> {
    let named = [("lt", range.lt), ("gt", range.gt), ("gte", range.gte), ("lte", range.lte)];
    bounds(named, |bound| Ok(bound.to_string().into()))
}

fn values_count(count: &ValuesCount) -> Result<Value, Refusal> {
    bounds([("lt", count.lt), ("gt", count.gt), ("gte", count.gte), ("lte", count.lte)], |bound| Ok(bound.into()))
}

fn geo(point: Option<GeoPoint>) -> Result<Value, Refusal> {
    let point = point.ok_or_else(|| Refusal::invalid("an area lacks a point"))?;
    Ok(json!({"lon": finite(point.lon)?, "lat": finite(point.lat)?}))
}

fn ring(line: Option<GeoLineString>) -> Result<Value, Refusal> {
    let line = line.ok_or_else(|| Refusal::invalid("a polygon lacks its exterior"))?;
    let points: Result<Vec<Value>, Refusal> = line.points.into_iter().map(|point| geo(Some(point))).collect();
    Ok(json!({"points": points?}))
}
