//! Bytes to blocks. The type is decided by content.

mod archive;
mod code;
mod decode;
mod delimited;
mod docx;
mod grid;
mod html;
mod json;
mod mail;
mod markdown;
mod ods;
mod pdf;
mod plain;
mod pptx;
mod sheets;
mod text_kind;
mod workbook;
mod xls;
mod xml;

use crate::{
    Limits, ParseError,
    limits::{MAX_LABEL_CHARS, MAX_SKIPPED},
};
use anchorage_domain::{Coverage, QuarantineReason, SkipReason, Skipped};
use archive::Archive;
use std::sync::Arc;
use text_kind::TextKind;

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
    Html,
    Json,
    /// A document of JSON on every line.
    JsonLines,
    Code,
    Mail,
    Docx,
    Pptx,
    Xlsx,
    Xls,
    Ods,
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
            if let Some(kind) = archive.open_document()? {
                return match kind.as_str() {
                    "spreadsheet" | "spreadsheet-template" => {
                        finish(MediaType::Ods, ods::parse(&mut archive, limits)?, limits)
                    }
                    _ => Err(unsupported("an OpenDocument file that is no spreadsheet")),
                };
            }
            let main = archive.main_part()?;
            match main.content_type.as_str() {
                t if t.contains("wordprocessingml") || t.contains("ms-word") => {
                    (MediaType::Docx, docx::parse(&mut archive, &main.name, limits)?)
                }
                t if t.contains("presentationml") || t.contains("ms-powerpoint") => {
                    (MediaType::Pptx, pptx::parse(&mut archive, &main.name, limits)?)
                }
                t if t.contains("sheet.binary") => return Err(unsupported("a workbook of the binary kind")),
                t if t.contains("spreadsheetml") || t.contains("ms-excel") => {
                    (MediaType::Xlsx, workbook::parse(bytes, limits)?)
                }
                _ => return Err(unsupported("an archive of another kind")),
            }
        }
        Sniffed::Pdf => (MediaType::Pdf, pdf::parse(bytes, limits)?),
        Sniffed::OldOffice => match xls::parse(bytes, limits)? {
            Some(parsed) => (MediaType::Xls, parsed),
            None => return Err(unsupported("an Office document of the old binary kind")),
        },
        Sniffed::Text if mail::is_mail(bytes, hint) => (MediaType::Mail, mail::parse(bytes, limits)?),
        Sniffed::Text => {
            let decoded = decode::decode(bytes)?;
            let (kind, mut parsed) = parse_text(&decoded.text, hint, limits)?;
            parsed.coverage.replaced_chars = decoded.replaced;
            (kind, parsed)
        }
    };
    finish(media_type, parsed, limits)
}

/// What holds for every kind of document alike.
fn finish(media_type: MediaType, mut parsed: Parsed, limits: &Limits) -> Result<Typed, ParseError> {
    let size: usize = parsed.blocks.iter().map(Block::size).sum();
    if size > limits.max_text_bytes {
        return Err(ParseError::TooLarge { limit: limits.max_text_bytes as u64 });
    }
    bound(&mut parsed.coverage.skipped);
    Ok(Typed {
        media_type,
        title: parsed.title.as_deref().map(label),
        blocks: parsed.blocks,
        coverage: parsed.coverage,
        places: parsed.places,
    })
}

fn parse_text(text: &str, hint: &MediaHint, limits: &Limits) -> Result<(MediaType, Parsed), ParseError> {
    let told = text_kind::of(text, hint);
    let parsed = match told.kind {
        TextKind::Markdown => markdown::parse(text, limits)?,
        TextKind::Csv => delimited::parse(text, limits)?,
        TextKind::Html => html::parse(text, limits)?,
        TextKind::JsonLines => json::parse_lines(text, limits)?,
        TextKind::Code(language) => code::parse(text, language, limits)?,
        TextKind::Plain => plain::parse(text, limits)?,
        TextKind::Json => match json::parse(text, limits) {
            Ok(parsed) => parsed,
            Err(json::JsonError::Bound(error)) if told.by_name => return Err(error),
            // It is text all the same; that its order is lost is said where it was promised.
            Err(_) => {
                let mut parsed = plain::parse(text, limits)?;
                if told.by_name {
                    let what = "the structure of the JSON".to_owned();
                    parsed.coverage.skipped.push(Skipped { what, reason: SkipReason::Unreadable });
                }
                return Ok((MediaType::Text, parsed));
            }
        },
    };
    Ok((told.kind.media_type(), parsed))
}

/// A document inside another, within its share of the bounds. Its pages are none of the outer document.
fn parse_embedded(bytes: &[u8], hint: &MediaHint, limits: &Limits) -> Result<Parsed, ParseError> {
    let Typed { title, blocks, coverage, .. } = parse(bytes, hint, limits)?;
    if blocks.is_empty() {
        Err(ParseError::NoText)
    } else {
        Ok(Parsed { title, blocks, coverage, ..Parsed::default() })
    }
}

/// Names the first of what was left out and counts the rest, those that make the document partial before the others.
fn bound(skipped: &mut Vec<Skipped>) {
    if skipped.len() > MAX_SKIPPED {
        skipped.sort_by_key(|skipped| {
            matches!(skipped.reason, SkipReason::Hidden | SkipReason::Aside | SkipReason::Repeated)
        });
        let more = skipped.split_off(MAX_SKIPPED);
        let reason = more.first().map_or(SkipReason::Aside, |first| first.reason);
        skipped.push(Skipped { what: format!("and {} more", more.len()), reason });
    }
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
    OldOffice,
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
        return if encrypted { Err(ParseError::Encrypted) } else { Ok(Sniffed::OldOffice) };
    }
    if let Some((_, detected)) = known.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Err(unsupported(detected));
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

/// The one place where control characters leave a text, before any offset into it is taken. Tabs and line ends stay.
pub(crate) fn clean(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    text.chars()
        // These end a line or a page: dropping them would join the words on both sides.
        .map(|c| if matches!(c, '\r' | '\u{b}' | '\u{c}' | '\u{85}') { '\n' } else { c })
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect()
}

/// Whether a character shows nothing by itself. What is made of such alone is blank to a reader, and
/// to an embedder that refuses blanks.
pub(crate) const fn is_unseen(c: char) -> bool {
    c.is_whitespace()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}')
}

/// Adds a block, within the bound on their number.
pub(crate) fn push_block(blocks: &mut Vec<Block>, block: Block, limits: &Limits) -> Result<(), ParseError> {
    if blocks.len() >= limits.max_blocks {
        return Err(ParseError::TooLarge { limit: limits.max_blocks as u64 });
    }
    blocks.push(block);
    Ok(())
}

/// A text on one line.
pub(crate) fn words_of(text: &str) -> String {
    let mut words = String::new();
    for word in text.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    words
}

/// A name as it is repeated: on one line, and shortened where it is longer than a label.
pub(crate) fn label(text: &str) -> String {
    let words = words_of(text);
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
    fn skipped_parts_are_named_up_to_the_limit_and_counted_past_it() {
        let part = |n: usize| Skipped {
            what: n.to_string(),
            reason: if n == 0 { SkipReason::Hidden } else { SkipReason::Unreadable },
        };
        let mut skipped: Vec<_> = (0..MAX_SKIPPED).map(part).collect();
        bound(&mut skipped);
        assert_eq!(skipped.len(), MAX_SKIPPED);
        let mut skipped: Vec<_> = (0..MAX_SKIPPED + 3).map(part).collect();
        bound(&mut skipped);
        assert_eq!(skipped.len(), MAX_SKIPPED + 1);
        assert_eq!((skipped[0].what.as_str(), skipped[MAX_SKIPPED].what.as_str()), ("1", "and 3 more"));
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
