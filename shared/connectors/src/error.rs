/// Why one item gives no document. It names the field and what would be right, never what the item says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ItemError {
    #[error("`{field}` is missing: {expected}")]
    Missing { field: String, expected: &'static str },
    #[error("`{field}` is {found}, must be {expected}")]
    WrongType { field: String, expected: &'static str, found: &'static str },
    #[error("`{field}` must be {expected}")]
    Invalid { field: String, expected: &'static str },
    #[error("`{field}` holds no text")]
    Blank { field: String },
    #[error("`{field}` is larger than {limit} bytes")]
    TooLarge { field: String, limit: usize },
    #[error("`{field}` is nested deeper than {limit} levels")]
    TooDeep { field: String, limit: usize },
}

impl ItemError {
    /// A stable name of the failure, for whoever counts them.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "missing_field",
            Self::WrongType { .. } => "wrong_type",
            Self::Invalid { .. } => "invalid_value",
            Self::Blank { .. } => "blank_content",
            Self::TooLarge { .. } => "too_large",
            Self::TooDeep { .. } => "too_deep",
        }
    }

    /// The field that is at fault, as a path into the item.
    #[must_use]
    pub fn field(&self) -> &str {
        match self {
            Self::Missing { field, .. }
            | Self::WrongType { field, .. }
            | Self::Invalid { field, .. }
            | Self::Blank { field }
            | Self::TooLarge { field, .. }
            | Self::TooDeep { field, .. } => field,
        }
    }

    pub(crate) fn missing(field: impl Into<String>, expected: &'static str) -> Self {
        Self::Missing { field: field.into(), expected }
    }

    pub(crate) fn invalid(field: impl Into<String>, expected: &'static str) -> Self {
        Self::Invalid { field: field.into(), expected }
    }

    pub(crate) fn blank(field: impl Into<String>) -> Self {
        Self::Blank { field: field.into() }
    }

    pub(crate) fn too_deep(field: impl Into<String>) -> Self {
        Self::TooDeep { field: field.into(), limit: crate::limits::MAX_DEPTH }
    }
}
