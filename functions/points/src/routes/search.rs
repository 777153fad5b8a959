use super::{limit, problem};
use crate::view::PointView;
use anchorage_domain::{DomainKey, FileId};
use anchorage_lambda::{
    extract::{Parameters, PointsRead, Tenant},
    problem::{Invalid, Problem, ProblemBody},
};
use anchorage_service::{Points, points::KeywordHit};
use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use utoipa::ToSchema;

/// Which words to look for, and where.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SearchPoints {
    /// 1 to 32 words, all of which must occur.
    #[param(required = true)]
    q: Option<String>,
    /// In this domain only; in all active ones when left out.
    domain: Option<String>,
    /// In this file only.
    file_id: Option<String>,
    /// 1 to 100, 20 when left out.
    limit: Option<String>,
}

/// Bytes of the UTF-8 content, end exclusive.
#[derive(Debug, Serialize, ToSchema)]
pub struct Span {
    start: usize,
    end: usize,
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Self { start: range.start, end: range.end }
    }
}

/// A point in which every word occurs.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundPoint {
    #[serde(flatten)]
    point: PointView,
    /// Where in `content` the words occur.
    highlights: Vec<Span>,
}

impl From<KeywordHit> for FoundPoint {
    fn from(hit: KeywordHit) -> Self {
        Self { point: hit.placed.into(), highlights: hit.highlights.into_iter().map(Span::from).collect() }
    }
}

/// Points in which every word occurs.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundPoints {
    points: Vec<FoundPoint>,
}

/// Search points by keyword
///
/// Whichever keyboard wrote a word and however its parts are joined, it is found.
#[utoipa::path(
    get, path = "/v1/points/search", tag = "points", operation_id = "search_points", params(SearchPoints),
    responses(
        (status = 200, description = "The points", body = FoundPoints),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json"),
    ),
    security(("api_key" = ["points:read"])),
)]
pub async fn search_points(
    State(points): State<Points>,
    tenant: Tenant<PointsRead>,
    Parameters(parameters): Parameters<SearchPoints>,
) -> Result<Json<FoundPoints>, Problem> {
    let mut invalid = Invalid::default();
    let query = invalid.check("?q", parameters.q.ok_or("say what to look for"));
    let domain = invalid.check_optional("?domain", parameters.domain.map(DomainKey::new));
    let file = invalid.check_optional("?file_id", parameters.file_id.map(|text| text.parse::<FileId>()));
    let limit = limit(&mut invalid, parameters.limit.as_deref());
    let (query, limit) = invalid.finish(query.zip(limit))?;
    let found = points.search(&tenant.scope, &query, domain, file, limit).await.map_err(problem)?;
    Ok(Json(FoundPoints { points: found.into_iter().map(FoundPoint::from).collect() }))
}
