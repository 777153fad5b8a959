//! Writing Markdown: blocks in order, with lists, quotes, tables and code that read back as what they were.
//!
//! Whoever walks a source's own tree says what begins and ends; markers, indentation, blank lines and escapes are decided
//! here, once for all sources. Nothing here recurses, and the output is bounded.

mod inline;
mod native;
mod table;

pub(crate) use inline::{Marks, Style};
pub(crate) use native::{native, outside_code};

use crate::{
    ItemError,
    limits::{MAX_CONTAINERS, MAX_MARKDOWN_BYTES},
    metadata::Omissions,
};
use anchorage_domain::SkipReason;
use inline::Run;
use table::Table;

/// A block that holds blocks.
#[derive(Debug, Clone, Copy)]
enum Container {
    Quote,
    /// With the number of its next item, if items are numbered.
    List(Option<u64>),
    Item,
    /// A footnote.
    Note,
}

#[derive(Debug)]
struct Open {
    container: Container,
    /// What the next line begins with, once: the marker of a list item.
    marker: Option<String>,
    /// What every further line begins with.
    prefix: &'static str,
    indent: usize,
    /// Something was written inside.
    begun: bool,
}

/// What stands between the last block and the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gap {
    Line,
    Blank,
}

#[derive(Debug)]
pub(crate) struct Markdown {
    out: String,
    open: Vec<Open>,
    /// Containers past the bound on their number: their content stands in the last one.
    flattened: usize,
    heading: Option<u8>,
    runs: Vec<Run>,
    tables: Vec<Table>,
    gap: Gap,
    too_large: bool,
    pub(crate) omitted: Omissions,
}

impl Default for Markdown {
    fn default() -> Self {
        Self {
            out: String::new(),
            open: Vec::new(),
            flattened: 0,
            heading: None,
            runs: Vec::new(),
            tables: Vec::new(),
            gap: Gap::Blank,
            too_large: false,
            omitted: Omissions::default(),
        }
    }
}

impl Markdown {
    // --- text in a block ---

    /// Text as it is. A line end stays one; a blank line begins a new paragraph.
    pub(crate) fn text(&mut self, text: &str, style: &Style) {
        let text = clean(text);
        if self.heading.is_some() || style.marks.has(Marks::CODE) || !text.contains("\n\n") {
            self.push_run(&text, style);
            return;
        }
        for (index, part) in text.split("\n\n").enumerate() {
            if index > 0 {
                self.flush();
            }
            self.push_run(part.trim_matches('\n'), style);
        }
    }

    /// Text in which any white space is one space, as in HTML.
    pub(crate) fn flowing(&mut self, text: &str, style: &Style) {
        let mut squeezed = String::with_capacity(text.len());
        let mut after_space = self.at_space();
        for c in text.chars() {
            if c.is_whitespace() {
                if !after_space {
                    squeezed.push(' ');
                }
                after_space = true;
            } else if !c.is_control() {
                squeezed.push(c);
                after_space = false;
            }
        }
        self.push_run(&squeezed, style);
    }

    fn push_run(&mut self, text: &str, style: &Style) {
        if text.is_empty() {
            return;
        }
        match self.runs.last_mut() {
            Some(run) if !run.raw && run.style == *style => run.text.push_str(text),
            _ => self.runs.push(Run { text: text.to_owned(), style: style.clone(), raw: false }),
        }
    }

    /// Markdown that stands inside a line.
    pub(crate) fn raw(&mut self, markdown: &str) {
        self.runs.push(Run { text: clean(markdown), style: Style::default(), raw: true });
    }

    pub(crate) fn line_break(&mut self) {
        self.push_run("\n", &Style::default());
    }

    /// Whether white space that comes next would stand at the start of a line or after other white space.
    fn at_space(&self) -> bool {
        self.runs.last().is_none_or(|run| run.text.ends_with(char::is_whitespace))
    }

    /// A picture: what it shows, if the source says it, and else a note that there was one.
    pub(crate) fn image(&mut self, alt: Option<&str>, url: Option<&str>) {
        let alt = alt.map(crate::metadata::plain).filter(|alt| !alt.is_empty());
        self.omitted.add("picture", SkipReason::Unsupported);
        if let Some(alt) = alt {
            let text = inline::escaped(&alt);
            let image = url.map_or_else(|| text.clone(), |url| format!("![{text}]({})", inline::destination(url)));
            self.raw(&image);
        }
    }

    // --- blocks ---

    /// Ends the current paragraph or heading.
    pub(crate) fn flush(&mut self) {
        let heading = self.heading.take();
        if self.runs.is_empty() {
            return;
        }
        let runs = std::mem::take(&mut self.runs);
        let text = inline::render(&runs);
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        match heading {
            _ if self.in_cell() => self.write_in_cell(text),
            Some(level) => {
                let marker = "######".get(..usize::from(level.clamp(1, 6))).unwrap_or("######");
                self.write(&format!("{marker} {}", text.replace('\n', " ")));
            }
            None => self.write(&text.replace('\n', "\\\n")),
        }
    }

    /// Begins a heading, which the next [`Self::flush`] ends.
    pub(crate) fn heading(&mut self, level: u8) {
        self.flush();
        self.heading = Some(level);
    }

    /// A heading of one text.
    pub(crate) fn heading_of(&mut self, level: u8, text: &str) {
        self.heading(level);
        self.text(text, &Style::default());
        self.flush();
    }

    /// A paragraph of one text.
    pub(crate) fn paragraph(&mut self, text: &str) {
        self.flush();
        self.text(text, &Style::default());
        self.flush();
    }

    /// Code, fenced by more back-ticks than it holds.
    pub(crate) fn code(&mut self, language: &str, code: &str) {
        self.flush();
        let code = clean(code);
        let code = code.trim_end_matches('\n').trim_start_matches('\n');
        if code.trim().is_empty() {
            return;
        }
        if self.in_cell() {
            let lines: Vec<_> = code.lines().map(inline::code_span).collect();
            self.write_in_cell(&lines.join("\n"));
            return;
        }
        let fence = "`".repeat(inline::longest_ticks(code).saturating_add(1).max(3));
        let language: String =
            language.chars().filter(|c| c.is_alphanumeric() || matches!(c, '+' | '#' | '-' | '_' | '.')).collect();
        self.write(&format!("{fence}{language}\n{code}\n{fence}"));
    }

    pub(crate) fn rule(&mut self) {
        self.flush();
        if !self.in_cell() {
            self.write("---");
        }
    }

    /// Markdown blocks of a source that writes Markdown itself.
    pub(crate) fn native(&mut self, markdown: &str) {
        self.flush();
        let markdown = native(markdown);
        if !markdown.is_empty() {
            if self.in_cell() {
                self.write_in_cell(&markdown);
            } else {
                self.write(&markdown);
            }
        }
    }

    // --- containers ---

    pub(crate) fn open_quote(&mut self) {
        self.enter(Container::Quote, None, "> ", 0);
    }

    /// A list; `start` is the number of its first item, for a numbered one. In a list, beside its items, it belongs to the
    /// item before it.
    pub(crate) fn open_list(&mut self, start: Option<u64>) {
        self.flush();
        let mut indent = 0;
        if let Some(Open { container, begun: true, .. }) = self.open.last() {
            // A numbered list that does not begin with one would be read as the text's next line.
            if !matches!(container, Container::Quote | Container::Note) && start.is_none_or(|start| start == 1) {
                self.gap = Gap::Line;
            }
            if let Container::List(number) = container {
                indent = if number.is_some() { 3 } else { 2 };
            }
        }
        self.enter(Container::List(start), None, "", indent);
    }

    /// An item of the list that is open; `done` for one that can be ticked off.
    pub(crate) fn open_item(&mut self, done: Option<bool>) {
        self.flush();
        let mut marker = "- ".to_owned();
        if let Some(Open { container: Container::List(Some(number)), .. }) = self.open.last_mut() {
            marker = format!("{number}. ");
            // Markdown reads numbers of at most nine digits.
            *number = number.saturating_add(1).min(999_999_999);
        }
        let indent = marker.len();
        if let Some(done) = done {
            marker.push_str(if done { "[x] " } else { "[ ] " });
        }
        self.enter(Container::Item, Some(marker), "", indent);
    }

    /// A footnote; its name is of letters and digits.
    pub(crate) fn open_note(&mut self, name: &str) {
        self.enter(Container::Note, Some(format!("[^{name}]: ")), "", 4);
    }

    fn enter(&mut self, container: Container, marker: Option<String>, prefix: &'static str, indent: usize) {
        self.flush();
        if self.open.len() >= MAX_CONTAINERS {
            self.flattened = self.flattened.saturating_add(1);
        } else {
            self.open.push(Open { container, marker, prefix, indent, begun: false });
        }
    }

    /// Ends the innermost list, item or quote.
    pub(crate) fn close(&mut self) {
        self.flush();
        if self.flattened > 0 {
            self.flattened -= 1;
            return;
        }
        match self.open.pop() {
            Some(Open { container: Container::Item, begun: true, .. }) => self.gap = Gap::Line,
            Some(Open { container: Container::List(_), begun: true, .. }) => {
                let in_list = matches!(self.open.last(), Some(Open { container: Container::List(_), .. }));
                self.gap = if in_list { Gap::Line } else { Gap::Blank };
            }
            Some(Open { begun: true, .. }) => self.gap = Gap::Blank,
            _ => {}
        }
    }

    /// How many containers are open, for whoever keeps count of its own.
    pub(crate) fn depth(&self) -> usize {
        self.open.len().saturating_add(self.flattened)
    }

    /// Ends containers until `depth` are open.
    pub(crate) fn close_to(&mut self, depth: usize) {
        while self.depth() > depth {
            self.close();
        }
    }

    // --- lines ---

    /// Writes a block of one or more lines.
    fn write(&mut self, block: &str) {
        if self.too_large {
            return;
        }
        if !self.out.is_empty() {
            self.out.push('\n');
            if self.gap == Gap::Blank {
                let mut blank = String::new();
                for open in self.open.iter().take_while(|open| open.begun) {
                    blank.push_str(open.prefix);
                    blank.extend(std::iter::repeat_n(' ', open.indent));
                }
                self.out.push_str(blank.trim_end());
                self.out.push('\n');
            }
        }
        for (index, line) in block.split('\n').enumerate() {
            if index > 0 {
                self.out.push('\n');
            }
            let start = self.out.len();
            for open in &mut self.open {
                open.begun = true;
                if let Some(marker) = open.marker.take() {
                    self.out.push_str(&marker);
                } else {
                    self.out.push_str(open.prefix);
                    self.out.extend(std::iter::repeat_n(' ', open.indent));
                }
            }
            if line.is_empty() {
                let kept = self.out.trim_end_matches(' ').len().max(start);
                self.out.truncate(kept);
            }
            self.out.push_str(line);
            if self.out.len() > MAX_MARKDOWN_BYTES {
                self.too_large = true;
                return;
            }
        }
        self.gap = Gap::Blank;
    }

    /// How much was said so far, for whoever wants to know whether something was.
    pub(crate) const fn said(&self) -> usize {
        self.out.len()
    }

    /// The text, which `field` was made of.
    ///
    /// # Errors
    /// When it is blank, or larger than a document may be.
    pub(crate) fn finish(mut self, field: &str) -> Result<(String, Omissions), ItemError> {
        while !self.tables.is_empty() {
            self.close_table();
        }
        self.flush();
        if self.too_large || self.out.len() > MAX_MARKDOWN_BYTES {
            return Err(ItemError::TooLarge { field: field.to_owned(), limit: MAX_MARKDOWN_BYTES });
        }
        if self.out.trim().is_empty() {
            return Err(ItemError::blank(field));
        }
        self.out.push('\n');
        Ok((self.out, self.omitted))
    }
}

/// Line ends as `\n`, and no control characters but them and tabs.
pub(crate) fn clean(text: &str) -> String {
    if !text.chars().any(|c| c != '\n' && c != '\t' && (c.is_control() || c == '\u{2028}' || c == '\u{2029}')) {
        return text.to_owned();
    }
    text.replace("\r\n", "\n")
        .chars()
        .map(|c| if matches!(c, '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}') { '\n' } else { c })
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect()
}

#[cfg(test)]
mod tests;
