//! `/v1/domains`: a tenant's allowlist of domains and their policies.

mod routes;
mod view;

use anchorage_service::Domains;
use utoipa_axum::{router::OpenApiRouter, routes};

/// The function's routes and their description.
#[must_use]
pub fn router(domains: Domains) -> OpenApiRouter {
    OpenApiRouter::new()
        .routes(routes!(routes::create::create_domain, routes::list::list_domains))
        .routes(routes!(routes::get::get_domain, routes::change::change_domain))
        .with_state(domains)
}

#[cfg(test)]
mod tests;
