use super::problem;
use anchorage_domain::{
    DocumentTitle, DocumentType, DomainKey, ExternalId, FileId, FileStatus, Filename, JobId, Sha256, Timestamp,
};
use anchorage_lambda::{
    extract::{Body, FilesWrite, Tenant},
    problem::{ErrorCode, Invalid, Problem, ProblemBody},
};
use anchorage_ports::PresignedRequest;
use anchorage_service::{
    Files,
    files::{Announced, Announcement, ContentType, FileSize, InvalidSize, Known, MAX_FILE_BYTES, Metadata},
};
use axum::{Json, extract::State, http::StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// A file that is about to be uploaded.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateFile {
    /// Shown to people; at most 255 bytes, no path.
    filename: String,
    /// 1 to 52 428 800 (50 MiB).
    size_bytes: u64,
    /// Of the bytes, as 64 lower-case hexadecimal digits.
    sha256: String,
    /// A registered, active domain.
    domain: String,
    /// A hint; the parser decides by content.
    content_type: Option<String>,
    /// At most 500 bytes.
    title: Option<String>,
    /// Uploads that share it are versions of one file. At most 512 bytes.
    external_id: Option<String>,
    /// At most 64 entries and 16 KiB.
    #[serde(default)]
    #[schema(value_type = Object)]
    metadata: Map<String, Value>,
}

impl CreateFile {
    fn parse(self) -> Result<Announcement, Problem> {
        let mut invalid = Invalid::default();
        let size = FileSize::new(self.size_bytes);
        let title = invalid.check_optional("/title", self.title.map(DocumentTitle::new));
        let external_id = invalid.check_optional("/external_id", self.external_id.map(ExternalId::new));
        let content_type = invalid.check_optional("/content_type", self.content_type.map(ContentType::new));
        let filename = invalid.check("/filename", Filename::new(self.filename));
        let sha256 = invalid.check("/sha256", self.sha256.parse::<Sha256>());
        let domain = invalid.check("/domain", DomainKey::new(self.domain));
        let metadata = invalid.check("/metadata", Metadata::new(self.metadata));
        if size == Err(InvalidSize::Empty) {
            invalid.add("/size_bytes", InvalidSize::Empty);
        }
        let known = filename.zip(sha256).zip(domain.zip(metadata));
        let ((filename, sha256), (domain, metadata)) = invalid.finish(known)?;
        let size = size.map_err(|_| {
            Problem::new(ErrorCode::FileTooLarge, format!("A file may have at most {MAX_FILE_BYTES} bytes."))
        })?;
        let content_type = content_type.unwrap_or_default();
        Ok(Announcement {
            domain,
            filename,
            size,
            sha256,
            content_type,
            title,
            external_id,
            metadata,
            document_type: DocumentType::file(),
            skipped: Vec::new(),
        })
    }
}

/// The request to send the bytes with; every header is signed.
#[derive(Debug, Serialize, ToSchema)]
pub struct Upload {
    /// Always `PUT`.
    method: &'static str,
    url: String,
    headers: BTreeMap<String, String>,
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
}

impl From<PresignedRequest> for Upload {
    fn from(request: PresignedRequest) -> Self {
        Self { method: request.method, url: request.url, headers: request.headers, expires_at: request.expires_at }
    }
}

/// The file, and how to send its bytes.
#[derive(Debug, Serialize, ToSchema)]
pub struct FileAnnounced {
    #[schema(value_type = String, format = Uuid)]
    file_id: FileId,
    #[schema(value_type = String, format = Uuid)]
    job_id: JobId,
    /// The file's status.
    #[schema(value_type = String)]
    status: FileStatus,
    /// Null when the bytes are there already.
    upload: Option<Upload>,
}

/// Announce a file
///
/// The same content again, or the same `external_id`, leads to the same file.
#[utoipa::path(
    post, path = "/v1/files", tag = "files", operation_id = "create_file", request_body = CreateFile,
    responses(
        (status = 201, description = "A new file", body = FileAnnounced),
        (status = 200, description = "The file was known", body = FileAnnounced),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json"),
    ),
    security(("api_key" = ["files:write"])),
)]
pub async fn create_file(
    State(files): State<Files>,
    tenant: Tenant<FilesWrite>,
    Body(body): Body<CreateFile>,
) -> Result<(StatusCode, Json<FileAnnounced>), Problem> {
    let announcement = body.parse()?;
    let Announced { file, known, upload } = files.announce(&tenant.scope, &announcement).await.map_err(problem)?;
    let status = if known == Known::Not { StatusCode::CREATED } else { StatusCode::OK };
    let (file_id, job_id) = (file.file_id, file.newest_job);
    Ok((status, Json(FileAnnounced { file_id, job_id, status: file.status, upload: upload.map(Upload::from) })))
}
