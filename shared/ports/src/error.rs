use std::fmt;

/// A service that this one depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Service {
    DocumentStore,
    BlobStore,
    Queue,
    VectorIndex,
    Embedder,
    Parameters,
}

impl Service {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DocumentStore => "document store",
            Self::BlobStore => "blob store",
            Self::Queue => "queue",
            Self::VectorIndex => "vector index",
            Self::Embedder => "embedder",
            Self::Parameters => "parameter store",
        }
    }
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a service is out of reach. All of it passes with time, except `Refused`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutageKind {
    /// It asks to be called less often.
    Throttled,
    /// It cannot be reached, or answers that it has failed.
    Unavailable,
    /// It did not answer within the time the call had.
    TimedOut,
    /// It will not take this call however often it is made: credentials, permissions, a malformed request.
    Refused,
}

/// A call that got no answer worth having. `detail` is safe to log and to store: no key, no document text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {service} {}: {detail}", match kind {
    OutageKind::Throttled => "is saturated",
    OutageKind::Unavailable => "is unavailable",
    OutageKind::TimedOut => "did not answer in time",
    OutageKind::Refused => "refused the call",
})]
pub struct Outage {
    pub service: Service,
    pub kind: OutageKind,
    pub detail: String,
}

impl Outage {
    #[must_use]
    pub fn new(service: Service, kind: OutageKind, detail: impl Into<String>) -> Self {
        Self { service, kind, detail: detail.into() }
    }
}
