//! Which kind of text a text is: by what it begins with, and only between kinds that look alike by what it is called.

use super::{MediaHint, MediaType};

/// How much of a text is looked at to tell its kind.
const HEAD_BYTES: usize = 64 * 1024;

pub(super) fn of(text: &str, hint: &MediaHint) -> MediaType {
    let extension = hint.filename.as_deref().and_then(|name| name.rsplit_once('.')).map(|(_, end)| end.to_lowercase());
    let content_type =
        hint.content_type.as_deref().map(|t| t.split(';').next().unwrap_or_default().trim().to_lowercase());
    let (extension, content_type) = (extension.as_deref().unwrap_or(""), content_type.as_deref().unwrap_or(""));
    let called_html =
        matches!(extension, "html" | "htm" | "xhtml") || matches!(content_type, "text/html" | "application/xhtml+xml");
    if begins_like_html(text) || called_html && text.trim_start().starts_with('<') {
        return MediaType::Html;
    }
    match (extension, content_type) {
        ("csv" | "tsv" | "tab", _) | (_, "text/csv" | "text/tab-separated-values") => MediaType::Csv,
        ("md" | "markdown", _) | (_, "text/markdown" | "text/x-markdown") => MediaType::Markdown,
        _ => MediaType::Text,
    }
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
            ("<!DOCTYPE html><p>x", "a.txt", MediaType::Html),
            ("\n<!-- saved -->\n<?xml version=\"1.0\"?><HTML lang=fa>", "a.csv", MediaType::Html),
            ("<p>only a piece</p>", "a.htm", MediaType::Html),
            ("<p>only a piece</p>", "a.txt", MediaType::Text),
            ("just words", "a.html", MediaType::Text),
            ("<header>x", "a.md", MediaType::Markdown),
            ("a\tb\n1\t2\n", "a.tsv", MediaType::Csv),
            ("a,b\n", "A.CSV", MediaType::Csv),
        ] {
            let hint = MediaHint { filename: Some(name.into()), content_type: None };
            assert_eq!(of(text, &hint), expected, "{name}: {text}");
        }
        let hint = |kind: &str| MediaHint { filename: None, content_type: Some(kind.into()) };
        assert_eq!(of("a;b\n", &hint("text/csv; charset=utf-8")), MediaType::Csv);
        assert_eq!(of("<p>x", &hint("TEXT/HTML")), MediaType::Html);
    }
}
