//! Tables: collected cell by cell, written when they end.

use super::{Gap, Markdown};
use crate::limits::{MAX_COLUMNS, MAX_MARKDOWN_BYTES};

#[derive(Debug, Default)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
    row: Vec<String>,
    cell: Option<String>,
    /// Columns after the current cell that it reaches over.
    span: usize,
    bytes: usize,
    /// It holds a table: it lays the page out and is written as paragraphs.
    layout: bool,
    /// Containers that were open where it began: what a cell opens ends with the cell.
    depth: usize,
}

impl Markdown {
    pub(super) fn in_cell(&self) -> bool {
        self.tables.last().is_some_and(|table| table.cell.is_some() && !table.layout)
    }

    pub(super) fn write_in_cell(&mut self, text: &str) {
        let marker = self.open.last_mut().and_then(|open| open.marker.take()).unwrap_or_default();
        if let Some(Table { cell: Some(cell), bytes, .. }) = self.tables.last_mut() {
            if !cell.is_empty() {
                cell.push('\n');
            }
            cell.push_str(&marker);
            cell.push_str(text);
            *bytes = bytes.saturating_add(text.len());
            self.too_large |= *bytes > MAX_MARKDOWN_BYTES;
            if self.too_large {
                cell.clear();
            }
        }
    }

    pub(crate) fn open_table(&mut self) {
        self.flush();
        self.dissolve();
        let depth = self.depth();
        self.tables.push(Table { depth, ..Table::default() });
    }

    /// A table that only lays its content out: its cells are paragraphs.
    pub(crate) fn open_layout(&mut self) {
        self.open_table();
        if let Some(table) = self.tables.last_mut() {
            table.layout = true;
        }
    }

    /// Writes what an outer table has so far as paragraphs: Markdown has no table in a table.
    fn dissolve(&mut self) {
        let Some(table) = self.tables.last_mut().filter(|table| table.cell.is_some() && !table.layout) else { return };
        table.layout = true;
        let mut cells: Vec<String> = table.rows.drain(..).flatten().collect();
        cells.append(&mut table.row);
        cells.extend(table.cell.replace(String::new()));
        for cell in cells.iter().filter(|cell| !cell.trim().is_empty()) {
            self.write(&cell.replace('\n', "\\\n"));
        }
    }

    pub(crate) fn open_row(&mut self) {
        self.close_row();
    }

    pub(crate) fn close_row(&mut self) {
        self.close_cell();
        if let Some(table) = self.tables.last_mut().filter(|table| !table.row.is_empty()) {
            let row = std::mem::take(&mut table.row);
            if row.iter().any(|cell| !cell.is_empty()) {
                table.rows.push(row);
            }
        }
    }

    /// A cell over `span` columns.
    pub(crate) fn open_cell(&mut self, span: usize) {
        self.close_cell();
        if let Some(table) = self.tables.last_mut() {
            table.cell = Some(String::new());
            table.span = span.clamp(1, MAX_COLUMNS) - 1;
        }
    }

    pub(crate) fn close_cell(&mut self) {
        self.flush();
        let Some(table) = self.tables.last() else { return };
        let depth = table.depth;
        self.close_to(depth);
        let Some(table) = self.tables.last_mut() else { return };
        let Some(cell) = table.cell.take().filter(|_| !table.layout) else { return };
        if table.row.len() < MAX_COLUMNS {
            table.row.push(cell);
        } else if let Some(last) = table.row.last_mut().filter(|_| !cell.is_empty()) {
            last.push(' ');
            last.push_str(&cell);
        }
        let reached = (table.row.len() + table.span).min(MAX_COLUMNS);
        table.row.resize(reached, String::new());
    }

    /// Writes the table. Its first row is the header: Markdown has no table without one.
    pub(crate) fn close_table(&mut self) {
        self.close_row();
        let Some(table) = self.tables.pop() else { return };
        let columns = table.rows.iter().map(Vec::len).max().unwrap_or(0);
        if columns == 0 {
            return;
        }
        if self.in_cell() {
            for row in &table.rows {
                self.write_in_cell(&row.join(" "));
            }
            return;
        }
        let mut block = String::new();
        for (index, row) in table.rows.iter().enumerate() {
            // A row that is short is filled by the reader; the header alone says how many columns there are.
            let width = if index == 0 { columns } else { row.len() };
            if index > 0 {
                block.push('\n');
            }
            block.push('|');
            for column in 0..width {
                let cell = row.get(column).map_or("", String::as_str).trim();
                block.push(' ');
                push_cell(&mut block, cell);
                block.push_str(if cell.is_empty() { "|" } else { " |" });
            }
            if index == 0 {
                block.push_str("\n|");
                block.push_str(&" --- |".repeat(columns));
            }
            if block.len() > MAX_MARKDOWN_BYTES {
                self.too_large = true;
                return;
            }
        }
        self.write(&block);
        self.gap = Gap::Blank;
    }
}

/// A cell on one line: line ends as `<br>`, and bars that are not its border.
fn push_cell(block: &mut String, cell: &str) {
    for c in cell.chars() {
        match c {
            '|' => block.push_str("\\|"),
            '\n' => block.push_str("<br>"),
            c => block.push(c),
        }
    }
}
