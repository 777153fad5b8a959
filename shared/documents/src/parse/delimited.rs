//! CSV and its relatives: the delimiter is found in the content, the header in the first row.

use super::{Block, BlockKind, Content, Outline, Parsed, Row, Table, is_unseen, sheets::is_header};
use crate::{Limits, ParseError};
use anchorage_domain::Coverage;

const DELIMITERS: [char; 4] = [',', ';', '\t', '|'];
/// Characters looked at to find the delimiter.
const SAMPLE_CHARS: usize = 20_000;

pub(super) fn parse(text: &str, limits: &Limits) -> Result<Parsed, ParseError> {
    let (declared, body) = preamble(text);
    let delimiter = declared.unwrap_or_else(|| find_delimiter(body));
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(u8::try_from(delimiter).unwrap_or(b','))
        .from_reader(body.as_bytes());
    let (mut rows, mut cells) = (Vec::new(), 0_usize);
    for (record, number) in reader.records().zip(1..) {
        let record = record.map_err(|error| ParseError::failed(format!("row {number} is no CSV: {error}")))?;
        let row: Vec<_> = record.iter().map(|cell| cell.trim_matches(is_unseen).to_owned()).collect();
        cells += row.len();
        if cells > limits.max_cells {
            return Err(ParseError::TooLarge { limit: limits.max_cells as u64 });
        }
        if row.iter().any(|cell| !cell.is_empty()) {
            rows.push(Row { number, cells: row });
        }
    }
    let first_row = rows.first().map_or(1, |row| row.number);
    let header = if rows.first().is_some_and(|row| is_header(&row.cells)) { rows.remove(0).cells } else { Vec::new() };
    // A header alone says how data would look, not what it is.
    if rows.is_empty() {
        return Err(ParseError::NoText);
    }
    let coverage = Coverage { rows: Some(u32::try_from(rows.len()).unwrap_or(u32::MAX)), ..Coverage::default() };
    let table = Table { sheet: None, context: Vec::new(), header, first_row, rows };
    let block =
        Block { kind: BlockKind::Table, heading_path: Outline::default().path(), content: Content::Table(table) };
    Ok(Parsed { title: None, blocks: vec![block], coverage, ..Parsed::default() })
}

/// The `sep=;` line that spreadsheets write for each other, and what follows it.
fn preamble(text: &str) -> (Option<char>, &str) {
    let declared = text.get(..4).filter(|start| start.eq_ignore_ascii_case("sep=")).and_then(|_| text.get(4..));
    match declared.and_then(|rest| rest.chars().next().zip(rest.split_once('\n'))) {
        Some((delimiter, (line, body))) if delimiter.is_ascii() && line.chars().count() == 1 => (Some(delimiter), body),
        _ => (None, text),
    }
}

/// The delimiter that cuts the first lines into the most even columns; quoted text does not count.
fn find_delimiter(text: &str) -> char {
    let score = |delimiter: char| {
        let (mut quoted, mut counts) = (false, vec![0_usize]);
        for c in text.chars().take(SAMPLE_CHARS) {
            match c {
                '"' => quoted = !quoted,
                '\n' if !quoted => counts.push(0),
                c if c == delimiter && !quoted => {
                    if let Some(last) = counts.last_mut() {
                        *last += 1;
                    }
                }
                _ => {}
            }
        }
        let first = counts.first().copied().unwrap_or(0);
        (counts.iter().filter(|count| **count == first && first > 0).count(), first)
    };
    DELIMITERS.into_iter().rev().max_by_key(|delimiter| score(*delimiter)).unwrap_or(',')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Table {
        let parsed = parse(text, &Limits::default()).unwrap();
        match parsed.blocks.into_iter().next().unwrap().content {
            Content::Table(table) => table,
            Content::Text(text) => panic!("{text}"),
        }
    }

    /// Case C32.
    #[test]
    fn quoted_line_ends_and_odd_separators_stay_inside_their_cell() {
        let table = table("sep=;\nid;note\n1;\"first; line\nsecond\"\n2;a\u{2028}b\n");
        assert_eq!(table.header, ["id", "note"]);
        let rows: Vec<_> = table.rows.iter().map(|row| row.cells.clone()).collect();
        assert_eq!(rows, [["1", "first; line\nsecond"], ["2", "a\u{2028}b"]]);
    }

    #[test]
    fn delimiter_is_found_in_the_content() {
        for (text, columns) in
            [("a,b\n1,2\n", 2), ("a;b;c\n1,5;2;3\n", 3), ("a\tb\n1\t2\n", 2), ("a|b\n1|2\n", 2), ("a\nb\n", 1)]
        {
            assert_eq!(table(text).rows[0].cells.len(), columns, "{text}");
        }
    }

    /// Case C36.
    #[test]
    fn header_alone_is_no_text() {
        assert_eq!(parse("id,name\n", &Limits::default()).unwrap_err(), ParseError::NoText);
    }
}
