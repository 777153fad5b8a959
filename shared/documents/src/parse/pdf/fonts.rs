//! Fonts, as far as text needs them: how long a code is, what it says, how far it moves.

use super::stream::{Budget, afford};
use crate::ParseError;
use hayro_cmap::BfString;
use hayro_font::{CMapResolverFn, Font, FontCache, FontGlyph, FontQuery, FontResolverFn, StandardFont, UNITS_PER_EM};
use hayro_syntax::object::{Array, Dict, Name, Object, Stream};
use std::{cell::OnceCell, collections::HashMap, sync::Arc};
use unicode_normalization::UnicodeNormalization as _;

/// Most codes that a font may give a width or a meaning; no font has more glyphs.
const MAX_CODES: usize = 65_536;
/// Most fonts of one document.
const MAX_FONTS: usize = 4_096;
/// Most codes remembered over all fonts.
const MAX_REMEMBERED: usize = 1 << 20;

/// A piece of the arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Span {
    pub start: u32,
    pub len: u32,
}

/// What is to be known of a text before it is put in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Letters and digits that run from left to right, and everything that goes along with its surroundings.
    Plain,
    /// Something that runs from right to left.
    RightToLeft,
    Space,
    /// A mark that sits on another letter, in a script that runs from right to left.
    Mark,
    /// No one knows what it says.
    Unknown,
}

/// One code of one font.
#[derive(Debug, Clone, Copy)]
pub(super) struct Code {
    pub text: Span,
    pub kind: Kind,
    /// How far it moves along the line, in sizes of the font.
    pub advance: f32,
}

pub(super) struct FontEntry<'a> {
    font: Font<'a>,
    /// Reads one byte a code.
    simple: bool,
    pub vertical: bool,
    pub bold: bool,
    low: Vec<Option<Code>>,
    high: HashMap<u32, Code>,
}

impl std::fmt::Debug for FontEntry<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FontEntry").field("font", &self.font).finish_non_exhaustive()
    }
}

/// The fonts of a document, and every text that a glyph stands for.
pub(super) struct Fonts<'a> {
    cache: FontCache<'a>,
    resolver: FontResolverFn,
    cmaps: CMapResolverFn,
    known: HashMap<(usize, usize), Option<u16>>,
    entries: Vec<FontEntry<'a>>,
    remembered: usize,
    /// The font for what names none, once it was looked for.
    fallback: OnceCell<Option<u16>>,
    arena: String,
    arena_limit: usize,
}

impl<'a> Fonts<'a> {
    pub(super) fn new(arena_limit: usize) -> Self {
        Self {
            cache: FontCache::new(),
            resolver: Arc::new(|query| {
                Some(match query {
                    FontQuery::Standard(font) => font.get_font_data(),
                    FontQuery::Fallback(query) => query.pick_standard_font().get_font_data(),
                })
            }),
            cmaps: Arc::new(hayro_cmap::load_embedded),
            known: HashMap::new(),
            entries: Vec::new(),
            remembered: 0,
            fallback: OnceCell::new(),
            arena: String::new(),
            arena_limit,
        }
    }

    /// The font of a dictionary. `None` when it cannot be read.
    pub(super) fn load(&mut self, dict: &Dict<'a>, budget: &mut Budget) -> Result<Option<u16>, ParseError> {
        let key = (dict.data().as_ptr() as usize, dict.data().len());
        if let Some(known) = self.known.get(&key) {
            return Ok(*known);
        }
        let font = if self.entries.len() < MAX_FONTS && is_sane(dict, budget)? {
            self.cache.font(dict, &self.resolver, &self.cmaps)
        } else {
            None
        };
        let index = font.map(|font| {
            let is = |key: &str, name: &[u8]| dict.get::<Name<'_>>(key).is_some_and(|value| value.as_ref() == name);
            let bold = dict.get::<Name<'_>>("BaseFont").is_some_and(|name| {
                let name = name.as_str().to_ascii_lowercase();
                ["bold", "black", "heavy"].iter().any(|word| name.contains(word))
            });
            self.enter(font, !is("Subtype", b"Type0"), bold)
        });
        self.known.insert(key, index);
        Ok(index)
    }

    /// What readers take where a page names a font that is not there.
    pub(super) fn fallback(&mut self) -> Option<u16> {
        if let Some(known) = self.fallback.get() {
            return *known;
        }
        let font = self.cache.standard_font(StandardFont::Helvetica, &self.resolver);
        let index = font.map(|font| self.enter(font, true, false));
        *self.fallback.get_or_init(|| index)
    }

    fn enter(&mut self, font: Font<'a>, simple: bool, bold: bool) -> u16 {
        let vertical = !font.is_horizontal();
        self.entries.push(FontEntry { font, simple, vertical, bold, low: vec![None; 256], high: HashMap::new() });
        u16::try_from(self.entries.len() - 1).unwrap_or(u16::MAX)
    }

    pub(super) fn get(&self, index: u16) -> Option<&FontEntry<'a>> {
        self.entries.get(usize::from(index))
    }

    /// The next code of a string, and the bytes it took.
    pub(super) fn read(
        &mut self,
        index: u16,
        bytes: &[u8],
        at: usize,
    ) -> Result<Option<(Code, u32, usize)>, ParseError> {
        let Some(entry) = self.entries.get(usize::from(index)) else { return Ok(None) };
        let (code, length) = if entry.simple {
            let Some(byte) = bytes.get(at) else { return Ok(None) };
            (u32::from(*byte), 1)
        } else if at < bytes.len() {
            entry.font.read_code(bytes, at)
        } else {
            return Ok(None);
        };
        let length = length.max(1);
        let known = match entry.low.get(code as usize) {
            Some(known) => *known,
            None => entry.high.get(&code).copied(),
        };
        if let Some(known) = known {
            return Ok(Some((known, code, length)));
        }
        let advance = entry.font.code_advance(code);
        let advance = if entry.vertical { advance.y } else { advance.x };
        #[expect(clippy::cast_possible_truncation, reason = "a glyph's width has few digits")]
        let advance = (advance / f64::from(UNITS_PER_EM)) as f32;
        let glyph = entry.font.glyph(entry.font.map_code(code), code);
        let unicode = match &glyph {
            FontGlyph::Outline(glyph) => glyph.as_unicode(),
            FontGlyph::Type3(glyph) => glyph.as_unicode(),
        };
        let (text, kind) = match unicode {
            Some(BfString::Char(c)) => self.text(c.encode_utf8(&mut [0; 4]))?,
            Some(BfString::String(text)) => self.text(&text)?,
            None => (Span::default(), Kind::Unknown),
        };
        let known = Code { text, kind, advance: if advance.is_finite() { advance } else { 0.0 } };
        if self.remembered < MAX_REMEMBERED
            && let Some(entry) = self.entries.get_mut(usize::from(index))
        {
            if let Some(place) = entry.low.get_mut(code as usize) {
                *place = Some(known);
            } else {
                self.remembered += 1;
                entry.high.insert(code, known);
            }
        }
        Ok(Some((known, code, length)))
    }

    /// Puts a text into the arena, without what no text holds.
    pub(super) fn text(&mut self, text: &str) -> Result<(Span, Kind), ParseError> {
        let start = self.arena.len();
        if start + text.len() > self.arena_limit {
            return Err(ParseError::TooLarge { limit: self.arena_limit as u64 });
        }
        for c in text.chars().filter(|c| !c.is_control() && !matches!(c, '\u{feff}' | '\u{fffe}' | '\u{ffff}')) {
            // A mark alone would come with a space to sit on.
            if is_presentation(c) && !c.nfkc().any(char::is_whitespace) {
                self.arena.extend(c.nfkc());
            } else {
                self.arena.push(c);
            }
        }
        let written = self.arena.get(start..).unwrap_or_default();
        let kind = kind_of(text, written);
        let span = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Ok((Span { start: span(start), len: span(self.arena.len() - start) }, kind))
    }

    pub(super) fn slice(&self, span: Span) -> &str {
        let start = span.start as usize;
        self.arena.get(start..start + span.len as usize).unwrap_or_default()
    }
}

fn kind_of(original: &str, written: &str) -> Kind {
    // A control character stands for an empty place, where a font has no other name for it.
    if written.chars().all(char::is_whitespace) {
        return if original.is_empty() { Kind::Unknown } else { Kind::Space };
    }
    if written.chars().all(|c| is_private(c) || c == '\u{fffd}') {
        return Kind::Unknown;
    }
    if written.chars().all(super::logical::is_right_to_left_mark) {
        return Kind::Mark;
    }
    if written.chars().any(super::logical::is_right_to_left) { Kind::RightToLeft } else { Kind::Plain }
}

/// Ligatures and shapes of letters: a font's own business, not the text's.
const fn is_presentation(c: char) -> bool {
    matches!(c, '\u{fb00}'..='\u{fb06}' | '\u{fb13}'..='\u{fb17}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

/// Code points that every font uses as it likes.
const fn is_private(c: char) -> bool {
    matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{ffffd}' | '\u{100000}'..='\u{10fffd}')
}

/// Whether a library may read the font: what it spells out per code stays within what fonts have, and what it inflates
/// within the budget.
fn is_sane(dict: &Dict<'_>, budget: &mut Budget) -> Result<bool, ParseError> {
    let number =
        |key: &str| dict.get::<Object<'_>>(key).map(|object| object.into_number().map_or(-1.0, |n| n.as_f64()));
    if [number("FirstChar"), number("LastChar")].into_iter().flatten().any(|n| !(0.0..=65_535.0).contains(&n)) {
        return Ok(false);
    }
    for key in ["ToUnicode", "Encoding"] {
        if let Some(stream) = dict.get::<Stream<'_>>(key)
            && !afford(&stream, budget)?
        {
            return Ok(false);
        }
    }
    let descendant = dict.get::<Array<'_>>("DescendantFonts").and_then(|fonts| fonts.iter::<Dict<'_>>().next());
    if let Some(font) = &descendant {
        for (key, ranges) in [("W", 1), ("W2", 3)] {
            if font.get::<Array<'_>>(key).is_some_and(|widths| !widths_are_sane(&widths, ranges)) {
                return Ok(false);
            }
        }
        if let Some(stream) = font.get::<Stream<'_>>("CIDToGIDMap")
            && !afford(&stream, budget)?
        {
            return Ok(false);
        }
    }
    for dict in [Some(dict), descendant.as_ref()].into_iter().flatten() {
        let Some(descriptor) = dict.get::<Dict<'_>>("FontDescriptor") else { continue };
        for key in ["FontFile", "FontFile2", "FontFile3"] {
            if let Some(stream) = descriptor.get::<Stream<'_>>(key)
                && !afford(&stream, budget)?
            {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Widths come as `first [w …]` or as `first last w`: a range of a few bytes can name four thousand million codes.
fn widths_are_sane(widths: &Array<'_>, numbers_after_range: usize) -> bool {
    let mut codes: u64 = 0;
    let mut objects = widths.iter::<Object<'_>>();
    while let Some(first) = objects.next() {
        let Some(first) = first.into_number() else { return false };
        match objects.next() {
            Some(Object::Array(list)) => {
                codes += list.iter::<Object<'_>>().take(MAX_CODES).count() as u64;
            }
            Some(Object::Number(last)) => {
                codes = codes.saturating_add(last.as_i64().saturating_sub(first.as_i64()).unsigned_abs());
                for _ in 0..numbers_after_range {
                    objects.next();
                }
            }
            _ => return false,
        }
        if codes > 2 * MAX_CODES as u64 {
            return false;
        }
    }
    true
}
