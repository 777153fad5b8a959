//! Workbooks of the old Excel kind. The library that knows the format trusts it: it reserves what a sheet claims, spans the
//! rectangle around its cells, and follows offsets as they come. So the records are looked through first, all that is
//! not needed is blanked, and what is left is given to it in a container of our own making.

use super::{
    Parsed,
    sheets::{Cell, Sheets},
    workbook::show,
};
use crate::{Limits, ParseError, limits::MAX_SHEETS};
use anchorage_domain::SkipReason;
use calamine::{Data, DataRef, Reader as _, SheetType, SheetVisible, Xls};
use cfb::{CompoundFile, Version};
use std::{
    collections::BTreeSet,
    io::{Cursor, Read as _, Write as _},
    panic::{AssertUnwindSafe, catch_unwind},
};

/// The records that say what a cell holds, and those needed to understand them; a record of any other type is blanked.
mod record {
    pub const FORMULA: u16 = 0x0006;
    pub const EOF: u16 = 0x000A;
    pub const DATE_MODE: u16 = 0x0022;
    pub const FILE_PASS: u16 = 0x002F;
    pub const CONTINUE: u16 = 0x003C;
    pub const CODE_PAGE: u16 = 0x0042;
    pub const BOUND_SHEET: u16 = 0x0085;
    pub const MUL_RK: u16 = 0x00BD;
    pub const RICH_STRING: u16 = 0x00D6;
    pub const XF: u16 = 0x00E0;
    pub const SST: u16 = 0x00FC;
    pub const LABEL_SST: u16 = 0x00FD;
    pub const NUMBER: u16 = 0x0203;
    pub const LABEL: u16 = 0x0204;
    pub const BOOL_ERR: u16 = 0x0205;
    pub const STRING: u16 = 0x0207;
    pub const RK: u16 = 0x027E;
    pub const FORMAT: u16 = 0x041E;
    pub const BOF: u16 = 0x0809;
    /// No record has this type.
    pub const BLANKED: u16 = 0xFFFF;
}

/// Where the length of a formula stands in its record, behind place, format, result and options.
const FORMULA_LENGTH_AT: usize = 20;
/// Most cells of the rectangles around all sheets' cells, which the library allocates.
const MAX_AREA_PER_CELL: usize = 4;

pub(super) fn parse(bytes: &[u8], limits: &Limits) -> Result<Option<Parsed>, ParseError> {
    let mut container = CompoundFile::open(Cursor::new(bytes)).map_err(|_| damaged("its container is damaged"))?;
    let Some(name) = ["/Workbook", "/Book"].into_iter().find(|name| container.is_stream(name)) else {
        return Ok(None);
    };
    let mut stream = Vec::new();
    let opened = container.open_stream(name).map_err(|_| damaged("its records cannot be reached"))?;
    // A chain of sectors that runs in a circle would never end.
    opened.take(bytes.len() as u64).read_to_end(&mut stream).map_err(|_| damaged("its records cannot be reached"))?;
    let sheets = blank(&mut stream)?;
    measure(&stream, &sheets, limits)?;
    let inner = pack(name, &stream).map_err(|_| damaged("its records cannot be reached"))?;
    drop(stream);
    // Invariant: nothing of the library outlives a panic of it, which means a damaged file that the guard let through.
    catch_unwind(AssertUnwindSafe(|| read(inner, limits)))
        .unwrap_or_else(|_| Err(damaged("its records contradict each other")))
        .map(Some)
}

fn damaged(how: &str) -> ParseError {
    ParseError::failed(format!("the workbook cannot be read: {how}"))
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|word| u16::from_le_bytes(*word))
}

/// Type, and where the content begins and ends, of the record at `at`.
fn record_at(stream: &[u8], at: usize) -> Option<(u16, usize, usize)> {
    let (kind, length) = (word(stream, at)?, usize::from(word(stream, at + 2)?));
    let (start, end) = (at + 4, at + 4 + length);
    (end <= stream.len()).then_some((kind, start, end))
}

/// Blanks every record that is not needed, the formulas among them (their results stay), and gives the offsets of the
/// sheets.
fn blank(stream: &mut Vec<u8>) -> Result<BTreeSet<usize>, ParseError> {
    let (mut at, mut last) = (0, record::BLANKED);
    let (mut sheets, mut begins) = (BTreeSet::new(), BTreeSet::new());
    while let Some((kind, start, end)) = record_at(stream, at) {
        match kind {
            record::FILE_PASS => return Err(ParseError::Encrypted),
            record::BOUND_SHEET => {
                let offset = stream.get(start..end).and_then(|data| data.first_chunk());
                let offset = offset.and_then(|offset| usize::try_from(u32::from_le_bytes(*offset)).ok());
                if !offset.is_some_and(|offset| sheets.insert(offset)) || sheets.len() > MAX_SHEETS {
                    return Err(damaged("its list of sheets is none"));
                }
            }
            record::BOF => {
                begins.insert(at);
            }
            record::FORMULA => {
                if let Some(length) =
                    stream.get_mut(start + FORMULA_LENGTH_AT..end).and_then(|data| data.first_chunk_mut::<2>())
                {
                    *length = [0, 0];
                }
            }
            _ => {}
        }
        let continued = kind == record::CONTINUE && last != record::BLANKED;
        if continued || is_needed(kind) {
            last = if continued { last } else { kind };
        } else {
            last = record::BLANKED;
            if let Some(place) = stream.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
                *place = record::BLANKED.to_le_bytes();
            }
        }
        at = end;
    }
    // What is behind the last whole record is padding.
    stream.truncate(at);
    // A sheet that begins inside a record would be read as other records than those looked at here.
    if sheets.is_subset(&begins) { Ok(sheets) } else { Err(damaged("its list of sheets is none")) }
}

const fn is_needed(kind: u16) -> bool {
    matches!(
        kind,
        record::FORMULA
            | record::EOF
            | record::DATE_MODE
            | record::CODE_PAGE
            | record::BOUND_SHEET
            | record::MUL_RK
            | record::RICH_STRING
            | record::XF
            | record::SST
            | record::LABEL_SST
            | record::NUMBER
            | record::LABEL
            | record::BOOL_ERR
            | record::STRING
            | record::RK
            | record::FORMAT
            | record::BOF
    )
}

/// Bounds the records of all sheets together (two sheets may claim the same ones) and the rectangles around their cells.
fn measure(stream: &[u8], sheets: &BTreeSet<usize>, limits: &Limits) -> Result<(), ParseError> {
    let (mut walked, mut area) = (0_usize, 0_usize);
    for sheet in sheets {
        let (mut at, mut depth) = (*sheet, 0_usize);
        let mut bounds: Option<[u16; 4]> = None;
        while let Some((kind, start, end)) = record_at(stream, at) {
            walked += end - at;
            if walked > stream.len() {
                return Err(damaged("its sheets lie in each other"));
            }
            at = end;
            match kind {
                record::BOF => depth += 1,
                record::EOF if depth <= 1 => break,
                record::EOF => depth -= 1,
                // Charts in a sheet have cells of their own, which are not read.
                _ if depth > 1 => {}
                record::FORMULA
                | record::LABEL_SST
                | record::NUMBER
                | record::LABEL
                | record::BOOL_ERR
                | record::RK
                | record::RICH_STRING
                | record::MUL_RK => {
                    let (Some(row), Some(first)) = (word(stream, start), word(stream, start + 2)) else { continue };
                    let last = match kind {
                        record::MUL_RK => word(stream, end - 2).unwrap_or(first),
                        _ => first,
                    };
                    let [top, bottom, left, right] = bounds.unwrap_or([row, row, first, last]);
                    bounds = Some([top.min(row), bottom.max(row), left.min(first), right.max(last).max(first)]);
                }
                _ => {}
            }
        }
        if let Some([top, bottom, left, right]) = bounds {
            area = area.saturating_add((usize::from(bottom - top) + 1).saturating_mul(usize::from(right - left) + 1));
        }
    }
    // Formulas are few cells of many: the library spans a second rectangle around them, never larger than the first.
    let most = limits.max_cells.saturating_mul(MAX_AREA_PER_CELL);
    if area > most { Err(ParseError::TooLarge { limit: most as u64 }) } else { Ok(()) }
}

fn pack(name: &str, stream: &[u8]) -> std::io::Result<Vec<u8>> {
    // Of the fourth version, the library takes a container without small streams for an empty one.
    let place = Cursor::new(Vec::with_capacity(stream.len() + stream.len() / 64));
    let mut container = CompoundFile::create_with_version(Version::V3, place)?;
    let mut packed = container.create_stream(name)?;
    packed.write_all(stream)?;
    packed.flush()?;
    drop(packed);
    Ok(container.into_inner().into_inner())
}

fn read(bytes: Vec<u8>, limits: &Limits) -> Result<Parsed, ParseError> {
    let mut workbook = Xls::new(Cursor::new(bytes)).map_err(|error| damaged(&error.to_string()))?;
    let mut sheets = Sheets::new(limits);
    for sheet in workbook.sheets_metadata().to_vec() {
        if sheet.visible != SheetVisible::Visible {
            sheets.skipped(&sheet.name, SkipReason::Hidden);
        }
        if sheet.typ != SheetType::WorkSheet {
            sheets.skipped(&sheet.name, SkipReason::Unsupported);
            continue;
        }
        let Ok(range) = workbook.worksheet_range(&sheet.name) else {
            sheets.skipped(&sheet.name, SkipReason::Unreadable);
            continue;
        };
        let (top, left) = range.start().unwrap_or_default();
        let mut cells = Vec::new();
        for (row, column, value) in range.used_cells() {
            let text = show(&borrowed(value));
            if !text.is_empty() {
                sheets.hold()?;
                let place = |from: u32, offset: usize| from.saturating_add(u32::try_from(offset).unwrap_or(u32::MAX));
                cells.push(Cell { row: place(top, row), column: place(left, column), text });
            }
        }
        sheets.add(&sheet.name, cells)?;
    }
    Ok(sheets.finish())
}

fn borrowed(value: &Data) -> DataRef<'_> {
    match value {
        Data::Int(number) => DataRef::Int(*number),
        Data::Float(number) => DataRef::Float(*number),
        Data::String(text) => DataRef::SharedString(text),
        Data::Bool(truth) => DataRef::Bool(*truth),
        Data::DateTime(instant) => DataRef::DateTime(*instant),
        Data::DateTimeIso(text) => DataRef::DateTimeIso(text.clone()),
        Data::DurationIso(text) => DataRef::DurationIso(text.clone()),
        Data::Error(error) => DataRef::Error(error.clone()),
        Data::Empty => DataRef::Empty,
    }
}
