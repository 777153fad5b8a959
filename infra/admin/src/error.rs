use anchorage_adapters::BootstrapError;
use anchorage_ports::Outage;
use anchorage_service::domains::DomainsError;

/// Why a command did not do what it was asked to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AdminError {
    /// The environment or an argument is not as it has to be.
    #[error("{0}")]
    Usage(String),
    #[error("there is no {0}")]
    NotFound(String),
    #[error("{0}")]
    Conflict(String),
    /// A tenant was made, and then something failed; the same command with `--tenant` carries on.
    #[error("tenant {tenant} was made, then: {cause}; run the command again with --tenant {tenant}")]
    Unfinished { tenant: anchorage_domain::TenantId, cause: Box<AdminError> },
    #[error(transparent)]
    Outage(#[from] Outage),
}

impl AdminError {
    /// The process's exit code: 2 for usage, 3 for what is not there, 4 for what is there already or otherwise, 5 for an
    /// outage, after which the same command may succeed.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::NotFound(_) => 3,
            Self::Conflict(_) => 4,
            Self::Outage(_) => 5,
            Self::Unfinished { cause, .. } => cause.exit_code(),
        }
    }
}

impl From<DomainsError> for AdminError {
    fn from(error: DomainsError) -> Self {
        match error {
            DomainsError::NotFound => Self::NotFound("such domain".into()),
            DomainsError::Outage(outage) => Self::Outage(outage),
            DomainsError::Exists | DomainsError::Conflict => Self::Conflict(error.to_string()),
        }
    }
}

impl From<BootstrapError> for AdminError {
    fn from(error: BootstrapError) -> Self {
        match error {
            BootstrapError::Outage(outage) => Self::Outage(outage),
            BootstrapError::Mismatch { .. } => Self::Conflict(error.to_string()),
        }
    }
}
