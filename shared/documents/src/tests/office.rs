use super::*;
use crate::MediaType;
use anchorage_domain::{SkipReason, Source};

/// Case C28: order, cell borders and nested text.
#[test]
fn docx_table_between_paragraphs_keeps_order_and_cells() {
    let cell = |inner: &str| format!("<w:tc>{inner}</w:tc>");
    let nested =
        format!("<w:tbl><w:tr>{}{}</w:tr></w:tbl>{}", cell(&paragraph("N1")), cell(&paragraph("N2")), "<w:p/>");
    let table = format!(
        "<w:tbl><w:tr>{}{}</w:tr><w:tr>{}{}</w:tr></w:tbl>",
        cell(&paragraph("A1")),
        cell(&paragraph("B1")),
        cell(&(paragraph("A2") + &nested)),
        cell(&paragraph("B2"))
    );
    let document = read(&docx(&(paragraph("P1") + &table + &paragraph("P2"))), ChunkingPolicy::default()).unwrap();
    assert_eq!(texts(&document), ["P1", "A1 | B1\nA2\nN1 | N2 | B2", "P2"]);
}

#[test]
fn docx_table_repeats_its_header_in_every_chunk() {
    let row = |mark: &str, a: &str, b: &str| {
        format!("<w:tr>{mark}<w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr>", paragraph(a), paragraph(b))
    };
    let body = |mark: &str| {
        let rows: Vec<_> = (0..60).map(|n| row("", &format!("k{n}"), "a value of some words")).collect();
        format!("<w:tbl>{}{}</w:tbl>", row(mark, "Key", "Meaning"), rows.concat())
    };
    for mark in ["<w:trPr><w:tblHeader/></w:trPr>", ""] {
        let document = read(&docx(&body(mark)), ChunkingPolicy::default()).unwrap();
        assert!(document.chunks.len() > 2);
        for chunk in &document.chunks {
            assert!(chunk.text.starts_with("Key | Meaning\nKey: k"), "{}", chunk.text);
        }
    }
}

/// Case P6: what stands in wrappers is read, what was deleted is not.
#[test]
fn docx_reads_every_wrapper_and_no_deleted_run() {
    let run = |text: &str| format!("<w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r>");
    let body = format!(
        "<w:p>{}<w:ins>{}</w:ins><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:moveFrom>{}</w:moveFrom>\
         <w:smartTag>{}</w:smartTag><w:fldSimple w:instr=\"DATE\">{}</w:fldSimple><w:hyperlink>{}</w:hyperlink>\
         <w:r><w:instrText>PAGE</w:instrText><w:tab/><w:t>A&amp;B &#x6cc;</w:t><w:br/><w:t>end</w:t></w:r></w:p>\
         <w:sdt><w:sdtContent>{}</w:sdtContent></w:sdt>",
        run("one "),
        run("two "),
        run("moved"),
        run("three "),
        run("four "),
        run("five"),
        paragraph("control")
    );
    let document = read(&docx(&body), ChunkingPolicy::default()).unwrap();
    assert_eq!(document.source_text.trim(), "one two three four five\tA&B ی\nend\n\ncontrol");
}

/// Case P6: a body of nothing but a reference to a note.
#[test]
fn docx_notes_are_read_and_their_separators_are_not() {
    let notes = format!(
        "<w:footnotes><w:footnote w:type=\"separator\">{}</w:footnote><w:footnote>{}</w:footnote></w:footnotes>",
        paragraph("-----"),
        paragraph("The note itself.")
    );
    let body = "<w:p><w:r><w:footnoteReference w:id=\"2\"/></w:r></w:p>";
    let document =
        read(&docx_with(TRANSITIONAL, body, &[("footnotes", "notes.xml", &notes)]), ChunkingPolicy::default()).unwrap();
    assert_eq!(texts(&document), ["The note itself."]);
}

#[test]
fn docx_text_box_is_said_once_whatever_its_alternatives() {
    let boxed = |name: &str| format!("<{name}><w:txbxContent>{}</w:txbxContent></{name}>", paragraph("boxed"));
    for alternatives in [
        boxed("mc:Choice") + &boxed("mc:Fallback"),
        boxed("mc:Choice") + &boxed("mc:Choice") + &boxed("mc:Fallback"),
        boxed("mc:Fallback"),
    ] {
        let body = format!(
            "<w:p><w:r><mc:AlternateContent>{alternatives}</mc:AlternateContent></w:r><w:r><w:t>around</w:t></w:r></w:p>"
        );
        let document = read(&docx(&body), ChunkingPolicy::default()).unwrap();
        assert_eq!(texts(&document), ["boxed\n\naround"]);
    }
}

/// Parts are found by relation, in the strict namespace too, and headings by style. Case P8: unknown attributes.
#[test]
fn docx_headings_come_from_styles_in_both_namespaces() {
    let styles = r#"<w:styles><w:style w:styleId="T1"><w:name w:val="heading 1"/></w:style><w:style w:styleId="X">
        <w:name w:val="Own"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style></w:styles>"#;
    let titled = |style: &str, text: &str| {
        format!(
            "<w:p w:odd=\"1\" other=\"x\"><w:pPr><w:pStyle w:val=\"{style}\"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"
        )
    };
    let body = titled("T1", "Guide") + &titled("X", "Care") + &titled("Plain", "Keep it dry.");
    for relations in [TRANSITIONAL, STRICT] {
        let document =
            read(&docx_with(relations, &body, &[("styles", "looks.xml", styles)]), ChunkingPolicy::default()).unwrap();
        assert_eq!((document.media_type, document.title.as_deref()), (MediaType::Docx, Some("Guide")));
        assert_eq!(document.chunks.last().unwrap().heading_path, ["Guide", "Care"]);
        assert_eq!(document.chunks.last().unwrap().text, "Care\n\nKeep it dry.");
    }
}

/// A column that a cell spans stays a column, and a label that reaches down is said in every row.
#[test]
fn docx_merged_cells_keep_columns_and_reach_down() {
    let cell = |mark: &str, text: &str| format!("<w:tc><w:tcPr>{mark}</w:tcPr>{}</w:tc>", paragraph(text));
    let row = |cells: &[String]| format!("<w:tr>{}</w:tr>", cells.concat());
    let body = format!(
        "<w:tbl>{}{}{}{}</w:tbl>",
        row(&[cell("", "Model"), cell("", "Part"), cell("", "Price")]),
        row(&[cell("<w:vMerge w:val=\"restart\"/>", "X1"), cell("", "lid"), cell("", "3")]),
        row(&[cell("<w:vMerge/>", ""), cell("", "base"), cell("", "4")]),
        row(&[cell("<w:gridSpan w:val=\"2\"/>", "both"), cell("", "7")]),
    );
    let document = read(&docx(&body), ChunkingPolicy::default()).unwrap();
    assert_eq!(
        texts(&document),
        [
            "Model | Part | Price\nModel: X1 / Part: lid / Price: 3\nModel: X1 / Part: base / Price: 4\nModel: both / Price: 7"
        ]
    );
}

#[test]
fn docx_lists_and_headings_carry_the_numbers_that_word_counts() {
    let numbering = r#"<w:numbering><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="1"/>
        <w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl><w:lvl w:ilvl="1"><w:start w:val="1"/>
        <w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2"/></w:lvl></w:abstractNum>
        <w:num w:numId="5"><w:abstractNumId w:val="0"/></w:num></w:numbering>"#;
    let styles = r#"<w:styles><w:style w:styleId="H"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="5"/>
        </w:numPr></w:pPr></w:style><w:style w:styleId="Own"><w:name w:val="Clause"/><w:basedOn w:val="H"/></w:style></w:styles>"#;
    let item =
        |properties: &str, text: &str| format!("<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>");
    let numbered = |level: u8| format!("<w:numPr><w:ilvl w:val=\"{level}\"/><w:numId w:val=\"5\"/></w:numPr>");
    let body = item("<w:pStyle w:val=\"Own\"/>", "Scope")
        + &item(&numbered(1), "first")
        + &item(&numbered(1), "second")
        + &item("<w:pStyle w:val=\"H\"/>", "Terms")
        + &item("<w:pStyle w:val=\"H\"/><w:numPr><w:numId w:val=\"0\"/></w:numPr>", "Annex");
    let parts = [("numbering", "n.xml", numbering), ("styles", "s.xml", styles)];
    let document = read(&docx_with(TRANSITIONAL, &body, &parts), ChunkingPolicy::default()).unwrap();
    assert_eq!(texts(&document), ["1. Scope\n1.1 first\n1.2 second", "2. Terms", "Annex"]);
    assert_eq!(document.chunks[0].heading_path, ["1. Scope"]);
}

#[test]
fn docx_headers_and_comments_are_named_and_leave_it_whole_but_embedded_documents_do_not() {
    let beside = format!("<w:hdr>{}</w:hdr>", paragraph("Page header"));
    let blank = format!("<w:hdr>{}</w:hdr>", paragraph(""));
    let parts = |last: &'static str| {
        [("header", "h.xml", beside.as_str()), ("footer", "f.xml", blank.as_str()), (last, "x.xml", beside.as_str())]
    };
    for (kind, reason, partial) in [("comments", SkipReason::Aside, false), ("chart", SkipReason::Unsupported, true)] {
        let bytes = docx_with(TRANSITIONAL, &paragraph("Body."), &parts(kind));
        let document = read(&bytes, ChunkingPolicy::default()).unwrap();
        assert_eq!(texts(&document), ["Body."]);
        let skipped: Vec<_> = document.coverage.skipped.iter().map(|s| (s.what.as_str(), s.reason)).collect();
        assert_eq!(skipped, [("h.xml", SkipReason::Aside), ("x.xml", reason)]);
        assert_eq!(document.coverage.partial, partial, "{kind}");
    }
}

/// Text that was moved stands once, where it went; tabulator stops are no text.
#[test]
fn docx_moved_text_is_said_once() {
    let run = |text: &str| format!("<w:r><w:t>{text}</w:t></w:r>");
    let body = format!(
        "<w:p><w:pPr><w:tabs><w:tab w:val=\"left\"/></w:tabs><w:rPr><w:del/></w:rPr></w:pPr>{}<w:moveFrom>{}</w:moveFrom></w:p>\
         <w:p><w:moveTo>{}</w:moveTo></w:p>",
        run("stays"),
        run("moved"),
        run("moved")
    );
    let document = read(&docx(&body), ChunkingPolicy::default()).unwrap();
    assert_eq!(texts(&document), ["stays\n\nmoved"]);
}

/// Case C30: the merged title is context, the header names every value.
#[test]
fn xlsx_title_row_becomes_context_of_a_named_table() {
    let data = rows(&[&["Report 2024"], &["id", "name"], &["1", "x"], &["2", "y"]]);
    let document = read(
        &xlsx(&[("Data", "", &(data + r#"<mergeCells><mergeCell ref="A1:B1"/></mergeCells>"#))]),
        ChunkingPolicy::default(),
    )
    .unwrap();
    assert_eq!(texts(&document), ["Data — Report 2024\nid | name\nid: 1 / name: x\nid: 2 / name: y"]);
    assert_eq!(document.chunks[0].source, Source::Sheet { name: "Data".into(), rows_start: 3, rows_end: 4 });
}

/// Case C31: no sheet, no row and no header is lost.
#[test]
fn xlsx_sheets_of_many_rows_or_of_a_header_alone_are_whole() {
    let cells: Vec<_> = (0..300).map(|n| [n.to_string(), format!("name{n}")]).collect();
    let mut all: Vec<Vec<&str>> = vec![vec!["id", "name"]];
    all.extend(cells.iter().map(|row| row.iter().map(String::as_str).collect()));
    let all: Vec<&[&str]> = all.iter().map(Vec::as_slice).collect();
    let document =
        read(&xlsx(&[("Big", "", &rows(&all)), ("Empty", "", &rows(&[&["key", "value"]]))]), ChunkingPolicy::default())
            .unwrap();
    let (last, big) = document.chunks.split_last().unwrap();
    assert_eq!(last.text, "Empty\nkey | value");
    assert_eq!(last.source, Source::Sheet { name: "Empty".into(), rows_start: 1, rows_end: 1 });
    let mut lines = Vec::new();
    let mut next = 2;
    for chunk in big {
        lines.extend(chunk.text.strip_prefix("Big\nid | name\n").unwrap().lines().map(str::to_owned));
        let Source::Sheet { rows_start, rows_end, .. } = chunk.source else { panic!("{:?}", chunk.source) };
        assert_eq!(rows_start, next, "rows follow on each other");
        next = rows_end + 1;
    }
    assert!(big.len() >= 3);
    assert_eq!(lines, (0..300).map(|n| format!("id: {n} / name: name{n}")).collect::<Vec<_>>());
    assert_eq!(document.coverage.rows, Some(302));
}

#[test]
fn xlsx_notes_above_a_table_are_rows_when_they_are_too_many_for_titles() {
    let notes: Vec<_> = (0..9).map(|n| format!("note {n}")).collect();
    let mut all: Vec<Vec<&str>> = notes.iter().map(|note| vec![note.as_str()]).collect();
    all.extend([vec!["id", "name"], vec!["1", "x"]]);
    let all: Vec<&[&str]> = all.iter().map(Vec::as_slice).collect();
    let document = read(&xlsx(&[("S", "", &rows(&all))]), ChunkingPolicy::default()).unwrap();
    assert_eq!(document.chunks.len(), 2);
    assert!(notes.iter().all(|note| document.chunks[0].text.contains(note)));
    assert_eq!(document.chunks[1].text, "S\nid | name\nid: 1 / name: x");
}

#[test]
fn xlsx_shows_dates_cached_values_and_what_is_hidden() {
    let data = r#"<sheetData><row r="1"><c r="A1" t="str"><v>day</v></c><c r="B1" t="str"><v>sum</v></c></row>
        <row r="2"><c r="A2" s="1"><v>45000</v></c><c r="B2"><f>1+1</f><v>2</v></c></row>
        <row r="3"><c r="A3" s="1"><v>45000.5</v></c><c r="B3"><f>1+1</f></c></row></sheetData>"#;
    let document = read(&xlsx(&[("S", r#"state="hidden""#, data)]), ChunkingPolicy::default()).unwrap();
    assert_eq!(
        texts(&document),
        ["S\nday | sum\nday: 2023-03-15 / sum: 2\nday: 2023-03-15 12:00:00 / sum: [no cached value]"]
    );
    assert_eq!(
        document.coverage.skipped.iter().map(|skipped| skipped.reason).collect::<Vec<_>>(),
        [SkipReason::Hidden]
    );
    assert!(!document.coverage.partial, "hidden, but read");
}

/// Case C36, and what is not what its name says.
#[test]
fn documents_that_cannot_be_read_say_why() {
    let mut ole = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1".to_vec();
    ole.resize(1024, 0);
    let mut locked = ole.clone();
    locked.extend("EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes));
    let whole = docx(&paragraph("text"));
    let presentation = package(TRANSITIONAL, "p.xml", "presentationml.presentation", &[("p.xml", "<p/>")]);
    let picture = docx("<w:p><w:r><w:drawing><pic:pic/></w:drawing></w:r></w:p>");
    for (bytes, name, code) in [
        (docx(&paragraph(" \u{A0}\n")), "a.docx", "no_text"),
        (picture, "a.docx", "no_text"),
        (b"id,name\n".to_vec(), "a.csv", "no_text"),
        (b" \n\t".to_vec(), "a.txt", "no_text"),
        (Vec::new(), "a.txt", "no_text"),
        (whole[..whole.len() / 2].to_vec(), "a.docx", "parse_failed"),
        (docx("<w:p><w:r>"), "a.docx", "parse_failed"),
        (locked, "a.docx", "encrypted"),
        (ole, "a.xls", "parse_failed"),
        (presentation, "a.docx", "no_text"),
        (archive(&[("readme.txt", "text")]), "a.docx", "unsupported_type"),
        (b"%PDF-1.7\n".to_vec(), "a.txt", "parse_failed"),
        (b"\x89PNG\r\n\x1a\n\0\0".to_vec(), "a.md", "unsupported_type"),
    ] {
        assert_eq!(super::code(&named(&bytes, name).unwrap_err()), code, "{name}");
    }
    assert_eq!(named(&whole, "a.csv").unwrap().media_type, MediaType::Docx);
    assert_eq!(named(b"just words", "a.xlsx").unwrap().media_type, MediaType::Text);
}
