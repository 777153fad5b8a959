use anchorage_connectors::Connector;
use anchorage_domain::DomainKey;
use anchorage_lambda::{
    extract::{Body, FilesWrite, Tenant},
    problem::{ErrorCode, Invalid, Problem, ProblemBody},
};
use anchorage_service::{
    Connectors,
    connectors::{MAX_ITEMS, Received, Rejection},
    files::FilesError,
};
use axum::{
    Json,
    extract::{Path, State},
    http::StatusCode,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// What one request carries: within what the gateway hands to a function.
const MAX_BODY_BYTES: usize = 5 * 1024 * 1024;

/// Items of one source for one domain.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReceiveDocuments {
    /// A registered, active domain.
    domain: String,
    /// 1 to 100, each as the source's own API gives it.
    #[schema(value_type = Vec<Object>)]
    items: Vec<Value>,
}

/// An item that was not taken in, and why.
#[derive(Debug, Serialize, ToSchema)]
pub struct RejectedItem {
    /// The item's place in the request, from 0.
    index: usize,
    /// One of a closed list, such as `missing_field` or `blank_content`.
    code: &'static str,
    detail: String,
}

/// What became of the items.
#[derive(Debug, Serialize, ToSchema)]
pub struct DocumentsReceived {
    /// New documents and new versions, on their way to be searchable.
    accepted: u32,
    /// Known documents that say what they said.
    unchanged: u32,
    /// Known content under another title, or with other metadata. Nothing of it is embedded again.
    title_updated: u32,
    /// Items that came again later in the same request; the last one counts.
    duplicates: u32,
    /// Documents that the source says are gone.
    removed: u32,
    rejected: Vec<RejectedItem>,
}

impl From<Received> for DocumentsReceived {
    fn from(received: Received) -> Self {
        let Received { accepted, unchanged, title_updated, duplicates, removed, rejected } = received;
        let rejected = rejected.into_iter().map(|(index, why)| RejectedItem {
            index,
            code: why.code(),
            detail: match why {
                // What an outage says of the inside is for the log.
                Rejection::Files(FilesError::Outage(_)) => "A service did not answer. Send the item again.".to_owned(),
                why => why.to_string(),
            },
        });
        Self { accepted, unchanged, title_updated, duplicates, removed, rejected: rejected.collect() }
    }
}

fn problem(error: FilesError) -> Problem {
    match error {
        FilesError::DomainUnknown(_) => Problem::new(ErrorCode::DomainUnknown, "Register the domain first."),
        FilesError::DomainDisabled(_) => Problem::new(ErrorCode::DomainDisabled, "Switch the domain on first."),
        FilesError::Outage(outage) => outage.into(),
        // What concerns one file is said of its item.
        FilesError::NotFound | FilesError::Busy | FilesError::UploadPending | FilesError::Conflict => {
            Problem::new(ErrorCode::WriteConflict, "Others keep changing the documents. Try again.")
        }
    }
}

/// Take in documents of a source
///
/// Each item has an outcome of its own: a bad one is rejected and stops no other. The same items again change nothing.
#[utoipa::path(
    post, path = "/v1/connectors/{connector}/documents", tag = "connectors", operation_id = "receive_documents",
    params(("connector" = String, Path, description = "The source, such as `notion` or `slack`")),
    request_body = ReceiveDocuments,
    responses(
        (status = 202, description = "What became of the items", body = DocumentsReceived),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json"),
    ),
    security(("api_key" = ["files:write"])),
)]
pub async fn receive_documents(
    State(connectors): State<Connectors>,
    tenant: Tenant<FilesWrite>,
    Path(connector): Path<String>,
    Body(body): Body<ReceiveDocuments, MAX_BODY_BYTES>,
) -> Result<(StatusCode, Json<DocumentsReceived>), Problem> {
    let connector: Connector = connector.parse().map_err(|_| Problem::not_found())?;
    let mut invalid = Invalid::default();
    let domain = invalid.check("/domain", DomainKey::new(body.domain));
    if !(1..=MAX_ITEMS).contains(&body.items.len()) {
        invalid.add("/items", format!("must have 1 to {MAX_ITEMS} items"));
    }
    let domain = invalid.finish(domain)?;
    let received = connectors.receive(&tenant.scope, &domain, connector, &body.items).await.map_err(problem)?;
    Ok((StatusCode::ACCEPTED, Json(received.into())))
}
