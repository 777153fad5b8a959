//! `/v1/rag`: questions, and the retrieval under them without an answer.

mod asked;
mod routes;
mod view;

use anchorage_service::Answering;
use utoipa_axum::{router::OpenApiRouter, routes};

/// The function's routes and their description.
#[must_use]
pub fn router(answering: Answering) -> OpenApiRouter {
    OpenApiRouter::new()
        .routes(routes!(routes::query::query))
        .routes(routes!(routes::search::search))
        .with_state(answering)
}

#[cfg(test)]
mod tests;
