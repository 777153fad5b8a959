//! Jira: an issue, its texts as Atlassian documents (API v3), as HTML (`renderedFields`), or as wiki markup (API v2), which
//! is kept as it is written.

use super::turn;
use crate::{
    ItemError, Outcome, adf,
    document::{DocumentType, Draft, Identity},
    html,
    item::Item,
    links,
    markdown::Markdown,
};
use anchorage_domain::SkipReason;
use serde_json::Value;

pub(crate) fn read(item: &Item<'_>) -> Result<Outcome, ItemError> {
    let removed = item.text("webhookEvent")? == Some("jira:issue_deleted");
    let envelope = if item.has("webhookEvent") { item.object("issue")? } else { None };
    let item = envelope.as_ref().unwrap_or(item);

    let id = item.required_id("id", "the issue's id")?;
    let address =
        item.words("self")?.ok_or_else(|| ItemError::missing(item.place("self"), "the issue's REST address"))?;
    let site = site(address).ok_or_else(|| ItemError::invalid(item.place("self"), "the issue's REST address"))?;
    // Sites count their issues each from the same number.
    let identity = Identity::new(DocumentType::JiraIssue, &[site.trim_start_matches("https://"), &id], "id")?;
    if removed {
        return Ok(identity.removed());
    }
    let mut draft = Draft::new(identity);
    let key = item.words("key")?;
    draft.title = item.words("fields.summary")?.map(str::to_owned);
    // Behind the platform's gateway the address is no page for people.
    if let Some(key) = key.filter(|_| !site.contains("/ex/jira/")) {
        draft.url = links::address(&format!("{site}/browse/{key}"));
    }
    draft.updated_at = item.first_time(&["fields.updated", "fields.created"])?;
    let facts = &mut draft.facts;
    facts.text("key", key);
    facts.text("project", item.text("fields.project.key")?);
    facts.text("kind", item.text("fields.issuetype.name")?);
    facts.text("status", item.text("fields.status.name")?);
    facts.text("priority", item.text("fields.priority.name")?);
    facts.text("resolution", item.text("fields.resolution.name")?);
    facts.text("assignee", item.text("fields.assignee.displayName")?);
    facts.text("reporter", item.text("fields.reporter.displayName")?);
    facts.text("parent", item.text("fields.parent.key")?);
    facts.list("labels", item.strings("fields.labels")?);
    facts.list("components", item.texts("fields.components", "name")?);
    facts.list("versions", item.texts("fields.fixVersions", "name")?);
    let rendered = item.words("renderedFields.description")?;
    body(item, "fields.description", rendered, &mut draft.markdown)?;

    let comments = item.list("fields.comment.comments")?;
    if !comments.is_empty() {
        draft.markdown.heading_of(2, "Comments");
    }
    let sent = i64::try_from(comments.len()).unwrap_or(i64::MAX);
    let rendered = item.list("renderedFields.comment.comments")?;
    for (index, comment) in comments.iter().enumerate() {
        turn(&mut draft.markdown, comment.words("author.displayName")?, comment.time("created")?);
        let rendered = rendered.get(index).map(|comment| comment.words("body")).transpose()?.flatten();
        body(comment, "body", rendered, &mut draft.markdown)?;
    }
    if item.number("fields.comment.total")?.is_some_and(|total| total > sent) {
        draft.facts.omitted.add("comments that were not sent", SkipReason::Unsupported);
    }
    for name in item.texts("fields.attachment", "filename")? {
        draft.facts.omitted.add(&format!("attachment {name}"), SkipReason::Unsupported);
    }
    draft.finish("fields.description")
}

/// The site of an issue: its REST address up to `/rest/`.
fn site(address: &str) -> Option<String> {
    let url = links::parse(address)?;
    let (site, _) = url.as_str().split_once("/rest/")?;
    Some(site.to_owned())
}

fn body(item: &Item<'_>, field: &str, rendered: Option<&str>, markdown: &mut Markdown) -> Result<(), ItemError> {
    let place = item.place(field);
    match item.value(field)? {
        None => Ok(()),
        Some(Value::String(_)) if rendered.is_some() => {
            html::read(rendered.unwrap_or_default(), None, &place, markdown).map(drop)
        }
        Some(Value::String(wiki)) => {
            markdown.paragraph(wiki);
            Ok(())
        }
        Some(document) => adf::read(document, &place, markdown),
    }
}
