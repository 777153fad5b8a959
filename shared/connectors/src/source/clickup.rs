//! `ClickUp`: tasks (API v2), Docs and their pages (API v3).

use super::turn;
use crate::{
    ItemError, Outcome,
    document::{DocumentType, Draft, Identity},
    item::Item,
    limits::MAX_DEPTH,
    markdown::Markdown,
};
use anchorage_domain::SkipReason;

pub(crate) fn read(item: &Item<'_>) -> Result<Outcome, ItemError> {
    if item.has("doc_id") {
        page(item)
    } else if item.has("pages") || item.has("workspace_id") {
        doc(item)
    } else {
        task(item)
    }
}

fn task(item: &Item<'_>) -> Result<Outcome, ItemError> {
    if item.text("event")? == Some("taskDeleted") {
        let id = item.required_id("task_id", "the task's id")?;
        return Ok(Identity::new(DocumentType::ClickUpTask, &[&id], "task_id")?.removed());
    }
    let id = item.required_id("id", "the task's id")?;
    let identity = Identity::new(DocumentType::ClickUpTask, &[&id], "id")?;
    if item.flag("deleted")? {
        return Ok(identity.removed());
    }
    let mut draft = Draft::new(identity);
    draft.title = item.words("name")?.map(str::to_owned);
    draft.url = item.url("url")?;
    draft.updated_at = item.first_time(&["date_updated", "date_created"])?;
    let facts = &mut draft.facts;
    facts.text("custom_id", item.id("custom_id")?.as_deref());
    facts.text("status", item.text("status.status")?);
    facts.text("priority", item.text("priority.priority")?);
    facts.text("list", item.text("list.name")?);
    facts.text("folder", item.text("folder.name")?);
    facts.text("creator", item.text("creator.username")?);
    facts.list("assignees", item.texts("assignees", "username")?);
    facts.list("tags", item.texts("tags", "name")?);
    facts.time("due", item.time("due_date")?);
    facts.flag("archived", item.flag("archived")?);
    for field in item.list("custom_fields")? {
        // Values of other kinds are ids of things that the item does not name.
        if let (Some(name), Some(value)) =
            (field.words("name")?, field.value("value")?.and_then(|value| value.as_str()))
        {
            facts.text(&format!("field.{}", crate::metadata::shortened(name, 64)), Some(value));
        }
    }
    let markdown = &mut draft.markdown;
    if let Some(text) = item.first_words(&["markdown_description", "markdown_content"])? {
        markdown.native(text);
    } else if let Some(text) = item.first_words(&["text_content", "description"])? {
        markdown.paragraph(text);
    }
    for checklist in item.list("checklists")? {
        checklist_of(&checklist, markdown)?;
    }
    let subtasks = item.texts("subtasks", "name")?;
    if !subtasks.is_empty() {
        markdown.heading_of(2, "Subtasks");
        markdown.open_list(None);
        for name in subtasks {
            markdown.open_item(None);
            markdown.text(name, &crate::markdown::Style::default());
            markdown.close();
        }
        markdown.close();
    }
    let comments = item.list("comments")?;
    if !comments.is_empty() {
        markdown.heading_of(2, "Comments");
    }
    for comment in comments {
        turn(markdown, comment.words("user.username")?, comment.time("date")?);
        markdown.paragraph(comment.text("comment_text")?.unwrap_or_default());
    }
    for attachment in item.list("attachments")? {
        let name = attachment.first_words(&["title", "name"])?.unwrap_or("without a name");
        draft.facts.omitted.add(&format!("attachment {name}"), SkipReason::Unsupported);
    }
    draft.finish("markdown_description")
}

fn checklist_of(checklist: &Item<'_>, markdown: &mut Markdown) -> Result<(), ItemError> {
    if let Some(name) = checklist.words("name")? {
        markdown.heading_of(2, name);
    }
    markdown.open_list(None);
    for entry in checklist.list("items")? {
        markdown.open_item(Some(entry.flag("resolved")?));
        markdown.text(entry.text("name")?.unwrap_or_default(), &crate::markdown::Style::default());
        markdown.close();
    }
    markdown.close();
    Ok(())
}

fn doc(item: &Item<'_>) -> Result<Outcome, ItemError> {
    let id = item.required_id("id", "the Doc's id")?;
    let identity = Identity::new(DocumentType::ClickUpDoc, &[&id], "id")?;
    if item.flag("deleted")? {
        return Ok(identity.removed());
    }
    let mut draft = Draft::new(identity);
    draft.title = item.words("name")?.map(str::to_owned);
    draft.updated_at = item.first_time(&["date_updated", "date_created"])?;
    draft.url = item.id("workspace_id")?.map(|workspace| format!("https://app.clickup.com/{workspace}/docs/{id}"));
    draft.facts.flag("archived", item.flag("archived")?);
    pages(item, &mut draft.markdown)?;
    draft.finish("pages")
}

/// One page of a Doc, without the pages below it, which are items of their own.
fn page(item: &Item<'_>) -> Result<Outcome, ItemError> {
    let doc = item.required_id("doc_id", "the id of the page's Doc")?;
    let id = item.required_id("id", "the page's id")?;
    let identity = Identity::new(DocumentType::ClickUpDoc, &[&doc, &id], "id")?;
    if item.flag("deleted")? {
        return Ok(identity.removed());
    }
    let mut draft = Draft::new(identity);
    draft.title = item.words("name")?.map(str::to_owned);
    draft.updated_at = item.first_time(&["date_updated", "date_edited", "date_created"])?;
    let workspace = item.id("workspace_id")?;
    draft.url = workspace.map(|workspace| format!("https://app.clickup.com/{workspace}/docs/{doc}/{id}"));
    draft.facts.flag("archived", item.flag("archived")?);
    body(item, &mut draft.markdown)?;
    pages(item, &mut draft.markdown)?;
    draft.finish("content")
}

fn body(page: &Item<'_>, markdown: &mut Markdown) -> Result<(), ItemError> {
    if let Some(subtitle) = page.words("sub_title")? {
        markdown.paragraph(subtitle);
    }
    markdown.native(page.text("content")?.unwrap_or_default());
    Ok(())
}

/// The pages below an item, each under its name, in order.
fn pages(item: &Item<'_>, markdown: &mut Markdown) -> Result<(), ItemError> {
    let mut stack = vec![item.list("pages")?.into_iter()];
    while let Some(level) = stack.last_mut() {
        let Some(page) = level.next() else {
            stack.pop();
            continue;
        };
        if page.flag("deleted")? {
            continue;
        }
        if let Some(name) = page.words("name")? {
            markdown.heading_of(u8::try_from(stack.len()).unwrap_or(u8::MAX), name);
        }
        body(&page, markdown)?;
        if stack.len() >= MAX_DEPTH {
            return Err(ItemError::too_deep("pages"));
        }
        stack.push(page.list("pages")?.into_iter());
    }
    Ok(())
}
