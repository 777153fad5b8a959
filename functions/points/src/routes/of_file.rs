use super::{limit, problem};
use crate::view::PointList;
use anchorage_domain::FileId;
use anchorage_lambda::{
    extract::{Id, Parameters, PointsRead, Tenant},
    problem::{Invalid, Problem, ProblemBody},
};
use anchorage_service::{Points, points::PointCursor};
use axum::{Json, extract::State};
use serde::Deserialize;

/// Which of the file's points to list.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListFilePoints {
    /// 1 to 100, 20 when left out.
    limit: Option<String>,
    /// Where the page starts: an earlier page's `next_cursor`.
    cursor: Option<String>,
}

/// List a file's points, by the file's path
///
/// The same listing as `GET /v1/points?file_id=`.
#[utoipa::path(
    get, path = "/v1/files/{file_id}/points", tag = "points", operation_id = "list_file_points",
    params(("file_id" = String, Path, format = Uuid), ListFilePoints),
    responses(
        (status = 200, description = "One page", body = PointList),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json"),
    ),
    security(("api_key" = ["points:read"])),
)]
pub async fn list_file_points(
    State(points): State<Points>,
    tenant: Tenant<PointsRead>,
    Id(file): Id<FileId>,
    Parameters(parameters): Parameters<ListFilePoints>,
) -> Result<Json<PointList>, Problem> {
    let mut invalid = Invalid::default();
    let cursor = invalid.check_optional("?cursor", parameters.cursor.map(|text| text.parse::<PointCursor>()));
    let limit = limit(&mut invalid, parameters.limit.as_deref());
    let limit = invalid.finish(limit)?;
    let page = points.list(&tenant.scope, file, cursor.as_ref(), limit).await.map_err(problem)?;
    Ok(Json(page.into()))
}
