use super::*;
use std::time::{Duration, Instant};

/// Generous on purpose: what these tests tell apart is linear from quadratic, not fast from slow.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) fn in_time<T>(work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    assert!(start.elapsed() < PATIENCE, "took {:?}", start.elapsed());
    result
}

/// A thousandth of the default, so that the tests need not hold what they say is too much.
const INFLATED: u64 = 128 << 10;

fn within_inflated(bytes: &[u8]) -> Result<ParsedDocument, ParseError> {
    let limits = Limits { max_inflated_bytes: INFLATED, ..Limits::default() };
    parse_and_chunk(bytes, &MediaHint::default(), ChunkingPolicy::default(), &limits)
}

/// Case P1: what counts is what comes out, not what the headers say.
#[test]
fn archive_that_inflates_past_the_bound_is_refused() {
    let padding = |count: usize| docx(&(" ".repeat(count) + &paragraph("text")));
    assert_eq!(texts(&within_inflated(&padding(100 << 10)).unwrap()), ["text"]);
    let mut bomb = padding(4 << 20);
    assert!(bomb.len() < 16 << 10);
    assert_eq!(code(&within_inflated(&bomb).unwrap_err()), "archive_too_large");

    // The sizes that the directory claims are made up.
    let entries: Vec<_> = (0..bomb.len()).filter(|at| bomb[*at..].starts_with(b"PK\x01\x02")).collect();
    assert!(entries.len() >= 3);
    for at in entries {
        bomb[at + 24..at + 28].copy_from_slice(&10_u32.to_le_bytes());
    }
    assert!(matches!(code(&within_inflated(&bomb).unwrap_err()), "archive_too_large" | "parse_failed"));
}

#[test]
fn archive_of_too_many_entries_is_refused() {
    let names: Vec<_> = (0..20).map(|n| format!("{n}.xml")).collect();
    let parts: Vec<_> = names.iter().map(|name| (name.as_str(), "")).collect();
    let bytes = archive(&parts);
    let read = |max_archive_entries| {
        let limits = Limits { max_archive_entries, ..Limits::default() };
        parse_and_chunk(&bytes, &MediaHint::default(), ChunkingPolicy::default(), &limits).unwrap_err()
    };
    assert_eq!(code(&read(20)), "unsupported_type");
    assert_eq!(code(&read(19)), "archive_too_large");
}

/// Case P2: the guard runs before the workbook's own reader, which would hold the string.
#[test]
fn workbook_of_one_giant_string_is_refused() {
    let data = format!("<sheetData><row r=\"1\">{}</row></sheetData>", inline("A1", &"0".repeat(4 << 20)));
    assert_eq!(code(&within_inflated(&xlsx(&[("S", "", &data)])).unwrap_err()), "archive_too_large");
}

/// Case P3: the two far corners of a sheet are two cells.
#[test]
fn workbook_with_cells_in_the_far_corners_is_small() {
    let data = format!(
        "<sheetData><row r=\"1\">{}</row><row r=\"1048576\">{}</row></sheetData>",
        inline("A1", "near"),
        inline("XFD1048576", "far")
    );
    let document = named(&xlsx(&[("S", "", &data)]), "a.xlsx").unwrap();
    assert_eq!(document.chunks.len(), 1);
    assert!(document.source_text.contains("near") && document.source_text.contains("far"));
}

/// The name of a column, counted from 0.
fn column(number: usize) -> String {
    let before = number.checked_sub(26).map(|rest| column(rest / 26)).unwrap_or_default();
    format!("{before}{}", char::from(b'A' + u8::try_from(number % 26).unwrap()))
}

/// As many columns as rows, one cell in each: the rectangle around them has 256 million.
#[test]
fn workbook_with_a_diagonal_of_cells_is_small() {
    let cells: Vec<_> = (0..16_000)
        .map(|n| format!("<row r=\"{}\">{}</row>", n + 1, inline(&format!("{}{}", column(n), n + 1), "v")))
        .collect();
    let document =
        in_time(|| named(&xlsx(&[("S", "", &format!("<sheetData>{}</sheetData>", cells.concat()))]), "a.xlsx"))
            .unwrap();
    assert_eq!(document.coverage.rows, Some(16_000));
    assert_eq!(document.source_text.matches('v').count(), 16_000);
}

/// What is repeated multiplies: names of columns, headings and sheets are bounded where they are.
#[test]
fn long_names_are_not_multiplied() {
    let column: String = "h".repeat(100_000);
    let csv = format!("{column},id\n{}", "1,2\n".repeat(10_000));
    let heading = "Head ".repeat(100_000);
    let markdown = format!("# {heading}\n\n{}", "A few words. ".repeat(20_000));
    let sheet = xlsx(&[(&"n".repeat(100_000), "", &rows(&vec![["some words", "of text"].as_slice(); 5_000]))]);
    for (bytes, name) in [(csv.as_bytes(), "a.csv"), (markdown.as_bytes(), "a.md"), (&sheet, "a.xlsx")] {
        let document = in_time(|| named(bytes, name)).unwrap();
        assert!(document.source_text.len() < 8 << 20, "{name}: {}", document.source_text.len());
        for chunk in &document.chunks {
            assert!(chunk.heading_path.iter().map(String::len).sum::<usize>() < 1_000, "{name}");
        }
    }
    // Nothing is lost where it is not repeated.
    let document = named(csv.as_bytes(), "a.csv").unwrap();
    assert!(document.source_text.matches('h').count() >= 100_000);
}

#[test]
fn text_grown_past_the_bound_by_repetition_is_refused() {
    let csv = format!("{},id\n{}", "h".repeat(190), "1,2\n".repeat(1_000));
    let read = |max_text_bytes| {
        let limits = Limits { max_text_bytes, ..Limits::default() };
        let hint = MediaHint { filename: Some("a.csv".into()), content_type: None };
        parse_and_chunk(csv.as_bytes(), &hint, ChunkingPolicy::default(), &limits)
            .map(|document| document.source_text.len())
    };
    let size = read(1 << 20).unwrap();
    assert_eq!(read(size), Ok(size));
    assert_eq!(read(size - 1), Err(ParseError::TooLarge { limit: size as u64 - 1 }));
}

/// Case P16.
#[test]
fn element_of_very_many_attributes_is_read_in_linear_time() {
    let attributes: Vec<_> = (0..100_000).map(|n| format!("a{n}=\"1\" xmlns:n{n}=\"u\" ")).collect();
    let body = format!("<w:p {}><w:r><w:t>hello</w:t></w:r></w:p>", attributes.concat());
    assert_eq!(texts(&in_time(|| named(&docx(&body), "a.docx")).unwrap()), ["hello"]);
}

#[test]
fn elements_nested_without_end_are_a_typed_error() {
    let body = |depth: usize| format!("{}{}{}", "<w:x>".repeat(depth), paragraph("in"), "</w:x>".repeat(depth));
    assert_eq!(texts(&named(&docx(&body(200)), "a.docx").unwrap()), ["in"]);
    assert_eq!(code(&named(&docx(&body(100_000)), "a.docx").unwrap_err()), "parse_failed");
}

/// Cases P17 and P18: no separator, one letter with all the marks, one quote in a quote.
#[test]
fn text_of_one_piece_is_cut_in_linear_time() {
    for (text, name) in [
        ("abcdefghij".repeat(100_000), "a.txt"),
        (format!("e{}", "\u{301}".repeat(300_000)), "a.txt"),
        ("[".repeat(100_000), "a.md"),
        ("*a **b ".repeat(20_000), "a.md"),
    ] {
        let document = in_time(|| named(text.as_bytes(), name)).unwrap();
        let squeezed = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
        let covered: usize = document.chunks.iter().map(|chunk| squeezed(&chunk.text)).sum();
        assert!(covered >= squeezed(&document.source_text), "{name}");
    }
}

/// An archive in an archive is not opened: only the parts that the document names are read.
#[test]
fn archive_inside_a_document_is_left_alone() {
    let inner = docx(&paragraph("inner"));
    let mut zip = ZipWriter::new_append(Cursor::new(docx(&paragraph("outer")))).unwrap();
    zip.start_file("embedded/inner.docx", SimpleFileOptions::default()).unwrap();
    zip.write_all(&inner).unwrap();
    let bytes = zip.finish().unwrap().into_inner();
    assert_eq!(texts(&named(&bytes, "a.docx").unwrap()), ["outer"]);
}

/// Every level of nesting writes what is inside it once more: the levels are bounded, the text is not lost.
#[test]
fn tables_nested_deep_are_read_whole_in_linear_time() {
    let deep = |depth: usize| {
        let text = "word ".repeat(100_000);
        format!("{}{}{}", "<w:tbl><w:tr><w:tc>".repeat(depth), paragraph(&text), "</w:tc></w:tr></w:tbl>".repeat(depth))
    };
    let document = in_time(|| named(&docx(&deep(80)), "a.docx")).unwrap();
    assert_eq!(document.source_text.matches("word").count(), 100_000);
}

/// What Word would write before an item is not stored: a short text must not become a long one, item by item.
#[test]
fn numbers_of_list_items_are_bounded() {
    let numbering = format!(
        r#"<w:numbering><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="lowerLetter"/>
        <w:start w:val="3000"/><w:lvlText w:val="{}"/></w:lvl></w:abstractNum>
        <w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>"#,
        "%1".repeat(100_000)
    );
    let body = "<w:p><w:pPr><w:numPr><w:numId w:val=\"1\"/></w:numPr></w:pPr><w:r><w:t>x</w:t></w:r></w:p>".repeat(500);
    let bytes = docx_with(TRANSITIONAL, &body, &[("numbering", "n.xml", &numbering)]);
    let document = in_time(|| named(&bytes, "a.docx")).unwrap();
    assert!(document.source_text.len() < 500 * 300, "{}", document.source_text.len());
}

/// Case P15: nesting costs no stack, and closing what was never opened no time.
#[test]
fn html_nested_or_crossed_without_end_is_read_whole_in_linear_time() {
    const N: usize = 100_000;
    for (open, close) in [
        ("<div>", "</div>"),
        ("<div>", "</section>"),
        ("<table><tr><td>", "</table>"),
        ("<ul><li>", "</li>"),
        ("<b>", "</i>"),
        ("<p>", ""),
        ("<a@b>", ""),
        ("<li><div>", "</p>"),
        ("<td><p>", "</td>"),
    ] {
        let html = format!("<html>{}middle{}end", open.repeat(N), close.repeat(N));
        let document = in_time(|| named(html.as_bytes(), "a.html")).unwrap();
        assert!(document.source_text.contains("middle"), "{open}");
        assert!(document.source_text.contains("end"), "{open}");
    }
    let pieces = format!("<html>{}{}", "<div>".repeat(N), "<li>x<p>y</li></pre></table>".repeat(N / 4));
    assert_eq!(in_time(|| named(pieces.as_bytes(), "a.html")).unwrap().source_text.matches('y').count(), N / 4);
}

#[test]
fn html_cells_that_span_without_end_are_bounded() {
    let row = "<tr><td colspan=1000 rowspan=60000>x</td></tr>";
    let html = format!("<html><table>{}</table>", row.repeat(10_000));
    assert_eq!(code(&in_time(|| named(html.as_bytes(), "a.html")).unwrap_err()), "too_large");
    let attributes: Vec<_> = (0..100_000).map(|n| format!("a{n}=1 ")).collect();
    let html = format!("<html><p {}>hello", attributes.concat());
    assert_eq!(texts(&in_time(|| named(html.as_bytes(), "a.html")).unwrap()), ["hello"]);
}

/// A slide, or a part of one, that is named a thousand times is read once.
#[test]
fn pptx_parts_named_again_and_again_are_read_once() {
    let content = format!("<p:sld><p:sp><a:p><a:r><a:t>{}</a:t></a:r></a:p></p:sp></p:sld>", "word ".repeat(20_000));
    let slides = "<p:sldId id=\"256\" r:id=\"r1\"/>".repeat(100_000);
    let main = format!("<p:presentation><p:sldIdLst>{slides}</p:sldIdLst></p:presentation>");
    let links =
        format!(r#"<Relationships><Relationship Id="r1" Type="{TRANSITIONAL}/slide" Target="s.xml"/></Relationships>"#);
    let parts = [("main.xml", main.as_str()), ("_rels/main.xml.rels", links.as_str()), ("s.xml", content.as_str())];
    let bytes = package(TRANSITIONAL, "main.xml", "presentationml.presentation", &parts);
    assert_eq!(in_time(|| named(&bytes, "a.pptx")).unwrap().source_text.matches("word").count(), 20_000);
}

/// What is called JSON and nested without end is refused; what is not called so is text.
#[test]
fn json_nested_without_end_is_a_typed_error() {
    for open in ["[", "{\"a\":", "[{\"b\":"] {
        let text = open.repeat(100_000);
        assert_eq!(code(&in_time(|| named(text.as_bytes(), "a.json")).unwrap_err()), "parse_failed");
        assert_eq!(in_time(|| named(text.as_bytes(), "a.txt")).unwrap().media_type, crate::MediaType::Text);
    }
}

/// Paths are repeated on every line: they count as often as they are written.
#[test]
fn json_paths_do_not_multiply_past_the_bound() {
    let key = "k".repeat(190);
    let leaves = "{\"a\":1},".repeat(400_000);
    let text = format!("[{{\"{key}\": [{leaves}0]}}]");
    assert_eq!(code(&in_time(|| named(text.as_bytes(), "a.json")).unwrap_err()), "too_large");
}

#[test]
fn csv_of_a_million_columns_is_refused_and_of_many_is_read() {
    let line = |columns: usize| format!("{}z\n", "a,".repeat(columns));
    assert_eq!(code(&in_time(|| named(line(1_000_000).as_bytes(), "a.csv")).unwrap_err()), "too_large");
    let lines = line(300_000).repeat(3);
    let document = in_time(|| named(lines.as_bytes(), "a.csv")).unwrap();
    assert_eq!(document.source_text.matches('z').count(), 3);
}
