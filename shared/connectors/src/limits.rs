//! Every bound on an item, in one place. What an item says of its own size is never asked.

/// Most bytes of Markdown that one item may become.
pub(crate) const MAX_MARKDOWN_BYTES: usize = 8 * 1024 * 1024;
/// Most bytes of one text that is parsed (HTML, a JSON document inside a string, a decoded body).
pub(crate) const MAX_TEXT_BYTES: usize = 16 * 1024 * 1024;
/// Deepest nesting of an item's own nodes (blocks, pages, parts). `serde_json` reads JSON text down to 128 values, which
/// is about this many nodes; a value that was not read from text may be deeper.
pub(crate) const MAX_DEPTH: usize = 64;
/// Deepest nesting of lists and quotes in the Markdown that is written; what is deeper is kept, at this depth.
pub(crate) const MAX_CONTAINERS: usize = 32;
/// Most HTML elements that are open at once and mean something; the text of deeper ones is kept.
pub(crate) const MAX_OPEN_ELEMENTS: usize = 256;
/// Most columns of a table; the cells after them are joined into the last one.
pub(crate) const MAX_COLUMNS: usize = 256;
/// Longest title in bytes, as [`anchorage_domain::DocumentTitle`] takes it.
pub(crate) const MAX_TITLE_BYTES: usize = 500;
/// Longest external id in bytes, as [`anchorage_domain::ExternalId`] takes it; a longer one is replaced by its digest.
pub(crate) const MAX_EXTERNAL_ID_BYTES: usize = 512;
/// Longest address in bytes.
pub(crate) const MAX_URL_BYTES: usize = 2_048;
/// Longest attribute of an HTML element that is read, in bytes; the rest of it is dropped.
pub(crate) const MAX_ATTRIBUTE_BYTES: usize = 4_096;
/// Most entries of metadata.
pub(crate) const MAX_METADATA_ENTRIES: usize = 48;
/// Longest text in metadata, in bytes; a longer one is shortened.
pub(crate) const MAX_METADATA_TEXT_BYTES: usize = 512;
/// Longest text in a list of metadata, in bytes; a longer one is shortened.
pub(crate) const MAX_METADATA_LABEL_BYTES: usize = 128;
/// Most texts in one list of metadata; the rest is left out and reported.
pub(crate) const MAX_METADATA_LIST: usize = 32;
/// Largest metadata, in bytes of its JSON form: within what a stored record takes.
pub(crate) const MAX_METADATA_BYTES: usize = 15 * 1024;
/// Most kinds of omission that are reported one by one; what follows is counted together.
pub(crate) const MAX_SKIPPED: usize = 64;
/// Longest name of a thing that was left out, in characters.
pub(crate) const MAX_SKIPPED_CHARS: usize = 120;
/// Longest front matter of a note, in bytes.
pub(crate) const MAX_FRONT_MATTER_BYTES: usize = 64 * 1024;
