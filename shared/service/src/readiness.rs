//! Whether the deployment can answer: the collection is there, and was built with what this version writes.

use anchorage_ports::{IndexManifest, VectorIndex};
use std::{sync::Arc, time::Duration};

/// The vector store connects lazily, so only a call tells; this is what the call may take.
const TIMEOUT: Duration = Duration::from_secs(3);

/// One thing that keeps the service from answering.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lack {
    pub part: &'static str,
    pub detail: String,
}

#[derive(Debug, Clone)]
pub struct Readiness {
    pub index: Arc<dyn VectorIndex>,
    pub manifest: IndexManifest,
}

impl Readiness {
    /// Everything that is missing; nothing when the service is ready.
    pub async fn lacks(&self) -> Vec<Lack> {
        let lack = |detail: String| vec![Lack { part: "vector_index", detail }];
        match tokio::time::timeout(TIMEOUT, self.index.manifest()).await {
            Err(_) => lack(format!("the vector store did not answer within {} seconds", TIMEOUT.as_secs())),
            // The particulars are for the log; the caller of an open route learns no address.
            Ok(Err(outage)) => {
                tracing::warn!(event = "ready.index.failed", detail = outage.detail);
                lack("the vector store cannot be reached".into())
            }
            Ok(Ok(None)) => lack("the collection does not exist; run the operator's bootstrap".into()),
            Ok(Ok(Some(found))) if found != self.manifest => {
                let shown = |manifest: &IndexManifest| serde_json::to_string(manifest).unwrap_or_default();
                lack(format!(
                    "manifest_mismatch: the collection was built with {}, this deployment writes {}",
                    shown(&found),
                    shown(&self.manifest)
                ))
            }
            Ok(Ok(Some(_))) => Vec::new(),
        }
    }
}
