//! What is known of a document's text: language, provenance, coverage, sparse terms.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// A language with an analyzer and with words for every message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    Fa,
    Vi,
    En,
}

impl Language {
    pub const ALL: [Self; 3] = [Self::Fa, Self::Vi, Self::En];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fa => "fa",
            Self::Vi => "vi",
            Self::En => "en",
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Language {
    type Err = crate::InvalidId;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|language| language.as_str() == text)
            .ok_or_else(|| crate::InvalidId::new("language", "must be one of fa, vi, en"))
    }
}

/// Where in its document a chunk stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Source {
    /// A span of the extracted text, in bytes, end exclusive.
    Bytes { start: u64, end: u64 },
    /// Rows of a sheet, counted from 1 as the spreadsheet shows them, end inclusive.
    Sheet { name: String, rows_start: u32, rows_end: u32 },
    /// Places on pages, in order; one for each page that the chunk stands on.
    Pages { pages: Vec<PagePlace> },
}

/// A place on a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PagePlace {
    /// Which page of the file it is, counted from 1.
    pub page: u32,
    /// The number printed on the page, as the document itself names it ("iv", "A-3"); absent where it names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The rectangle around the chunk's lines: left, bottom, right, top, in whole points (1/72 inch), rounded outwards.
    /// In the page's own coordinates (ISO 32000-2, default user space): y grows upwards, the origin is where the file puts
    /// it, mostly the lower left corner of the media box, and the page's rotation is not applied.
    pub bbox: [i32; 4],
}

/// Why a text cannot be trusted without a look at the original.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuarantineReason {
    /// Glyphs stand for no known character: what is read has holes.
    UnmappedGlyphs,
    /// Text that runs from right to left seems to be stored the way it is seen, not the way it is read.
    VisualOrder,
}

impl QuarantineReason {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnmappedGlyphs => "unmapped_glyphs",
            Self::VisualOrder => "visual_order",
        }
    }
}

/// Why something of a document was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// It holds nothing that can be read as text.
    NoText,
    /// It is of a kind that is not read.
    Unsupported,
    /// It is damaged.
    Unreadable,
    /// The source marks it as hidden; it was read all the same.
    Hidden,
    /// It stands beside the text and is no part of it (page headers, comments, navigation): left out on purpose.
    Aside,
    /// It stands on many pages alike, as a running header or footer does, and belongs to none of them.
    Repeated,
    /// It was read, but cannot be trusted: its chunks are quarantined.
    Untrusted,
}

/// One part of a document that was left out, or read with a reservation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    pub what: String,
    pub reason: SkipReason,
}

/// What went into a parse and what came out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Coverage {
    pub bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u32>,
    pub blocks: u32,
    pub chars: u64,
    /// Bytes sequences that are no text in the detected encoding, each shown as U+FFFD.
    pub replaced_chars: u64,
    /// Something was left out: `skipped` says what.
    pub partial: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
}

/// Term weights of a text: hashed terms, ascending and unique, with their weights.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SparseVector {
    pub indices: Vec<u32>,
    pub values: Vec<f32>,
}
