//! `/v1/points` and `/v1/files/{file_id}/points`: what is published, read point by point.

mod routes;
mod view;

use anchorage_service::Points;
use utoipa_axum::{router::OpenApiRouter, routes};

/// The function's routes and their description.
#[must_use]
pub fn router(points: Points) -> OpenApiRouter {
    OpenApiRouter::new()
        .routes(routes!(routes::list::list_points))
        .routes(routes!(routes::count::count_points))
        .routes(routes!(routes::search::search_points))
        .routes(routes!(routes::get::get_point))
        .routes(routes!(routes::of_file::list_file_points))
        .with_state(points)
}

#[cfg(test)]
mod tests;
