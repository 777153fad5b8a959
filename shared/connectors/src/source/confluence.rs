//! Confluence: pages and blog posts of both API versions, in storage format or as an Atlassian document.

use crate::{
    ItemError, Outcome, adf,
    document::{DocumentType, Draft, Identity},
    html,
    item::Item,
    links,
};

pub(crate) fn read(item: &Item<'_>) -> Result<Outcome, ItemError> {
    let id = item.required_id("id", "the page's id")?;
    let identity = Identity::new(DocumentType::ConfluencePage, &[&id], "id")?;
    let status = item.words("status")?;
    if matches!(status, Some("trashed" | "deleted")) {
        return Ok(identity.removed());
    }
    let mut draft = Draft::new(identity);
    draft.title = item.words("title")?.map(str::to_owned);
    draft.url = url(item)?;
    draft.updated_at = item.first_time(&["version.createdAt", "version.when", "createdAt"])?;
    let facts = &mut draft.facts;
    facts.text("kind", item.text("type")?);
    // Current is what every page is that people see.
    facts.text("status", status.filter(|status| *status != "current"));
    facts.text("space", item.first_words(&["space.key", "space.name"])?);
    facts.text("space_id", item.id("spaceId")?.as_deref());
    facts.text("parent_id", item.id("parentId")?.as_deref());
    facts.text("author", item.first_words(&["version.by.displayName", "version.authorId", "authorId"])?);
    facts.list("labels", item.texts("metadata.labels", "name")?);
    if facts.metadata.get("labels").is_none() {
        facts.list("labels", item.texts("labels", "name")?);
    }
    if let Some(storage) = item.words("body.storage.value")? {
        html::read_storage(storage, &item.place("body.storage.value"), &mut draft.markdown)?;
        return draft.finish("body.storage.value");
    }
    match item.value("body.atlas_doc_format.value")? {
        Some(serde_json::Value::String(json)) if json.trim().is_empty() => {
            Err(ItemError::blank("body.atlas_doc_format.value"))
        }
        Some(serde_json::Value::String(json)) => {
            adf::read_text(json, "body.atlas_doc_format.value", &mut draft.markdown)?;
            draft.finish("body.atlas_doc_format.value")
        }
        Some(document) => {
            adf::read(document, "body.atlas_doc_format.value", &mut draft.markdown)?;
            draft.finish("body.atlas_doc_format.value")
        }
        None if item.has("body.storage") => Err(ItemError::blank("body.storage.value")),
        None => Err(ItemError::missing(
            "body",
            "ask for the page with `body-format=storage` or `body-format=atlas_doc_format`",
        )),
    }
}

/// Where people find the page: the site's own address is beside the path only where one page was asked for.
fn url(item: &Item<'_>) -> Result<Option<String>, ItemError> {
    let Some(path) = item.words("_links.webui")? else { return Ok(None) };
    let base = match item.words("_links.base")? {
        Some(base) => Some(base.to_owned()),
        None => {
            item.words("_links.self")?.and_then(|address| address.split_once("/rest/")).map(|(base, _)| base.to_owned())
        }
    };
    Ok(base.and_then(|base| links::address(&format!("{}{path}", base.trim_end_matches('/')))))
}
