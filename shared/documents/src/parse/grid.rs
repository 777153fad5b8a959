//! Tables as documents draw them: cells that span columns and rows, tables inside cells.

use super::{Row, Table, is_unseen, label, sheets::is_header};
use crate::{
    Limits, ParseError,
    limits::{MAX_LABEL_CHARS, MAX_SPAN, MAX_TITLE_LINES},
};

/// A first row that no one marked as a header is taken for one when it reads like one and this many rows are there; a
/// smaller table is as likely a layout.
const MIN_ROWS_UNDER_HEADER: usize = 3;

/// A table while it is read, cell by cell.
#[derive(Debug, Default)]
pub(super) struct Grid {
    rows: Vec<Vec<String>>,
    row: Vec<String>,
    /// Text of the open cell.
    cell: String,
    /// For each column, how many more rows the cell above it reaches into.
    reach: Vec<u32>,
    /// How many of the first rows are marked as a header.
    marked: usize,
    /// Said of the whole table, above it.
    pub caption: Option<String>,
}

impl Grid {
    /// Adds a piece of text to the open cell, on a line of its own.
    pub(super) fn write(&mut self, text: &str) {
        if !self.cell.is_empty() {
            self.cell.push('\n');
        }
        self.cell.push_str(text);
    }

    /// Closes the open cell. What it spans is filled, so that the columns stay the columns: its text stands once in a
    /// row, and again (as a label) in every further row it reaches into, which must be understood without it.
    pub(super) fn end_cell(&mut self, columns: u32, rows: u32, cells: &mut Cells) -> Result<(), ParseError> {
        self.fill_from_above(cells)?;
        let text = std::mem::take(&mut self.cell).trim_matches(is_unseen).to_owned();
        let columns = columns.clamp(1, MAX_SPAN) as usize;
        let rows = rows.clamp(1, MAX_SPAN);
        cells.take(columns)?;
        let start = self.row.len();
        self.row.push(text);
        self.row.resize(start + columns, String::new());
        if rows > 1 || self.reach.len() > start {
            self.reach.resize(self.reach.len().max(start + columns), 0);
            self.reach.iter_mut().skip(start).take(columns).for_each(|reach| *reach = rows - 1);
        }
        Ok(())
    }

    /// Closes a cell that goes on with the one above it.
    pub(super) fn end_continued_cell(&mut self, columns: u32, cells: &mut Cells) -> Result<(), ParseError> {
        if !self.cell.trim().is_empty() {
            return self.end_cell(columns, 1, cells);
        }
        self.cell = self.above(self.row.len());
        self.end_cell(columns, 1, cells)
    }

    pub(super) fn end_row(&mut self, cells: &mut Cells) -> Result<(), ParseError> {
        self.fill_from_above(cells)?;
        let row = std::mem::take(&mut self.row);
        if !row.is_empty() {
            self.rows.push(row);
        }
        Ok(())
    }

    /// Marks the row that was closed last as one of the header, if only headers stand above it.
    pub(super) fn mark_last_row(&mut self) {
        if self.rows.len() == self.marked + 1 {
            self.marked += 1;
        }
    }

    fn above(&self, column: usize) -> String {
        self.rows.last().and_then(|row| row.get(column)).map(|text| label(text)).unwrap_or_default()
    }

    fn fill_from_above(&mut self, cells: &mut Cells) -> Result<(), ParseError> {
        loop {
            let column = self.row.len();
            let Some(reach) = self.reach.get_mut(column).filter(|reach| **reach > 0) else { return Ok(()) };
            *reach -= 1;
            cells.take(1)?;
            let text = self.above(column);
            self.row.push(text);
        }
    }

    /// A table inside a cell, as text of that cell, borders kept.
    pub(super) fn into_text(self) -> String {
        let caption = self.caption.into_iter();
        let rows = self.rows.iter().map(|row| row.join(" | "));
        caption.chain(rows).collect::<Vec<_>>().join("\n")
    }

    /// Whether this is no table but one column of whatever stood there.
    pub(super) fn is_column(&self) -> bool {
        self.marked == 0 && self.caption.is_none() && self.rows.iter().all(|row| row.len() < 2)
    }

    pub(super) fn into_column(self) -> impl Iterator<Item = String> {
        self.rows.into_iter().flatten().filter(|text| !text.is_empty())
    }

    /// Header, rows and what stands above them; nothing where every cell is empty.
    pub(super) fn into_table(mut self) -> Option<Table> {
        if self.rows.iter().flatten().all(String::is_empty) {
            return None;
        }
        let unmarked = self.rows.len() >= MIN_ROWS_UNDER_HEADER && self.rows.first().is_some_and(|row| is_header(row));
        let marked = if self.marked == 0 && unmarked { 1 } else { self.marked };
        // A header of many rows, or of very long ones, is rows: what is repeated multiplies.
        let marked = if marked > MAX_TITLE_LINES || marked >= self.rows.len() { 0 } else { marked };
        let first_row = 1;
        let mut number = first_row;
        let mut above: Vec<Vec<String>> = self.rows.drain(..marked).collect();
        let header = above.pop().unwrap_or_default();
        number += u32::try_from(marked).unwrap_or(u32::MAX);
        let mut context: Vec<String> = self.caption.iter().map(|caption| label(caption)).collect();
        let titles = above.iter().map(|row| row.iter().filter(|cell| !cell.is_empty()).cloned().collect::<Vec<_>>());
        context.extend(titles.map(|row| row.join(" | ")).filter(|title| !title.is_empty()));
        let rows = self.rows.into_iter().zip(number..).map(|(cells, number)| Row { number, cells });
        let mut rows: Vec<_> = rows.collect();
        if context.iter().any(|title| title.chars().count() > MAX_LABEL_CHARS) {
            let titles = above.into_iter().zip(first_row..).map(|(cells, number)| Row { number, cells });
            rows.splice(..0, titles);
            context.truncate(usize::from(self.caption.is_some()));
        }
        Some(Table { sheet: None, context, header, first_row, rows })
    }
}

/// How many more cells a document may have, the ones that spans fill included.
#[derive(Debug)]
pub(super) struct Cells {
    left: usize,
    limit: usize,
}

impl Cells {
    pub(super) const fn new(limits: &Limits) -> Self {
        Self { left: limits.max_cells, limit: limits.max_cells }
    }

    pub(super) fn take(&mut self, count: usize) -> Result<(), ParseError> {
        self.left = self.left.checked_sub(count).ok_or(ParseError::TooLarge { limit: self.limit as u64 })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text, columns and rows of each cell.
    fn table(rows: &[&[(&str, u32, u32)]]) -> Grid {
        let (mut grid, mut cells) = (Grid::default(), Cells::new(&Limits::default()));
        for row in rows {
            for (text, columns, rows) in *row {
                grid.write(text);
                grid.end_cell(*columns, *rows, &mut cells).unwrap();
            }
            grid.end_row(&mut cells).unwrap();
        }
        grid
    }

    #[test]
    fn grid_spans_keep_the_columns_and_repeat_downward() {
        let grid = table(&[
            &[("a", 1, 1), ("b", 2, 1), ("c", 1, 1)],
            &[("x", 1, 3), ("1", 1, 1), ("2", 1, 2), ("3", 1, 1)],
            &[("4", 1, 1), ("5", 1, 1)],
            &[("6", 1, 1), ("7", 1, 1), ("8", 1, 1)],
        ]);
        assert_eq!(
            grid.rows,
            [vec!["a", "b", "", "c"], vec!["x", "1", "2", "3"], vec!["x", "4", "2", "5"], vec!["x", "6", "7", "8"],]
        );
    }

    #[test]
    fn grid_cells_are_bounded_with_those_that_spans_fill() {
        let mut cells = Cells { left: 10, limit: 10 };
        let mut grid = Grid::default();
        assert_eq!(grid.end_cell(10, 1, &mut cells), Ok(()));
        assert_eq!(grid.end_cell(1, 1, &mut cells), Err(ParseError::TooLarge { limit: 10 }));
    }

    #[test]
    fn grid_header_rows_become_titles_and_names() {
        let mut grid = Grid::default();
        let mut cells = Cells::new(&Limits::default());
        for row in [["Sales", ""], ["id", "sum"], ["1", "2"]] {
            for text in row {
                grid.write(text);
                grid.end_cell(1, 1, &mut cells).unwrap();
            }
            grid.end_row(&mut cells).unwrap();
            if grid.rows.len() < 3 {
                grid.mark_last_row();
            }
        }
        let table = grid.into_table().unwrap();
        assert_eq!((table.context, table.header), (vec!["Sales".into()], vec!["id".to_owned(), "sum".into()]));
        assert_eq!(table.rows, [Row { number: 3, cells: vec!["1".into(), "2".into()] }]);
    }
}
