use super::problem;
use anchorage_domain::FileId;
use anchorage_lambda::{
    extract::{FilesRead, Id, Tenant},
    problem::{Problem, ProblemBody},
};
use anchorage_service::Files;
use axum::{
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};

/// Download a file
///
/// Redirects to the bytes of the version that answers, or of the newest while none does.
#[utoipa::path(
    get, path = "/v1/files/{file_id}/content", tag = "files", operation_id = "get_file_content",
    params(("file_id" = String, Path, format = Uuid)),
    responses(
        (status = 302, description = "Where the bytes are, for five minutes", headers(("location" = String))),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json"),
    ),
    security(("api_key" = ["files:read"])),
)]
pub async fn get_content(
    State(files): State<Files>,
    tenant: Tenant<FilesRead>,
    Id(file): Id<FileId>,
) -> Result<Response, Problem> {
    let request = files.content(&tenant.scope, file).await.map_err(problem)?;
    Ok((StatusCode::FOUND, [(header::LOCATION, request.url)]).into_response())
}
