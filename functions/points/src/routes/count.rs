use super::problem;
use anchorage_domain::{DomainKey, FileId};
use anchorage_lambda::{
    extract::{Parameters, PointsRead, Tenant},
    problem::{Invalid, Problem, ProblemBody},
};
use anchorage_service::Points;
use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Which points to count.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct CountPoints {
    /// Of this file only.
    file_id: Option<String>,
    /// Of this domain only.
    domain: Option<String>,
}

/// How many points there are.
#[derive(Debug, Serialize, ToSchema)]
pub struct PointCount {
    count: u64,
}

/// Count points
///
/// Exact, over published and active points.
#[utoipa::path(
    get, path = "/v1/points/count", tag = "points", operation_id = "count_points", params(CountPoints),
    responses(
        (status = 200, description = "The count", body = PointCount),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json"),
    ),
    security(("api_key" = ["points:read"])),
)]
pub async fn count_points(
    State(points): State<Points>,
    tenant: Tenant<PointsRead>,
    Parameters(parameters): Parameters<CountPoints>,
) -> Result<Json<PointCount>, Problem> {
    let mut invalid = Invalid::default();
    let file = invalid.check_optional("?file_id", parameters.file_id.map(|text| text.parse::<FileId>()));
    let domain = invalid.check_optional("?domain", parameters.domain.map(DomainKey::new));
    invalid.finish(Some(()))?;
    let count = points.count(&tenant.scope, file, domain).await.map_err(problem)?;
    Ok(Json(PointCount { count }))
}
