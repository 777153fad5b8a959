/// Why a document yields no chunks. The text is safe to show: it names limits and types, never content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    #[error("the content is {detected}, which no parser reads")]
    UnsupportedType { detected: &'static str },
    #[error("{problem}")]
    ParseFailed { problem: String },
    #[error("the document is protected by a password")]
    Encrypted,
    #[error("the document holds no text")]
    NoText,
    #[error("the archive {problem}")]
    ArchiveTooLarge { problem: String },
    #[error("the document is cut into more than {limit} chunks")]
    ChunkLimitExceeded { limit: usize },
    #[error("the document is larger than {limit} bytes, blocks or cells")]
    TooLarge { limit: u64 },
}

impl ParseError {
    pub(crate) fn failed(problem: impl Into<String>) -> Self {
        Self::ParseFailed { problem: problem.into() }
    }
}
