//! A web page: `{url, html}`, with `title`, `last_modified` (or `fetched_at`) and the HTTP `status`, where known.

use crate::{
    ItemError, Outcome,
    document::{DocumentType, Draft, Identity},
    html,
    item::Item,
    links,
};

pub(crate) fn read(item: &Item<'_>) -> Result<Outcome, ItemError> {
    let address = item.words("url")?.ok_or_else(|| ItemError::missing("url", links::EXPECTED))?;
    let mut url = links::parse(address).ok_or_else(|| ItemError::invalid("url", links::EXPECTED))?;
    // The part of a page that a link points to is no other page. A page's own word on which page it is (`canonical`) is not
    // taken: one site could overwrite another's.
    url.set_fragment(None);
    let identity = Identity::new(DocumentType::WebPage, &[url.as_str()], "url")?;
    if matches!(item.number("status")?, Some(404 | 410)) {
        return Ok(identity.removed());
    }
    let page = item.text("html")?.ok_or_else(|| ItemError::missing("html", "the page's HTML, as text"))?;
    let mut draft = Draft::new(identity);
    let (markdown, head) = html::read_page(page, Some(&url), "html")?;
    draft.markdown = markdown;
    draft.title = item.words("title")?.map(str::to_owned).or(head.title).or(head.heading);
    draft.updated_at = item.first_time(&["last_modified", "fetched_at"])?;
    // What a page says of its own age is taken where it can be read, and else is no fault of the item.
    draft.updated_at = head.modified.as_deref().and_then(crate::when::parse).or(draft.updated_at);
    draft.facts.text("host", url.host_str());
    draft.facts.text("language", head.language.as_deref());
    draft.facts.text("description", head.description.as_deref());
    draft.facts.text("author", head.author.as_deref());
    draft.url = Some(url.into());
    draft.finish("html")
}
