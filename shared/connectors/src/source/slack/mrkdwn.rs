//! Slack's own markup.

use super::Names;
use crate::{
    links,
    markdown::{Markdown, Marks, Style},
};

/// Appends a text in Slack's markup.
pub(super) fn read(text: &str, names: &Names<'_>, markdown: &mut Markdown) {
    for (index, part) in text.split("```").enumerate() {
        // An odd part stands between fences, or after one that was left open.
        if index % 2 == 1 {
            markdown.code("", &unescaped(part));
        } else {
            lines(part, names, markdown);
        }
    }
}

/// Lines that begin with `>` are quoted.
fn lines(text: &str, names: &Names<'_>, markdown: &mut Markdown) {
    let plain = Style::default();
    let mut quoted = false;
    let text = text.trim_matches('\n');
    for (index, line) in text.split('\n').enumerate() {
        let inside = line.trim_start_matches("&gt;").trim_start_matches('>');
        let inner = (inside.len() < line.len()).then_some(inside);
        if inner.is_some() != quoted {
            if quoted {
                markdown.close();
            } else {
                markdown.open_quote();
            }
            quoted = inner.is_some();
        } else if line.trim().is_empty() {
            markdown.flush();
        } else if index > 0 {
            markdown.text("\n", &plain);
        }
        spans(inner.unwrap_or(line), names, markdown);
    }
    if quoted {
        markdown.close();
    }
}

/// Text with marks. A mark begins after what is no word, and ends before it.
fn spans(line: &str, names: &Names<'_>, markdown: &mut Markdown) {
    let mut marks = Marks::default();
    // What has no end in the rest of the line is not looked for again.
    let mut endless: Vec<char> = Vec::new();
    let mut rest = line;
    let mut before: Option<char> = None;
    while let Some(at) = rest.find(['<', '*', '_', '~', '`']) {
        let (text, from) = rest.split_at(at);
        markdown.text(&unescaped(text), &Style::marked(marks));
        before = text.chars().next_back().or(before);
        let mut chars = from.chars();
        let mark = chars.next();
        let after = chars.as_str();
        match mark {
            Some('<') if !endless.contains(&'<') && after.contains('>') => {
                let (inside, following) = after.split_once('>').unwrap_or((after, ""));
                angle(inside, marks, names, markdown);
                before = Some('>');
                rest = following;
            }
            Some('`') if after.find('`').is_some_and(|end| end > 0) => {
                let (code, following) = after.split_once('`').unwrap_or((after, ""));
                markdown.text(&unescaped(code), &Style::marked(marks.with(Marks::CODE)));
                before = Some('`');
                rest = following;
            }
            Some(c) => {
                let mark = match c {
                    '*' => Some(Marks::STRONG),
                    '_' => Some(Marks::EMPHASIS),
                    '~' => Some(Marks::STRIKE),
                    _ => None,
                };
                let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
                let space = |c: Option<char>| c.is_none_or(char::is_whitespace);
                let next = after.chars().next();
                match mark {
                    Some(mark) if marks.has(mark) && !space(before) && !word(next) => marks = marks.without(mark),
                    Some(mark)
                        if !marks.has(mark)
                            && !word(before)
                            && !space(next)
                            && !endless.contains(&c)
                            && closes(after, c) =>
                    {
                        marks = marks.with(mark);
                    }
                    Some(mark) if !marks.has(mark) && !word(before) && !space(next) => {
                        if !endless.contains(&c) {
                            endless.push(c);
                        }
                        markdown.text(c.encode_utf8(&mut [0; 4]), &Style::marked(marks));
                    }
                    None if c == '<' => {
                        if !endless.contains(&c) {
                            endless.push(c);
                        }
                        markdown.text("<", &Style::marked(marks));
                    }
                    _ => markdown.text(c.encode_utf8(&mut [0; 4]), &Style::marked(marks)),
                }
                before = Some(c);
                rest = after;
            }
            None => break,
        }
    }
    markdown.text(&unescaped(rest), &Style::marked(marks));
}

/// Whether a mark that begins before `text` ends in it.
fn closes(text: &str, mark: char) -> bool {
    let mut before: Option<char> = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let ends = c == mark && before.is_some_and(|c| !c.is_whitespace() && c != mark);
        if ends && !chars.peek().is_some_and(|c| c.is_alphanumeric()) {
            return true;
        }
        before = Some(c);
    }
    false
}

/// What stands between angle brackets: a person, a channel, a group, a date, or a link.
fn angle(inside: &str, marks: Marks, names: &Names<'_>, markdown: &mut Markdown) {
    let (target, label) = inside.split_once('|').map_or((inside, None), |(target, label)| (target, Some(label)));
    let label = label.map(unescaped).filter(|label| !label.is_empty());
    let mut style = Style::marked(marks);
    let shown = if let Some(id) = target.strip_prefix('@') {
        names.0.get(id).map(|name| format!("@{name}")).or(label.map(at)).unwrap_or_else(|| format!("@{id}"))
    } else if let Some(id) = target.strip_prefix('#') {
        format!("#{}", label.as_deref().unwrap_or(id))
    } else if let Some(command) = target.strip_prefix('!') {
        // `here` and its like are always shown by name; a group or a date is known by its label.
        match command.split_once('^') {
            None => format!("@{command}"),
            Some((name, _)) => label.unwrap_or_else(|| format!("@{name}")),
        }
    } else {
        let url = unescaped(target);
        style.link = Style::link(links::target(&url, None)).link;
        label.unwrap_or_else(|| url.trim_start_matches("mailto:").to_owned())
    };
    markdown.text(&shown, &style);
}

fn at(label: String) -> String {
    if label.starts_with('@') { label } else { format!("@{label}") }
}

/// The three characters that Slack escapes.
fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{borrow::Cow, collections::HashMap};

    #[test]
    fn markup_is_read_as_slack_shows_it() {
        let names = Names(HashMap::from([(Cow::Borrowed("U1"), "Sara")]));
        for (text, expected) in [
            ("*bold* _it_ ~no~ `co_de`", "**bold** *it* ~~no~~ `co_de`"),
            ("2*3*4 and a_b_c and 5 * 6", "2\\*3\\*4 and a_b_c and 5 * 6"),
            ("*open and _open", "\\*open and \\_open"),
            ("<@U1> <@U2> <@U3|minh>", "@Sara @U2 @minh"),
            ("<#C1|help> <#C2> <!channel> <!here|here>", "#help #C2 @channel @here"),
            ("<!subteam^S1|@ops> <!date^1^{date}|today>", "@ops today"),
            ("<https://example.org/?a=1&amp;b=2|a &amp; b>", "[a & b](https://example.org/?a=1&b=2)"),
            ("<https://example.org/x>", "<https://example.org/x>"),
            ("1 &lt; 2 &amp;&amp; &lt;b&gt;", "1 < 2 && \\<b>"),
            ("&gt; one\n&gt; two\nthree", "> one\\\n> two\n\nthree"),
            ("&gt;&gt;&gt; all", "> all"),
            ("a\n\nb\nc", "a\n\nb\\\nc"),
            ("before```x &lt; y\n```after", "before\n\n```\nx < y\n```\n\nafter"),
            ("a < b", "a < b"),
            ("سلام *دنیا*", "سلام **دنیا**"),
        ] {
            let mut markdown = Markdown::default();
            read(text, &names, &mut markdown);
            assert_eq!(markdown.finish("text").unwrap().0.trim_end(), expected, "{text}");
        }
    }
}
