//! Sheets of whatever kind of workbook: cells to tables, so that memory follows what is there and not the rectangle it
//! spans.

use super::{Block, BlockKind, Content, HeadingPath, Parsed, Row, Table, label, push_block};
use crate::{
    Limits, ParseError,
    limits::{MAX_LABEL_CHARS, MAX_TITLE_LINES},
};
use anchorage_domain::{SkipReason, Skipped};
use std::sync::Arc;

/// Stands for a formula whose result the file does not hold.
pub(super) const NO_CACHED_VALUE: &str = "[no cached value]";
/// How many cells a sheet may be given for each that holds something, past the bound on those that do.
const MAX_CELLS_PER_HELD: usize = 4;

/// A cell that holds something; row and column are counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cell {
    pub row: u32,
    pub column: u32,
    pub text: String,
}

/// A workbook while it is read, sheet by sheet.
#[derive(Debug)]
pub(super) struct Sheets<'a> {
    limits: &'a Limits,
    /// Cells of all sheets so far.
    held: usize,
    parsed: Parsed,
}

impl<'a> Sheets<'a> {
    pub(super) fn new(limits: &'a Limits) -> Self {
        let mut parsed = Parsed::default();
        parsed.coverage.rows = Some(0);
        Self { limits, held: 0, parsed }
    }

    /// Counts a cell that is about to be kept.
    pub(super) fn hold(&mut self) -> Result<(), ParseError> {
        self.held += 1;
        if self.held > self.limits.max_cells {
            return Err(ParseError::TooLarge { limit: self.limits.max_cells as u64 });
        }
        Ok(())
    }

    pub(super) fn skipped(&mut self, sheet: &str, reason: SkipReason) {
        self.parsed.coverage.skipped.push(Skipped { what: format!("sheet {}", label(sheet)), reason });
    }

    /// Adds a sheet, whose cells may come in any order; of two at one place the later counts.
    pub(super) fn add(&mut self, name: &str, mut cells: Vec<Cell>) -> Result<(), ParseError> {
        cells.sort_by_key(|cell| (cell.row, cell.column));
        cells.dedup_by(|later, kept| {
            let same = (later.row, later.column) == (kept.row, kept.column);
            if same {
                std::mem::swap(later, kept);
            }
            same
        });
        let heading_path: HeadingPath = Arc::from([label(name)]);
        let rows = in_columns(cells, self.limits);
        let read = u32::try_from(rows.0.len()).unwrap_or(u32::MAX);
        self.parsed.coverage.rows = self.parsed.coverage.rows.map(|rows| rows.saturating_add(read));
        for table in tabulate(name, rows) {
            let content = Content::Table(table);
            let block = Block { kind: BlockKind::Table, heading_path: Arc::clone(&heading_path), content };
            push_block(&mut self.parsed.blocks, block, self.limits)?;
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Parsed {
        self.parsed
    }
}

/// Titles, header and rows of one sheet: lone cells above the first row of several are titles, that row the header. Where
/// they are too many to be titles, they are rows of their own.
fn tabulate(sheet: &str, (mut rows, aligned): (Vec<Row>, bool)) -> Vec<Table> {
    let filled = |row: &Row| row.cells.iter().filter(|cell| !cell.is_empty()).count();
    let several = rows.iter().any(|row| filled(row) > 1);
    let titles = if several { rows.iter().take_while(|row| filled(row) == 1).count() } else { 0 };
    let above: Vec<Row> = rows.drain(..titles).collect();
    let named = |context: Vec<String>, header: Vec<String>, first_row: u32, rows: Vec<Row>| Table {
        sheet: Some(label(sheet)),
        context,
        header,
        first_row,
        rows,
    };
    let number = |rows: &[Row]| rows.first().map_or(1, |row| row.number);
    let mut tables = Vec::new();
    let mut context: Vec<String> = above.iter().map(|row| row.cells.concat()).collect();
    let short = |title: &String| title.chars().count() <= MAX_LABEL_CHARS;
    if context.len() > MAX_TITLE_LINES || !context.iter().all(short) {
        context.clear();
        tables.push(named(Vec::new(), Vec::new(), number(&above), above));
    }
    let first_row = number(&rows);
    let header = if aligned && rows.first().is_some_and(|row| is_header(&row.cells)) {
        rows.remove(0).cells
    } else {
        Vec::new()
    };
    if !rows.is_empty() || !header.is_empty() {
        tables.push(named(context, header, first_row, rows));
    }
    tables
}

/// Rows with a cell for every column that holds something anywhere. A sheet so sparse that this would multiply it gives
/// each row the cells it has, and answers false: there are no columns to speak of.
fn in_columns(cells: Vec<Cell>, limits: &Limits) -> (Vec<Row>, bool) {
    let mut columns: Vec<u32> = cells.iter().map(|cell| cell.column).collect();
    columns.sort_unstable();
    columns.dedup();
    let held = cells.len();
    let count = cells.chunk_by(|a, b| a.row == b.row).count();
    let area = columns.len().saturating_mul(count);
    let sparse = area > limits.max_cells && area > held.saturating_mul(MAX_CELLS_PER_HELD);
    let mut rows: Vec<Row> = Vec::with_capacity(count);
    for cell in cells {
        let number = cell.row.saturating_add(1);
        if rows.last().is_none_or(|row| row.number != number) {
            let cells = if sparse { Vec::new() } else { vec![String::new(); columns.len()] };
            rows.push(Row { number, cells });
        }
        let Some(row) = rows.last_mut() else { continue };
        if sparse {
            row.cells.push(cell.text);
        } else if let Some(place) = columns.binary_search(&cell.column).ok().and_then(|at| row.cells.get_mut(at)) {
            *place = cell.text;
        }
    }
    (rows, !sparse)
}

/// A header names its columns: no number, no date, and no name twice.
pub(super) fn is_header(cells: &[String]) -> bool {
    let mut names: Vec<_> = cells.iter().filter(|cell| !cell.is_empty()).collect();
    let value =
        |cell: &&String| cell.chars().all(|c| c.is_numeric() || " .,:/+-%".contains(c)) || *cell == NO_CACHED_VALUE;
    if names.is_empty() || names.iter().any(value) {
        return false;
    }
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    names.len() == count
}
