//! One page: from its glyphs to lines of text in reading order.

use super::{
    drawn::Drawn,
    fonts::{Fonts, Kind},
    layout::{self, Group},
    logical::Seen,
    matrix::Box2,
    words::{self, ABOVE, BELOW, Directed, Item, Row},
};
use std::ops::Range;

/// A line of a page.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// Its text, among that of all pages.
    pub text: Range<usize>,
    /// Counted from 0.
    pub page: u32,
    /// Lines of one region follow each other; another region is another column, or another direction.
    pub region: u32,
    pub place: Box2,
    /// From where to where it reaches along its direction, and where it stands across it.
    pub from: f32,
    pub to: f32,
    pub base: f32,
    pub size: f32,
    pub bold: bool,
    pub right_to_left: bool,
    /// The document marks it as repeated on its pages.
    pub pagination: bool,
}

/// A table's row: the text of its cells, and where it stands.
#[derive(Debug, Clone)]
pub(super) struct TableRow {
    pub cells: Vec<Range<usize>>,
    pub place: Box2,
}

#[derive(Debug, Clone)]
pub(super) enum Piece {
    Line(Line),
    Table { page: u32, rows: Vec<TableRow> },
}

/// What lays out pages one after the other, and what it has laid out.
#[derive(Debug, Default)]
pub(super) struct Pages {
    pub text: String,
    pub pieces: Vec<Piece>,
    regions: u32,
    directed: Directed,
    seen: Seen,
}

impl Pages {
    /// Lays out a page, and says where in the pieces it begins.
    pub(super) fn add(&mut self, page: u32, drawn: &Drawn, fonts: &Fonts<'_>) -> Range<usize> {
        let start = self.pieces.len();
        let mut directed = std::mem::take(&mut self.directed);
        for angle in words::angles(&drawn.glyphs) {
            words::rows(&drawn.glyphs, angle, &mut directed);
            let right = directed.items.iter().filter(|item| item.kind == Kind::RightToLeft).count();
            let right_to_left = right * 2 > directed.items.len();
            let rows = std::mem::take(&mut directed.rows);
            let turn = right > 0 && self.brackets_are_turned(&rows, &directed, fonts, right_to_left);
            let reading = Reading { items: &directed.items, fonts, right_to_left, turn };
            for group in layout::order(rows, right_to_left) {
                self.regions += 1;
                match group {
                    Group::Lines(rows) => {
                        for row in rows {
                            self.line(page, &row, angle, &reading);
                        }
                    }
                    Group::Table(rows) => self.table(page, &rows, angle, &reading),
                }
            }
        }
        self.directed = directed;
        start..self.pieces.len()
    }

    fn line(&mut self, page: u32, row: &Row, angle: i16, reading: &Reading<'_, '_>) {
        let start = self.text.len();
        let right_to_left = self.write(row, reading);
        if self.text.get(start..).is_none_or(|text| text.trim().is_empty()) {
            self.text.truncate(start);
            return;
        }
        let Some(main) = row.words.iter().max_by_key(|word| word.count) else { return };
        let (from, to) = layout::extent(&row.words);
        let heavy: usize = row.words.iter().filter(|word| word.look.bold).map(|word| word.count).sum();
        let all: usize = row.words.iter().map(|word| word.count).sum();
        self.pieces.push(Piece::Line(Line {
            text: start..self.text.len(),
            page,
            region: self.regions,
            place: place(row, angle),
            from,
            to,
            base: main.v,
            size: main.size,
            bold: heavy * 2 > all,
            right_to_left,
            pagination: row.words.iter().all(|word| word.look.pagination),
        }));
    }

    fn table(&mut self, page: u32, rows: &[Vec<Row>], angle: i16, reading: &Reading<'_, '_>) {
        let rows = rows.iter().map(|cells| {
            let mut around = Box2::EMPTY;
            let cells = cells
                .iter()
                .map(|cell| {
                    let start = self.text.len();
                    if !cell.words.is_empty() {
                        self.write(cell, reading);
                        around.join(place(cell, angle));
                    }
                    start..self.text.len()
                })
                .collect();
            TableRow { cells, place: around }
        });
        let rows = rows.collect();
        self.pieces.push(Piece::Table { page, rows });
    }

    /// Writes a row as it is read, and says whether it runs from right to left.
    fn write(&mut self, row: &Row, reading: &Reading<'_, '_>) -> bool {
        if row.words.iter().any(|word| word.right_to_left) {
            reading.see(row, &mut self.seen);
            let right_to_left = self.seen.runs_right_to_left(reading.right_to_left);
            self.seen.write(right_to_left, reading.turn, &mut self.text);
            return right_to_left;
        }
        for (index, word) in row.words.iter().enumerate() {
            if index > 0 && word.apart {
                self.text.push(' ');
            }
            for item in reading.items.get(word.first..word.first + word.count).unwrap_or_default() {
                self.text.push_str(reading.cluster(item));
            }
        }
        false
    }

    /// Whether this page draws the brackets of its right-to-left lines as they are seen: then they pair only when each is
    /// turned around.
    fn brackets_are_turned(
        &mut self,
        rows: &[Row],
        directed: &Directed,
        fonts: &Fonts<'_>,
        right_to_left: bool,
    ) -> bool {
        let reading = Reading { items: &directed.items, fonts, right_to_left, turn: false };
        let (mut plain, mut turned) = (0_u64, 0_u64);
        for row in rows.iter().filter(|row| row.words.iter().any(|word| word.right_to_left)) {
            reading.see(row, &mut self.seen);
            let right_to_left = self.seen.runs_right_to_left(right_to_left);
            let faults = self.seen.bracket_faults(right_to_left);
            plain += u64::from(faults.0);
            turned += u64::from(faults.1);
        }
        turned <= plain
    }
}

/// How a page's rows are read.
struct Reading<'r, 'a> {
    items: &'r [Item],
    fonts: &'r Fonts<'a>,
    right_to_left: bool,
    turn: bool,
}

impl Reading<'_, '_> {
    fn cluster(&self, item: &Item) -> &str {
        if item.kind == Kind::Unknown { "\u{fffd}" } else { self.fonts.slice(item.text) }
    }

    fn see(&self, row: &Row, seen: &mut Seen) {
        seen.clear();
        for (index, word) in row.words.iter().enumerate() {
            if index > 0 && word.apart {
                seen.push(" ");
            }
            let items = self.items.get(word.first..word.first + word.count).unwrap_or_default();
            for (index, item) in items.iter().enumerate() {
                if item.kind == Kind::Mark && index + 1 < items.len() {
                    continue;
                }
                seen.push(self.cluster(item));
                // From the left a mark comes before its letter; it is written after it.
                let marks = items.get(..index).unwrap_or_default().iter().rev();
                for mark in marks.take_while(|item| item.kind == Kind::Mark) {
                    seen.push_mark(self.cluster(mark));
                }
            }
        }
    }
}

fn place(row: &Row, angle: i16) -> Box2 {
    let (from, to) = layout::extent(&row.words);
    let (bottom, top) = row.words.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(bottom, top), word| {
        (bottom.min(word.v - BELOW * word.size), top.max(word.v + ABOVE * word.size))
    });
    words::on_page(angle, from, to, bottom, top)
}
