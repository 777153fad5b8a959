//! One file per source.

pub(crate) mod clickup;
pub(crate) mod confluence;
pub(crate) mod discord;
pub(crate) mod github;
pub(crate) mod gmail;
pub(crate) mod google_docs;
pub(crate) mod google_drive;
pub(crate) mod jira;
pub(crate) mod linear;
pub(crate) mod notion;
pub(crate) mod obsidian;
pub(crate) mod slack;
pub(crate) mod web;

use crate::markdown::{Markdown, Marks, Style};
use anchorage_domain::Timestamp;

/// Who says what follows, and when.
fn turn(markdown: &mut Markdown, author: Option<&str>, at: Option<Timestamp>) {
    markdown.flush();
    if let Some(author) = author {
        markdown.text(author, &Style::marked(Marks::STRONG));
    }
    if let Some(at) = at {
        let separator = if author.is_some() { ", " } else { "" };
        markdown.text(&format!("{separator}{at}"), &Style::default());
    }
    markdown.flush();
}
