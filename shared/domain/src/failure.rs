//! Why a job did not do what it was for.

use crate::Timestamp;
use serde::{Deserialize, Serialize};

/// The closed list of failures of a job. Each says whether trying the same bytes again can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureCode {
    UnsupportedType,
    ParseFailed,
    Encrypted,
    NoText,
    ArchiveTooLarge,
    ChunkLimitExceeded,
    TooLarge,
    DomainDisabled,
    ChecksumMismatch,
    ObjectMissing,
    EmbeddingRejected,
    ManifestMismatch,
    EmbeddingFailed,
    IndexFailed,
    Throttled,
    StoreUnavailable,
    LeaseExpired,
    RetriesExhausted,
}

impl FailureCode {
    pub const ALL: [Self; 18] = [
        Self::UnsupportedType,
        Self::ParseFailed,
        Self::Encrypted,
        Self::NoText,
        Self::ArchiveTooLarge,
        Self::ChunkLimitExceeded,
        Self::TooLarge,
        Self::DomainDisabled,
        Self::ChecksumMismatch,
        Self::ObjectMissing,
        Self::EmbeddingRejected,
        Self::ManifestMismatch,
        Self::EmbeddingFailed,
        Self::IndexFailed,
        Self::Throttled,
        Self::StoreUnavailable,
        Self::LeaseExpired,
        Self::RetriesExhausted,
    ];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnsupportedType => "unsupported_type",
            Self::ParseFailed => "parse_failed",
            Self::Encrypted => "encrypted",
            Self::NoText => "no_text",
            Self::ArchiveTooLarge => "archive_too_large",
            Self::ChunkLimitExceeded => "chunk_limit_exceeded",
            Self::TooLarge => "too_large",
            Self::DomainDisabled => "domain_disabled",
            Self::ChecksumMismatch => "checksum_mismatch",
            Self::ObjectMissing => "object_missing",
            Self::EmbeddingRejected => "embedding_rejected",
            Self::ManifestMismatch => "manifest_mismatch",
            Self::EmbeddingFailed => "embedding_failed",
            Self::IndexFailed => "index_failed",
            Self::Throttled => "throttled",
            Self::StoreUnavailable => "store_unavailable",
            Self::LeaseExpired => "lease_expired",
            Self::RetriesExhausted => "retries_exhausted",
        }
    }

    /// Whether the same bytes can succeed another time without anybody changing them.
    #[must_use]
    pub const fn retryable(self) -> bool {
        match self {
            Self::UnsupportedType
            | Self::ParseFailed
            | Self::Encrypted
            | Self::NoText
            | Self::ArchiveTooLarge
            | Self::ChunkLimitExceeded
            | Self::TooLarge
            | Self::ChecksumMismatch
            | Self::ObjectMissing
            | Self::EmbeddingRejected => false,
            Self::DomainDisabled
            | Self::ManifestMismatch
            | Self::EmbeddingFailed
            | Self::IndexFailed
            | Self::Throttled
            | Self::StoreUnavailable
            | Self::LeaseExpired
            | Self::RetriesExhausted => true,
        }
    }

    /// What happened and what to do, in words for the person who uploaded the file.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::UnsupportedType => "No parser reads this type of file. Upload text, Markdown, CSV, DOCX or XLSX.",
            Self::ParseFailed => {
                "The file is damaged or is not what it claims to be. Open and save it again, then upload it."
            }
            Self::Encrypted => "The file is protected by a password. Remove the protection, then upload it.",
            Self::NoText => {
                "No text was found in the file. If it holds scanned pages or pictures, upload a version with text."
            }
            Self::ArchiveTooLarge => "The file unpacks to more than may be read. Split it into smaller files.",
            Self::ChunkLimitExceeded => {
                "The document is cut into more chunks than one document may have. Split it into smaller files."
            }
            Self::TooLarge => "The file is larger than one document may be. Split it into smaller files.",
            Self::DomainDisabled => {
                "The domain was switched off while the file was waiting. Switch it on, then ingest the file again."
            }
            Self::ChecksumMismatch => {
                "The bytes that arrived are not the ones that were announced. Upload the file again."
            }
            Self::ObjectMissing => "The uploaded bytes are no longer in storage. Upload the file again.",
            Self::EmbeddingRejected => "The embedding model refused a part of the text. The detail says which.",
            Self::ManifestMismatch => {
                "The collection was built with other embedding or chunking versions. Rebuild it, then ingest the file again."
            }
            Self::EmbeddingFailed => "The embedding service did not answer. The job is tried again.",
            Self::IndexFailed => "The vector store did not answer. The job is tried again.",
            Self::Throttled => "An upstream service is saturated. The job is tried again later.",
            Self::StoreUnavailable => "A storage service did not answer. The job is tried again.",
            Self::LeaseExpired => "The job was interrupted and did not come back. Ingest the file again.",
            Self::RetriesExhausted => {
                "The job failed too many times. The last failure is in its events. Ingest the file again."
            }
        }
    }
}

/// The step of a job in which something failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    Upload,
    Claim,
    Read,
    Parse,
    Embed,
    Index,
    Publish,
    Purge,
}

/// One failure as it is stored and shown: enough to act on without reading a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub code: FailureCode,
    pub stage: Stage,
    /// Particulars that are safe to show: sizes, limits, positions. Never an inner error's debug form.
    pub detail: String,
    pub retryable: bool,
    /// Which claim of the job failed, counted from 1; 0 when none was made.
    pub attempt: u32,
    /// The trace under which the attempt logged.
    pub trace_id: Option<String>,
    pub at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_codes_serialise_to_their_published_names() {
        for code in FailureCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
            assert!(code.text().ends_with('.'));
        }
    }
}
