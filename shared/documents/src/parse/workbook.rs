//! Workbooks: every sheet, cell by cell, so that memory follows what is there and not the rectangle it spans.

use super::{Block, BlockKind, Content, HeadingPath, Parsed, Row, Table, clean, label, push_block};
use crate::{
    Limits, ParseError,
    limits::{MAX_LABEL_CHARS, MAX_TITLE_LINES},
};
use anchorage_domain::{Coverage, SkipReason, Skipped};
use calamine::{DataRef, ExcelDateTime, Reader as _, SheetType, SheetVisible, Xlsx};
use std::{collections::BTreeMap, io::Cursor, sync::Arc};

/// Stands for a formula whose result the file does not hold.
const NO_CACHED_VALUE: &str = "[no cached value]";
/// How many cells a sheet may be given for each that holds something, past the bound on those that do.
const MAX_CELLS_PER_HELD: usize = 4;

pub(super) fn parse(bytes: &[u8], limits: &Limits) -> Result<Parsed, ParseError> {
    let mut workbook: Xlsx<_> = Xlsx::new(Cursor::new(bytes))
        .map_err(|error| ParseError::failed(format!("the workbook cannot be read: {error}")))?;
    let sheets: Vec<_> = workbook.sheets_metadata().to_vec();
    let (mut blocks, mut coverage, mut cells) = (Vec::new(), Coverage::default(), 0_usize);
    let mut rows_read = 0_u32;
    for sheet in sheets {
        if sheet.visible != SheetVisible::Visible {
            coverage
                .skipped
                .push(Skipped { what: format!("sheet {}", label(&sheet.name)), reason: SkipReason::Hidden });
        }
        if sheet.typ != SheetType::WorkSheet {
            coverage
                .skipped
                .push(Skipped { what: format!("sheet {}", label(&sheet.name)), reason: SkipReason::Unsupported });
            continue;
        }
        let rows = match read_sheet(&mut workbook, &sheet.name, &mut cells, limits) {
            Ok(rows) => rows,
            Err(SheetError::TooLarge) => return Err(ParseError::TooLarge { limit: limits.max_cells as u64 }),
            Err(SheetError::Unreadable) => {
                coverage
                    .skipped
                    .push(Skipped { what: format!("sheet {}", label(&sheet.name)), reason: SkipReason::Unreadable });
                continue;
            }
        };
        rows_read = rows_read.saturating_add(u32::try_from(rows.len()).unwrap_or(u32::MAX));
        let heading_path: HeadingPath = Arc::from([label(&sheet.name)]);
        for table in tabulate(&sheet.name, rows, limits) {
            let content = Content::Table(table);
            let block = Block { kind: BlockKind::Table, heading_path: Arc::clone(&heading_path), content };
            push_block(&mut blocks, block, limits)?;
        }
    }
    coverage.rows = Some(rows_read);
    Ok(Parsed { title: None, blocks, coverage, ..Parsed::default() })
}

enum SheetError {
    TooLarge,
    Unreadable,
}

/// Non-empty cells by row and column, both counted from 0.
type Cells = BTreeMap<u32, BTreeMap<u32, String>>;

fn read_sheet(
    workbook: &mut Xlsx<Cursor<&[u8]>>,
    name: &str,
    cells: &mut usize,
    limits: &Limits,
) -> Result<Cells, SheetError> {
    let mut reader = workbook.worksheet_cells_reader(name).map_err(|_| SheetError::Unreadable)?;
    let mut rows = Cells::new();
    while let Some(cell) = reader.next_cell_with_formula().map_err(|_| SheetError::Unreadable)? {
        let text = match show(&cell.value) {
            text if text.is_empty() && cell.formula.is_some() => NO_CACHED_VALUE.to_owned(),
            text => text,
        };
        if text.is_empty() {
            continue;
        }
        *cells += 1;
        if *cells > limits.max_cells {
            return Err(SheetError::TooLarge);
        }
        rows.entry(cell.pos.0).or_default().insert(cell.pos.1, text);
    }
    Ok(rows)
}

fn show(value: &DataRef<'_>) -> String {
    match value {
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => number.to_string(),
        DataRef::String(text) => clean(text).trim().to_owned(),
        DataRef::SharedString(text) => clean(text).trim().to_owned(),
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

/// Titles, header and rows of one sheet: lone cells above the first row of several are titles, that row the header. Where
/// they are too many to be titles, they are rows of their own.
fn tabulate(sheet: &str, rows: Cells, limits: &Limits) -> Vec<Table> {
    let (mut rows, aligned) = in_columns(rows, limits);
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
fn in_columns(rows: Cells, limits: &Limits) -> (Vec<Row>, bool) {
    let mut columns: Vec<u32> = rows.values().flat_map(|row| row.keys().copied()).collect();
    let held = columns.len();
    columns.sort_unstable();
    columns.dedup();
    let area = columns.len().saturating_mul(rows.len());
    let sparse = area > limits.max_cells && area > held.saturating_mul(MAX_CELLS_PER_HELD);
    let cells = |mut cells: BTreeMap<u32, String>| -> Vec<String> {
        if sparse {
            cells.into_values().collect()
        } else {
            columns.iter().map(|column| cells.remove(column).unwrap_or_default()).collect()
        }
    };
    let rows = rows.into_iter().map(|(number, row)| Row { number: number.saturating_add(1), cells: cells(row) });
    (rows.collect(), !sparse)
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
