//! Which kind of text a text is: by what it begins with, and only between kinds that look alike by what it is called.

use super::{MediaHint, MediaType, code::CodeLanguage};

/// How much of a text is looked at to tell its kind.
const HEAD_BYTES: usize = 64 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextKind {
    Plain,
    Markdown,
    Csv,
    Html,
    Json,
    JsonLines,
    Code(CodeLanguage),
}

impl TextKind {
    pub(super) const fn media_type(self) -> MediaType {
        match self {
            Self::Plain => MediaType::Text,
            Self::Markdown => MediaType::Markdown,
            Self::Csv => MediaType::Csv,
            Self::Html => MediaType::Html,
            Self::Json => MediaType::Json,
            Self::JsonLines => MediaType::JsonLines,
            Self::Code(_) => MediaType::Code,
        }
    }
}

/// What a text was told to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Told {
    pub kind: TextKind,
    /// It is called that, too: what only looks like it may be something else.
    pub by_name: bool,
}

pub(super) fn of(text: &str, hint: &MediaHint) -> Told {
    let called = called(hint);
    let kind = match called {
        _ if begins_like_html(text) => TextKind::Html,
        // A piece of a page begins with a tag; a page's name on other text is a mistake.
        Some(TextKind::Html) if !text.trim_start().starts_with('<') => TextKind::Plain,
        None | Some(TextKind::Json | TextKind::JsonLines) if begins_like_json_lines(text) => TextKind::JsonLines,
        Some(kind) => kind,
        None if text.trim_start().starts_with(['{', '[']) => TextKind::Json,
        None => TextKind::Plain,
    };
    Told { kind, by_name: called == Some(kind) }
}

/// What a file calls itself, if that is a kind of text with an order of its own.
fn called(hint: &MediaHint) -> Option<TextKind> {
    let extension = hint.filename.as_deref().and_then(|name| name.rsplit_once('.')).map(|(_, end)| end.to_lowercase());
    let content_type =
        hint.content_type.as_deref().map(|t| t.split(';').next().unwrap_or_default().trim().to_lowercase());
    let by_extension = match extension.as_deref().unwrap_or_default() {
        "csv" | "tsv" | "tab" => Some(TextKind::Csv),
        "md" | "markdown" => Some(TextKind::Markdown),
        "html" | "htm" | "xhtml" => Some(TextKind::Html),
        "json" | "geojson" => Some(TextKind::Json),
        "jsonl" | "ndjson" => Some(TextKind::JsonLines),
        extension => CodeLanguage::of_extension(extension).map(TextKind::Code),
    };
    by_extension.or(match content_type.as_deref().unwrap_or_default() {
        "text/csv" | "text/tab-separated-values" => Some(TextKind::Csv),
        "text/markdown" | "text/x-markdown" => Some(TextKind::Markdown),
        "text/html" | "application/xhtml+xml" => Some(TextKind::Html),
        "application/json" | "application/geo+json" => Some(TextKind::Json),
        "application/jsonl" | "application/x-ndjson" | "application/ndjson" => Some(TextKind::JsonLines),
        _ => None,
    })
}

/// Whether the first two lines are objects, each whole.
fn begins_like_json_lines(text: &str) -> bool {
    let mut lines = text.split('\n').map(str::trim).filter(|line| !line.is_empty());
    let whole = |line: Option<&str>| line.is_some_and(|line| line.starts_with('{') && line.ends_with('}'));
    whole(lines.next()) && whole(lines.next())
}

/// The start of a text, whole characters only.
fn head(text: &str) -> &str {
    text.get(..text.floor_char_boundary(HEAD_BYTES)).unwrap_or(text)
}

/// Whether the first thing that is neither blank, nor a comment, nor a declaration of XML begins a page.
fn begins_like_html(text: &str) -> bool {
    let mut rest = head(text).trim_start();
    loop {
        let after = if let Some(comment) = rest.strip_prefix("<!--") {
            comment.split_once("-->")
        } else if let Some(declaration) = rest.strip_prefix("<?xml") {
            declaration.split_once("?>")
        } else {
            break;
        };
        let Some((_, after)) = after else { return false };
        rest = after.trim_start();
    }
    ["<!doctype html", "<html", "<head", "<body"].iter().any(|start| {
        let begins = rest.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start));
        // `<header>` is no `<head>`.
        begins && rest.get(start.len()..).is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The content decides where it can; what a file is called, only where it cannot.
    #[test]
    fn text_kind_is_told_by_content_before_name() {
        for (text, name, expected) in [
            ("<!DOCTYPE html><p>x", "a.txt", TextKind::Html),
            ("\n<!-- saved -->\n<?xml version=\"1.0\"?><HTML lang=fa>", "a.csv", TextKind::Html),
            ("<p>only a piece</p>", "a.htm", TextKind::Html),
            ("<p>only a piece</p>", "a.txt", TextKind::Plain),
            ("just words", "a.html", TextKind::Plain),
            ("<header>x", "a.md", TextKind::Markdown),
            ("a\tb\n1\t2\n", "a.tsv", TextKind::Csv),
            ("a,b\n", "A.CSV", TextKind::Csv),
            ("{\"a\": 1}", "a.txt", TextKind::Json),
            (" [1]", "a", TextKind::Json),
            ("{\"a\": 1}\n{\"a\": 2}\n", "a.json", TextKind::JsonLines),
            ("{\"a\": 1}\n{\"a\": 2}\n", "a.log", TextKind::JsonLines),
            ("{\n}\n", "a.json", TextKind::Json),
            ("{\"a\": 1}", "a.jsonl", TextKind::JsonLines),
            ("[x](y)", "a.md", TextKind::Markdown),
            ("{ a: 1 }", "a.b.JS", TextKind::Code(CodeLanguage::Tsx)),
            ("def f(): pass", "a.py", TextKind::Code(CodeLanguage::Python)),
            ("<html><body>", "a.php", TextKind::Html),
        ] {
            let hint = MediaHint { filename: Some(name.into()), content_type: None };
            assert_eq!(of(text, &hint).kind, expected, "{name}: {text}");
        }
        let hint = |kind: &str| MediaHint { filename: None, content_type: Some(kind.into()) };
        assert_eq!(of("a;b\n", &hint("text/csv; charset=utf-8")).kind, TextKind::Csv);
        assert_eq!(of("<p>x", &hint("TEXT/HTML")).kind, TextKind::Html);
        assert_eq!(of("7", &hint("application/json")), Told { kind: TextKind::Json, by_name: true });
    }
}
