use super::{limit, problem};
use crate::view::PointList;
use anchorage_domain::FileId;
use anchorage_lambda::{
    extract::{Parameters, PointsRead, Tenant},
    problem::{Invalid, Problem, ProblemBody},
};
use anchorage_service::{Points, points::PointCursor};
use axum::{Json, extract::State};
use serde::Deserialize;

/// Which points to list.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListPoints {
    #[param(required = true)]
    file_id: Option<String>,
    /// 1 to 100, 20 when left out.
    limit: Option<String>,
    /// Where the page starts: an earlier page's `next_cursor`.
    cursor: Option<String>,
}

/// List a file's points
///
/// In the order of the document. Points that are inserted or deleted between two pages make no other point appear twice
/// or not at all.
#[utoipa::path(
    get, path = "/v1/points", tag = "points", operation_id = "list_points", params(ListPoints),
    responses(
        (status = 200, description = "One page", body = PointList),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json"),
    ),
    security(("api_key" = ["points:read"])),
)]
pub async fn list_points(
    State(points): State<Points>,
    tenant: Tenant<PointsRead>,
    Parameters(parameters): Parameters<ListPoints>,
) -> Result<Json<PointList>, Problem> {
    let mut invalid = Invalid::default();
    let file = invalid.check("?file_id", parameters.file_id.ok_or("say which file's points to list"));
    let file = file.and_then(|text| invalid.check("?file_id", text.parse::<FileId>()));
    let cursor = invalid.check_optional("?cursor", parameters.cursor.map(|text| text.parse::<PointCursor>()));
    let limit = limit(&mut invalid, parameters.limit.as_deref());
    let (file, limit) = invalid.finish(file.zip(limit))?;
    let page = points.list(&tenant.scope, file, cursor.as_ref(), limit).await.map_err(problem)?;
    Ok(Json(page.into()))
}
