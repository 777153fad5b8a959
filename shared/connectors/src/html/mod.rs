//! HTML to Markdown, tag by tag: nothing is built as a tree, so that no depth of nesting costs stack or time.
//!
//! Only elements that mean something to Markdown are remembered while they are open; any number of others around them are
//! passed through. The same walk reads Confluence's storage format, whose own elements are in [`storage`].

mod storage;
mod tags;
mod walk;

use crate::{ItemError, limits::MAX_TEXT_BYTES, markdown::Markdown};
use anchorage_domain::SkipReason;
use html5gum::{
    Span, Tokenizer,
    emitters::callback::{CallbackEmitter, CallbackEvent},
};
use std::convert::Infallible;
use url::Url;
use walk::Walk;

/// What a page says of itself.
#[derive(Debug, Default)]
pub(crate) struct Head {
    pub(crate) title: Option<String>,
    pub(crate) heading: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) author: Option<String>,
    pub(crate) language: Option<String>,
    pub(crate) modified: Option<String>,
}

/// Appends a page or a piece of one to `markdown`. `base` is what its links are relative to; `field` is where it is from.
///
/// # Errors
/// When it is larger than a text may be.
pub(crate) fn read(html: &str, base: Option<&Url>, field: &str, markdown: &mut Markdown) -> Result<Head, ItemError> {
    walk(html, base, Mode::Html, field, markdown)
}

/// A whole page: its main part, where it says which that is and something stands in it.
///
/// # Errors
/// When it is larger than a text may be.
pub(crate) fn read_page(html: &str, base: Option<&Url>, field: &str) -> Result<(Markdown, Head), ItemError> {
    let mut markdown = Markdown::default();
    let mains = html.matches("<main").count();
    if mains > 0 && mains == html.matches("</main").count() {
        let head = walk(html, base, Mode::MainPart, field, &mut markdown)?;
        if markdown.said() > 0 {
            markdown.omitted.add("what stands around the page's main part", SkipReason::Unsupported);
            return Ok((markdown, head));
        }
        markdown = Markdown::default();
    }
    let head = read(html, base, field, &mut markdown)?;
    Ok((markdown, head))
}

/// Appends a page in Confluence's storage format, as [`read`] does.
///
/// # Errors
/// When it is larger than a text may be.
pub(crate) fn read_storage(storage: &str, field: &str, markdown: &mut Markdown) -> Result<(), ItemError> {
    walk(&storage::unwrap_sections(storage), None, Mode::Storage, field, markdown).map(drop)
}

/// Whose rules a page is written by, and how much of it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Html,
    /// Only what stands in `<main>`.
    MainPart,
    /// XHTML: `<td/>` is a whole element.
    Storage,
}

fn walk(html: &str, base: Option<&Url>, mode: Mode, field: &str, markdown: &mut Markdown) -> Result<Head, ItemError> {
    if html.len() > MAX_TEXT_BYTES {
        return Err(ItemError::TooLarge { field: field.to_owned(), limit: MAX_TEXT_BYTES });
    }
    // A menu that does not end would take the page with it.
    let keeps_navigation = html.matches("<nav").count() != html.matches("</nav").count();
    let mut walk = Walk::new(markdown, base, mode, keeps_navigation);
    let callback = |event: CallbackEvent<'_>, _: Span<()>| -> Option<Infallible> {
        walk.event(&event);
        None
    };
    let mut emitter = CallbackEmitter::new(callback);
    emitter.naively_switch_states(true);
    // The callback takes all there is: the iterator yields nothing.
    let Ok(()) = Tokenizer::new_with_emitter(html, emitter).finish();
    Ok(walk.finish())
}

#[cfg(test)]
mod tests;
