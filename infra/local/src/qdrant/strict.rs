//! Strict mode: a filter may only use what a fitting payload index answers.

use std::collections::{HashMap, HashSet};

use qdrant_client::qdrant::payload_index_params::IndexParams;
use qdrant_client::qdrant::{PayloadSchemaInfo, PayloadSchemaType};
use qdrant_edge::{
    AnyVariants, Condition, FieldCondition, Filter, JsonPath, Match, OperationError, RangeInterface, ValueVariants,
};

use super::refusal::Refusal;

/// What an index can answer, named as the server names it in its refusals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Ability {
    Keyword,
    IntegerMatch,
    IntegerRange,
    Float,
    Text,
    Phrase,
    Bool,
    Uuid,
    Datetime,
    Geo,
}

impl Ability {
    const EVERY: &[Self] = &[
        Self::Keyword,
        Self::IntegerMatch,
        Self::IntegerRange,
        Self::Float,
        Self::Text,
        Self::Bool,
        Self::Uuid,
        Self::Datetime,
        Self::Geo,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Keyword => "keyword",
            Self::IntegerMatch => "integer (with parameter `lookup: true`)",
            Self::IntegerRange => "integer (with parameter `range: true`)",
            Self::Float => "float",
            Self::Text => "text",
            Self::Phrase => "text (with parameter `phrase_matching: true`)",
            Self::Bool => "bool",
            Self::Uuid => "uuid",
            Self::Datetime => "datetime",
            Self::Geo => "geo",
        }
    }
}

/// The abilities of a collection's indexes, by payload key.
#[derive(Debug, Default)]
pub(super) struct Indexes(HashMap<String, HashSet<Ability>>);

impl Indexes {
    pub(super) fn of(schema: &HashMap<String, PayloadSchemaInfo>) -> Self {
        Self(schema.iter().map(|(key, info)| (key.clone(), abilities(info))).collect())
    }

    /// Refuses a filter that some part of the payload would have to be scanned for.
    pub(super) fn check(&self, filter: Option<&Filter>) -> Result<(), Refusal> {
        filter.map_or(Ok(()), |filter| self.check_under("", filter))
    }

    /// Refuses to count the values of a key whose index does not hold them. The engine notices only when it has points.
    pub(super) fn check_facet(&self, key: &JsonPath) -> Result<(), Refusal> {
        const COUNTED: &[Ability] = &[Ability::Keyword, Ability::IntegerMatch, Ability::Bool, Ability::Uuid];
        let key = key.to_string();
        if self.has(&key, COUNTED) { Ok(()) } else { Err(OperationError::MissingMapIndexForFacet { key }.into()) }
    }

    fn check_under(&self, prefix: &str, filter: &Filter) -> Result<(), Refusal> {
        let Filter { should, min_should, must, must_not } = filter;
        let lists = [should, must, must_not].into_iter().flatten().flatten();
        for condition in lists.chain(min_should.iter().flat_map(|least| &least.conditions)) {
            match condition {
                Condition::Field(field) => self.check_field(prefix, field)?,
                Condition::IsEmpty(empty) => self.need(&format!("{prefix}{}", empty.is_empty.key), Ability::EVERY)?,
                Condition::IsNull(null) => self.need(&format!("{prefix}{}", null.is_null.key), Ability::EVERY)?,
                Condition::Nested(nested) => {
                    self.check_under(&format!("{prefix}{}.", nested.array_key()), nested.filter())?;
                }
                Condition::Filter(inner) => self.check_under(prefix, inner)?,
                Condition::HasId(_) | Condition::HasVector(_) | Condition::CustomIdChecker(_) => {}
            }
        }
        Ok(())
    }

    fn check_field(&self, prefix: &str, field: &FieldCondition) -> Result<(), Refusal> {
        let key = format!("{prefix}{}", field.key);
        if let Some(wanted) = &field.r#match {
            self.need(&key, for_match(wanted))?;
        }
        match field.range {
            Some(RangeInterface::Float(_)) => self.need(&key, &[Ability::IntegerRange, Ability::Float])?,
            Some(RangeInterface::DateTime(_)) => self.need(&key, &[Ability::Datetime])?,
            None => {}
        }
        if field.geo_bounding_box.is_some() || field.geo_radius.is_some() || field.geo_polygon.is_some() {
            self.need(&key, &[Ability::Geo])?;
        }
        if field.values_count.is_some() || field.is_empty.is_some() || field.is_null.is_some() {
            self.need(&key, Ability::EVERY)?;
        }
        Ok(())
    }

    fn has(&self, key: &str, any_of: &[Ability]) -> bool {
        self.0.get(key).is_some_and(|has| any_of.iter().any(|ability| has.contains(ability)))
    }

    fn need(&self, key: &str, any_of: &[Ability]) -> Result<(), Refusal> {
        if self.has(key, any_of) {
            return Ok(());
        }
        let names: Vec<&str> = any_of.iter().map(|ability| ability.name()).collect();
        Err(Refusal::invalid(format!(
            "Bad request: Index required but not found for \"{key}\" of one of the following types: [{}]. \
             Help: Create an index for this key or use a different filter.",
            names.join(", ")
        )))
    }
}

fn for_match(wanted: &Match) -> &'static [Ability] {
    const TEXT_KEY: &[Ability] = &[Ability::Keyword, Ability::Uuid];
    const INTEGER: &[Ability] = &[Ability::IntegerMatch];
    match wanted {
        Match::Value(value) => match value.value {
            ValueVariants::String(_) => TEXT_KEY,
            ValueVariants::Integer(_) => INTEGER,
            ValueVariants::Bool(_) => &[Ability::Bool],
        },
        Match::Text(_) | Match::TextAny(_) => &[Ability::Text],
        Match::Phrase(_) => &[Ability::Phrase],
        Match::Any(any) => any_of(&any.any),
        Match::Except(except) => any_of(&except.except),
    }
}

fn any_of(values: &AnyVariants) -> &'static [Ability] {
    match values {
        AnyVariants::Strings(_) => &[Ability::Keyword, Ability::Uuid],
        AnyVariants::Integers(_) => &[Ability::IntegerMatch],
    }
}

fn abilities(info: &PayloadSchemaInfo) -> HashSet<Ability> {
    let params = info.params.as_ref().and_then(|params| params.index_params.as_ref());
    let mut has = HashSet::new();
    match info.data_type() {
        PayloadSchemaType::Keyword => {
            has.insert(Ability::Keyword);
        }
        PayloadSchemaType::Integer => {
            let (lookup, range) = match params {
                Some(IndexParams::IntegerIndexParams(params)) => (params.lookup, params.range),
                _ => (None, None),
            };
            has.extend(lookup.unwrap_or(true).then_some(Ability::IntegerMatch));
            has.extend(range.unwrap_or(true).then_some(Ability::IntegerRange));
        }
        PayloadSchemaType::Float => {
            has.insert(Ability::Float);
        }
        PayloadSchemaType::Text => {
            has.insert(Ability::Text);
            if let Some(IndexParams::TextIndexParams(params)) = params
                && params.phrase_matching()
            {
                has.insert(Ability::Phrase);
            }
        }
        PayloadSchemaType::Bool => {
            has.insert(Ability::Bool);
        }
        PayloadSchemaType::Datetime => {
            has.insert(Ability::Datetime);
        }
        PayloadSchemaType::Uuid => {
            has.insert(Ability::Uuid);
        }
        PayloadSchemaType::Geo => {
            has.insert(Ability::Geo);
        }
        PayloadSchemaType::UnknownType => {}
    }
    has
}

/// Whether the filter lets every point through, however it is wrapped.
pub(super) fn is_boundless(filter: &Filter) -> bool {
    let bounds = |list: &Option<Vec<Condition>>| list.iter().flatten().any(binds);
    // One boundless alternative makes the whole `should` boundless.
    let should = filter.should.as_ref().is_some_and(|list| !list.is_empty() && list.iter().all(binds));
    let least =
        filter.min_should.as_ref().is_some_and(|least| least.min_count > 0 && least.conditions.iter().any(binds));
    let must_not = filter.must_not.as_ref().is_some_and(|list| !list.is_empty());
    !(should || least || must_not || bounds(&filter.must))
}

fn binds(condition: &Condition) -> bool {
    match condition {
        Condition::Filter(inner) => !is_boundless(inner),
        Condition::Field(_)
        | Condition::IsEmpty(_)
        | Condition::IsNull(_)
        | Condition::HasId(_)
        | Condition::HasVector(_)
        | Condition::Nested(_)
        | Condition::CustomIdChecker(_) => true,
    }
}
