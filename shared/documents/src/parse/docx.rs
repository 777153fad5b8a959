//! Word documents: one pass over the main part's XML, without recursion, so that nesting costs no stack.

mod numbering;
mod styles;

use super::{
    Block, BlockKind, Content, Outline, Parsed,
    archive::{Archive, file_name},
    clean,
    grid::{Cells, Grid},
    label, push_block,
    xml::{self, Visit, attribute, is_on},
};
use crate::{Limits, ParseError, limits::MAX_TABLE_DEPTH};
use anchorage_domain::{SkipReason, Skipped};
use numbering::Numbering;
use quick_xml::events::BytesStart;
use std::collections::HashMap;
use styles::{NumberRef, Style, outline_level};

/// Kinds of parts that stand beside the text and are no part of it.
const BESIDE: [&str; 3] = ["header", "footer", "comments"];
/// Kinds of parts that hold text of the document, in a form that is not read.
const UNREAD: [&str; 5] = ["package", "oleObject", "aFChunk", "chart", "diagramData"];

pub(super) fn parse(archive: &mut Archive<'_>, main: &str, limits: &Limits) -> Result<Parsed, ParseError> {
    let relations = archive.relations(main)?;
    let target =
        |kind: &str| relations.values().find(|relation| relation.kind == kind).map(|relation| relation.target.clone());
    let styles = match target("styles").filter(|name| archive.has(name)) {
        Some(name) => styles::read(&archive.part(&name)?)?,
        None => HashMap::new(),
    };
    let numbering = match target("numbering").filter(|name| archive.has(name)) {
        Some(name) => Numbering::read(&archive.part(&name)?)?,
        None => Numbering::default(),
    };
    let mut walk = Walk::new(&styles, numbering, limits);
    walk.run(&archive.part(main)?)?;
    let title = walk.title.take();
    for kind in ["footnotes", "endnotes"] {
        if let Some(name) = target(kind).filter(|name| archive.has(name)) {
            walk.notes = true;
            walk.outline = Outline::default();
            walk.run(&archive.part(&name)?)?;
        }
    }
    let mut parsed = Parsed { title, blocks: walk.blocks, ..Parsed::default() };
    let mut beside: Vec<_> =
        relations.values().filter(|relation| BESIDE.contains(&relation.kind.as_str())).map(|r| &r.target).collect();
    beside.sort();
    beside.dedup();
    for name in beside {
        let mut walk = Walk::new(&styles, Numbering::default(), limits);
        if archive.has(name) && walk.run(&archive.part(name)?).is_ok() && !walk.blocks.is_empty() {
            parsed.coverage.skipped.push(Skipped { what: label(file_name(name)), reason: SkipReason::Aside });
        }
    }
    let mut unread: Vec<_> =
        relations.values().filter(|relation| UNREAD.contains(&relation.kind.as_str())).map(|r| &r.target).collect();
    unread.sort();
    for name in unread {
        parsed.coverage.skipped.push(Skipped { what: label(file_name(name)), reason: SkipReason::Unsupported });
    }
    Ok(parsed)
}

/// What is known of the paragraph being read.
#[derive(Debug, Default)]
struct Paragraph {
    text: String,
    heading: Option<u8>,
    number: NumberRef,
}

/// A table, and what its open row and cell say of themselves.
#[derive(Debug, Default)]
struct TableFrame {
    grid: Grid,
    /// The open row is marked as one that every page repeats.
    header: bool,
    columns: u32,
    /// The open cell goes on with the one above it.
    continued: bool,
}

struct Walk<'a> {
    styles: &'a HashMap<String, Style>,
    numbering: Numbering,
    limits: &'a Limits,
    cells: Cells,
    /// What is read are notes.
    notes: bool,
    blocks: Vec<Block>,
    outline: Outline,
    title: Option<String>,
    /// The paragraph being read, on top of those that contain the text box it stands in.
    paragraphs: Vec<Paragraph>,
    tables: Vec<TableFrame>,
    /// Open tables that are nested too deep to be tables.
    flat: usize,
    in_text: bool,
}

impl<'a> Walk<'a> {
    fn new(styles: &'a HashMap<String, Style>, numbering: Numbering, limits: &'a Limits) -> Self {
        Self {
            styles,
            numbering,
            limits,
            cells: Cells::new(limits),
            notes: false,
            blocks: Vec::new(),
            outline: Outline::default(),
            title: None,
            paragraphs: Vec::new(),
            tables: Vec::new(),
            flat: 0,
            in_text: false,
        }
    }

    fn run(&mut self, xml: &str) -> Result<(), ParseError> {
        xml::walk(xml, self.limits, self)
    }

    fn push(&mut self, text: &str) {
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.text.push_str(text);
        }
    }

    fn paragraph(&mut self, paragraph: &Paragraph) -> Result<(), ParseError> {
        let text = clean(&paragraph.text);
        let text = text.trim();
        if text.is_empty() {
            return Ok(());
        }
        let number = paragraph.number.list.is_some().then(|| self.numbering.next(&paragraph.number)).flatten();
        let text = &match number {
            Some(number) => format!("{number} {text}"),
            None => text.to_owned(),
        };
        if let Some(table) = self.tables.last_mut() {
            table.grid.write(text);
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
            None if paragraph.number.list.as_ref().is_some_and(|list| list != "0") => BlockKind::ListItem,
            None => BlockKind::Paragraph,
        };
        self.block(kind, Content::Text(text.to_owned()))
    }

    fn table(&mut self) -> Result<(), ParseError> {
        let Some(frame) = self.tables.pop() else { return Ok(()) };
        if let Some(outer) = self.tables.last_mut() {
            outer.grid.write(&frame.grid.into_text());
            return Ok(());
        }
        match frame.grid.into_table() {
            Some(table) => self.block(BlockKind::Table, Content::Table(table)),
            None => Ok(()),
        }
    }

    fn block(&mut self, kind: BlockKind, content: Content) -> Result<(), ParseError> {
        push_block(&mut self.blocks, Block { kind, heading_path: self.outline.path(), content }, self.limits)
    }
}

impl Visit for Walk<'_> {
    fn skips(&self, name: &str, element: &BytesStart<'_>) -> bool {
        match name {
            // Deleted and moved-away text is gone; what a field does and where tabulators stand is no text.
            "del" | "moveFrom" | "instrText" | "delText" | "tabs" => true,
            // Separators between notes are no notes.
            "footnote" | "endnote" => attribute(element, "type").is_some_and(|kind| kind != "normal"),
            _ => false,
        }
    }

    fn start(&mut self, name: &str, element: &BytesStart<'_>) -> Result<(), ParseError> {
        match name {
            "p" => self.paragraphs.push(Paragraph::default()),
            "t" => self.in_text = true,
            "tab" => self.push("\t"),
            "br" | "cr" => self.push("\n"),
            "noBreakHyphen" => self.push("-"),
            "pStyle" => {
                let style = attribute(element, "val").and_then(|style| self.styles.get(&style));
                if let (Some(paragraph), Some(style)) = (self.paragraphs.last_mut(), style) {
                    paragraph.heading = style.heading.or(paragraph.heading);
                    paragraph.number = style.number.clone();
                }
            }
            "outlineLvl" => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.heading = outline_level(element).or(paragraph.heading);
                }
            }
            "numId" => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.number.list = attribute(element, "val");
                }
            }
            "ilvl" => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.number.level = attribute(element, "val").and_then(|level| level.parse().ok());
                }
            }
            "tbl" if self.tables.len() >= MAX_TABLE_DEPTH => self.flat += 1,
            "tbl" => self.tables.push(TableFrame::default()),
            name if self.flat == 0 => {
                if let Some(table) = self.tables.last_mut() {
                    table.start(name, element);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<(), ParseError> {
        match name {
            "t" => self.in_text = false,
            "p" => {
                if let Some(paragraph) = self.paragraphs.pop() {
                    self.paragraph(&paragraph)?;
                }
            }
            "tbl" if self.flat > 0 => self.flat -= 1,
            "tc" | "tr" if self.flat > 0 => {}
            "tc" => {
                if let Some(table) = self.tables.last_mut() {
                    if table.continued {
                        table.grid.end_continued_cell(table.columns, &mut self.cells)?;
                    } else {
                        table.grid.end_cell(table.columns, 1, &mut self.cells)?;
                    }
                }
            }
            "tr" => {
                if let Some(table) = self.tables.last_mut() {
                    table.grid.end_row(&mut self.cells)?;
                    if table.header {
                        table.grid.mark_last_row();
                    }
                }
            }
            "tbl" => self.table()?,
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), ParseError> {
        if self.in_text {
            self.push(text);
        }
        Ok(())
    }
}

impl TableFrame {
    fn start(&mut self, name: &str, element: &BytesStart<'_>) {
        let value = || attribute(element, "val");
        match name {
            "tr" => self.header = false,
            "tc" => (self.columns, self.continued) = (1, false),
            "tblHeader" => self.header = is_on(value().as_deref()),
            "gridSpan" => self.columns = value().and_then(|columns| columns.parse().ok()).unwrap_or(1),
            "vMerge" | "hMerge" => self.continued |= value().is_none_or(|merge| merge == "continue"),
            _ => {}
        }
    }
}
