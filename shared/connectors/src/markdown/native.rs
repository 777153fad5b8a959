//! Markdown that a source wrote itself.

use super::clean;
use std::collections::HashSet;

/// Markdown as a source wrote it: line ends as `\n`, no control characters, no blank lines around it, and a code block that
/// was left open closed, so that it does not take in what follows.
pub(crate) fn native(markdown: &str) -> String {
    let text = clean(markdown);
    let mut text = text.trim_start_matches('\n').trim_end().to_owned();
    if text.trim().is_empty() {
        return String::new();
    }
    let mut fence = Fence::default();
    for line in text.lines() {
        fence.read(line);
    }
    if let Some((mark, length)) = fence.open {
        text.push('\n');
        text.extend(std::iter::repeat_n(mark, length));
    }
    text
}

/// Code between fences, line by line.
#[derive(Default)]
struct Fence {
    open: Option<(char, usize)>,
}

impl Fence {
    /// Whether the line is code, or a fence.
    fn read(&mut self, line: &str) -> bool {
        let text = line.trim_start_matches(' ');
        let Some(mark) = text.chars().next().filter(|c| matches!(c, '`' | '~') && line.len() - text.len() < 4) else {
            return self.open.is_some();
        };
        let rest = text.trim_start_matches(mark);
        let length = text.len() - rest.len();
        match self.open {
            Some((open, least)) => {
                if open == mark && length >= least && rest.trim().is_empty() {
                    self.open = None;
                }
                true
            }
            None if length >= 3 && !(mark == '`' && rest.contains('`')) => {
                self.open = Some((mark, length));
                true
            }
            None => false,
        }
    }
}

/// Rewrites Markdown outside of its code: `change` gets each piece of text that is none, in order, and appends to the
/// output. Code spans are found within their line.
pub(crate) fn outside_code(markdown: &str, mut change: impl FnMut(&str, &mut String)) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut fence = Fence::default();
    for line in markdown.split_inclusive('\n') {
        if fence.read(line.trim_end_matches('\n')) {
            out.push_str(line);
            continue;
        }
        let mut from = 0;
        for (start, end) in code_spans(line) {
            change(line.get(from..start).unwrap_or_default(), &mut out);
            out.push_str(line.get(start..end).unwrap_or_default());
            from = end;
        }
        change(line.get(from..).unwrap_or_default(), &mut out);
    }
    out
}

/// Where code spans stand in a line. Lengths for which no closing run is left are remembered: linear for real text.
fn code_spans(line: &str) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, _) in line.match_indices('`') {
        match runs.last_mut() {
            Some((start, length)) if *start + *length == at => *length += 1,
            _ => runs.push((at, 1)),
        }
    }
    let mut spans = Vec::new();
    let mut unclosed: HashSet<usize> = HashSet::new();
    let mut index = 0;
    while let Some((start, length)) = runs.get(index).copied() {
        index += 1;
        if unclosed.contains(&length) {
            continue;
        }
        let closing = runs.iter().enumerate().skip(index).find(|(_, (_, other))| *other == length);
        match closing {
            Some((close, (at, _))) => {
                spans.push((start, at + length));
                index = close + 1;
            }
            None => {
                unclosed.insert(length);
            }
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_block_left_open_is_closed() {
        for (text, expected) in [
            ("a\r\nb\n", "a\nb"),
            ("```rust\nfn x() {}", "```rust\nfn x() {}\n```"),
            ("~~~~\n```\n~~~", "~~~~\n```\n~~~\n~~~~"),
            ("```\ncode\n```", "```\ncode\n```"),
            ("```inline``` text", "```inline``` text"),
            ("  \n \u{0}", ""),
        ] {
            assert_eq!(native(text), expected, "{text:?}");
        }
    }

    #[test]
    fn only_what_is_no_code_is_changed() {
        let shout = |text: &str| outside_code(text, |piece, out| out.push_str(&piece.to_uppercase()));
        for (text, expected) in [
            ("a `b` c", "A `b` C"),
            ("a ``b ` b`` c `", "A ``b ` b`` C `"),
            ("a\n```\nb\n```\nc", "A\n```\nb\n```\nC"),
            ("a `b\nc` d", "A `B\nC` D"),
        ] {
            assert_eq!(shout(text), expected, "{text:?}");
        }
    }
}
