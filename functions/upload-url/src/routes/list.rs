use super::problem;
use crate::view::FileView;
use anchorage_domain::{DomainKey, FileId, FileStatus};
use anchorage_lambda::{
    extract::{FilesRead, Parameters, Tenant, page_limit},
    problem::{Invalid, Problem, ProblemBody},
};
use anchorage_ports::FileListing;
use anchorage_service::Files;
use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Which files to list.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListFiles {
    /// Of this domain only.
    domain: Option<String>,
    /// Of this status only; deleted files are left out unless asked for.
    status: Option<String>,
    /// 1 to 100, 20 when left out.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100)]
    limit: Option<String>,
    /// Where the page starts: an earlier page's `next_cursor`.
    cursor: Option<String>,
}

fn status(text: &str) -> Result<FileStatus, String> {
    let known = FileStatus::ALL.map(FileStatus::as_str).join(", ");
    FileStatus::ALL.into_iter().find(|status| status.as_str() == text).ok_or(format!("must be one of {known}"))
}

impl ListFiles {
    fn parse(self) -> Result<FileListing, Problem> {
        let mut invalid = Invalid::default();
        let domain = invalid.check_optional("?domain", self.domain.map(DomainKey::new));
        let status = invalid.check_optional("?status", self.status.as_deref().map(status));
        let after = invalid.check_optional("?cursor", self.cursor.map(|text| text.parse::<FileId>()));
        let limit = invalid.check("?limit", page_limit(self.limit.as_deref()));
        let limit = invalid.finish(limit)?;
        Ok(FileListing { domain, status, limit, after })
    }
}

/// One page of files, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct FileList {
    files: Vec<FileView>,
    /// Absent on the last page. A page can be short and still have a next one.
    #[schema(value_type = Option<String>)]
    next_cursor: Option<FileId>,
}

/// List files
#[utoipa::path(
    get, path = "/v1/files", tag = "files", operation_id = "list_files", params(ListFiles),
    responses(
        (status = 200, description = "One page", body = FileList),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json"),
    ),
    security(("api_key" = ["files:read"])),
)]
pub async fn list_files(
    State(files): State<Files>,
    tenant: Tenant<FilesRead>,
    Parameters(parameters): Parameters<ListFiles>,
) -> Result<Json<FileList>, Problem> {
    let page = files.list(&tenant.scope, &parameters.parse()?).await.map_err(problem)?;
    let views = page.items.into_iter().map(FileView::from).collect();
    Ok(Json(FileList { files: views, next_cursor: page.next }))
}
