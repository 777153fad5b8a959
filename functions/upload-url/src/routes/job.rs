use super::problem;
use crate::view::JobView;
use anchorage_domain::{FileId, JobId};
use anchorage_lambda::{
    extract::{FilesRead, IdPair, Tenant},
    problem::{Problem, ProblemBody},
};
use anchorage_service::Files;
use axum::{Json, extract::State};

/// Read a job with its events
///
/// A purge can be read after its file is gone.
#[utoipa::path(
    get, path = "/v1/files/{file_id}/jobs/{job_id}", tag = "files", operation_id = "get_job",
    params(("file_id" = String, Path, format = Uuid), ("job_id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "The job", body = JobView),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json"),
    ),
    security(("api_key" = ["files:read"])),
)]
pub async fn get_job(
    State(files): State<Files>,
    tenant: Tenant<FilesRead>,
    IdPair(file, job): IdPair<FileId, JobId>,
) -> Result<Json<JobView>, Problem> {
    let job = files.job(&tenant.scope, file, job).await.map_err(problem)?;
    Ok(Json(job.into()))
}
