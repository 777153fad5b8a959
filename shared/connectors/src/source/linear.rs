//! Linear: an issue as its GraphQL API gives it.

use super::turn;
use crate::{
    ItemError, Outcome,
    document::{DocumentType, Draft, Identity},
    item::Item,
};
use anchorage_domain::SkipReason;

pub(crate) fn read(item: &Item<'_>) -> Result<Outcome, ItemError> {
    // A webhook's envelope says what was done to the issue that it holds.
    let removed = item.text("action")? == Some("remove");
    let envelope = if item.has("action") { item.object("data")? } else { None };
    let item = envelope.as_ref().unwrap_or(item);

    let id = item.required_id("id", "the issue's id")?;
    let identity = Identity::new(DocumentType::LinearIssue, &[&id], "id")?;
    if removed || item.flag("trashed")? {
        return Ok(identity.removed());
    }
    let mut draft = Draft::new(identity);
    draft.title = item.words("title")?.map(str::to_owned);
    draft.url = item.url("url")?;
    draft.updated_at = item.first_time(&["updatedAt", "createdAt"])?;
    let facts = &mut draft.facts;
    facts.text("identifier", item.text("identifier")?);
    facts.text("state", item.text("state.name")?);
    facts.text("team", item.text("team.name")?);
    facts.text("project", item.text("project.name")?);
    facts.text("priority", item.text("priorityLabel")?);
    facts.text("assignee", item.first_words(&["assignee.displayName", "assignee.name"])?);
    facts.text("creator", item.first_words(&["creator.displayName", "creator.name"])?);
    facts.list("labels", item.texts("labels", "name")?);
    facts.time("due", item.time("dueDate")?);
    facts.flag("archived", item.has("archivedAt"));
    draft.markdown.native(item.text("description")?.unwrap_or_default());
    let comments = item.list("comments")?;
    if !comments.is_empty() {
        draft.markdown.heading_of(2, "Comments");
    }
    for comment in comments {
        let author = comment.first_words(&["user.displayName", "user.name", "botActor.name"])?;
        turn(&mut draft.markdown, author, comment.time("createdAt")?);
        draft.markdown.native(comment.text("body")?.unwrap_or_default());
    }
    if item.flag("comments.pageInfo.hasNextPage").unwrap_or(false) {
        draft.facts.omitted.add("comments that were not sent", SkipReason::Unsupported);
    }
    draft.finish("description")
}
