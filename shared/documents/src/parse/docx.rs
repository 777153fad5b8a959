//! Word documents: one pass over the main part's XML, without recursion, so that nesting costs no stack.

use super::{
    Block, BlockKind, Content, Outline, Parsed, Row, Table,
    archive::{Archive, attribute},
    clean, is_unseen, push_block,
    workbook::is_header,
};
use crate::{Limits, ParseError};
use anchorage_domain::{SkipReason, Skipped};
use quick_xml::{
    Reader,
    events::{BytesStart, Event},
};
use std::collections::HashMap;

pub(super) fn parse(archive: &mut Archive<'_>, main: &str, limits: &Limits) -> Result<Parsed, ParseError> {
    let relations = archive.relations(main)?;
    let target =
        |kind: &str| relations.values().find(|relation| relation.kind == kind).map(|relation| relation.target.clone());
    let styles = match target("styles").filter(|name| archive.has(name)) {
        Some(name) => heading_styles(&archive.part(&name)?)?,
        None => HashMap::new(),
    };
    let mut walk = Walk::new(&styles, limits, false);
    walk.run(&archive.part(main)?)?;
    let mut parsed = Parsed { title: walk.title, blocks: walk.blocks, ..Parsed::default() };
    for kind in ["footnotes", "endnotes"] {
        if let Some(name) = target(kind).filter(|name| archive.has(name)) {
            let mut notes = Walk::new(&styles, limits, true);
            notes.run(&archive.part(&name)?)?;
            parsed.blocks.extend(notes.blocks);
        }
    }
    let mut headers: Vec<_> =
        relations.values().filter(|relation| matches!(relation.kind.as_str(), "header" | "footer")).collect();
    headers.sort_by(|a, b| a.target.cmp(&b.target));
    for header in headers {
        let mut walk = Walk::new(&styles, limits, false);
        if archive.has(&header.target) && walk.run(&archive.part(&header.target)?).is_ok() && !walk.blocks.is_empty() {
            parsed.coverage.skipped.push(Skipped { what: header.target.clone(), reason: SkipReason::Unsupported });
        }
    }
    Ok(parsed)
}

/// Heading levels by style id: by outline level, or by the style's name.
fn heading_styles(xml: &str) -> Result<HashMap<String, u8>, ParseError> {
    let mut levels = HashMap::new();
    let mut style = None;
    let mut reader = Reader::from_str(xml);
    loop {
        match reader.read_event().map_err(|_| ParseError::failed("the document's styles are no XML"))? {
            Event::Start(element) | Event::Empty(element) => match element.local_name().as_ref() {
                "style" => style = attribute(&element, "styleId"),
                "name" => {
                    let name = attribute(&element, "val").unwrap_or_default().to_lowercase();
                    let level = name.strip_prefix("heading ").and_then(|level| level.parse().ok());
                    if let (Some(style), Some(level)) = (&style, level.or((name == "title").then_some(0))) {
                        levels.insert(style.clone(), level);
                    }
                }
                "outlineLvl" => {
                    if let (Some(style), Some(level)) = (&style, outline_level(&element)) {
                        levels.entry(style.clone()).or_insert(level);
                    }
                }
                _ => {}
            },
            Event::Eof => return Ok(levels),
            _ => {}
        }
    }
}

/// Level 9 means body text.
fn outline_level(element: &BytesStart<'_>) -> Option<u8> {
    attribute(element, "val")?.parse::<u8>().ok().filter(|level| *level < 9).map(|level| level + 1)
}

/// A first row that no one marked as a header is taken for one when it reads like one and this many rows are there; a
/// smaller table is as likely a layout.
const MIN_ROWS_UNDER_HEADER: usize = 3;

/// What is known of the paragraph being read.
#[derive(Debug, Default)]
struct Paragraph {
    text: String,
    heading: Option<u8>,
    list: bool,
}

#[derive(Debug, Default)]
struct TableFrame {
    rows: Vec<Vec<String>>,
    row: Vec<String>,
    cell: String,
    /// The first row is marked as one that every page repeats.
    marked: bool,
}

struct Walk<'a> {
    styles: &'a HashMap<String, u8>,
    limits: &'a Limits,
    notes: bool,
    blocks: Vec<Block>,
    outline: Outline,
    title: Option<String>,
    /// The paragraph being read, on top of those that contain the text box it stands in.
    paragraphs: Vec<Paragraph>,
    tables: Vec<TableFrame>,
    /// For each open alternative, whether one of its choices was taken.
    alternatives: Vec<bool>,
    /// Elements open inside something that is left out, itself included; 0 when nothing is.
    skipping: usize,
    depth: usize,
    in_text: bool,
}

impl<'a> Walk<'a> {
    fn new(styles: &'a HashMap<String, u8>, limits: &'a Limits, notes: bool) -> Self {
        Self {
            styles,
            limits,
            notes,
            blocks: Vec::new(),
            outline: Outline::default(),
            title: None,
            paragraphs: Vec::new(),
            tables: Vec::new(),
            alternatives: Vec::new(),
            skipping: 0,
            depth: 0,
            in_text: false,
        }
    }

    fn run(&mut self, xml: &str) -> Result<(), ParseError> {
        let mut reader = Reader::from_str(xml);
        loop {
            match reader.read_event() {
                Ok(Event::Start(element)) => {
                    self.depth += 1;
                    if self.depth > self.limits.max_depth {
                        let problem = format!("the document is nested deeper than {} elements", self.limits.max_depth);
                        return Err(ParseError::failed(problem));
                    }
                    self.start(&element);
                }
                Ok(Event::Empty(element)) => {
                    self.start(&element);
                    self.end(element.local_name().as_ref())?;
                }
                Ok(Event::End(element)) => {
                    self.depth = self.depth.saturating_sub(1);
                    self.end(element.local_name().as_ref())?;
                }
                Ok(Event::Text(text)) => self.text(&text.xml_content(quick_xml::XmlVersion::Implicit1_0)),
                Ok(Event::CData(text)) => self.text(&text.xml_content(quick_xml::XmlVersion::Implicit1_0)),
                Ok(Event::GeneralRef(reference)) => {
                    let character = reference.resolve_char_ref().ok().flatten().map(String::from);
                    let named = || quick_xml::escape::resolve_predefined_entity(&reference).map(str::to_owned);
                    if let Some(text) = character.or_else(named) {
                        self.text(&text);
                    }
                }
                Ok(Event::Eof) if self.depth > 0 => return Err(ParseError::failed("the document's XML is cut off")),
                Ok(Event::Eof) => return Ok(()),
                Ok(_) => {}
                Err(_) => return Err(ParseError::failed("the document's main part is no well-formed XML")),
            }
        }
    }

    fn text(&mut self, text: &str) {
        if self.in_text && self.skipping == 0 {
            self.push(text);
        }
    }

    fn push(&mut self, text: &str) {
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.text.push_str(text);
        }
    }

    fn start(&mut self, element: &BytesStart<'_>) {
        let name = element.local_name();
        let name = name.as_ref();
        if self.skipping > 0 {
            self.skipping += 1;
            return;
        }
        match name {
            // Deleted and moved-away text is gone.
            "del" | "moveFrom" | "instrText" | "delText" => self.skipping = 1,
            // Once one alternative was taken, the others would say the same again.
            "Choice" | "Fallback" if self.alternatives.last().copied().unwrap_or(false) => self.skipping = 1,
            // Separators between notes are no notes.
            "footnote" | "endnote" if attribute(element, "type").is_some_and(|kind| kind != "normal") => {
                self.skipping = 1;
            }
            "AlternateContent" => self.alternatives.push(false),
            "Choice" => {
                if let Some(taken) = self.alternatives.last_mut() {
                    *taken = true;
                }
            }
            "p" => self.paragraphs.push(Paragraph::default()),
            "t" => self.in_text = true,
            "tab" if self.depth > 0 => self.push("\t"),
            "br" | "cr" => self.push("\n"),
            "noBreakHyphen" => self.push("-"),
            "pStyle" => {
                let level = attribute(element, "val").and_then(|style| self.styles.get(&style).copied());
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.heading = level.or(paragraph.heading);
                }
            }
            "outlineLvl" => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.heading = outline_level(element).or(paragraph.heading);
                }
            }
            "numPr" => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.list = true;
                }
            }
            "tbl" => self.tables.push(TableFrame::default()),
            "tblHeader"
                if attribute(element, "val").is_none_or(|val| !matches!(val.as_str(), "0" | "false" | "off")) =>
            {
                if let Some(table) = self.tables.last_mut().filter(|table| table.rows.is_empty()) {
                    table.marked = true;
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, name: &str) -> Result<(), ParseError> {
        if self.skipping > 0 {
            self.skipping -= 1;
            return Ok(());
        }
        match name {
            "AlternateContent" => {
                self.alternatives.pop();
            }
            "t" => self.in_text = false,
            "p" => {
                if let Some(paragraph) = self.paragraphs.pop() {
                    self.paragraph(&paragraph)?;
                }
            }
            "tc" => {
                if let Some(table) = self.tables.last_mut() {
                    let cell = std::mem::take(&mut table.cell);
                    table.row.push(cell.trim_matches(is_unseen).to_owned());
                }
            }
            "tr" => {
                if let Some(table) = self.tables.last_mut() {
                    let row = std::mem::take(&mut table.row);
                    table.rows.push(row);
                }
            }
            "tbl" => self.table()?,
            _ => {}
        }
        Ok(())
    }

    fn paragraph(&mut self, paragraph: &Paragraph) -> Result<(), ParseError> {
        let text = clean(&paragraph.text);
        let text = text.trim();
        if text.is_empty() {
            return Ok(());
        }
        if let Some(table) = self.tables.last_mut() {
            if !table.cell.is_empty() {
                table.cell.push('\n');
            }
            table.cell.push_str(text);
            return Ok(());
        }
        let kind = match paragraph.heading {
            _ if self.notes => BlockKind::Footnote,
            Some(level) => {
                self.title.get_or_insert_with(|| text.to_owned());
                // A title stands above everything, but is no section of its own.
                if level > 0 {
                    self.outline.enter(level, text);
                }
                BlockKind::Heading
            }
            None if paragraph.list => BlockKind::ListItem,
            None => BlockKind::Paragraph,
        };
        self.block(kind, Content::Text(text.to_owned()))
    }

    fn table(&mut self) -> Result<(), ParseError> {
        let Some(mut frame) = self.tables.pop() else { return Ok(()) };
        if let Some(outer) = self.tables.last_mut() {
            // A table inside a cell becomes text of that cell, borders kept.
            let rows: Vec<_> = frame.rows.iter().map(|row| row.join(" | ")).collect();
            if !outer.cell.is_empty() {
                outer.cell.push('\n');
            }
            outer.cell.push_str(&rows.join("\n"));
            return Ok(());
        }
        let unmarked =
            || frame.rows.len() >= MIN_ROWS_UNDER_HEADER && frame.rows.first().is_some_and(|row| is_header(row));
        let header =
            if frame.rows.len() > 1 && (frame.marked || unmarked()) { frame.rows.remove(0) } else { Vec::new() };
        let number = if header.is_empty() { 1 } else { 2 };
        let rows: Vec<_> = frame.rows.into_iter().zip(number..).map(|(cells, number)| Row { number, cells }).collect();
        if rows.iter().flat_map(|row| &row.cells).chain(&header).all(String::is_empty) {
            return Ok(());
        }
        self.block(
            BlockKind::Table,
            Content::Table(Table { sheet: None, context: Vec::new(), header, first_row: 1, rows }),
        )
    }

    fn block(&mut self, kind: BlockKind, content: Content) -> Result<(), ParseError> {
        push_block(&mut self.blocks, Block { kind, heading_path: self.outline.path(), content }, self.limits)
    }
}
