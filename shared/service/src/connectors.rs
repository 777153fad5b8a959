//! Items of a source to documents of a domain: each item with an outcome of its own, each document on the one pipeline.
//!
//! A document's text is written to where uploads lie, and the object store's notification does the rest. The record is
//! written first: an item whose text was not written is taken for one that waits for its bytes when it comes again.

use crate::{
    Files,
    files::{Admitted, Announcement, ContentType, FileSize, FilesError, Known, Metadata, Next},
};
use anchorage_connectors::{self as connectors, Connector, ConnectorDocument, ItemError};
use anchorage_domain::{DocumentType, DomainKey, ExternalId, Filename, IdentityHash, ObjectKey, Sha256, TenantScope};
use futures::{StreamExt as _, stream};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

/// Items of one request.
pub const MAX_ITEMS: usize = 100;
/// Items worked on at once: each takes a few round trips.
const MAX_CONCURRENT: usize = 8;
/// Bytes of a file's name that is made from a title, its ending not counted.
const MAX_NAME_BYTES: usize = 200;

/// The connectors use case.
#[derive(Debug, Clone)]
pub struct Connectors {
    pub files: Files,
}

/// Why an item was not taken in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    #[error(transparent)]
    Item(#[from] ItemError),
    /// What this service makes of the item is past a bound of its own.
    #[error("{0}")]
    Unfit(String),
    #[error(transparent)]
    Files(#[from] FilesError),
}

impl Rejection {
    /// A stable name, of a closed list.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Item(error) => error.code(),
            Self::Unfit(_) => "too_large",
            Self::Files(FilesError::Conflict) => "write_conflict",
            Self::Files(_) => "unavailable",
        }
    }
}

/// What became of the items.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Received {
    /// New documents and new versions, on their way to be searchable.
    pub accepted: u32,
    /// Known documents with the content and description they have.
    pub unchanged: u32,
    /// Known content with another title or other metadata.
    pub title_updated: u32,
    /// Items that came again later in the same request.
    pub duplicates: u32,
    /// Documents that the source says are gone, and that were here.
    pub removed: u32,
    /// By the item's place in the request.
    pub rejected: Vec<(usize, Rejection)>,
}

enum Taken {
    Accepted,
    Unchanged,
    Redescribed,
    Removed,
}

impl Connectors {
    /// Takes in items of a source. One bad item never stops the others.
    ///
    /// # Errors
    /// When the domain takes nothing in, or the store cannot say.
    pub async fn receive(
        &self,
        scope: &TenantScope,
        domain: &DomainKey,
        connector: Connector,
        items: &[Value],
    ) -> Result<Received, FilesError> {
        self.files.open_domain(scope, domain).await?;
        let mut received = Received::default();
        let mut outcomes = Vec::new();
        for (index, item) in items.iter().enumerate() {
            match connectors::read(connector, item) {
                Ok(outcome) => outcomes.push((index, outcome)),
                Err(error) => received.rejected.push((index, error.into())),
            }
        }
        // A source lists newest last, and what it says last holds.
        let last: HashMap<ExternalId, usize> =
            outcomes.iter().map(|(index, outcome)| (external_id(outcome).clone(), *index)).collect();
        let latest: HashSet<usize> = last.into_values().collect();
        let before = outcomes.len();
        outcomes.retain(|(index, _)| latest.contains(index));
        received.duplicates = u32::try_from(before - outcomes.len()).unwrap_or(u32::MAX);

        let taken = stream::iter(outcomes)
            .map(|(index, outcome)| async move { (index, self.take(scope, domain, outcome).await) })
            .buffer_unordered(MAX_CONCURRENT)
            .collect::<Vec<_>>()
            .await;
        for (index, taken) in taken {
            match taken {
                Ok(Taken::Accepted) => received.accepted += 1,
                Ok(Taken::Unchanged) => received.unchanged += 1,
                Ok(Taken::Redescribed) => received.title_updated += 1,
                Ok(Taken::Removed) => received.removed += 1,
                Err(rejection) => {
                    tracing::warn!(event = "connectors.item.rejected", %connector, index, code = rejection.code());
                    received.rejected.push((index, rejection));
                }
            }
        }
        received.rejected.sort_by_key(|(index, _)| *index);
        Ok(received)
    }

    async fn take(
        &self,
        scope: &TenantScope,
        domain: &DomainKey,
        outcome: connectors::Outcome,
    ) -> Result<Taken, Rejection> {
        match outcome {
            connectors::Outcome::Document(document) => self.take_document(scope, domain, *document).await,
            connectors::Outcome::Removed { document_type, external_id } => {
                let kind = document_type_of(document_type)?;
                let identity = IdentityHash::new(scope.tenant(), domain, &kind, external_id.as_str());
                let known = self.files.store.identity(scope, &identity).await.map_err(FilesError::from)?;
                let Some(known) = known else { return Ok(Taken::Unchanged) };
                match self.files.delete(scope, known.file_id).await {
                    Ok(_) => Ok(Taken::Removed),
                    Err(FilesError::NotFound) => Ok(Taken::Unchanged),
                    Err(error) => Err(error.into()),
                }
            }
        }
    }

    async fn take_document(
        &self,
        scope: &TenantScope,
        domain: &DomainKey,
        document: ConnectorDocument,
    ) -> Result<Taken, Rejection> {
        let bytes = document.markdown.as_bytes();
        let announcement = announcement(domain, &document)?;
        let Admitted { file, known, next } = self.files.admit(scope, &announcement).await?;
        match next {
            Next::Bytes => {
                let key = ObjectKey { tenant: scope.tenant(), file: file.file_id, version: file.version };
                let put = self.files.blobs.put(scope, &key, announcement.content_type.as_str(), bytes.to_vec()).await;
                put.map_err(FilesError::from)?;
                return Ok(Taken::Accepted);
            }
            Next::Remind(job) => self.files.send(scope, file.file_id, job).await?,
            Next::Nothing => {}
        }
        Ok(if known == Known::Content { Taken::Redescribed } else { Taken::Unchanged })
    }
}

fn external_id(outcome: &connectors::Outcome) -> &ExternalId {
    match outcome {
        connectors::Outcome::Document(document) => &document.external_id,
        connectors::Outcome::Removed { external_id, .. } => external_id,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "made for `map_err`")]
fn unfit<E: ToString>(error: E) -> Rejection {
    Rejection::Unfit(error.to_string())
}

fn document_type_of(kind: connectors::DocumentType) -> Result<DocumentType, Rejection> {
    DocumentType::new(kind.as_str()).map_err(unfit)
}

/// The one canonical form of a document, whatever its source.
fn announcement(domain: &DomainKey, document: &ConnectorDocument) -> Result<Announcement, Rejection> {
    let mut metadata = Map::new();
    for (name, value) in document.metadata.entries() {
        metadata.insert(name.clone(), serde_json::to_value(value).map_err(unfit)?);
    }
    if let Some(url) = &document.url {
        metadata.insert("url".to_owned(), url.clone().into());
    }
    if let Some(updated_at) = document.updated_at {
        metadata.insert("source_updated_at".to_owned(), updated_at.to_string().into());
    }
    let (content_type, filename) = match document.content_type {
        connectors::ContentType::Text => ("text/markdown", format!("{}.md", filename(document.title.as_str()))),
        // The ending of a program's name says what it is written in.
        connectors::ContentType::Code => ("text/plain", filename(document.title.as_str())),
    };
    Ok(Announcement {
        domain: domain.clone(),
        filename: Filename::new(filename).map_err(unfit)?,
        size: FileSize::new(document.markdown.len() as u64).map_err(unfit)?,
        sha256: Sha256::of(document.markdown.as_bytes()),
        content_type: ContentType::new(content_type).map_err(unfit)?,
        title: Some(document.title.clone()),
        external_id: Some(document.external_id.clone()),
        metadata: Metadata::new(metadata).map_err(unfit)?,
        document_type: document_type_of(document.document_type)?,
        skipped: document.skipped.clone(),
    })
}

/// A title as a file's name: what comes last in a path, and short enough. A long one keeps its end, where the ending is.
fn filename(title: &str) -> String {
    let name = title.rsplit(['/', '\\']).map(str::trim).find(|part| !part.is_empty()).unwrap_or("document");
    let cut = name.len().saturating_sub(MAX_NAME_BYTES);
    let start = (cut..name.len()).find(|at| name.is_char_boundary(*at)).unwrap_or(0);
    name.get(start..).map(str::trim).filter(|name| !name.is_empty()).unwrap_or("document").to_owned()
}

#[cfg(test)]
mod tests;
