use super::problem;
use crate::view::DomainView;
use anchorage_lambda::{
    extract::{DomainsRead, Tenant},
    problem::{Problem, ProblemBody},
};
use anchorage_service::Domains;
use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;

/// All domains of the tenant, by key.
#[derive(Debug, Serialize, ToSchema)]
pub struct DomainList {
    domains: Vec<DomainView>,
}

/// List domains
#[utoipa::path(
    get, path = "/v1/domains", tag = "domains", operation_id = "list_domains",
    responses(
        (status = 200, description = "All domains", body = DomainList),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json"),
    ),
    security(("api_key" = ["domains:read"])),
)]
pub async fn list_domains(
    State(domains): State<Domains>,
    tenant: Tenant<DomainsRead>,
) -> Result<Json<DomainList>, Problem> {
    let all = domains.list(&tenant.scope).await.map_err(problem)?;
    Ok(Json(DomainList { domains: all.into_iter().map(DomainView::from).collect() }))
}
