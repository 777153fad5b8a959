//! Workbooks of the old Excel kind and of `OpenDocument`.

use super::*;
use crate::MediaType;
use anchorage_domain::{SkipReason, Source};
use proptest::prelude::*;

fn record(kind: u16, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).unwrap();
    [&kind.to_le_bytes()[..], &length.to_le_bytes(), data].concat()
}

fn words(words: &[u16]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn begin(kind: u16) -> Vec<u8> {
    record(0x0809, &words(&[0x0600, kind, 0, 0, 0, 0, 0, 0]))
}

fn number(row: u16, column: u16, style: u16, value: f64) -> Vec<u8> {
    record(0x0203, &[words(&[row, column, style]), value.to_le_bytes().to_vec()].concat())
}

/// A text cell that refers to the table of strings.
fn text(row: u16, column: u16, string: u16) -> Vec<u8> {
    record(0x00FD, &words(&[row, column, 0, string, 0]))
}

/// A formula with its result and, after a length that may lie, its code.
fn formula(row: u16, column: u16, result: f64) -> Vec<u8> {
    record(0x0006, &[words(&[row, column, 0]), result.to_le_bytes().to_vec(), words(&[0, 0, 0, 3, 0x1E1E, 7])].concat())
}

/// The records of a workbook: name, hidden or not, and cells of each sheet; style 1 is a date.
fn stream(strings: &[&str], sheets: &[(&str, bool, Vec<u8>)]) -> Vec<u8> {
    let text = |text: &str| {
        let units: Vec<_> = text.encode_utf16().collect();
        [words(&[u16::try_from(units.len()).unwrap()]), vec![1], words(&units)].concat()
    };
    let count = u16::try_from(strings.len()).unwrap();
    let table: Vec<_> = strings.iter().flat_map(|string| text(string)).collect();
    let mut bytes = begin(0x0005);
    for format in [0, 14] {
        bytes.extend(record(0x00E0, &words(&[0, format, 0, 0, 0, 0, 0, 0, 0, 0])));
    }
    let mut places = Vec::new();
    for (name, hidden, _) in sheets {
        places.push(bytes.len() + 4);
        let units: Vec<_> = name.encode_utf16().collect();
        let name = [vec![u8::try_from(units.len()).unwrap(), 1], words(&units)].concat();
        bytes.extend(record(0x0085, &[vec![0, 0, 0, 0, u8::from(*hidden), 0], name].concat()));
    }
    bytes.extend(record(0x00FC, &[words(&[count, 0, count, 0]), table].concat()));
    bytes.extend(record(0x000A, &[]));
    for ((_, _, cells), place) in sheets.iter().zip(places) {
        let offset = u32::try_from(bytes.len()).unwrap();
        bytes[place..place + 4].copy_from_slice(&offset.to_le_bytes());
        bytes.extend(begin(0x0010));
        // The sheet claims to be as large as sheets can be, and its window is no matter.
        bytes.extend(record(0x0200, &words(&[0, 0, 0xFFFF, 0xFFFF, 0, 0xFFFF, 0])));
        bytes.extend(record(0x023E, &[0; 18]));
        bytes.extend(cells);
        bytes.extend(record(0x000A, &[]));
    }
    bytes
}

fn packed(stream: &[u8]) -> Vec<u8> {
    let mut container = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
    container.create_stream("/Workbook").unwrap().write_all(stream).unwrap();
    container.into_inner().into_inner()
}

fn xls(strings: &[&str], sheets: &[(&str, bool, Vec<u8>)]) -> Vec<u8> {
    packed(&stream(strings, sheets))
}

#[test]
fn xls_sheets_show_titles_headers_dates_and_results() {
    let first = [
        text(0, 0, 0),
        [text(1, 0, 1), text(1, 1, 2)].concat(),
        [number(2, 0, 1, 45_000.0), formula(2, 1, 2.5)].concat(),
        [number(3, 0, 1, 45_001.0), number(3, 1, 0, -7.0)].concat(),
    ];
    let bytes = xls(&["گزارش", "day", "sum"], &[("Data", false, first.concat()), ("Dark", true, text(0, 0, 0))]);
    let document = named(&bytes, "a.csv").unwrap();
    assert_eq!(document.media_type, MediaType::Xls);
    assert_eq!(
        texts(&document),
        ["Data — گزارش\nday | sum\nday: 2023-03-15 / sum: 2.5\nday: 2023-03-16 / sum: -7", "Dark\nگزارش"]
    );
    assert_eq!(document.chunks[0].source, Source::Sheet { name: "Data".into(), rows_start: 3, rows_end: 4 });
    let skipped: Vec<_> = document.coverage.skipped.iter().map(|s| (s.what.as_str(), s.reason)).collect();
    assert_eq!(skipped, [("sheet Dark", SkipReason::Hidden)]);
}

/// Large streams and small ones lie in a container in different ways.
#[test]
fn xls_of_many_rows_is_read_whole() {
    let cells: Vec<_> =
        (0..2_000).flat_map(|row| [number(row, 0, 0, f64::from(row)), number(row, 1, 0, 7.0)]).flatten().collect();
    let document = named(&xls(&[], &[("S", false, cells)]), "a.xls").unwrap();
    assert_eq!(document.coverage.rows, Some(2_000));
    assert!(document.source_text.ends_with("1999 | 7"));
}

/// The rectangle around two cells is allocated by the library: it is bounded before.
#[test]
fn xls_rectangle_is_bounded_at_the_limit_and_past_it() {
    let read = |right: u16| {
        let bytes = xls(&[], &[("S", false, [number(0, 0, 0, 1.0), number(9, right, 0, 2.0)].concat())]);
        let limits = Limits { max_cells: 10, ..Limits::default() };
        parse_and_chunk(&bytes, &MediaHint::default(), ChunkingPolicy::default(), &limits)
            .map(|document| document.chunks.len())
    };
    assert_eq!(read(3), Ok(1));
    assert_eq!(read(4), Err(ParseError::TooLarge { limit: 40 }));
}

/// Case P4: offsets that lead nowhere, out, to each other, or all to one place.
#[test]
fn xls_offsets_that_lie_are_a_typed_error() {
    let whole = stream(&[], &[("S", false, number(0, 0, 0, 1.0)), ("T", false, number(0, 0, 0, 2.0))]);
    let places: Vec<_> = (0..whole.len()).filter(|at| whole[*at..].starts_with(&[0x85, 0])).collect();
    let offset = |place: usize| u32::from_le_bytes(whole[place + 4..place + 8].try_into().unwrap());
    for wrong in [0xFFFF_FFFF, 3, 1 << 20, offset(places[1]), offset(places[0]) + 1] {
        let mut bytes = whole.clone();
        bytes[places[0] + 4..places[0] + 8].copy_from_slice(&wrong.to_le_bytes());
        assert_eq!(code(&named(&packed(&bytes), "a.xls").unwrap_err()), "parse_failed", "{wrong}");
    }
    let locked = [begin(0x0005), record(0x002F, &[0; 6])].concat();
    assert_eq!(code(&named(&packed(&locked), "a.xls").unwrap_err()), "encrypted");
}

proptest! {
    /// Whatever is written over a workbook, it is read or refused.
    #[test]
    fn xls_with_bytes_written_over_ends_in_a_result(changes in prop::collection::vec((0_usize..700, any::<u8>()), 1..12)) {
        let cells = [text(0, 0, 0), formula(1, 1, 1.0), number(2, 2, 1, 3.0)].concat();
        let mut bytes = stream(&["one", "two"], &[("S", false, cells.clone()), ("T", false, cells)]);
        for (at, byte) in changes {
            let length = bytes.len();
            bytes[at % length] = byte;
        }
        let _ = named(&packed(&bytes), "a.xls");
    }
}

fn ods(styles: &str, sheets: &str) -> Vec<u8> {
    let content = format!(
        "<office:document-content><office:automatic-styles>{styles}</office:automatic-styles><office:body>\
         <office:spreadsheet>{sheets}</office:spreadsheet></office:body></office:document-content>"
    );
    archive(&[("mimetype", "application/vnd.oasis.opendocument.spreadsheet"), ("content.xml", &content)])
}

fn shown(text: &str) -> String {
    format!("<table:table-cell office:value-type=\"string\"><text:p>{text}</text:p></table:table-cell>")
}

#[test]
fn ods_sheets_show_titles_headers_values_and_what_is_hidden() {
    let styles = "<style:style style:name=\"h\"><style:table-properties table:display=\"false\"/></style:style>";
    let row = |cells: &[String]| format!("<table:table-row>{}</table:table-row>", cells.concat());
    let valued = |kind: &str, value: &str| {
        format!(
            "<table:table-cell office:value-type=\"{kind}\" office:{value}><text:p>as shown</text:p></table:table-cell>"
        )
    };
    let sheet = [
        row(&[format!("{}<table:covered-table-cell table:number-columns-repeated=\"3\"/>", shown("Report"))]),
        "<table:table-row table:number-rows-repeated=\"3\"><table:table-cell table:number-columns-repeated=\"16384\"/></table:table-row>".into(),
        row(&["day", "time", "sum", "note"].map(shown)),
        row(&[
            valued("date", "date-value=\"2024-01-02\""),
            valued("time", "time-value=\"PT09H05M00S\""),
            valued("currency", "value=\"1234.5\""),
            "<table:table-cell office:value-type=\"string\"><office:annotation><text:p>aside</text:p></office:annotation>\
             <text:p>a<text:s text:c=\"2\"/>b</text:p><text:p>c</text:p></table:table-cell>".into(),
        ]),
        row(&[
            valued("date", "date-value=\"2024-01-02T10:30:00\""),
            "<table:table-cell table:formula=\"of:=1\"/>".into(),
            "<table:table-cell table:number-columns-repeated=\"2\" office:value-type=\"float\" office:value=\"7\"/>".into(),
        ]),
    ];
    let hidden =
        format!("<table:table table:name=\"Dark\" table:style-name=\"h\">{}</table:table>", row(&[shown("x")]));
    let bytes = ods(styles, &format!("<table:table table:name=\"Data\">{}</table:table>{hidden}", sheet.concat()));
    let document = named(&bytes, "a.xlsx").unwrap();
    assert_eq!(document.media_type, MediaType::Ods);
    assert_eq!(
        texts(&document),
        [
            "Data — Report\nday | time | sum | note\n\
         day: 2024-01-02 / time: 09:05:00 / sum: 1234.5 / note: a  b\nc\n\
         day: 2024-01-02 10:30:00 / time: [no cached value] / sum: 7 / note: 7",
            "Dark\nx"
        ]
    );
    assert_eq!(document.chunks[0].source, Source::Sheet { name: "Data".into(), rows_start: 6, rows_end: 7 });
    let skipped: Vec<_> = document.coverage.skipped.iter().map(|s| (s.what.as_str(), s.reason)).collect();
    assert_eq!(skipped, [("sheet Dark", SkipReason::Hidden)]);
}

/// Three attributes claim a trillion cells.
#[test]
fn ods_repetitions_are_bounded_at_the_limit_and_past_it() {
    let read = |rows: u32, columns: u32| {
        let cell = format!(
            "<table:table-cell table:number-columns-repeated=\"{columns}\"><text:p>x</text:p></table:table-cell>"
        );
        let row = format!("<table:table-row table:number-rows-repeated=\"{rows}\">{cell}</table:table-row>");
        let limits = Limits { max_cells: 100, ..Limits::default() };
        let bytes = ods("", &format!("<table:table table:name=\"S\">{row}</table:table>"));
        parse_and_chunk(&bytes, &MediaHint::default(), ChunkingPolicy::default(), &limits)
            .map(|document| document.coverage.rows)
    };
    assert_eq!(read(10, 10), Ok(Some(10)));
    for (rows, columns) in [(101, 1), (1, 101), (11, 10), (u32::MAX, u32::MAX), (u32::MAX, 1)] {
        assert_eq!(read(rows, columns), Err(ParseError::TooLarge { limit: 100 }), "{rows} {columns}");
    }
}

#[test]
fn ods_that_is_locked_or_no_spreadsheet_says_so() {
    let kind = |kind: &str| format!("application/vnd.oasis.opendocument.{kind}");
    let locked = archive(&[
        ("mimetype", &kind("spreadsheet")),
        ("META-INF/manifest.xml", "<m><file-entry><encryption-data/></file-entry></m>"),
        ("content.xml", "noise"),
    ]);
    assert_eq!(code(&named(&locked, "a.ods").unwrap_err()), "encrypted");
    let letter = archive(&[("mimetype", &kind("text")), ("content.xml", "<a/>")]);
    assert_eq!(code(&named(&letter, "a.ods").unwrap_err()), "unsupported_type");
}
