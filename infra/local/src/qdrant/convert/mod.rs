//! Between the API's messages and the engine's types. Whatever has no counterpart is refused here.

pub(super) mod collection;
pub(super) mod filter;
pub(super) mod index;
pub(super) mod output;
pub(super) mod query;
pub(super) mod read;
pub(super) mod update;
pub(super) mod value;
pub(super) mod vectors;

use super::refusal::Refusal;

/// The largest page, prefetch or offset, in points.
pub(super) const MAX_LIMIT: u64 = 100_000;

/// A count of points that a request asks for: at least one, at most [`MAX_LIMIT`].
pub(super) fn limit(asked: u64) -> Result<usize, Refusal> {
    if (1..=MAX_LIMIT).contains(&asked) {
        return usize::try_from(asked).map_err(|_| Refusal::invalid("limit is too large"));
    }
    Err(Refusal::invalid(format!("Validation error: limit: value {asked} invalid, must be 1 to {MAX_LIMIT}")))
}

/// Refuses a field that is set although nothing here would act on it.
pub(super) fn absent<T>(field: Option<&T>, what: &'static str) -> Result<(), Refusal> {
    if field.is_some() { Err(Refusal::Unsupported(what)) } else { Ok(()) }
}

/// Reads an engine type from its REST shape.
pub(super) fn from_rest<T: serde::de::DeserializeOwned>(
    what: &'static str,
    rest: serde_json::Value,
) -> Result<T, Refusal> {
    serde_json::from_value(rest).map_err(|_| Refusal::invalid(format!("{what} is not valid")))
}
