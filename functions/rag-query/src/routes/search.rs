use super::{deadline, problem};
use crate::{asked::Asked, view::SearchView};
use anchorage_domain::FileId;
use anchorage_lambda::{
    extract::{Body, PointsRead, Tenant},
    problem::{Invalid, Problem, ProblemBody},
};
use anchorage_service::{Answering, retrieval::SearchRequest};
use axum::{Json, extract::State};
use serde::Deserialize;
use utoipa::ToSchema;

/// What to look for in the tenant's documents.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// 1 to 4 000 characters.
    query: String,
    /// The one domain to search. With neither this nor `domains`, all active ones are searched.
    domain: Option<String>,
    /// 1 to 32 domains to search.
    domains: Option<Vec<String>>,
    /// In this file only.
    file_id: Option<String>,
    /// 1 to 50 chunks, 10 when left out.
    top_k: Option<u32>,
}

/// Search without an answer
///
/// The retrieval that answers rest on: ranked chunks with the rank and score that each stage gave them.
#[utoipa::path(
    post, path = "/v1/rag/search", tag = "answers", operation_id = "search", request_body = Search,
    responses(
        (status = 200, description = "Chunks, best first", body = SearchView),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json"),
    ),
    security(("api_key" = ["points:read"])),
)]
pub async fn search(
    State(answering): State<Answering>,
    tenant: Tenant<PointsRead>,
    Body(search): Body<Search>,
) -> Result<Json<SearchView>, Problem> {
    let deadline = deadline(answering.clock.as_ref());
    let mut invalid = Invalid::default();
    let file = invalid.check_optional("/file_id", search.file_id.map(|text| text.parse::<FileId>()));
    let asked = Asked::parse(&mut invalid, search.query, search.domain, search.domains, search.top_k);
    let Asked { query, domains, top_k } = invalid.finish(Some(asked))?;
    let domains = answering.retrieval.domains(&tenant.scope, &domains, deadline).await.map_err(problem)?;
    let request = SearchRequest { query: &query, domains: &domains, file, limit: top_k, explain: true, deadline };
    let retrieved = answering.retrieval.search(&tenant.scope, &request).await.map_err(problem)?;
    Ok(Json(retrieved.into()))
}
