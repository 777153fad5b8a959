//! Small Office documents, made by code.

use std::io::{Cursor, Write as _};
use zip::{ZipWriter, write::SimpleFileOptions};

const WORD: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
const SHEET: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006/relationships";
const TYPES: &str = "http://schemas.openxmlformats.org/package/2006/content-types";

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn archive(parts: &[(&str, String)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        zip.start_file(*name, SimpleFileOptions::default()).expect("a part starts");
        zip.write_all(content.as_bytes()).expect("a part is written");
    }
    zip.finish().expect("the archive ends").into_inner()
}

/// A Word document of plain paragraphs.
#[must_use]
pub fn docx(paragraphs: &[&str]) -> Vec<u8> {
    let runs: Vec<_> = paragraphs.iter().map(|text| escape(text)).collect();
    let body = format!("<w:p><w:r><w:t>{}</w:t></w:r></w:p>", runs.join("</w:t></w:r></w:p><w:p><w:r><w:t>"));
    archive(&[
        (
            "[Content_Types].xml",
            format!(
                r#"<Types xmlns="{TYPES}"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"#
            ),
        ),
        (
            "_rels/.rels",
            format!(
                r#"<Relationships xmlns="{PACKAGE}"><Relationship Id="r1" Type="{OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>"#
            ),
        ),
        ("word/document.xml", format!(r#"<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>"#)),
    ])
}

/// A workbook of one sheet.
#[must_use]
pub fn xlsx(sheet: &str, rows: &[&[&str]]) -> Vec<u8> {
    let cell = |text: &&str| format!(r#"<c t="inlineStr"><is><t>{}</t></is></c>"#, escape(text));
    let row = |cells: &&[&str]| format!("<row>{}</row>", cells.iter().map(cell).collect::<String>());
    let data: String = rows.iter().map(row).collect();
    archive(&[
        (
            "[Content_Types].xml",
            format!(
                r#"<Types xmlns="{TYPES}"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>"#
            ),
        ),
        (
            "_rels/.rels",
            format!(
                r#"<Relationships xmlns="{PACKAGE}"><Relationship Id="r1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>"#
            ),
        ),
        (
            "xl/workbook.xml",
            format!(
                r#"<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}"><sheets><sheet name="{}" sheetId="1" r:id="r1"/></sheets></workbook>"#,
                escape(sheet)
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            format!(
                r#"<Relationships xmlns="{PACKAGE}"><Relationship Id="r1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>"#
            ),
        ),
        (
            "xl/worksheets/sheet1.xml",
            format!(r#"<worksheet xmlns="{SHEET}"><sheetData>{data}</sheetData></worksheet>"#),
        ),
    ])
}

/// What a password-protected Office document looks like from outside: an OLE container, not an archive.
///
/// Holds one sector of directory with the `EncryptedPackage` stream's name, which is how such files are told.
#[must_use]
pub fn encrypted() -> Vec<u8> {
    let mut file = vec![0_u8; 512 * 3];
    let mut put = |at: usize, bytes: &[u8]| {
        if let Some(place) = file.get_mut(at..at + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    };
    put(0, &[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]);
    put(24, &[0x3E, 0, 3, 0, 0xFE, 0xFF, 9, 0, 6, 0]);
    put(44, &1_u32.to_le_bytes());
    put(48, &1_u32.to_le_bytes());
    put(56, &4096_u32.to_le_bytes());
    put(60, &0xFFFF_FFFE_u32.to_le_bytes());
    put(68, &0xFFFF_FFFE_u32.to_le_bytes());
    put(76, &0_u32.to_le_bytes());
    for slot in 1..109 {
        put(76 + slot * 4, &0xFFFF_FFFF_u32.to_le_bytes());
    }
    put(512, &0xFFFF_FFFD_u32.to_le_bytes());
    put(516, &0xFFFF_FFFE_u32.to_le_bytes());
    for slot in 2..128 {
        put(512 + slot * 4, &0xFFFF_FFFF_u32.to_le_bytes());
    }
    for (entry, (name, kind)) in [("Root Entry", 5_u8), ("EncryptedPackage", 2)].into_iter().enumerate() {
        let at = 1024 + entry * 128;
        let utf16: Vec<u8> = name.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect();
        put(at, &utf16);
        put(at + 64, &u16::try_from(utf16.len()).unwrap_or(0).to_le_bytes());
        put(at + 66, &[kind, 1]);
        put(at + 68, &[0xFF; 8]);
        put(at + 76, &if entry == 0 { 1_u32 } else { u32::MAX }.to_le_bytes());
        put(at + 116, &0xFFFF_FFFE_u32.to_le_bytes());
    }
    file
}
