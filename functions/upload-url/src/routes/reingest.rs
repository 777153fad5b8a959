use super::problem;
use crate::view::JobBegun;
use anchorage_domain::FileId;
use anchorage_lambda::{
    extract::{FilesWrite, Id, Tenant},
    problem::{Problem, ProblemBody},
};
use anchorage_service::Files;
use axum::{Json, extract::State, http::StatusCode};

/// Ingest a file again
///
/// Reads the bytes that are there once more. What answers now goes on answering until the new job publishes.
#[utoipa::path(
    post, path = "/v1/files/{file_id}/reingest", tag = "files", operation_id = "reingest_file",
    params(("file_id" = String, Path, format = Uuid)),
    responses(
        (status = 202, description = "The job that was begun", body = JobBegun),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json"),
    ),
    security(("api_key" = ["files:write"])),
)]
pub async fn reingest_file(
    State(files): State<Files>,
    tenant: Tenant<FilesWrite>,
    Id(file): Id<FileId>,
) -> Result<(StatusCode, Json<JobBegun>), Problem> {
    let job = files.reingest(&tenant.scope, file).await.map_err(problem)?;
    Ok((StatusCode::ACCEPTED, Json(job.into())))
}
