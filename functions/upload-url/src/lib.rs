//! `/v1/files`: presigned uploads, the state of files and their jobs.

mod routes;
mod view;

use anchorage_service::Files;
use utoipa_axum::{router::OpenApiRouter, routes};

/// The function's routes and their description.
#[must_use]
pub fn router(files: Files) -> OpenApiRouter {
    OpenApiRouter::new()
        .routes(routes!(routes::create::create_file, routes::list::list_files))
        .routes(routes!(routes::get::get_file, routes::delete::delete_file))
        .routes(routes!(routes::job::get_job))
        .routes(routes!(routes::content::get_content))
        .routes(routes!(routes::reingest::reingest_file))
        .with_state(files)
}

#[cfg(test)]
mod tests;
