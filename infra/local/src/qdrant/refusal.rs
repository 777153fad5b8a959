//! Why a call is refused, and the gRPC status that says so.

use qdrant_edge::OperationError;
use tonic::Status;

/// A refused call. The text goes to the caller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The request is wrong in itself.
    #[error("{0}")]
    Invalid(String),
    /// What it names does not exist.
    #[error("{0}")]
    NotFound(String),
    /// What it would make exists.
    #[error("{0}")]
    Exists(String),
    /// A real server might do it; this one does not.
    #[error("not supported by the embedded engine: {0}")]
    Unsupported(&'static str),
    /// The engine or the disk failed. The detail is in the log.
    #[error("the storage engine failed; its log says why")]
    Internal,
}

impl Refusal {
    pub(super) fn invalid(text: impl Into<String>) -> Self {
        Self::Invalid(text.into())
    }

    pub(super) fn no_collection(name: &str) -> Self {
        Self::NotFound(format!("Not found: Collection `{name}` doesn't exist!"))
    }

    /// An error of ours or of the disk: logged here, because the caller is told nothing of it.
    pub(super) fn internal(what: &'static str, error: &dyn std::fmt::Display) -> Self {
        tracing::error!(event = "qdrant.engine_failed", what, %error);
        Self::Internal
    }
}

impl From<OperationError> for Refusal {
    fn from(error: OperationError) -> Self {
        match error {
            OperationError::PointIdError { .. } => Self::NotFound(error.to_string()),
            OperationError::WrongVectorDimension { .. }
            | OperationError::VectorNameNotExists { .. }
            | OperationError::TypeError { .. }
            | OperationError::TypeInferenceError { .. }
            | OperationError::ValidationError { .. }
            | OperationError::WrongSparse
            | OperationError::WrongMulti
            | OperationError::MissingRangeIndexForOrderBy { .. }
            | OperationError::MissingMapIndexForFacet { .. }
            | OperationError::VariableTypeError { .. }
            | OperationError::NonFiniteNumber { .. } => Self::Invalid(error.to_string()),
            OperationError::ServiceError { .. }
            | OperationError::InconsistentStorage { .. }
            | OperationError::OutOfMemory { .. }
            | OperationError::Cancelled { .. }
            | OperationError::Timeout { .. } => Self::internal("operation", &error),
        }
    }
}

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Self {
        let text = refusal.to_string();
        match refusal {
            Refusal::Invalid(_) => Self::invalid_argument(text),
            Refusal::NotFound(_) => Self::not_found(text),
            Refusal::Exists(_) => Self::already_exists(text),
            Refusal::Unsupported(_) => Self::unimplemented(text),
            Refusal::Internal => Self::internal(text),
        }
    }
}
