//! One file per route.

pub mod count;
pub mod get;
pub mod list;
pub mod of_file;
pub mod search;

use anchorage_lambda::{
    extract::page_limit,
    problem::{ErrorCode, FieldError, Invalid, Problem},
};
use anchorage_service::points::PointsError;

fn problem(error: PointsError) -> Problem {
    let invalid =
        |pointer: &str| Problem::invalid(vec![FieldError { pointer: pointer.to_owned(), detail: error.to_string() }]);
    match error {
        PointsError::NotFound => Problem::not_found(),
        PointsError::InvalidCursor => invalid("?cursor"),
        PointsError::NoWords | PointsError::TooManyWords => invalid("?q"),
        PointsError::DomainUnknown(_) => Problem::new(ErrorCode::DomainUnknown, "Register the domain first."),
        PointsError::DomainDisabled(_) => Problem::new(ErrorCode::DomainDisabled, "Switch the domain on first."),
        PointsError::Outage(outage) => outage.into(),
    }
}

/// A listing's `limit` as the index takes it.
fn limit(invalid: &mut Invalid, text: Option<&str>) -> Option<u32> {
    let limit = invalid.check("?limit", page_limit(text))?;
    invalid.check("?limit", u32::try_from(limit))
}
