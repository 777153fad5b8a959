use super::problem;
use crate::view::DomainView;
use anchorage_domain::DomainKey;
use anchorage_lambda::{
    extract::{DomainsRead, Id, Tenant},
    problem::{Problem, ProblemBody},
};
use anchorage_service::Domains;
use axum::{Json, extract::State};

/// Read a domain
#[utoipa::path(
    get, path = "/v1/domains/{key}", tag = "domains", operation_id = "get_domain",
    params(("key" = String, Path)),
    responses(
        (status = 200, description = "The domain", body = DomainView),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json"),
    ),
    security(("api_key" = ["domains:read"])),
)]
pub async fn get_domain(
    State(domains): State<Domains>,
    tenant: Tenant<DomainsRead>,
    Id(key): Id<DomainKey>,
) -> Result<Json<DomainView>, Problem> {
    let domain = domains.get(&tenant.scope, &key).await.map_err(problem)?;
    Ok(Json(domain.into()))
}
