//! The vocabulary of the service, and every rule that needs no outside world.
//!
//! Invariant: nothing here, nor anything it depends on, knows tokio, AWS, HTTP, a clock or randomness. Time and fresh
//! identifiers are parameters; whoever calls has them from a port.

mod api_key;
mod content;
mod decision;
mod domain;
mod failure;
mod file;
mod hash;
mod ids;
mod job;
mod object_key;
mod order;
mod policy;
mod scope;
mod sequencer;
mod time;

pub use api_key::{ApiKey, ApiKeyRecord, Identity, KeyRefusal, Secret};
pub use content::{Coverage, Language, PagePlace, QuarantineReason, SkipReason, Skipped, Source, SparseVector};
pub use decision::{Decision, Reason};
pub use domain::DomainRecord;
pub use failure::{Failure, FailureCode, Stage};
pub use file::{FileRecord, FileStatus, IdentityRecord, Publication, Revision};
pub use hash::{ContentHash, IdentityHash, Sha256, point_id};
pub use ids::{
    AttemptId, ConversationId, CorrelationId, DocumentTitle, DocumentType, DomainKey, ExternalId, FileId, Filename,
    InvalidId, JobId, KeyId, PointId, TenantId, TraceId, VectorName, VersionId,
};
pub use job::{
    ClaimRefusal, JobCounters, JobEvent, JobEventKind, JobKind, JobRecord, JobStatus, LostLease, MAX_JOB_EVENTS,
    PurgeReceipt, SkipCause,
};
pub use object_key::{ObjectKey, UnknownKey};
pub use order::{Generation, ORDER_SPACING, OrderId};
pub use policy::{ChunkingPolicy, DomainPolicy, InvalidPolicy};
pub use scope::{Actor, Scope, ScopeSet, TenantScope, UnknownScope};
pub use sequencer::{InvalidSequencer, Sequencer};
pub use time::{InvalidTimestamp, Timestamp};
