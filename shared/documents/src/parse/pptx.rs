//! Presentations: slides in the order they are shown, each under its title, with its tables and the speaker's notes.

use super::{
    Block, BlockKind, Content, Outline, Parsed,
    archive::{Archive, file_name},
    clean,
    grid::{Cells, Grid},
    label, push_block, words_of,
    xml::{self, Visit, attribute, for_each_start, is_on, relation_id},
};
use crate::{Limits, ParseError};
use anchorage_domain::{SkipReason, Skipped};
use quick_xml::events::BytesStart;
use std::collections::HashSet;

/// Kinds of parts that hold text of a slide, in a form that is not read.
const UNREAD: [&str; 3] = ["chart", "oleObject", "package"];

pub(super) fn parse(archive: &mut Archive<'_>, main: &str, limits: &Limits) -> Result<Parsed, ParseError> {
    let relations = archive.relations(main)?;
    let mut order = Vec::new();
    for_each_start(&archive.part(main)?, |element| {
        if element.local_name().as_ref() == "sldId" {
            order.extend(relation_id(element));
        }
    })?;
    let mut deck = Deck {
        limits,
        cells: Cells::new(limits),
        parsed: Parsed::default(),
        outline: Outline::default(),
        seen: HashSet::new(),
    };
    for (id, number) in order.iter().zip(1_u32..) {
        deck.parsed.coverage.pages = Some(number);
        match relations.get(id).filter(|relation| archive.has(&relation.target)) {
            Some(relation) if !deck.seen.insert(relation.target.clone()) => {}
            Some(relation) => deck.slide(archive, &relation.target, number)?,
            None => deck.skipped(format!("slide {number}"), SkipReason::Unreadable),
        }
    }
    Ok(deck.parsed)
}

struct Deck<'a> {
    limits: &'a Limits,
    cells: Cells,
    parsed: Parsed,
    outline: Outline,
    /// Parts that were read: naming one a thousand times must not cost a thousand times.
    seen: HashSet<String>,
}

impl Deck<'_> {
    fn skipped(&mut self, what: String, reason: SkipReason) {
        self.parsed.coverage.skipped.push(Skipped { what, reason });
    }

    fn slide(&mut self, archive: &mut Archive<'_>, name: &str, number: u32) -> Result<(), ParseError> {
        let mut slide = self.shapes(&archive.part(name)?, None)?;
        let mut notes = Vec::new();
        let mut related: Vec<_> = archive.relations(name)?.into_values().collect();
        related.sort_by(|a, b| a.target.cmp(&b.target));
        for part in related {
            if !archive.has(&part.target) || !self.seen.insert(part.target.clone()) {
                continue;
            }
            match part.kind.as_str() {
                "diagramData" => slide.pieces.extend(self.shapes(&archive.part(&part.target)?, None)?.pieces),
                "notesSlide" => notes = self.shapes(&archive.part(&part.target)?, Some("body"))?.pieces,
                kind if UNREAD.contains(&kind) => {
                    let what = format!("slide {number}: {}", label(file_name(&part.target)));
                    self.skipped(what, SkipReason::Unsupported);
                }
                _ => {}
            }
        }
        if slide.hidden {
            self.skipped(format!("slide {number}"), SkipReason::Hidden);
        }
        let title = words_of(&slide.title.join(" "));
        self.outline.enter(1, if title.is_empty() { format!("Slide {number}") } else { title.clone() }.as_str());
        if !title.is_empty() {
            self.parsed.title.get_or_insert_with(|| title.clone());
            self.block(BlockKind::Heading, Content::Text(title))?;
        }
        for (kind, content) in slide.pieces {
            self.block(kind, content)?;
        }
        if !notes.is_empty() {
            self.outline.enter(2, "Notes");
        }
        for (_, content) in notes {
            self.block(BlockKind::Footnote, content)?;
        }
        Ok(())
    }

    /// What stands on a slide, in the order it was drawn; of the shapes that are `only` of one kind, those.
    fn shapes(&mut self, xml: &str, only: Option<&'static str>) -> Result<Shapes, ParseError> {
        let mut walk = Walk {
            only,
            cells: &mut self.cells,
            shapes: Shapes::default(),
            shape: None,
            in_shape: false,
            line: None,
            table: None,
            in_text: false,
        };
        xml::walk(xml, self.limits, &mut walk)?;
        Ok(walk.shapes)
    }

    fn block(&mut self, kind: BlockKind, content: Content) -> Result<(), ParseError> {
        push_block(&mut self.parsed.blocks, Block { kind, heading_path: self.outline.path(), content }, self.limits)
    }
}

#[derive(Debug, Default)]
struct Shapes {
    hidden: bool,
    title: Vec<String>,
    pieces: Vec<(BlockKind, Content)>,
}

struct Walk<'a> {
    only: Option<&'static str>,
    cells: &'a mut Cells,
    shapes: Shapes,
    /// What the open shape is the place for, if it is one that the layout foresees.
    shape: Option<String>,
    in_shape: bool,
    line: Option<String>,
    table: Option<TableFrame>,
    in_text: bool,
}

#[derive(Debug, Default)]
struct TableFrame {
    grid: Grid,
    /// The first row is drawn as a header.
    header: bool,
    columns: u32,
    rows: u32,
    /// The open cell is covered by the one before or above it.
    covered: bool,
}

impl Visit for Walk<'_> {
    fn skips(&self, name: &str, element: &BytesStart<'_>) -> bool {
        // Numbers and dates that every slide shows are no text of it.
        name == "fld"
            && attribute(element, "type").is_some_and(|kind| kind == "slidenum" || kind.starts_with("datetime"))
    }

    fn start(&mut self, name: &str, element: &BytesStart<'_>) -> Result<(), ParseError> {
        match name {
            "sld" => self.shapes.hidden = !is_on(attribute(element, "show").as_deref()),
            "sp" => (self.shape, self.in_shape) = (None, true),
            "ph" if self.in_shape => {
                self.shape = Some(attribute(element, "type").unwrap_or_else(|| "obj".into()));
            }
            "p" => self.line = Some(String::new()),
            "t" => self.in_text = true,
            "br" => {
                if let Some(line) = &mut self.line {
                    line.push('\n');
                }
            }
            "tbl" => self.table = Some(TableFrame::default()),
            "tblPr" => {
                if let Some(table) = &mut self.table {
                    table.header = attribute(element, "firstRow").is_some_and(|on| is_on(Some(&on)));
                }
            }
            "tc" => {
                if let Some(table) = &mut self.table {
                    let span = |name| attribute(element, name).and_then(|count| count.parse().ok()).unwrap_or(1);
                    let covered = |name| attribute(element, name).is_some_and(|on| is_on(Some(&on)));
                    (table.columns, table.rows) = (span("gridSpan"), span("rowSpan"));
                    table.covered = covered("hMerge") || covered("vMerge");
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
                let line = self.line.take().unwrap_or_default();
                self.paragraph(&line);
            }
            "sp" => (self.shape, self.in_shape) = (None, false),
            "tc" => {
                // The cells that a span covers are there, and empty: the grid makes its own.
                if let Some(table) = self.table.as_mut().filter(|table| !table.covered) {
                    table.grid.end_cell(table.columns, table.rows, self.cells)?;
                }
            }
            "tr" => {
                if let Some(table) = &mut self.table {
                    table.grid.end_row(self.cells)?;
                    if std::mem::take(&mut table.header) {
                        table.grid.mark_last_row();
                    }
                }
            }
            "tbl" => {
                if let Some(table) = self.table.take().and_then(|table| table.grid.into_table()) {
                    self.shapes.pieces.push((BlockKind::Table, Content::Table(table)));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), ParseError> {
        if let Some(line) = self.line.as_mut().filter(|_| self.in_text) {
            line.push_str(text);
        }
        Ok(())
    }
}

impl Walk<'_> {
    fn paragraph(&mut self, line: &str) {
        let line = clean(line);
        let text = line.trim();
        if text.is_empty() {
            return;
        }
        if let Some(table) = &mut self.table {
            table.grid.write(text);
            return;
        }
        let shape = self.shape.as_deref();
        if self.only.is_some_and(|only| shape != Some(only)) {
            return;
        }
        let kind = match shape {
            Some("title" | "ctrTitle") => {
                self.shapes.title.push(text.to_owned());
                return;
            }
            // What every slide repeats is no text of this one.
            Some("sldNum" | "dt" | "ftr" | "hdr") => return,
            Some("body" | "obj") => BlockKind::ListItem,
            _ => BlockKind::Paragraph,
        };
        self.shapes.pieces.push((kind, Content::Text(text.to_owned())));
    }
}
