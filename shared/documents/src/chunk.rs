//! Blocks to chunks: bounded by tokens, cut at the borders of blocks and sentences, each an exact slice of the source text.
//!
//! The source text is written as the chunks are cut: where a table goes on in the next chunk, its header is written
//! again, so that every chunk can be read alone and still is `source_text[byte_start..byte_end]`.

use crate::{
    Limits, ParseError,
    parse::{Block, BlockKind, Content, PageRef, Placed, Row, Table, is_unseen, label},
    tokens::{estimate_fragment, estimate_tokens, estimate_within},
};
use anchorage_domain::{ChunkingPolicy, PagePlace, QuarantineReason, Sha256, Source};
use std::{ops::Range, sync::Arc};
use unicode_segmentation::UnicodeSegmentation as _;

mod sentences;

pub use sentences::sentences;

/// Names the rules below. Chunks of two versions never mix in one collection.
pub const CHUNKER_VERSION: &str = "blocks-sentences@2";

/// One piece of a document, as it is embedded and cited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Its place among the document's chunks, from 0.
    pub index: u32,
    /// `source_text[byte_start..byte_end]`.
    pub text: String,
    pub byte_start: usize,
    pub byte_end: usize,
    /// The headings above it, outermost first.
    pub heading_path: Vec<String>,
    /// Of its first block.
    pub kind: BlockKind,
    pub source: Source,
    pub content_sha256: Sha256,
    /// An upper estimate.
    pub tokens: u32,
    /// Why the text cannot be trusted without a look at the original, where it cannot.
    pub quarantined: Option<QuarantineReason>,
}

/// A stretch of the source text that is not cut further, and its tokens.
#[derive(Debug, Clone)]
struct Unit {
    range: Range<usize>,
    tokens: u32,
    kind: BlockKind,
}

/// A table as it is cut.
#[derive(Debug, Clone, Copy)]
struct Sheet<'t> {
    table: &'t Table,
    /// Where its rows stand, by their numbers.
    places: &'t [Placed],
    heading_path: &'t [String],
}

struct Chunker<'a> {
    policy: ChunkingPolicy,
    limits: &'a Limits,
    text: String,
    chunks: Vec<Chunk>,
    /// Where on pages the text stands: for each line, where in the text it begins.
    lines: Vec<(usize, &'a Placed)>,
}

/// Cuts a document. `places` says for every block where its lines stand; it is empty where the format has no pages.
pub(crate) fn chunk(
    blocks: &[Block],
    places: &[Vec<Placed>],
    policy: ChunkingPolicy,
    limits: &Limits,
) -> Result<(String, Vec<Chunk>), ParseError> {
    let mut chunker = Chunker { policy, limits, text: String::new(), chunks: Vec::new(), lines: Vec::new() };
    let mut rest = blocks;
    let mut places = places;
    while let Some(first) = rest.first() {
        if let Content::Table(table) = &first.content {
            let rows = places.first().map(Vec::as_slice).unwrap_or_default();
            chunker.table(Sheet { table, places: rows, heading_path: &first.heading_path })?;
            rest = rest.get(1..).unwrap_or_default();
            places = places.get(1..).unwrap_or_default();
            continue;
        }
        // Prose under one heading is packed together; a heading and what follows it stay in one run.
        let same = |block: &&Block| {
            matches!(block.content, Content::Text(_)) && Arc::ptr_eq(&block.heading_path, &first.heading_path)
        };
        let length = rest.iter().take_while(same).count();
        let (section, after) = rest.split_at(length);
        chunker.prose(section, places)?;
        rest = after;
        places = places.get(length..).unwrap_or_default();
    }
    Ok((chunker.text, chunker.chunks))
}

impl<'a> Chunker<'a> {
    fn prose(&mut self, section: &[Block], places: &'a [Vec<Placed>]) -> Result<(), ParseError> {
        let mut units = Vec::new();
        for (index, block) in section.iter().enumerate() {
            let Content::Text(text) = &block.content else { continue };
            self.separate(if block.kind == BlockKind::ListItem { "\n" } else { "\n\n" });
            let start = self.text.len();
            self.write(text)?;
            self.lines.extend(places.get(index).into_iter().flatten().map(|line| (start + line.at, line)));
            units.extend(units_of(text, start, block.kind, self.policy.max_tokens()));
        }
        let heading_path = section.first().map(|block| block.heading_path.to_vec()).unwrap_or_default();
        let mut from = 0;
        while from < units.len() {
            let (mut to, mut tokens) = (from, 0);
            while let Some(unit) = units.get(to) {
                if to > from && tokens + unit.tokens > self.policy.max_tokens() {
                    break;
                }
                tokens += unit.tokens;
                to += 1;
            }
            self.emit_units(units.get(from..to).unwrap_or_default(), tokens, &heading_path)?;
            if to >= units.len() {
                break;
            }
            from = self.overlap_start(&units, from, to);
        }
        Ok(())
    }

    /// Where the next chunk starts: as far back as the overlap allows, and always past where this one started.
    fn overlap_start(&self, units: &[Unit], from: usize, to: usize) -> usize {
        let next = units.get(to).map_or(0, |unit| unit.tokens);
        let (mut start, mut tokens) = (to, 0);
        while start > from + 1 {
            let Some(unit) = units.get(start - 1) else { break };
            let fits = tokens + unit.tokens <= self.policy.overlap_tokens()
                && tokens + unit.tokens + next <= self.policy.max_tokens();
            // Code and headings are not said twice.
            if !fits || !matches!(unit.kind, BlockKind::Paragraph | BlockKind::ListItem) {
                break;
            }
            tokens += unit.tokens;
            start -= 1;
        }
        start
    }

    fn emit_units(&mut self, units: &[Unit], tokens: u32, heading_path: &[String]) -> Result<(), ParseError> {
        let (Some(first), Some(last)) = (units.first(), units.last()) else { return Ok(()) };
        let range = first.range.start..last.range.end;
        // The line that goes on into the range, and those that begin in it.
        let from = self.lines.partition_point(|(start, _)| *start <= range.start).saturating_sub(1);
        let to = self.lines.partition_point(|(start, _)| *start < range.end);
        let lines: Vec<&Placed> = self.lines.get(from..to).unwrap_or_default().iter().map(|(_, line)| *line).collect();
        self.emit(range, tokens, first.kind, heading_path, |range| on_pages(&lines).unwrap_or_else(|| in_text(range)))
    }

    fn table(&mut self, sheet: Sheet<'_>) -> Result<(), ParseError> {
        let table = sheet.table;
        let mut header = header_text(table);
        if estimate_tokens(&header) > self.policy.max_tokens() / 2 {
            // A header that would fill half of every chunk is said once; the rows name their columns anyway.
            self.long_row(sheet, "", self.policy.max_tokens(), table.first_row, &header)?;
            header.clear();
        } else if table.rows.is_empty() && !header.is_empty() {
            return self.table_chunk(sheet, &header, &[], table.first_row..table.first_row);
        }
        let room = self.policy.max_tokens() - estimate_tokens(&header);
        let names: Vec<_> = table.header.iter().map(|name| ColumnName::of(name)).collect();
        let mut lines = Vec::new();
        let (mut tokens, mut numbers) = (0, 0..0);
        for row in &table.rows {
            let (text, count) = row_text(&names, row);
            if tokens + count > room && !lines.is_empty() {
                self.table_chunk(sheet, &header, &std::mem::take(&mut lines), numbers.clone())?;
                tokens = 0;
            }
            if count > room {
                self.long_row(sheet, &header, room, row.number, &text)?;
                continue;
            }
            if lines.is_empty() {
                numbers.start = row.number;
            }
            numbers.end = row.number;
            tokens += count;
            lines.push(text);
        }
        if lines.is_empty() { Ok(()) } else { self.table_chunk(sheet, &header, &lines, numbers) }
    }

    /// One row larger than a chunk is cut like prose, each piece under the header: no bound is worth losing a row for.
    fn long_row(
        &mut self,
        sheet: Sheet<'_>,
        header: &str,
        room: u32,
        number: u32,
        text: &str,
    ) -> Result<(), ParseError> {
        let units = units_of(text, 0, BlockKind::Table, room);
        let mut rest = units.as_slice();
        while !rest.is_empty() {
            let mut tokens = 0;
            let count = rest.iter().take_while(|unit| {
                tokens += unit.tokens;
                tokens <= room
            });
            let (now, after) = rest.split_at(count.count().max(1));
            if let (Some(first), Some(last)) = (now.first(), now.last()) {
                let piece = text.get(first.range.start..last.range.end).unwrap_or_default();
                self.table_chunk(sheet, header, &[piece.to_owned()], number..number)?;
            }
            rest = after;
        }
        Ok(())
    }

    fn table_chunk(
        &mut self,
        sheet: Sheet<'_>,
        header: &str,
        lines: &[String],
        rows: Range<u32>,
    ) -> Result<(), ParseError> {
        let Sheet { table, places, heading_path } = sheet;
        self.separate("\n\n");
        let start = self.text.len();
        self.write(header)?;
        for line in lines {
            if self.text.len() > start {
                self.write("\n")?;
            }
            self.write(line)?;
        }
        let tokens = self.text.get(start..).map_or(0, estimate_tokens);
        let name = table.sheet.clone();
        let from = places.partition_point(|row| row.at < rows.start as usize);
        let to = places.partition_point(|row| row.at <= rows.end as usize);
        let lines: Vec<&Placed> = places.get(from..to).unwrap_or_default().iter().collect();
        self.emit(start..self.text.len(), tokens, BlockKind::Table, heading_path, |range| match name {
            Some(name) => (Source::Sheet { name, rows_start: rows.start, rows_end: rows.end }, None),
            None => on_pages(&lines).unwrap_or_else(|| in_text(range)),
        })
    }

    /// Every text passes here, so that what is repeated counts as often as it is written.
    fn write(&mut self, text: &str) -> Result<(), ParseError> {
        if self.text.len() + text.len() > self.limits.max_text_bytes {
            return Err(ParseError::TooLarge { limit: self.limits.max_text_bytes as u64 });
        }
        self.text.push_str(text);
        Ok(())
    }

    fn separate(&mut self, separator: &str) {
        if !self.text.is_empty() {
            self.text.push_str(separator);
        }
    }

    fn emit(
        &mut self,
        range: Range<usize>,
        tokens: u32,
        kind: BlockKind,
        heading_path: &[String],
        source: impl FnOnce(&Range<usize>) -> (Source, Option<QuarantineReason>),
    ) -> Result<(), ParseError> {
        let whole = self.text.get(range.clone()).unwrap_or_default();
        let lead = whole.len() - whole.trim_start().len();
        let text = whole.trim();
        if text.chars().all(is_unseen) {
            return Ok(());
        }
        if self.chunks.len() >= self.limits.max_chunks {
            return Err(ParseError::ChunkLimitExceeded { limit: self.limits.max_chunks });
        }
        let range = range.start + lead..range.start + lead + text.len();
        let (source, quarantined) = source(&range);
        self.chunks.push(Chunk {
            index: u32::try_from(self.chunks.len()).unwrap_or(u32::MAX),
            text: text.to_owned(),
            byte_start: range.start,
            byte_end: range.end,
            heading_path: heading_path.to_vec(),
            kind,
            source,
            content_sha256: Sha256::of(text.as_bytes()),
            tokens,
            quarantined,
        });
        Ok(())
    }
}

fn in_text(range: &Range<usize>) -> (Source, Option<QuarantineReason>) {
    (Source::Bytes { start: range.start as u64, end: range.end as u64 }, None)
}

/// One place for every page that lines stand on, and the first reason not to trust one of those pages. `None` where no
/// line stands on a page.
fn on_pages(lines: &[&Placed]) -> Option<(Source, Option<QuarantineReason>)> {
    let mut pages: Vec<(&PageRef, [f32; 4])> = Vec::new();
    for line in lines {
        let [left, bottom, right, top] = line.bbox;
        match pages.iter_mut().rev().find(|(page, _)| page.number == line.page.number) {
            Some((_, around)) => {
                let [l, b, r, t] = *around;
                *around = [l.min(left), b.min(bottom), r.max(right), t.max(top)];
            }
            None => pages.push((&line.page, line.bbox)),
        }
    }
    let quarantined = pages.iter().find_map(|(page, _)| page.quarantined);
    #[expect(clippy::cast_possible_truncation, reason = "saturates, and a page is not that large")]
    let place = |(page, [left, bottom, right, top]): (&PageRef, [f32; 4])| PagePlace {
        page: page.number,
        label: page.label.clone(),
        bbox: [left.floor() as i32, bottom.floor() as i32, right.ceil() as i32, top.ceil() as i32],
    };
    let pages: Vec<_> = pages.into_iter().map(place).collect();
    (!pages.is_empty()).then_some((Source::Pages { pages }, quarantined))
}

/// Sheet, titles and column names: what a row needs to be understood.
fn header_text(table: &Table) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut names: Vec<&str> = table.sheet.iter().map(String::as_str).collect();
    names.extend(table.context.iter().map(String::as_str));
    if !names.is_empty() {
        lines.push(names.join(" — "));
    }
    if !table.header.is_empty() {
        lines.push(table.header.join(" | "));
    }
    lines.join("\n")
}

/// A column's name as every row repeats it, and its tokens.
struct ColumnName {
    text: String,
    tokens: u32,
}

impl ColumnName {
    fn of(name: &str) -> Self {
        let text = match label(name) {
            name if name.is_empty() => name,
            name => format!("{name}: "),
        };
        Self { tokens: estimate_tokens(&text), text }
    }
}

/// `name: value / name: value`, empty cells left out; bare cells where the columns have no names. With its tokens, which add
/// up over what white space parts.
fn row_text(names: &[ColumnName], row: &Row) -> (String, u32) {
    let (mut text, mut tokens) = (String::new(), 0_u32);
    let separator = if names.is_empty() { " | " } else { " / " };
    let separator_tokens = estimate_tokens(separator);
    let shown = row.cells.iter().enumerate().filter(|(_, cell)| names.is_empty() || !cell.is_empty());
    for ((column, cell), place) in shown.zip(0..) {
        if place > 0 {
            text.push_str(separator);
            tokens = tokens.saturating_add(separator_tokens);
        }
        if let Some(name) = names.get(column) {
            text.push_str(&name.text);
            tokens = tokens.saturating_add(name.tokens);
        }
        text.push_str(cell);
        tokens = tokens.saturating_add(estimate_tokens(cell));
    }
    (text, tokens)
}

/// What a text is cut into: sentences; code only where it is too long, and at its lines. What is still too long is cut
/// further.
fn units_of(text: &str, offset: usize, kind: BlockKind, max_tokens: u32) -> Vec<Unit> {
    let mut units = Vec::new();
    let pieces = match kind {
        BlockKind::Code if estimate_within(text, max_tokens).is_some() => std::iter::once(0..text.len()).collect(),
        BlockKind::Code => lines(text),
        _ => sentences(text),
    };
    for range in pieces {
        let sentence = text.get(range.clone()).unwrap_or_default();
        // A sentence that begins inside a piece, as in "why?because", is joined with what stands before it.
        let joined = text.get(..range.start).is_some_and(|before| before.ends_with(|c: char| !c.is_whitespace()));
        let excess = if joined { excess_inside(sentence) } else { 0 };
        match estimate_within(sentence, max_tokens.saturating_sub(excess)) {
            Some(tokens) => {
                units.push(Unit { range: offset + range.start..offset + range.end, tokens: tokens + excess, kind });
            }
            None => cut(sentence, offset + range.start, kind, max_tokens, excess, &mut units),
        }
    }
    units
}

/// What the first piece of a text counts more where it goes on from another: there, no beginning of a word is known.
fn excess_inside(text: &str) -> u32 {
    let first = text.split_whitespace().next().unwrap_or_default();
    estimate_fragment(first).saturating_sub(estimate_tokens(first))
}

fn lines(text: &str) -> Vec<Range<usize>> {
    let mut end = 0;
    let line = |line: &str| {
        let start = end;
        end += line.len();
        start..end
    };
    text.split_inclusive('\n').map(line).collect()
}

/// Cuts what has no sentence border in it: at words while it can, inside a word at graphemes where it must.
fn cut(text: &str, offset: usize, kind: BlockKind, max_tokens: u32, mut excess: u32, units: &mut Vec<Unit>) {
    let (mut start, mut tokens) = (0, 0);
    let mut end = 0;
    for word in text.split_inclusive(char::is_whitespace) {
        let count = estimate_tokens(word) + std::mem::take(&mut excess);
        if tokens + count > max_tokens && end > start {
            units.push(Unit { range: offset + start..offset + end, tokens, kind });
            (start, tokens) = (end, 0);
        }
        if count > max_tokens {
            cut_word(word, offset + end, kind, max_tokens, units);
            end += word.len();
            start = end;
        } else {
            tokens += count;
            end += word.len();
        }
    }
    if end > start {
        units.push(Unit { range: offset + start..offset + end, tokens, kind });
    }
}

fn cut_word(word: &str, offset: usize, kind: BlockKind, max_tokens: u32, units: &mut Vec<Unit>) {
    // One token is left for the border of a word that a cut makes.
    let room = max_tokens.saturating_sub(1);
    let (mut start, mut tokens) = (0, 0);
    for (at, grapheme) in word.grapheme_indices(true) {
        let whole = estimate_fragment(grapheme);
        // A grapheme can be made of any number of marks; one past the bound is cut between characters.
        let pieces: Vec<(usize, u32)> = if whole <= room {
            vec![(at, whole)]
        } else {
            let count = |c: char| estimate_fragment(c.encode_utf8(&mut [0; 4]));
            grapheme.char_indices().map(|(inner, c)| (at + inner, count(c))).collect()
        };
        for (at, count) in pieces {
            if tokens + count > room && at > start {
                units.push(Unit { range: offset + start..offset + at, tokens: tokens + 1, kind });
                (start, tokens) = (at, 0);
            }
            tokens += count;
        }
    }
    if word.len() > start {
        units.push(Unit { range: offset + start..offset + word.len(), tokens: tokens + 1, kind });
    }
}

#[cfg(test)]
mod tests;
