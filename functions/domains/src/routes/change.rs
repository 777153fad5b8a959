use super::problem;
use crate::view::{DomainView, Policy};
use anchorage_domain::DomainKey;
use anchorage_lambda::{
    extract::{Body, DomainsWrite, Id, Tenant},
    problem::{Invalid, Problem, ProblemBody},
};
use anchorage_service::{Domains, domains::DomainChange};
use axum::{Json, extract::State};
use serde::Deserialize;
use utoipa::ToSchema;

/// What to change; parts left out stay.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeDomain {
    active: Option<bool>,
    /// Replaces the whole policy.
    policy: Option<Policy>,
}

/// Change a domain
///
/// Switches it on or off, or replaces its policy. The key never changes.
#[utoipa::path(
    patch, path = "/v1/domains/{key}", tag = "domains", operation_id = "change_domain",
    params(("key" = String, Path)), request_body = ChangeDomain,
    responses(
        (status = 200, description = "The domain as it is now", body = DomainView),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json"),
    ),
    security(("api_key" = ["domains:write"])),
)]
pub async fn change_domain(
    State(domains): State<Domains>,
    tenant: Tenant<DomainsWrite>,
    Id(key): Id<DomainKey>,
    Body(body): Body<ChangeDomain>,
) -> Result<Json<DomainView>, Problem> {
    let mut invalid = Invalid::default();
    let policy = body.policy.and_then(|policy| policy.parse(&mut invalid));
    let change = invalid.finish(Some(DomainChange { active: body.active, policy }))?;
    let domain = domains.change(&tenant.scope, &key, &change).await.map_err(problem)?;
    Ok(Json(domain.into()))
}
