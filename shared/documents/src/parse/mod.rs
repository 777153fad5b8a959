//! Bytes to blocks. The type is decided by content.

mod archive;
mod decode;
mod delimited;
mod docx;
mod markdown;
mod pdf;
mod plain;
mod workbook;

use crate::{Limits, ParseError, limits::MAX_LABEL_CHARS};
use anchorage_domain::{Coverage, QuarantineReason};
use archive::Archive;
use std::sync::Arc;

/// What a file calls itself. Tells kinds of text apart, nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MediaHint {
    pub filename: Option<String>,
    pub content_type: Option<String>,
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaType {
    Text,
    Markdown,
    Csv,
    Docx,
    Xlsx,
    Pdf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    Heading,
    Paragraph,
    ListItem,
    Table,
    Code,
    Footnote,
}

/// Headings, outermost first, each no longer than a label. Shared: a section has many blocks.
pub(crate) type HeadingPath = Arc<[String]>;

/// One piece of a document, in document order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    pub kind: BlockKind,
    /// The headings above it, outermost first.
    pub heading_path: HeadingPath,
    pub content: Content,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    Text(String),
    Table(Table),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    /// The sheet it stands on, for workbooks.
    pub sheet: Option<String>,
    /// Titles above the header, repeated with it.
    pub context: Vec<String>,
    /// Column names; empty when the table has none.
    pub header: Vec<String>,
    /// Where the header stands (or the first row, without one), counted as rows are.
    pub first_row: u32,
    pub rows: Vec<Row>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    /// As the source counts it, from 1.
    pub number: u32,
    pub cells: Vec<String>,
}

/// A page that text can stand on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PageRef {
    /// Counted from 1.
    pub number: u32,
    /// The number printed on it.
    pub label: Option<String>,
    pub quarantined: Option<QuarantineReason>,
}

/// Where a line of a block, or a row of a table, stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Placed {
    /// Where in the block's text it begins, in bytes; for a table the row's number.
    pub at: usize,
    pub page: Arc<PageRef>,
    /// Left, bottom, right, top, in the page's own coordinates.
    pub bbox: [f32; 4],
}

/// What a parser made of a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parsed {
    pub title: Option<String>,
    pub blocks: Vec<Block>,
    pub coverage: Coverage,
    /// For every block its lines' places, in order; empty where the format has no pages.
    pub places: Vec<Vec<Placed>>,
}

pub(crate) struct Typed {
    pub media_type: MediaType,
    pub title: Option<String>,
    pub blocks: Vec<Block>,
    pub coverage: Coverage,
    pub places: Vec<Vec<Placed>>,
}

pub(crate) fn parse(bytes: &[u8], hint: &MediaHint, limits: &Limits) -> Result<Typed, ParseError> {
    let (media_type, parsed) = match sniff(bytes)? {
        Sniffed::Archive => {
            let mut archive = Archive::open(bytes, limits)?;
            let main = archive.main_part()?;
            match main.content_type.as_str() {
                t if t.contains("wordprocessingml") => {
                    (MediaType::Docx, docx::parse(&mut archive, &main.name, limits)?)
                }
                t if t.contains("spreadsheetml") => (MediaType::Xlsx, workbook::parse(bytes, limits)?),
                t if t.contains("presentationml") => return Err(unsupported("a presentation")),
                _ => return Err(unsupported("an archive of another kind")),
            }
        }
        Sniffed::Pdf => (MediaType::Pdf, pdf::parse(bytes, limits)?),
        Sniffed::Text => {
            let decoded = decode::decode(bytes)?;
            let kind = text_kind(hint);
            let mut parsed = match kind {
                MediaType::Markdown => markdown::parse(&decoded.text, limits)?,
                MediaType::Csv => delimited::parse(&decoded.text, limits)?,
                MediaType::Text | MediaType::Docx | MediaType::Xlsx | MediaType::Pdf => {
                    plain::parse(&decoded.text, limits)?
                }
            };
            parsed.coverage.replaced_chars = decoded.replaced;
            (kind, parsed)
        }
    };
    let size: usize = parsed.blocks.iter().map(Block::size).sum();
    if size > limits.max_text_bytes {
        return Err(ParseError::TooLarge { limit: limits.max_text_bytes as u64 });
    }
    Ok(Typed {
        media_type,
        title: parsed.title.as_deref().map(label),
        blocks: parsed.blocks,
        coverage: parsed.coverage,
        places: parsed.places,
    })
}

impl Block {
    fn size(&self) -> usize {
        match &self.content {
            Content::Text(text) => text.len(),
            Content::Table(table) => table.rows.iter().flat_map(|row| &row.cells).map(String::len).sum(),
        }
    }
}

enum Sniffed {
    Archive,
    Pdf,
    Text,
}

const fn unsupported(detected: &'static str) -> ParseError {
    ParseError::UnsupportedType { detected }
}

/// Decides by the first bytes and, for containers, by what they name inside.
fn sniff(bytes: &[u8]) -> Result<Sniffed, ParseError> {
    let known: [(&[u8], &'static str); 9] = [
        (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
        (b"\xFF\xD8\xFF", "a JPEG picture"),
        (b"GIF8", "a GIF picture"),
        (b"II*\0", "a TIFF picture"),
        (b"MM\0*", "a TIFF picture"),
        (b"{\\rtf", "a rich text document"),
        (b"\x1f\x8b", "a gzip archive"),
        (b"7z\xBC\xAF\x27\x1C", "a 7-Zip archive"),
        (b"Rar!", "a RAR archive"),
    ];
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        return Ok(Sniffed::Archive);
    }
    if is_pdf(bytes) {
        return Ok(Sniffed::Pdf);
    }
    if bytes.starts_with(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1") {
        let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let encrypted = bytes.windows(name.len()).any(|window| window == name);
        return Err(if encrypted {
            ParseError::Encrypted
        } else {
            unsupported("an Office document of the old binary kind")
        });
    }
    if let Some((_, detected)) = known.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Err(unsupported(detected));
    }
    let start = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let start: Vec<u8> = start.iter().copied().skip_while(u8::is_ascii_whitespace).take(16).collect();
    let start = start.to_ascii_lowercase();
    if start.starts_with(b"<!doctype html") || start.starts_with(b"<html") {
        return Err(unsupported("an HTML page"));
    }
    Ok(Sniffed::Text)
}

/// Readers take a PDF for one when its mark stands somewhere near the beginning.
fn is_pdf(bytes: &[u8]) -> bool {
    const NEAR: usize = 1_024;
    const MARK: &[u8] = b"%PDF-";
    bytes.starts_with(MARK)
        || bytes.get(..NEAR.min(bytes.len())).is_some_and(|start| {
            // Text may speak of the mark; a document with anything in front of it is not text up to there.
            start.windows(MARK.len()).position(|window| window == MARK).is_some_and(|at| {
                let before = start.get(..at).unwrap_or_default();
                before.iter().all(u8::is_ascii_whitespace) || std::str::from_utf8(before).is_err()
            })
        })
}

/// Which kind of text a file says it is. Without a word of it, plain.
fn text_kind(hint: &MediaHint) -> MediaType {
    let extension = hint.filename.as_deref().and_then(|name| name.rsplit_once('.')).map(|(_, end)| end.to_lowercase());
    let content_type =
        hint.content_type.as_deref().map(|t| t.split(';').next().unwrap_or_default().trim().to_lowercase());
    match (extension.as_deref(), content_type.as_deref()) {
        (Some("csv" | "tsv"), _) | (_, Some("text/csv" | "text/tab-separated-values")) => MediaType::Csv,
        (Some("md" | "markdown"), _) | (_, Some("text/markdown" | "text/x-markdown")) => MediaType::Markdown,
        _ => MediaType::Text,
    }
}

/// The one place where control characters leave a text, before any offset into it is taken. Tabs and line ends stay.
pub(crate) fn clean(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    text.chars()
        // These end a line or a page: dropping them would join the words on both sides.
        .map(|c| if matches!(c, '\r' | '\u{b}' | '\u{c}' | '\u{85}') { '\n' } else { c })
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect()
}

/// Adds a block, within the bound on their number.
pub(crate) fn push_block(blocks: &mut Vec<Block>, block: Block, limits: &Limits) -> Result<(), ParseError> {
    if blocks.len() >= limits.max_blocks {
        return Err(ParseError::TooLarge { limit: limits.max_blocks as u64 });
    }
    blocks.push(block);
    Ok(())
}

/// A name as it is repeated: on one line, and shortened where it is longer than a label.
pub(crate) fn label(text: &str) -> String {
    let mut words = String::new();
    for word in text.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    match words.char_indices().nth(MAX_LABEL_CHARS) {
        Some((end, _)) => format!("{}…", words.get(..end).unwrap_or_default()),
        None => words,
    }
}

/// The headings above the next block.
#[derive(Debug)]
pub(crate) struct Outline {
    open: Vec<(u8, String)>,
    path: HeadingPath,
}

impl Default for Outline {
    fn default() -> Self {
        Self { open: Vec::new(), path: Arc::from([]) }
    }
}

impl Outline {
    /// Deepest level of a heading, in every format.
    const MAX_LEVEL: u8 = 9;

    /// Enters a heading of `level`, closing those of its level and below.
    pub(crate) fn enter(&mut self, level: u8, text: &str) {
        let level = level.min(Self::MAX_LEVEL);
        self.open.retain(|(other, _)| *other < level);
        self.open.push((level, label(text)));
        self.path = self.open.iter().map(|(_, text)| text.clone()).collect();
    }

    pub(crate) fn path(&self) -> HeadingPath {
        Arc::clone(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clean_keeps_words_apart_where_lines_and_pages_end() {
        for (text, expected) in [
            ("one\u{c}two\u{b}three\u{85}four", "one\ntwo\nthree\nfour"),
            ("a\r\nb\rc", "a\nb\nc"),
            ("a\u{0}b\u{1b}[1m\tc", "ab[1m\tc"),
            ("a\u{2028}b", "a\u{2028}b"),
        ] {
            assert_eq!(clean(text), expected, "{text:?}");
        }
    }

    #[test]
    fn label_is_bounded_at_the_limit_and_past_it() {
        assert_eq!(label(" two\n words "), "two words");
        let longest = "ن".repeat(MAX_LABEL_CHARS);
        assert_eq!(label(&longest), longest);
        assert_eq!(label(&format!("{longest}ن")), format!("{longest}…"));
    }

    #[test]
    fn outline_closes_headings_of_the_same_level_and_below() {
        let mut outline = Outline::default();
        for (level, text) in [(1, "A"), (2, "B"), (3, "C"), (2, "D"), (200, "E"), (9, "F")] {
            outline.enter(level, text);
        }
        assert_eq!(*outline.path(), ["A", "D", "F"].map(String::from));
    }
}
