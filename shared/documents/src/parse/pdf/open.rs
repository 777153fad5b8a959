//! Opening a document: nothing of it is inflated before it is known how much that would be.

use crate::{Limits, ParseError};
use hayro_syntax::{
    DecryptionError, LoadPdfError, Pdf,
    object::{Dict, Object},
};

/// A document whose objects can be read.
pub(super) struct Opened {
    pdf: Pdf,
}

impl Opened {
    pub(super) fn new(bytes: &[u8], _limits: &Limits) -> Result<Self, ParseError> {
        let pdf = Pdf::new(bytes.to_vec()).map_err(|error| match error {
            LoadPdfError::Decryption(DecryptionError::PasswordProtected) => ParseError::Encrypted,
            LoadPdfError::Decryption(_) => ParseError::failed("the document is encrypted in a way that is not known"),
            LoadPdfError::Invalid => ParseError::failed("the document is no PDF, or too damaged to be read as one"),
        })?;
        Ok(Self { pdf })
    }

    pub(super) fn catalog(&self) -> Option<Dict<'_>> {
        self.pdf.xref().get(self.pdf.xref().root_id())
    }

    /// As the document calls itself.
    pub(super) fn title(&self) -> Option<String> {
        self.pdf.metadata().title.as_deref().map(super::strings::decode)
    }

    pub(super) fn objects(&self) -> impl Iterator<Item = Object<'_>> {
        self.pdf.objects().into_iter()
    }
}
