use super::problem;
use crate::view::PointView;
use anchorage_domain::PointId;
use anchorage_lambda::{
    extract::{Id, PointsRead, Tenant},
    problem::{Problem, ProblemBody},
};
use anchorage_service::Points;
use axum::{
    Json,
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};

/// Read a point
///
/// Only points that are published and active are there.
#[utoipa::path(
    get, path = "/v1/points/{id}", tag = "points", operation_id = "get_point",
    params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "The point", body = PointView, headers(("etag" = String))),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json"),
    ),
    security(("api_key" = ["points:read"])),
)]
pub async fn get_point(
    State(points): State<Points>,
    tenant: Tenant<PointsRead>,
    Id(point): Id<PointId>,
) -> Result<Response, Problem> {
    let view = PointView::from(points.get(&tenant.scope, point).await.map_err(problem)?);
    Ok(([(header::ETAG, view.etag().to_owned())], Json(view)).into_response())
}
