use std::{io, path::Path};

/// Why a command ended early, in words for the person who called it.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("{0}")]
    Said(String),
    #[error("{what}: {source}")]
    Io { what: String, source: io::Error },
    /// `tail` is the end of what the program printed.
    #[error("{program} failed ({status})\n{tail}")]
    Program { program: String, status: String, tail: String },
    #[error("interrupted")]
    Interrupted,
}

impl Failure {
    pub fn said(text: impl Into<String>) -> Self {
        Self::Said(text.into())
    }
}

/// Says what was being done when an operation of the system failed.
pub trait Doing<T> {
    fn doing(self, what: impl Into<String>) -> Result<T, Failure>;
    fn at(self, doing: &str, path: &Path) -> Result<T, Failure>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, what: impl Into<String>) -> Result<T, Failure> {
        self.map_err(|source| Failure::Io { what: what.into(), source })
    }

    fn at(self, doing: &str, path: &Path) -> Result<T, Failure> {
        self.map_err(|source| Failure::Io { what: format!("{doing} {}", path.display()), source })
    }
}
