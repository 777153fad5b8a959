use super::problem;
use crate::view::{FileView, JobView};
use anchorage_domain::FileId;
use anchorage_lambda::{
    extract::{FilesRead, Id, Tenant},
    problem::{Problem, ProblemBody},
};
use anchorage_service::Files;
use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;

/// A file with its newest jobs.
#[derive(Debug, Serialize, ToSchema)]
pub struct FileWithJobs {
    #[serde(flatten)]
    file: FileView,
    /// Newest first, at most 20.
    jobs: Vec<JobView>,
}

/// Read a file's state
///
/// Status, version, counters, the last failure and the newest jobs.
#[utoipa::path(
    get, path = "/v1/files/{file_id}", tag = "files", operation_id = "get_file",
    params(("file_id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "The file", body = FileWithJobs),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json"),
    ),
    security(("api_key" = ["files:read"])),
)]
pub async fn get_file(
    State(files): State<Files>,
    tenant: Tenant<FilesRead>,
    Id(file): Id<FileId>,
) -> Result<Json<FileWithJobs>, Problem> {
    let (file, jobs) = files.get(&tenant.scope, file).await.map_err(problem)?;
    Ok(Json(FileWithJobs { file: file.into(), jobs: jobs.into_iter().map(JobView::from).collect() }))
}
