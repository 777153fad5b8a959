//! Runs of text with marks, as one line of Markdown (or several, where the text breaks).

use std::{collections::HashSet, rc::Rc};

/// How a text is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Marks(u8);

impl Marks {
    pub(crate) const STRONG: Self = Self(1);
    pub(crate) const EMPHASIS: Self = Self(2);
    pub(crate) const STRIKE: Self = Self(4);
    pub(crate) const CODE: Self = Self(8);

    pub(crate) const fn has(self, mark: Self) -> bool {
        self.0 & mark.0 != 0
    }

    #[must_use]
    pub(crate) const fn with(self, mark: Self) -> Self {
        Self(self.0 | mark.0)
    }

    #[must_use]
    pub(crate) const fn without(self, mark: Self) -> Self {
        Self(self.0 & !mark.0)
    }

    /// As [`Self::with`], where `set`.
    #[must_use]
    pub(crate) const fn with_if(self, set: bool, mark: Self) -> Self {
        if set { self.with(mark) } else { self }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Style {
    pub(crate) marks: Marks,
    /// Where the text leads, if it is a link.
    pub(crate) link: Option<Rc<str>>,
}

impl Style {
    pub(crate) fn marked(marks: Marks) -> Self {
        Self { marks, link: None }
    }

    pub(crate) fn link(url: Option<String>) -> Self {
        Self { marks: Marks::default(), link: url.map(Rc::from) }
    }
}

#[derive(Debug)]
pub(super) struct Run {
    pub(super) text: String,
    pub(super) style: Style,
    /// Markdown already.
    pub(super) raw: bool,
}

impl Run {
    /// What its Markdown begins with, as far as it matters to what stands before it.
    fn begins(&self) -> Option<char> {
        if !self.raw && self.style.link.is_some() {
            Some('[')
        } else if !self.raw && self.style.marks != Marks::default() {
            Some('*')
        } else {
            self.text.chars().next()
        }
    }
}

/// Runs as Markdown. Line ends are left for the block to write as it can.
pub(super) fn render(runs: &[Run]) -> String {
    let mut out = String::new();
    let mut end = 0;
    // One alone strikes nothing out.
    let tildes = runs.iter().map(|run| run.text.matches('~').count()).sum::<usize>();
    let strikes = tildes > 1 || runs.iter().any(|run| run.style.marks.has(Marks::STRIKE));
    for group in runs.chunk_by(|a, b| !a.raw && !b.raw && a.style.link == b.style.link) {
        end += group.len();
        let after = runs.get(end);
        match group.first().and_then(|run| run.style.link.as_deref()) {
            Some(url) => link(&mut out, group, url, strikes),
            None => marked(&mut out, group, after, strikes),
        }
    }
    out
}

fn link(out: &mut String, group: &[Run], url: &str, strikes: bool) {
    let text: String = group.iter().map(|run| run.text.as_str()).collect();
    let shown = text.trim();
    if shown.is_empty() {
        push_space(out, &text);
        return;
    }
    let bare = |url: &str| url.trim_start_matches("mailto:").trim_end_matches('/').to_owned();
    if bare(shown) == bare(url) && !shown.contains(['<', '>', ' ']) && shown.contains([':', '@']) {
        lead(out, &text);
        out.push('<');
        out.push_str(shown);
        out.push('>');
    } else {
        let mut inner = String::new();
        marked(&mut inner, group, None, strikes);
        lead(out, &text);
        out.push('[');
        out.push_str(inner.trim());
        out.push_str("](");
        out.push_str(&destination(url));
        out.push(')');
    }
    out.push_str(text.get(text.trim_end().len()..).unwrap_or_default());
}

/// The white space that a text begins with.
fn lead(out: &mut String, text: &str) {
    let lead = text.len() - text.trim_start().len();
    push_space(out, text.get(..lead).unwrap_or_default());
}

/// White space, except where it would begin a line.
fn push_space(out: &mut String, space: &str) {
    if !out.is_empty() && !out.ends_with('\n') {
        out.push_str(space);
    }
}

/// The target of a link, where a bracket or a space would end it.
pub(super) fn destination(url: &str) -> String {
    if url.contains(['(', ')', '<', '>', ' ', '\n', '\\']) {
        let url: String = url.chars().filter(|c| !c.is_control()).collect();
        format!("<{}>", url.replace('\\', "%5C").replace('<', "%3C").replace('>', "%3E"))
    } else {
        url.to_owned()
    }
}

fn marked(out: &mut String, group: &[Run], after: Option<&Run>, strikes: bool) {
    for (index, run) in group.iter().enumerate() {
        if run.raw {
            out.push_str(&run.text);
            continue;
        }
        let following = group.get(index + 1).or(after);
        let core = run.text.trim();
        // Two spans of code that touch would be one.
        let touches = run.style.marks.has(Marks::CODE) && out.ends_with('`');
        if run.style.marks == Marks::default() || core.is_empty() || touches {
            escape_into(out, &run.text, following.and_then(Run::begins), strikes);
            continue;
        }
        lead(out, &run.text);
        let trail = run.text.get(run.text.trim_end().len()..).unwrap_or_default();
        let next = trail.chars().next().or_else(|| following.and_then(|run| run.text.chars().next()));
        let around = markers(run.style.marks, out.chars().next_back(), core, next);
        for marker in &around {
            out.push_str(marker);
        }
        if run.style.marks.has(Marks::CODE) {
            out.push_str(&code_span(core));
        } else {
            // What follows the text is its marker, if it has one.
            let next = if around.is_empty() {
                trail.chars().next().or_else(|| following.and_then(Run::begins))
            } else {
                Some('*')
            };
            escape_into(out, core, next, strikes);
        }
        for marker in around.iter().rev() {
            out.push_str(marker);
        }
        out.push_str(trail);
    }
}

/// The markers around a text; none where a reader would not take them for markers: then the text alone is kept.
fn markers(marks: Marks, before: Option<char>, core: &str, next: Option<char>) -> Vec<&'static str> {
    let word = |c: Option<char>| c.is_some_and(|c| !c.is_whitespace() && !is_punctuation(c));
    let edge = |c: Option<char>| c.is_some_and(is_punctuation);
    // Inside the outermost markers stand others, or back-ticks.
    let several = marks.has(Marks::STRIKE) && (marks.has(Marks::STRONG) || marks.has(Marks::EMPHASIS));
    let is_edged = marks.has(Marks::CODE) || several;
    let opens = !(word(before) && (is_edged || edge(core.chars().next())));
    let closes = !(word(next) && (is_edged || edge(core.chars().next_back())));
    // Markers that touch other markers run into one another.
    let apart = !before.is_some_and(|c| matches!(c, '*' | '~' | '\\')) && !next.is_some_and(|c| matches!(c, '*' | '~'));
    if !opens || !closes || !apart {
        return Vec::new();
    }
    [(Marks::STRONG, "**"), (Marks::EMPHASIS, "*"), (Marks::STRIKE, "~~")]
        .into_iter()
        .filter(|(mark, _)| marks.has(*mark))
        .map(|(_, marker)| marker)
        .collect()
}

/// What Markdown takes for punctuation beside a marker.
fn is_punctuation(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_punctuation() } else { !c.is_alphanumeric() && !c.is_whitespace() && !is_mark(c) }
}

/// Joiners and vowel signs belong to the word they stand in.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{0300}'..='\u{036f}' | '\u{064b}'..='\u{065f}' | '\u{fe00}'..='\u{fe0f}')
}

/// Length of the longest run of back-ticks.
pub(super) fn longest_ticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Code inside a line, between more back-ticks than stand together inside it.
pub(super) fn code_span(code: &str) -> String {
    let code = code.replace('\n', " ");
    if code.trim().is_empty() {
        return String::new();
    }
    let lengths: HashSet<usize> = code.split(|c| c != '`').map(str::len).collect();
    let length = (1..=lengths.len() + 1).find(|length| !lengths.contains(length)).unwrap_or(1);
    let fence = "`".repeat(length);
    // A space between the fence and a back-tick is not part of the code; neither is one on both sides.
    let pad = if code.starts_with(['`', ' ']) || code.ends_with(['`', ' ']) { " " } else { "" };
    format!("{fence}{pad}{code}{pad}{fence}")
}

/// One line of text that Markdown reads as itself.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    escape_into(&mut out, text, None, true);
    out
}

/// Most characters of an entity such as `&nbsp;`.
const MAX_ENTITY_CHARS: usize = 32;

/// Appends text so that Markdown reads it as itself. `after` is what follows it; `strikes` whether a tilde has another one
/// to strike out with.
fn escape_into(out: &mut String, text: &str, after: Option<char>, strikes: bool) {
    let mut before = out.chars().next_back();
    let mut line = Line { begins: before.is_none_or(|c| c == '\n'), digits: 0 };
    for (index, c) in text.char_indices() {
        let rest = text.get(index + c.len_utf8()..).unwrap_or_default();
        let next = rest.chars().next().or(after);
        if c == '\n' {
            let kept = out.trim_end_matches([' ', '\t']).len();
            out.truncate(kept);
            out.push('\n');
            line = Line { begins: true, digits: 0 };
            before = Some(c);
            continue;
        }
        // White space that a line begins with says nothing, and four spaces would make it code.
        if line.begins && c.is_whitespace() {
            continue;
        }
        let space = |c: Option<char>| c.is_none_or(char::is_whitespace);
        let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let inside = match c {
            '`' | '[' | ']' => true,
            '\\' => next.is_none_or(|c| c.is_ascii_punctuation() || c.is_whitespace()),
            '*' => !space(before) || !space(next),
            '_' => !(word(before) && word(next) || space(before) && space(next)),
            '~' => strikes,
            '<' => next.is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?')),
            '&' => is_entity(rest),
            _ => false,
        };
        if inside || line.starts_block(c, next) {
            out.push('\\');
        }
        out.push(c);
        line.read(c);
        before = Some(c);
    }
}

fn is_entity(rest: &str) -> bool {
    rest.chars().take(MAX_ENTITY_CHARS).find(|c| !c.is_ascii_alphanumeric() && *c != '#') == Some(';')
        && !rest.starts_with(';')
}

/// Where in its line a character stands, as far as a block could begin there.
struct Line {
    begins: bool,
    /// Digits that the line consists of so far.
    digits: usize,
}

impl Line {
    fn starts_block(&self, c: char, next: Option<char>) -> bool {
        let space = next.is_none_or(char::is_whitespace);
        if self.begins {
            match c {
                '>' | '=' | '|' => true,
                '#' => space || next == Some('#'),
                '-' | '+' | '*' => space || next == Some(c),
                ':' => next == Some('-'),
                _ => false,
            }
        } else {
            self.digits > 0 && matches!(c, '.' | ')') && space
        }
    }

    const fn read(&mut self, c: char) {
        let counts = c.is_ascii_digit() && (self.begins || self.digits > 0);
        self.digits = if counts { self.digits.saturating_add(1) } else { 0 };
        self.begins = false;
    }
}
