//! Every bound on a document, in one place.

/// Largest file in bytes.
const MAX_FILE_BYTES: u64 = 50 * 1024 * 1024;
/// Most bytes that all entries of an archive may really inflate to.
const MAX_INFLATED_BYTES: u64 = 96 * 1024 * 1024;
/// Most entries an archive may have.
const MAX_ARCHIVE_ENTRIES: usize = 4_096;
/// Deepest nesting of elements in an XML part, and of blocks in Markdown.
const MAX_DEPTH: usize = 256;
/// Most cells of a workbook or a CSV file that hold something.
const MAX_CELLS: usize = 1_000_000;
/// Most bytes of extracted text, repeated table headers included.
const MAX_TEXT_BYTES: usize = 32 * 1024 * 1024;
/// Most blocks (headings, paragraphs, list items, notes, tables) of one document.
const MAX_BLOCKS: usize = 500_000;
/// Longest heading, sheet or column name, in characters, as it is repeated beside other text. A longer one is shortened
/// there and stands whole only once: what is repeated multiplies, and a small file would fill the memory.
pub(crate) const MAX_LABEL_CHARS: usize = 200;
/// Most title lines above a table that are repeated with its header; more of them are rows.
pub(crate) const MAX_TITLE_LINES: usize = 4;
/// Most columns or rows that one cell of a table may claim to span.
pub(crate) const MAX_SPAN: u32 = 1_000;
/// Deepest table inside tables that keeps its borders; what is nested deeper is text of the cell it stands in. Every level
/// writes the text of those inside it once more.
pub(crate) const MAX_TABLE_DEPTH: usize = 16;
/// Deepest nesting of arrays and objects in JSON.
pub(crate) const MAX_JSON_DEPTH: u32 = 128;
/// Most sheets of a workbook of the old kind.
pub(crate) const MAX_SHEETS: usize = 1_024;
/// Most attachments of one message that are opened; each gets its share of the bounds on the whole.
pub(crate) const MAX_MAIL_ATTACHMENTS: usize = 32;
/// Deepest document inside documents that is opened.
const MAX_EMBEDDED_DEPTH: usize = 3;
/// Parts of a message times its bytes, which is what finding the ends of its parts can cost.
pub(crate) const MAX_MAIL_WORK: u64 = 1 << 31;
/// Largest source code that is cut by syntax, in bytes: past it, code is generated, and a lexer that goes to the end of the
/// text for every quote takes minutes. A tree can take a thousand times the bytes of its text.
pub(crate) const MAX_SYNTAX_BYTES: usize = 128 * 1024;
/// Most steps (of a hundred operations each) that parsing may take for each KiB of code.
pub(crate) const MAX_SYNTAX_STEPS_PER_KIB: usize = 100;
/// Deepest item inside items that has a path of its own.
pub(crate) const MAX_CODE_PATH: usize = 32;
/// Most parts that are named as left out; the rest is counted.
pub(crate) const MAX_SKIPPED: usize = 100;
/// Most chunks of one document.
const MAX_CHUNKS: usize = 20_000;

/// Bounds on one document. The default is what the service promises; tests set smaller ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    pub max_file_bytes: u64,
    pub max_inflated_bytes: u64,
    pub max_archive_entries: usize,
    pub max_depth: usize,
    pub max_cells: usize,
    pub max_text_bytes: usize,
    pub max_blocks: usize,
    pub max_chunks: usize,
    /// How deep documents inside documents are opened.
    pub max_embedded_depth: usize,
}

impl Limits {
    /// What each of `count` documents inside one may use: its share, so that many do not multiply. Nothing where they are
    /// nested too deep to be opened.
    pub(crate) fn embedded(&self, count: usize) -> Option<Self> {
        let count = count.max(1);
        Some(Self {
            max_inflated_bytes: self.max_inflated_bytes / count as u64,
            max_cells: self.max_cells / count,
            max_text_bytes: self.max_text_bytes / count,
            max_blocks: self.max_blocks / count,
            max_embedded_depth: self.max_embedded_depth.checked_sub(1)?,
            ..self.clone()
        })
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_file_bytes: MAX_FILE_BYTES,
            max_inflated_bytes: MAX_INFLATED_BYTES,
            max_archive_entries: MAX_ARCHIVE_ENTRIES,
            max_depth: MAX_DEPTH,
            max_cells: MAX_CELLS,
            max_text_bytes: MAX_TEXT_BYTES,
            max_blocks: MAX_BLOCKS,
            max_chunks: MAX_CHUNKS,
            max_embedded_depth: MAX_EMBEDDED_DEPTH,
        }
    }
}
