//! Bytes to blocks to chunks to sparse terms. One entry point: [`parse_and_chunk`].
//!
//! Invariant: nothing here, nor anything it depends on, knows tokio, AWS, HTTP, a clock or randomness, and nothing here
//! panics on any input. Everything is bounded by [`Limits`], by what was really inflated or parsed.

mod chunk;
mod error;
mod limits;
mod parse;
mod sparse;
mod text;
mod tokens;

#[cfg(test)]
mod tests;

pub use chunk::{CHUNKER_VERSION, Chunk, sentences};
pub use error::ParseError;
pub use limits::Limits;
pub use parse::{BlockKind, MediaHint, MediaType};
pub use sparse::{ANALYZER_VERSION, sparse_document, sparse_query};
pub use text::{Folded, Word, fold, terms, words};
pub use tokens::estimate_tokens;

use anchorage_domain::{ChunkingPolicy, Coverage, SkipReason};

/// A document as the pipeline takes it on.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedDocument {
    pub media_type: MediaType,
    /// As the document itself says, if it does.
    pub title: Option<String>,
    /// The extracted text, as the chunks were cut from it.
    pub source_text: String,
    pub chunks: Vec<Chunk>,
    pub coverage: Coverage,
}

/// Reads a document of any supported type and cuts it.
///
/// The type is decided by content; `hint` only tells kinds of text apart. Every chunk is exactly
/// `source_text[byte_start..byte_end]`, not blank, and within `policy`.
///
/// # Errors
/// Typed, each with the failure code it stands for; never a panic, whatever the bytes.
pub fn parse_and_chunk(
    bytes: &[u8],
    hint: &MediaHint,
    policy: ChunkingPolicy,
    limits: &Limits,
) -> Result<ParsedDocument, ParseError> {
    if bytes.len() as u64 > limits.max_file_bytes {
        return Err(ParseError::TooLarge { limit: limits.max_file_bytes });
    }
    let parsed = parse::parse(bytes, hint, limits)?;
    let (source_text, chunks) = chunk::chunk(&parsed.blocks, &parsed.places, policy, limits)?;
    if chunks.is_empty() {
        return Err(ParseError::NoText);
    }
    let mut coverage = parsed.coverage;
    coverage.bytes = bytes.len() as u64;
    coverage.blocks = u32::try_from(parsed.blocks.len()).unwrap_or(u32::MAX);
    coverage.chars = source_text.chars().count() as u64;
    // What is hidden was read, what stands aside was left out on purpose, and what repeats is reported once.
    let is_missing = |reason| !matches!(reason, SkipReason::Hidden | SkipReason::Aside | SkipReason::Repeated);
    coverage.partial = coverage.skipped.iter().any(|skipped| is_missing(skipped.reason));
    Ok(ParsedDocument { media_type: parsed.media_type, title: parsed.title, source_text, chunks, coverage })
}
