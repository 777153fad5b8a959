//! Whole documents through the one entry point.

mod analyzer;
mod hostile;
mod letters;
mod office;
mod pdf;
mod pdf_hostile;
mod pdf_made;
mod sheets;
mod slides;

use crate::{Limits, MediaHint, ParseError, ParsedDocument, parse_and_chunk};
use anchorage_domain::ChunkingPolicy;
use std::io::{Cursor, Write as _};
use zip::{ZipWriter, write::SimpleFileOptions};

const TRANSITIONAL: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const STRICT: &str = "http://purl.oclc.org/ooxml/officeDocument/relationships";

fn read(bytes: &[u8], policy: ChunkingPolicy) -> Result<ParsedDocument, ParseError> {
    parse_and_chunk(bytes, &MediaHint::default(), policy, &Limits::default())
}

fn named(bytes: &[u8], name: &str) -> Result<ParsedDocument, ParseError> {
    let hint = MediaHint { filename: Some(name.into()), content_type: None };
    parse_and_chunk(bytes, &hint, ChunkingPolicy::default(), &Limits::default())
}

fn texts(document: &ParsedDocument) -> Vec<&str> {
    document.chunks.iter().map(|chunk| chunk.text.as_str()).collect()
}

fn archive(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// An Office package: where its main part is, of what type, and its parts.
fn package(relations: &str, main: &str, content_type: &str, parts: &[(&str, &str)]) -> Vec<u8> {
    let types = format!(
        r#"<Types><Default Extension="xml" ContentType="application/xml"/><Override PartName="/{main}" ContentType="application/vnd.openxmlformats-officedocument.{content_type}.main+xml"/></Types>"#
    );
    let root = format!(
        r#"<Relationships><Relationship Id="r1" Type="{relations}/officeDocument" Target="{main}"/></Relationships>"#
    );
    let mut all = vec![("[Content_Types].xml", types.as_str()), ("_rels/.rels", root.as_str())];
    all.extend_from_slice(parts);
    archive(&all)
}

/// A Word document with a body and further parts: relation, name, content.
fn docx_with(relations: &str, body: &str, further: &[(&str, &str, &str)]) -> Vec<u8> {
    let document = format!(r#"<w:document xmlns:w="w" xmlns:mc="mc"><w:body>{body}</w:body></w:document>"#);
    let links: Vec<_> = further
        .iter()
        .map(|(kind, name, _)| format!(r#"<Relationship Id="{kind}" Type="{relations}/{kind}" Target="{name}"/>"#))
        .collect();
    let links = links.concat();
    let links = format!("<Relationships>{links}</Relationships>");
    let names: Vec<_> = further.iter().map(|(_, name, _)| format!("text/{name}")).collect();
    let mut parts = vec![("text/main.xml", document.as_str()), ("text/_rels/main.xml.rels", links.as_str())];
    parts.extend(names.iter().map(String::as_str).zip(further.iter().map(|(_, _, content)| *content)));
    package(relations, "text/main.xml", "wordprocessingml.document", &parts)
}

fn docx(body: &str) -> Vec<u8> {
    docx_with(TRANSITIONAL, body, &[])
}

fn paragraph(text: &str) -> String {
    format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>")
}

/// A presentation: for each slide, in the order shown, its content and further parts (relation, content).
fn pptx(slides: &[(&str, &[(&str, &str)])]) -> Vec<u8> {
    let (mut list, mut links, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    for ((content, further), n) in slides.iter().zip(1..) {
        // The names say nothing of the order.
        let name = format!("s{}.xml", 100 - n);
        list.push(format!(r#"<p:sldId id="{}" r:id="r{n}"/>"#, 255 + n));
        links.push(format!(r#"<Relationship Id="r{n}" Type="{TRANSITIONAL}/slide" Target="{name}"/>"#));
        let mut own = Vec::new();
        for (kind, content) in *further {
            own.push(format!(r#"<Relationship Id="{kind}" Type="{TRANSITIONAL}/{kind}" Target="{kind}{n}.xml"/>"#));
            parts.push((format!("deck/{kind}{n}.xml"), (*content).to_owned()));
        }
        parts.push((format!("deck/_rels/{name}.rels"), format!("<Relationships>{}</Relationships>", own.concat())));
        parts.push((format!("deck/{name}"), (*content).to_owned()));
    }
    parts.push((
        "deck/main.xml".into(),
        format!("<p:presentation><p:sldIdLst>{}</p:sldIdLst></p:presentation>", list.concat()),
    ));
    parts.push(("deck/_rels/main.xml.rels".into(), format!("<Relationships>{}</Relationships>", links.concat())));
    let parts: Vec<_> = parts.iter().map(|(name, content)| (name.as_str(), content.as_str())).collect();
    package(TRANSITIONAL, "deck/main.xml", "presentationml.presentation", &parts)
}

/// A workbook: name, attributes and sheet data of each sheet.
fn xlsx(sheets: &[(&str, &str, &str)]) -> Vec<u8> {
    const SHEET: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let (mut list, mut links, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    for ((name, attributes, data), n) in sheets.iter().zip(1..) {
        list.push(format!(r#"<sheet name="{name}" sheetId="{n}" r:id="r{n}" {attributes}/>"#));
        links.push(format!(r#"<Relationship Id="r{n}" Type="{TRANSITIONAL}/worksheet" Target="worksheets/{n}.xml"/>"#));
        parts.push((format!("xl/worksheets/{n}.xml"), format!(r#"<worksheet xmlns="{SHEET}">{data}</worksheet>"#)));
    }
    let styles = format!(
        r#"<styleSheet xmlns="{SHEET}"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>"#
    );
    links.push(format!(r#"<Relationship Id="s" Type="{TRANSITIONAL}/styles" Target="styles.xml"/>"#));
    let (list, links) = (list.concat(), links.concat());
    let workbook = format!(r#"<workbook xmlns="{SHEET}" xmlns:r="{TRANSITIONAL}"><sheets>{list}</sheets></workbook>"#);
    let links = format!(
        r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{links}</Relationships>"#
    );
    let mut all = vec![("xl/workbook.xml", workbook.as_str()), ("xl/_rels/workbook.xml.rels", links.as_str())];
    all.push(("xl/styles.xml", styles.as_str()));
    all.extend(parts.iter().map(|(name, content)| (name.as_str(), content.as_str())));
    package(TRANSITIONAL, "xl/workbook.xml", "spreadsheetml.sheet", &all)
}

/// Rows of text cells, from row 1.
fn rows(rows: &[&[&str]]) -> String {
    let row = |(cells, row): (&&[&str], u32)| {
        let cells: Vec<_> =
            cells.iter().zip('A'..='Z').map(|(text, column)| inline(&format!("{column}{row}"), text)).collect();
        format!(r#"<row r="{row}">{}</row>"#, cells.concat())
    };
    format!("<sheetData>{}</sheetData>", rows.iter().zip(1..).map(row).collect::<Vec<_>>().concat())
}

fn inline(place: &str, text: &str) -> String {
    format!(r#"<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>"#)
}

const fn code(error: &ParseError) -> &'static str {
    match error {
        ParseError::UnsupportedType { .. } => "unsupported_type",
        ParseError::ParseFailed { .. } => "parse_failed",
        ParseError::Encrypted => "encrypted",
        ParseError::NoText => "no_text",
        ParseError::ArchiveTooLarge { .. } => "archive_too_large",
        ParseError::ChunkLimitExceeded { .. } => "chunk_limit_exceeded",
        ParseError::TooLarge { .. } => "too_large",
    }
}
