//! Lines to blocks: headings by size, paragraphs by the space between lines, tables as they were found.

use super::page::{Line, Piece, TableRow};
use crate::{
    Limits, ParseError,
    parse::{Block, BlockKind, Content, Outline, PageRef, Placed, Row, Table, clean, push_block, sheets::is_header},
};
use std::{collections::BTreeMap, sync::Arc};

/// A heading is larger than the text by this much, no longer than so many characters and lines, and headings of one size
/// are no more than this part of a document.
const HEADING_SIZE: f32 = 1.15;
const MAX_HEADING_CHARS: usize = 200;
const MAX_HEADING_LINES: usize = 3;
const MAX_HEADING_PART: f32 = 0.2;
/// Most levels of headings told apart by their sizes.
const MAX_LEVELS: usize = 6;
/// Lines of a paragraph are no further apart than this many of their usual distances.
const PARAGRAPH_GAP: f32 = 1.35;
/// Widest distance between lines of a paragraph, in sizes.
const WIDE_LEADING: f32 = 2.6;
/// Lines of a paragraph are of one size, to this part.
const SAME_SIZE: f32 = 0.1;
/// A first line begins further in than the others by this many sizes.
const INDENT: f32 = 0.9;
/// A line that ends before this part of its column ends something.
const SHORT_LINE: f32 = 0.75;
/// Fewest columns of a table with a header.
const MIN_HEADED: usize = 3;
/// Usual distance between lines, in sizes, where there are too few lines to tell.
const LEADING: f32 = 1.3;

/// What the composition of a document stands on.
pub(super) struct Composer<'c> {
    pub text: &'c str,
    pub limits: &'c Limits,
    /// By page.
    pub pages: &'c [Arc<PageRef>],
    /// The size of most text.
    pub body: f32,
    /// Heading sizes in tenths of a point, from the largest, which is level 1.
    pub levels: Vec<i32>,
    pub blocks: Vec<Block>,
    pub places: Vec<Vec<Placed>>,
    pub outline: Outline,
    pub title: Option<String>,
}

/// A block being put together.
struct Open {
    kind: BlockKind,
    level: Option<u8>,
    text: String,
    places: Vec<Placed>,
    last: Line,
    lines: usize,
}

/// How a region is set.
#[derive(Debug, Clone, Copy)]
struct Setting {
    left: f32,
    right: f32,
    leading: f32,
}

/// Sizes in tenths of a point: what is told apart.
#[expect(clippy::cast_possible_truncation, reason = "a font's size is a small number")]
fn tenths(size: f32) -> i32 {
    (size * 10.0).round() as i32
}

/// The size of most text, and the sizes of headings from the largest.
pub(super) fn sizes<'p>(text: &str, pieces: impl Iterator<Item = &'p Piece>) -> (f32, Vec<i32>) {
    let mut chars: BTreeMap<i32, usize> = BTreeMap::new();
    for piece in pieces {
        if let Piece::Line(line) = piece {
            *chars.entry(tenths(line.size)).or_default() += text.get(line.text.clone()).map_or(0, str::len);
        }
    }
    let all: usize = chars.values().sum();
    let body = chars.iter().max_by_key(|(_, count)| **count).map_or(0, |(size, _)| *size);
    #[expect(clippy::cast_precision_loss, reason = "sizes are small numbers, and lengths need not be exact")]
    let levels = chars
        .iter()
        .rev()
        .filter(|(size, count)| {
            **size as f32 >= body as f32 * HEADING_SIZE && **count as f32 <= all as f32 * MAX_HEADING_PART
        })
        .map(|(size, _)| *size);
    #[expect(clippy::cast_precision_loss, reason = "sizes are small numbers")]
    let body_size = body as f32 / 10.0;
    (body_size, levels.collect())
}

impl Composer<'_> {
    /// Composes all pieces in order; those that repeat on their pages are left out.
    pub(super) fn compose(&mut self, pieces: &[Piece], repeats: &[bool]) -> Result<(), ParseError> {
        let kept: Vec<&Piece> =
            pieces.iter().zip(repeats).filter(|(_, repeats)| !**repeats).map(|(piece, _)| piece).collect();
        let mut open: Option<Open> = None;
        let mut rest = kept.as_slice();
        while let Some(first) = rest.first() {
            match first {
                Piece::Table { page, rows } => {
                    self.finish(open.take())?;
                    self.table(*page, rows)?;
                    rest = rest.get(1..).unwrap_or_default();
                }
                Piece::Line(first) => {
                    let same = |piece: &&&Piece| matches!(piece, Piece::Line(line) if line.region == first.region);
                    let (region, after) = rest.split_at(rest.iter().take_while(same).count());
                    rest = after;
                    let lines: Vec<&Line> = region
                        .iter()
                        .filter_map(|piece| match piece {
                            Piece::Line(line) => Some(line),
                            Piece::Table { .. } => None,
                        })
                        .collect();
                    self.region(&lines, &mut open)?;
                }
            }
        }
        self.finish(open)
    }

    fn region(&mut self, lines: &[&Line], open: &mut Option<Open>) -> Result<(), ParseError> {
        let setting = setting(lines);
        for line in lines {
            let text = self.text.get(line.text.clone()).unwrap_or_default().trim();
            let level = self.level(line, text);
            let item = starts_item(text);
            let goes_on = open.as_ref().is_some_and(|open| {
                if open.last.region == line.region {
                    goes_on(open, line, level, item, text, setting)
                } else {
                    flows_over(open, line, level, item, text)
                }
            });
            if goes_on && let Some(open) = open.as_mut() {
                let short = open.last.region == line.region && is_short(&open.last, setting);
                join(&mut open.text, text, open.level.is_none() && short && open.kind != BlockKind::Heading);
                open.places.push(self.placed(open.text.len() - text.len().min(open.text.len()), line));
                open.last = (*line).clone();
                open.lines += 1;
                continue;
            }
            self.finish(open.take())?;
            let kind = match level {
                Some(_) => BlockKind::Heading,
                None if item => BlockKind::ListItem,
                None => BlockKind::Paragraph,
            };
            *open = Some(Open {
                kind,
                level,
                text: text.to_owned(),
                places: vec![self.placed(0, line)],
                last: (*line).clone(),
                lines: 1,
            });
        }
        Ok(())
    }

    fn placed(&self, at: usize, line: &Line) -> Placed {
        Placed { at, page: self.page(line.page), bbox: [line.place.x0, line.place.y0, line.place.x1, line.place.y1] }
    }

    fn page(&self, page: u32) -> Arc<PageRef> {
        self.pages.get(page as usize).cloned().unwrap_or_default()
    }

    /// The level of a heading that the line may be.
    fn level(&self, line: &Line, text: &str) -> Option<u8> {
        if line.size < self.body * HEADING_SIZE || text.chars().count() > MAX_HEADING_CHARS {
            return None;
        }
        if !text.chars().any(char::is_alphabetic) {
            return None;
        }
        let level = self.levels.iter().position(|size| *size == tenths(line.size))?;
        u8::try_from(level.min(MAX_LEVELS - 1) + 1).ok()
    }

    fn finish(&mut self, open: Option<Open>) -> Result<(), ParseError> {
        let Some(open) = open else { return Ok(()) };
        let mut kind = open.kind;
        if let Some(level) = open.level {
            if open.lines <= MAX_HEADING_LINES && open.text.chars().count() <= MAX_HEADING_CHARS {
                self.title.get_or_insert_with(|| open.text.clone());
                self.outline.enter(level, &open.text);
            } else {
                kind = BlockKind::Paragraph;
            }
        }
        self.push(kind, Content::Text(open.text), open.places)
    }

    fn push(&mut self, kind: BlockKind, content: Content, places: Vec<Placed>) -> Result<(), ParseError> {
        push_block(&mut self.blocks, Block { kind, heading_path: self.outline.path(), content }, self.limits)?;
        self.places.push(places);
        Ok(())
    }

    fn table(&mut self, page: u32, rows: &[TableRow]) -> Result<(), ParseError> {
        let cells = |row: &TableRow| -> Vec<String> {
            row.cells
                .iter()
                .map(|cell| clean(self.text.get(cell.clone()).unwrap_or_default()).trim().to_owned())
                .collect()
        };
        let mut all: Vec<Vec<String>> = rows.iter().map(cells).collect();
        let places = rows
            .iter()
            .zip(1..)
            .map(|(row, number)| Placed {
                at: number,
                page: self.page(page),
                bbox: [row.place.x0, row.place.y0, row.place.x1, row.place.y1],
            })
            .collect();
        let has_header = is_headed(&all);
        let header = if has_header { all.remove(0) } else { Vec::new() };
        let first = if has_header { 2 } else { 1 };
        let rows = all.into_iter().zip(first..).map(|(cells, number)| Row { number, cells }).collect();
        self.push(
            BlockKind::Table,
            Content::Table(Table { sheet: None, context: Vec::new(), header, first_row: 1, rows }),
            places,
        )
    }
}

fn setting(lines: &[&Line]) -> Setting {
    let mut leadings: Vec<f32> = lines
        .windows(2)
        .filter_map(|pair| {
            let [above, below] = pair else { return None };
            let gap = above.base - below.base;
            (is_same_size(above, below) && gap > 0.5 * below.size && gap < 3.0 * below.size).then_some(gap / below.size)
        })
        .collect();
    leadings.sort_by(f32::total_cmp);
    // The lower quarter: inside paragraphs, not between them.
    let leading = leadings.get(leadings.len() / 4).copied().unwrap_or(LEADING);
    let (left, right) = lines
        .iter()
        .fold((f32::INFINITY, f32::NEG_INFINITY), |(left, right), line| (left.min(line.from), right.max(line.to)));
    Setting { left, right, leading }
}

fn is_same_size(a: &Line, b: &Line) -> bool {
    (a.size - b.size).abs() <= SAME_SIZE * a.size.max(b.size)
}

/// Whether a line goes on with what the line above it began.
fn goes_on(open: &Open, line: &Line, level: Option<u8>, item: bool, text: &str, setting: Setting) -> bool {
    let last = &open.last;
    let gap = last.base - line.base;
    if open.level != level || item || !is_same_size(last, line) {
        return false;
    }
    let size = line.size.max(last.size);
    // Text set wide goes on as well, while it is in the middle of a sentence.
    let goes_on_wide = gap <= WIDE_LEADING * size && !is_short(last, setting) && !ends_sentence(&open.text);
    if gap < 0.0 || (gap > PARAGRAPH_GAP * setting.leading * size && !goes_on_wide) {
        return false;
    }
    if open.level.is_some() {
        return true;
    }
    if last.bold != line.bold && open.lines == 1 && !ends_mid_sentence(text) {
        return false;
    }
    // Both edges by the side on which the lines begin.
    let indent = |line: &Line| if line.right_to_left { setting.right - line.to } else { line.from - setting.left };
    if open.kind == BlockKind::Paragraph
        && indent(line) > INDENT * line.size
        && indent(last) < 0.3 * last.size
        && !is_centred(line, setting)
    {
        return false;
    }
    !(is_short(last, setting) && ends_sentence(&open.text))
}

fn is_centred(line: &Line, setting: Setting) -> bool {
    let (before, after) = (line.from - setting.left, setting.right - line.to);
    (before - after).abs() < 2.0 * line.size && before > line.size
}

/// Whether a paragraph goes on in the next column or on the next page.
fn flows_over(open: &Open, line: &Line, level: Option<u8>, item: bool, text: &str) -> bool {
    if open.level.is_some() || level.is_some() || item || !is_same_size(&open.last, line) {
        return false;
    }
    if ends_sentence(&open.text) || open.lines < 2 || open.last.right_to_left != line.right_to_left {
        return false;
    }
    if line.right_to_left {
        // No letter tells where a sentence begins: what breaks off goes on.
        return open.text.chars().next_back().is_some_and(|c| c.is_alphabetic() || matches!(c, '،' | '؛'));
    }
    ends_mid_sentence(text)
}

/// Whether a text begins in the middle of a sentence.
fn ends_mid_sentence(text: &str) -> bool {
    text.chars().next().is_some_and(char::is_lowercase)
}

fn is_short(line: &Line, setting: Setting) -> bool {
    let width = (setting.right - setting.left).max(1.0);
    let reached = if line.right_to_left { setting.right - line.from } else { line.to - setting.left };
    reached < SHORT_LINE * width
}

fn ends_sentence(text: &str) -> bool {
    let text = text.trim_end_matches(['"', '\'', ')', ']', '”', '’', '»']);
    text.ends_with(['.', '!', '?', ':', '؟', '۔', '。', '！', '？'])
}

/// Whether a line begins with the mark of a list's item.
fn starts_item(text: &str) -> bool {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return false };
    if matches!(
        first,
        '•' | '‣'
            | '▪'
            | '●'
            | '○'
            | '◦'
            | '■'
            | '□'
            | '–'
            | '—'
            | '-'
            | '*'
            | '·'
            | '\u{f0b7}'
            | '➢'
            | '✓'
    ) {
        return chars.next().is_some_and(char::is_whitespace);
    }
    let digits = text.chars().take_while(|c| c.is_numeric()).count();
    if digits == 0 || digits > 3 {
        return false;
    }
    let mut after = text.chars().skip(digits);
    matches!(after.next(), Some('.' | ')' | '-')) && after.next().is_some_and(char::is_whitespace)
}

/// Whether a table's first row names its columns. Of two columns the first names the rows, so there have to be more; the
/// first row is full, and under one of its names the others hold numbers.
fn is_headed(rows: &[Vec<String>]) -> bool {
    let Some((first, body)) = rows.split_first().filter(|(first, body)| first.len() >= MIN_HEADED && body.len() > 1)
    else {
        return false;
    };
    let is_number = |cell: &String| cell.chars().any(char::is_numeric) && !cell.chars().any(char::is_alphabetic);
    let holds_numbers = |column: usize| {
        let cells = || body.iter().filter_map(|row| row.get(column)).filter(|cell| !cell.is_empty());
        let numbers = cells().filter(|cell| is_number(cell)).count();
        numbers > 0 && numbers * 2 >= cells().count()
    };
    first.iter().all(|cell| !cell.is_empty()) && is_header(first) && (0..first.len()).any(holds_numbers)
}

/// Adds a line to the text of its block.
fn join(text: &mut String, line: &str, keep_border: bool) {
    if text.ends_with('\u{ad}') || is_hyphenated(text, line) {
        text.pop();
    } else if keep_border {
        text.push('\n');
    } else if !is_unspaced(text, line) {
        text.push(' ');
    }
    text.push_str(line);
}

/// A word broken at the end of a line, in a script that has cases: its other half goes on in lower case.
fn is_hyphenated(text: &str, line: &str) -> bool {
    let Some(word) = text.strip_suffix(['-', '\u{2010}']) else { return false };
    word.chars().next_back().is_some_and(char::is_lowercase) && line.chars().next().is_some_and(char::is_lowercase)
}

/// Chinese and Japanese lines go on without a space.
fn is_unspaced(text: &str, line: &str) -> bool {
    let unspaced = |c: char| matches!(c, '\u{3000}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}');
    text.chars().next_back().is_some_and(unspaced) && line.chars().next().is_some_and(unspaced)
}
