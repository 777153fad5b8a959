//! One file per route.

pub mod query;
pub mod search;

use anchorage_domain::Timestamp;
use anchorage_lambda::problem::{ErrorCode, Problem};
use anchorage_ports::Clock;
use anchorage_service::retrieval::RetrievalError;
use std::time::Duration;

/// What an answer may take in all. The gateway gives up at 30 s.
const TIME: Duration = Duration::from_secs(27);

fn deadline(clock: &dyn Clock) -> Timestamp {
    clock.now().plus(TIME)
}

fn problem(error: RetrievalError) -> Problem {
    match error {
        RetrievalError::DomainUnknown(_) => Problem::new(ErrorCode::DomainUnknown, "Register the domain first."),
        RetrievalError::DomainDisabled(_) => Problem::new(ErrorCode::DomainDisabled, "Switch the domain on first."),
        RetrievalError::Outage(outage) => outage.into(),
    }
}
