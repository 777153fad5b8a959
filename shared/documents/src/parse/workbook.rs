//! Workbooks of the current Excel kind, cell by cell.

use super::{
    Parsed, clean, is_unseen,
    sheets::{Cell, NO_CACHED_VALUE, Sheets},
};
use crate::{Limits, ParseError};
use anchorage_domain::SkipReason;
use calamine::{DataRef, ExcelDateTime, Reader as _, SheetType, SheetVisible, Xlsx};
use std::io::Cursor;

pub(super) fn parse(bytes: &[u8], limits: &Limits) -> Result<Parsed, ParseError> {
    let mut workbook: Xlsx<_> = Xlsx::new(Cursor::new(bytes))
        .map_err(|error| ParseError::failed(format!("the workbook cannot be read: {error}")))?;
    let listed: Vec<_> = workbook.sheets_metadata().to_vec();
    let mut sheets = Sheets::new(limits);
    for sheet in listed {
        if sheet.visible != SheetVisible::Visible {
            sheets.skipped(&sheet.name, SkipReason::Hidden);
        }
        if sheet.typ != SheetType::WorkSheet {
            sheets.skipped(&sheet.name, SkipReason::Unsupported);
            continue;
        }
        match read_sheet(&mut workbook, &sheet.name, &mut sheets)? {
            Some(cells) => sheets.add(&sheet.name, cells)?,
            None => sheets.skipped(&sheet.name, SkipReason::Unreadable),
        }
    }
    Ok(sheets.finish())
}

/// The cells of a sheet that hold something; nothing where the sheet is damaged.
fn read_sheet(
    workbook: &mut Xlsx<Cursor<&[u8]>>,
    name: &str,
    sheets: &mut Sheets<'_>,
) -> Result<Option<Vec<Cell>>, ParseError> {
    let Ok(mut reader) = workbook.worksheet_cells_reader(name) else { return Ok(None) };
    let mut cells = Vec::new();
    loop {
        let cell = match reader.next_cell_with_formula() {
            Ok(Some(cell)) => cell,
            Ok(None) => return Ok(Some(cells)),
            Err(_) => return Ok(None),
        };
        let text = match show(&cell.value) {
            text if text.is_empty() && cell.formula.is_some() => NO_CACHED_VALUE.to_owned(),
            text => text,
        };
        if !text.is_empty() {
            sheets.hold()?;
            cells.push(Cell { row: cell.pos.0, column: cell.pos.1, text });
        }
    }
}

/// A value as text, without what no text may hold.
pub(super) fn show(value: &DataRef<'_>) -> String {
    match value {
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => number.to_string(),
        DataRef::String(text) => clean(text).trim_matches(is_unseen).to_owned(),
        DataRef::SharedString(text) => clean(text).trim_matches(is_unseen).to_owned(),
        DataRef::Bool(truth) => truth.to_string(),
        DataRef::DateTime(instant) => show_instant(instant),
        DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => text.clone(),
        DataRef::Error(error) => error.to_string(),
        DataRef::Empty => String::new(),
    }
}

/// A date, a time of day, or both, as ISO 8601 writes them.
fn show_instant(instant: &ExcelDateTime) -> String {
    let (year, month, day, hour, minute, second, _) = instant.to_ymd_hms_milli();
    let time = format!("{hour:02}:{minute:02}:{second:02}");
    if instant.is_duration() || instant.as_f64().abs() < 1.0 {
        return time;
    }
    let date = format!("{year:04}-{month:02}-{day:02}");
    if instant.as_f64().fract() == 0.0 { date } else { format!("{date} {time}") }
}
