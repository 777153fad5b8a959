//! HTML: one pass over the tokens, without a tree, so that nesting costs neither stack nor time.
//!
//! What a browser would not show is left out: scripts, styles, elements marked as hidden. Navigation is named in the
//! coverage and left out too. End tags that are missing are closed where HTML says they may be.

mod tags;

use super::{
    Block, BlockKind, Content, Outline, Parsed, clean,
    grid::{Cells, Grid},
    push_block,
};
use crate::{Limits, ParseError, limits::MAX_TABLE_DEPTH};
use anchorage_domain::{SkipReason, Skipped};
use html5gum::{DefaultEmitter, StartTag, State, Token, Tokenizer};
use tags::{Kind, Skipping, attribute, hides, kind_of, span};

/// How far up an element is searched for, whose end tag may be missing.
const MAX_IMPLIED_SEARCH: usize = 64;

pub(super) fn parse(text: &str, limits: &Limits) -> Result<Parsed, ParseError> {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut tokens = Tokenizer::new_with_emitter(text, emitter);
    let mut walk = Walk::new(limits);
    while let Some(Ok(token)) = tokens.next() {
        match token {
            Token::StartTag(tag) => {
                let name = String::from_utf8_lossy(&tag.name);
                walk.start(&name, &tag)?;
                // In a drawing an empty script ends with its own tag.
                if tag.self_closing && matches!(&*name, "script" | "style" | "title") && walk.in_drawing() {
                    tokens.set_state(State::Data);
                    walk.end(&name)?;
                }
            }
            Token::EndTag(tag) => walk.end(&String::from_utf8_lossy(&tag.name))?,
            Token::String(text) => walk.text(&String::from_utf8_lossy(&text)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    walk.finish()
}

/// An element that is open and has an end.
#[derive(Debug)]
struct Open {
    name: String,
    kind: Kind,
}

struct Walk<'a> {
    limits: &'a Limits,
    cells: Cells,
    outline: Outline,
    parsed: Parsed,
    /// Title of the page, and its first heading: the one is often a slogan, but it is what the page calls itself.
    title: Option<String>,
    heading: Option<String>,
    open: Vec<Open>,
    /// How many of each kind are open: a search for none is not begun.
    count: [usize; Kind::COUNT],
    skipping: Option<Skipping>,
    /// Text since the last border of a block.
    line: String,
    tables: Vec<TableFrame>,
    /// Navigation was left out.
    navigation: bool,
}

#[derive(Debug, Default)]
struct TableFrame {
    grid: Grid,
    /// The open row stands in the table's head, or so far holds header cells alone.
    head: bool,
    only_headers: bool,
    columns: u32,
    rows: u32,
    in_cell: bool,
}

impl<'a> Walk<'a> {
    fn new(limits: &'a Limits) -> Self {
        Self {
            limits,
            cells: Cells::new(limits),
            outline: Outline::default(),
            parsed: Parsed::default(),
            title: None,
            heading: None,
            open: Vec::new(),
            count: [0; Kind::COUNT],
            skipping: None,
            line: String::new(),
            tables: Vec::new(),
            navigation: false,
        }
    }

    fn finish(mut self) -> Result<Parsed, ParseError> {
        if let Some(skipping) = &self.skipping
            && !skipping.without_end
        {
            let what = format!("everything after <{}>, which has no end", skipping.name);
            self.parsed.coverage.skipped.push(Skipped { what, reason: SkipReason::Unreadable });
        }
        self.close_to(0)?;
        self.flush()?;
        if self.navigation {
            self.parsed.coverage.skipped.push(Skipped { what: "navigation".into(), reason: SkipReason::Aside });
        }
        self.parsed.title = self.title.filter(|title| !title.is_empty()).or(self.heading);
        Ok(self.parsed)
    }

    fn in_drawing(&self) -> bool {
        self.skipping.as_ref().is_some_and(|skipping| skipping.name == "svg")
    }

    fn text(&mut self, text: &str) {
        if self.skipping.is_some() {
            return;
        }
        if self.count(Kind::Title) > 0 {
            if self.title.is_none() {
                self.title = Some(super::label(&clean(text)));
            }
            return;
        }
        if self.count(Kind::Pre) > 0 {
            self.line.push_str(text);
            return;
        }
        for piece in text.split_inclusive(|c: char| c.is_ascii_whitespace()) {
            let word = piece.trim_end_matches(|c: char| c.is_ascii_whitespace());
            self.line.push_str(word);
            if word.len() < piece.len() && !self.line.is_empty() && !self.line.ends_with([' ', '\n']) {
                self.line.push(' ');
            }
        }
    }

    fn start(&mut self, name: &str, tag: &StartTag<()>) -> Result<(), ParseError> {
        if let Some(skipping) = &mut self.skipping {
            if skipping.goes_on_at_start(name) {
                return Ok(());
            }
            self.skipping = None;
        }
        let kind = kind_of(name);
        let empty = matches!(kind, Kind::Break | Kind::Rule | Kind::Image | Kind::Void);
        if !empty && (kind == Kind::Skipped || kind == Kind::Navigation || hides(name, tag)) {
            let navigation =
                kind == Kind::Navigation || attribute(tag, "role").is_some_and(|role| role == "navigation");
            self.navigation |= navigation;
            if !(tag.self_closing && name == "svg") {
                self.block_border(kind)?;
                self.skipping = Some(Skipping::new(name));
            }
            return Ok(());
        }
        match kind {
            Kind::Break => {
                let end = self.line.trim_end_matches(' ').len();
                self.line.truncate(end);
                self.line.push('\n');
            }
            Kind::Rule => self.flush()?,
            Kind::Image => {
                if let Some(alternative) = attribute(tag, "alt").filter(|text| !text.trim().is_empty()) {
                    self.text(&format!(" {alternative} "));
                }
            }
            Kind::Void | Kind::Inline => {}
            kind => {
                let kind = self.as_laid_out(kind, tag);
                self.block_border(kind)?;
                self.open(name, kind, tag);
            }
        }
        Ok(())
    }

    /// Ends what the start of a `kind` ends: the text before it, and elements whose end tags may be missing.
    fn block_border(&mut self, kind: Kind) -> Result<(), ParseError> {
        if matches!(kind, Kind::Inline | Kind::Title | Kind::Skipped) {
            return Ok(());
        }
        let (ended, within): (&[Kind], &[Kind]) = match kind {
            Kind::Item => (&[Kind::Item], &[Kind::List, Kind::Table]),
            Kind::Cell => (&[Kind::Cell], &[Kind::Row, Kind::Table]),
            Kind::Row => (&[Kind::Row], &[Kind::Table]),
            Kind::Group => (&[Kind::Group], &[Kind::Table]),
            Kind::Heading => (&[Kind::Heading, Kind::Paragraph], &[Kind::Table, Kind::Cell, Kind::Item]),
            _ => (&[Kind::Paragraph], &[Kind::Table, Kind::Cell, Kind::Item]),
        };
        self.flush()?;
        if ended.iter().all(|kind| self.count(*kind) == 0) {
            return Ok(());
        }
        let found = self.open.iter().enumerate().rev().take(MAX_IMPLIED_SEARCH);
        let found = found.take_while(|(_, open)| !within.contains(&open.kind));
        if let Some(at) = found.filter(|(_, open)| ended.contains(&open.kind)).map(|(at, _)| at).next() {
            self.close_to(at)?;
        }
        Ok(())
    }

    /// A table that lays the page out, or is nested too deep, is none, and what is in it are blocks.
    fn as_laid_out(&self, kind: Kind, tag: &StartTag<()>) -> Kind {
        let layout = || attribute(tag, "role").is_some_and(|role| matches!(role.as_str(), "presentation" | "none"));
        match kind {
            Kind::Table if self.tables.len() >= MAX_TABLE_DEPTH || layout() => Kind::Layout,
            Kind::Row | Kind::Cell | Kind::Group if !self.innermost_is_table() => Kind::Block,
            kind => kind,
        }
    }

    fn open(&mut self, name: &str, kind: Kind, tag: &StartTag<()>) {
        let table = self.tables.last_mut();
        match (kind, table) {
            (Kind::Table, _) => self.tables.push(TableFrame::default()),
            (Kind::Group, Some(table)) => table.head = name == "thead",
            (Kind::Row, Some(table)) => table.only_headers = true,
            (Kind::Cell, Some(table)) => {
                table.only_headers &= name == "th";
                table.columns = span(tag, "colspan");
                table.rows = span(tag, "rowspan");
                table.in_cell = true;
            }
            _ => {}
        }
        if let Some(count) = self.count.get_mut(kind as usize) {
            *count += 1;
        }
        self.open.push(Open { name: name.to_owned(), kind });
    }

    /// Whether a row or a cell here belongs to a table that is read as one.
    fn innermost_is_table(&self) -> bool {
        self.count(Kind::Table) > 0
            && self
                .open
                .iter()
                .rev()
                .take(MAX_IMPLIED_SEARCH)
                .find(|open| matches!(open.kind, Kind::Table | Kind::Layout))
                .is_some_and(|open| open.kind == Kind::Table)
    }

    fn count(&self, kind: Kind) -> usize {
        self.count.get(kind as usize).copied().unwrap_or(0)
    }

    fn end(&mut self, name: &str) -> Result<(), ParseError> {
        if let Some(skipping) = &mut self.skipping {
            match skipping.at_end(name) {
                tags::AtEnd::GoesOn => return Ok(()),
                tags::AtEnd::Ends => {
                    self.skipping = None;
                    return Ok(());
                }
                tags::AtEnd::EndedBefore => self.skipping = None,
            }
        }
        let kind = kind_of(name);
        if matches!(kind, Kind::Inline | Kind::Void | Kind::Break | Kind::Rule | Kind::Image) {
            return Ok(());
        }
        self.flush()?;
        // A table is closed across anything, everything else only up to the table or the cell it stands in.
        let of_table = matches!(kind, Kind::Table | Kind::Group | Kind::Row | Kind::Cell);
        let border = |open: &Open| match open.kind {
            Kind::Table => kind != Kind::Table,
            Kind::Cell => !of_table,
            _ => false,
        };
        let reach = match kind {
            Kind::Table if self.count(Kind::Table) + self.count(Kind::Layout) > 0 => usize::MAX,
            _ => MAX_IMPLIED_SEARCH,
        };
        let found = self.open.iter().enumerate().rev().take(reach).take_while(|(_, open)| !border(open));
        let found = found.filter(|(_, open)| open.name == name).map(|(at, _)| at).next();
        match found {
            Some(at) => self.close_to(at),
            None => Ok(()),
        }
    }

    /// Closes the open elements from the innermost to the one at `at`.
    fn close_to(&mut self, at: usize) -> Result<(), ParseError> {
        while self.open.len() > at {
            self.flush()?;
            let Some(open) = self.open.pop() else { break };
            if let Some(count) = self.count.get_mut(open.kind as usize) {
                *count = count.saturating_sub(1);
            }
            let Some(table) = self.tables.last_mut() else { continue };
            match open.kind {
                Kind::Cell => {
                    table.in_cell = false;
                    table.grid.end_cell(table.columns, table.rows, &mut self.cells)?;
                }
                Kind::Row => {
                    table.grid.end_row(&mut self.cells)?;
                    if table.head || table.only_headers {
                        table.grid.mark_last_row();
                    }
                }
                Kind::Group => table.head = false,
                Kind::Table => self.end_table()?,
                _ => {}
            }
        }
        Ok(())
    }

    fn end_table(&mut self) -> Result<(), ParseError> {
        let Some(mut table) = self.tables.pop() else { return Ok(()) };
        table.grid.end_row(&mut self.cells)?;
        if let Some(outer) = self.tables.last_mut() {
            outer.grid.write(&table.grid.into_text());
            return Ok(());
        }
        if table.grid.is_column() {
            let mut texts = table.grid.into_column();
            return texts.try_for_each(|text| self.block(BlockKind::Paragraph, Content::Text(text)));
        }
        match table.grid.into_table() {
            Some(table) => self.block(BlockKind::Table, Content::Table(table)),
            None => Ok(()),
        }
    }

    /// Ends the text since the last border: a block of its own, or a line of the open cell.
    fn flush(&mut self) -> Result<(), ParseError> {
        let pre = self.count(Kind::Pre) > 0;
        let line = clean(&std::mem::take(&mut self.line));
        let text = if pre { line.trim_matches('\n').trim_end() } else { line.trim() };
        if text.trim().is_empty() {
            return Ok(());
        }
        if let Some(table) = self.tables.last_mut() {
            let caption = self.open.last().is_some_and(|open| open.kind == Kind::Caption);
            if caption && table.grid.caption.is_none() {
                table.grid.caption = Some(text.to_owned());
                return Ok(());
            }
            if table.in_cell {
                table.grid.write(text);
                return Ok(());
            }
            // Text between the cells is shown above the table, and stands above it here as well.
        }
        let heading = self.open.iter().rev().take(MAX_IMPLIED_SEARCH).find(|open| open.kind == Kind::Heading);
        let level = heading.and_then(|open| open.name.strip_prefix('h')).and_then(|level| level.parse().ok());
        if let Some(level) = level {
            let text = super::words_of(text);
            self.heading.get_or_insert_with(|| text.clone());
            self.outline.enter(level, &text);
            return self.block(BlockKind::Heading, Content::Text(text));
        }
        let kind = if pre {
            BlockKind::Code
        } else if self.count(Kind::Item) > 0 {
            BlockKind::ListItem
        } else {
            BlockKind::Paragraph
        };
        self.block(kind, Content::Text(text.to_owned()))
    }

    fn block(&mut self, kind: BlockKind, content: Content) -> Result<(), ParseError> {
        let block = Block { kind, heading_path: self.outline.path(), content };
        push_block(&mut self.parsed.blocks, block, self.limits)
    }
}

#[cfg(test)]
mod tests;
