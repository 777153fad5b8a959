//! Sheets of `OpenDocument`, in one pass: what is repeated is counted before it is written, since three attributes can
//! claim a trillion cells.

use super::{
    Parsed,
    archive::Archive,
    clean,
    sheets::{Cell, NO_CACHED_VALUE, Sheets},
    xml::{self, Visit, attribute},
};
use crate::{Limits, ParseError};
use anchorage_domain::SkipReason;
use quick_xml::events::BytesStart;
use std::collections::HashSet;

/// Most spaces that one element may stand for.
const MAX_SPACES: usize = 1_000;

pub(super) fn parse(archive: &mut Archive<'_>, limits: &Limits) -> Result<Parsed, ParseError> {
    if archive.has("META-INF/manifest.xml") && archive.part("META-INF/manifest.xml")?.contains("encryption-data") {
        return Err(ParseError::Encrypted);
    }
    let mut walk = Walk::new(limits);
    xml::walk(&archive.part("content.xml")?, limits, &mut walk)?;
    Ok(walk.sheets.finish())
}

struct Walk<'a> {
    limits: &'a Limits,
    sheets: Sheets<'a>,
    /// Styles of tables that hide them.
    hiding: HashSet<String>,
    style: Option<String>,
    name: Option<String>,
    cells: Vec<Cell>,
    row: u32,
    column: u32,
    /// How often the open row stands, and its cells.
    row_count: u32,
    row_cells: Vec<(u32, String)>,
    cell: Option<OpenCell>,
    /// Paragraphs open in the open cell.
    paragraphs: usize,
}

/// A cell while it is read.
struct OpenCell {
    count: u32,
    /// Its value as the file states it, where that says more than what is shown.
    value: Option<String>,
    formula: bool,
    text: String,
}

impl<'a> Walk<'a> {
    fn new(limits: &'a Limits) -> Self {
        Self {
            limits,
            sheets: Sheets::new(limits),
            hiding: HashSet::new(),
            style: None,
            name: None,
            cells: Vec::new(),
            row: 0,
            column: 0,
            row_count: 1,
            row_cells: Vec::new(),
            cell: None,
            paragraphs: 0,
        }
    }

    fn push(&mut self, text: &str) {
        if let Some(cell) = self.cell.as_mut().filter(|_| self.paragraphs > 0) {
            cell.text.push_str(text);
        }
    }

    fn end_cell(&mut self) -> Result<(), ParseError> {
        let Some(cell) = self.cell.take() else { return Ok(()) };
        let shown = clean(cell.value.as_deref().unwrap_or(&cell.text));
        let text = match shown.trim() {
            "" if cell.formula => NO_CACHED_VALUE,
            text => text,
        };
        if text.is_empty() {
            self.column = self.column.saturating_add(cell.count);
            return Ok(());
        }
        for _ in 0..cell.count {
            if self.row_cells.len() >= self.limits.max_cells {
                return Err(ParseError::TooLarge { limit: self.limits.max_cells as u64 });
            }
            self.row_cells.push((self.column, text.to_owned()));
            self.column = self.column.saturating_add(1);
        }
        Ok(())
    }

    fn end_row(&mut self) -> Result<(), ParseError> {
        let cells = std::mem::take(&mut self.row_cells);
        if cells.is_empty() {
            self.row = self.row.saturating_add(self.row_count);
            return Ok(());
        }
        for _ in 0..self.row_count {
            for (column, text) in &cells {
                self.sheets.hold()?;
                self.cells.push(Cell { row: self.row, column: *column, text: text.clone() });
            }
            self.row = self.row.saturating_add(1);
        }
        Ok(())
    }
}

/// How often an element stands; the format counts from 1.
fn repeated(element: &BytesStart<'_>, name: &str) -> u32 {
    attribute(element, name).and_then(|count| count.parse().ok()).unwrap_or(1).max(1)
}

/// What a cell's attributes say it holds; text is what its paragraphs say.
fn value(element: &BytesStart<'_>) -> Option<String> {
    match attribute(element, "value-type")?.as_str() {
        "float" | "percentage" | "currency" => attribute(element, "value"),
        "date" => {
            let date = attribute(element, "date-value")?;
            let whole_day = date.strip_suffix("T00:00:00").map(str::to_owned);
            Some(whole_day.unwrap_or_else(|| date.replace('T', " ")))
        }
        "time" => attribute(element, "time-value").map(|time| show_duration(&time).unwrap_or(time)),
        "boolean" => attribute(element, "boolean-value"),
        _ => None,
    }
}

/// `PT12H30M05S` as `12:30:05`.
fn show_duration(duration: &str) -> Option<String> {
    let (hours, rest) = duration.strip_prefix("PT")?.split_once('H')?;
    let (minutes, rest) = rest.split_once('M')?;
    let seconds = rest.strip_suffix('S')?.split(['.', ',']).next()?;
    let number = |text: &str| text.parse::<u32>().ok();
    Some(format!("{:02}:{:02}:{:02}", number(hours)?, number(minutes)?, number(seconds)?))
}

impl Visit for Walk<'_> {
    fn skips(&self, name: &str, _: &BytesStart<'_>) -> bool {
        matches!(name, "annotation" | "tracked-changes" | "shapes" | "forms")
            // What is drawn inside a cell, sheets in charts among it, is no value of it.
            || name == "frame" && self.cell.is_some()
            || name == "table" && self.cell.is_some()
    }

    fn start(&mut self, name: &str, element: &BytesStart<'_>) -> Result<(), ParseError> {
        match name {
            "style" => self.style = attribute(element, "name"),
            "table-properties" if attribute(element, "display").is_some_and(|shown| shown == "false") => {
                self.hiding.extend(self.style.clone());
            }
            "table" => {
                let name = attribute(element, "name").unwrap_or_default();
                if attribute(element, "style-name").is_some_and(|style| self.hiding.contains(&style)) {
                    self.sheets.skipped(&name, SkipReason::Hidden);
                }
                (self.name, self.row) = (Some(name), 0);
            }
            "table-row" => {
                self.column = 0;
                self.row_count = repeated(element, "number-rows-repeated");
            }
            "table-cell" | "covered-table-cell" => {
                self.cell = Some(OpenCell {
                    count: repeated(element, "number-columns-repeated"),
                    value: value(element),
                    formula: attribute(element, "formula").is_some(),
                    text: String::new(),
                });
            }
            "p" => {
                if let Some(cell) = self.cell.as_mut() {
                    if !cell.text.is_empty() {
                        cell.text.push('\n');
                    }
                    self.paragraphs += 1;
                }
            }
            "s" => {
                let count = attribute(element, "c").and_then(|count| count.parse().ok()).unwrap_or(1);
                self.push(&" ".repeat(usize::min(count, MAX_SPACES)));
            }
            "tab" => self.push("\t"),
            "line-break" => self.push("\n"),
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<(), ParseError> {
        match name {
            "p" => self.paragraphs = self.paragraphs.saturating_sub(1),
            "table-cell" | "covered-table-cell" => {
                self.paragraphs = 0;
                self.end_cell()?;
            }
            "table-row" => self.end_row()?,
            "table" => {
                let cells = std::mem::take(&mut self.cells);
                if let Some(name) = self.name.take() {
                    self.sheets.add(&name, cells)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), ParseError> {
        self.push(text);
        Ok(())
    }
}
