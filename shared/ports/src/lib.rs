//! The outside world as traits and plain types: one file per port.
//!
//! Every store and index method takes the [`TenantScope`](anchorage_domain::TenantScope) first and touches that tenant's
//! data only. Adding a port: the trait here, an adapter in `adapters`, one in `memory`, and a contract suite over both.

mod blobs;
mod directory;
mod documents;
mod embedder;
mod error;
mod queue;
mod time;
mod traces;
mod vectors;

pub use blobs::{Blob, BlobError, BlobStore, PresignedRequest, UploadTicket};
pub use directory::{Directory, TenantRecord};
pub use documents::{Change, CommitError, DocumentStore, FileListing, FilePage, MAX_CHANGES, record_is_too_large};
pub use embedder::{EmbedError, Embedder, EmbedderSpec, Embeddings, InputKind};
pub use error::{Outage, OutageKind, Service};
pub use queue::{IngestMessage, JobQueue, MessageBody, ReceiptHandle};
pub use time::{Clock, Ids};
pub use traces::{AnswerTrace, TraceStore, TracedCandidate};
pub use vectors::{
    CountFilter, DenseVectors, Generations, Hit, HybridQuery, IndexManifest, KeywordQuery, Neighbours, Point,
    PointDraft, StageScore, VectorIndex, VectorSpec,
};
