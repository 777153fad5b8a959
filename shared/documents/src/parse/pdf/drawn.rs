//! What is drawn on a page, and what a document may draw.

use super::fonts::{Kind, Span};
use crate::{Limits, ParseError};

/// Most glyphs of one page, and of one document.
pub(super) const MAX_PAGE_GLYPHS: usize = 500_000;
const MAX_GLYPHS: usize = 20_000_000;

/// A glyph where it stands on the page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Glyph {
    /// The start of its baseline, in the page's units.
    pub x: f32,
    pub y: f32,
    /// Where the line runs, in degrees counter-clockwise from the right.
    pub angle: i16,
    /// How far it reaches along the line.
    pub width: f32,
    /// What is added after it before the next, apart from spaces.
    pub spacing: f32,
    /// The font's size on the page.
    pub size: f32,
    pub text: Span,
    pub kind: Kind,
    pub bold: bool,
    /// Marked as repeated on every page by whoever made the document.
    pub pagination: bool,
}

/// What a page holds.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    pub glyphs: Vec<Glyph>,
    /// Pictures and shapes, as far as it matters that there are any.
    pub pictures: u32,
    /// The part of the page that the largest picture covers, in square units.
    pub largest_picture: f32,
    pub shapes: u32,
    /// Something could not be read: a font, a stream, or all of it.
    pub damaged: bool,
    /// Glyphs shown, spaces apart, and those of them that say nothing.
    pub shown: u32,
    pub unknown: u32,
}

impl Drawn {
    pub(super) fn clear(&mut self) {
        let mut glyphs = std::mem::take(&mut self.glyphs);
        glyphs.clear();
        *self = Self { glyphs, ..Self::default() };
    }
}

/// What a document has used up.
#[derive(Debug)]
pub(super) struct Steps {
    /// Bytes of instructions that may still be followed; a form counts as often as it is drawn.
    instructions: u64,
    /// Bytes of text that may still be shown.
    text: u64,
    glyphs: usize,
    limits: Limits,
}

impl Steps {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            instructions: limits.max_inflated_bytes,
            text: limits.max_text_bytes as u64,
            glyphs: 0,
            limits: limits.clone(),
        }
    }

    /// Counts instructions that are about to be followed.
    pub(super) fn follow(&mut self, bytes: usize) -> Result<(), ParseError> {
        let limit = self.limits.max_inflated_bytes;
        self.instructions = self.instructions.checked_sub(bytes as u64).ok_or(ParseError::TooLarge { limit })?;
        Ok(())
    }

    /// Counts a glyph that is about to be shown.
    pub(super) fn show(&mut self, glyph: &Glyph) -> Result<(), ParseError> {
        let limit = self.limits.max_text_bytes as u64;
        self.text = self.text.checked_sub(u64::from(glyph.text.len)).ok_or(ParseError::TooLarge { limit })?;
        self.glyphs += 1;
        if self.glyphs > MAX_GLYPHS {
            return Err(ParseError::TooLarge { limit: MAX_GLYPHS as u64 });
        }
        Ok(())
    }
}

/// The unit vector of an angle; exact where a line is upright.
pub(super) fn direction(angle: i16) -> (f32, f32) {
    match angle {
        0 => (1.0, 0.0),
        90 => (0.0, 1.0),
        180 => (-1.0, 0.0),
        270 => (0.0, -1.0),
        other => {
            let (sin, cos) = f32::from(other).to_radians().sin_cos();
            (cos, sin)
        }
    }
}
