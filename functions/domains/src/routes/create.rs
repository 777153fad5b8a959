use super::problem;
use crate::view::{DomainView, Policy};
use anchorage_domain::DomainKey;
use anchorage_lambda::{
    extract::{Body, DomainsWrite, Tenant},
    problem::{Invalid, Problem, ProblemBody},
};
use anchorage_service::Domains;
use axum::{Json, extract::State, http::StatusCode};
use serde::Deserialize;
use utoipa::ToSchema;

/// A domain to register.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateDomain {
    /// 1 to 63 lower-case letters, digits or hyphens, not starting with a hyphen. Never changes.
    key: String,
    /// True when left out.
    active: Option<bool>,
    policy: Policy,
}

/// Register a domain
#[utoipa::path(
    post, path = "/v1/domains", tag = "domains", operation_id = "create_domain", request_body = CreateDomain,
    responses(
        (status = 201, description = "The domain", body = DomainView),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json"),
    ),
    security(("api_key" = ["domains:write"])),
)]
pub async fn create_domain(
    State(domains): State<Domains>,
    tenant: Tenant<DomainsWrite>,
    Body(body): Body<CreateDomain>,
) -> Result<(StatusCode, Json<DomainView>), Problem> {
    let mut invalid = Invalid::default();
    let key = invalid.check("/key", DomainKey::new(body.key));
    let policy = body.policy.parse(&mut invalid);
    let (key, policy) = invalid.finish(key.zip(policy))?;
    let active = body.active.unwrap_or(true);
    let domain = domains.create(&tenant.scope, key, active, policy).await.map_err(problem)?;
    Ok((StatusCode::CREATED, Json(domain.into())))
}
