use super::problem;
use crate::view::JobBegun;
use anchorage_domain::FileId;
use anchorage_lambda::{
    extract::{FilesWrite, Id, Tenant},
    problem::{Problem, ProblemBody},
};
use anchorage_service::Files;
use axum::{Json, extract::State, http::StatusCode};

/// Delete a file
///
/// Nothing of it is visible from the answer on. The job removes what is left, and reports what it removed.
#[utoipa::path(
    delete, path = "/v1/files/{file_id}", tag = "files", operation_id = "delete_file",
    params(("file_id" = String, Path, format = Uuid)),
    responses(
        (status = 202, description = "The purge that was begun", body = JobBegun),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json"),
    ),
    security(("api_key" = ["files:write"])),
)]
pub async fn delete_file(
    State(files): State<Files>,
    tenant: Tenant<FilesWrite>,
    Id(file): Id<FileId>,
) -> Result<(StatusCode, Json<JobBegun>), Problem> {
    let job = files.delete(&tenant.scope, file).await.map_err(problem)?;
    Ok((StatusCode::ACCEPTED, Json(job.into())))
}
