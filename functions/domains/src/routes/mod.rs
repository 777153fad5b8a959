//! One file per route.

pub mod change;
pub mod create;
pub mod get;
pub mod list;

use anchorage_lambda::problem::{ErrorCode, Problem};
use anchorage_service::domains::DomainsError;

fn problem(error: DomainsError) -> Problem {
    match error {
        DomainsError::NotFound => Problem::not_found(),
        DomainsError::Exists => Problem::new(ErrorCode::DomainExists, "Change the domain that is there instead."),
        DomainsError::Conflict => Problem::new(ErrorCode::WriteConflict, "Others keep changing the domain. Try again."),
        DomainsError::Outage(outage) => outage.into(),
    }
}
