//! `/v1/connectors`: items of a source's own API, taken in as documents.

mod routes;

use anchorage_service::Connectors;
use utoipa_axum::{router::OpenApiRouter, routes};

/// The function's routes and their description.
#[must_use]
pub fn router(connectors: Connectors) -> OpenApiRouter {
    OpenApiRouter::new().routes(routes!(routes::receive::receive_documents)).with_state(connectors)
}

#[cfg(test)]
mod tests;
