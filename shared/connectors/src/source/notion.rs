//! Notion: a page, with its blocks under `blocks` (or `children`), each block's own under `children`.

use crate::{
    ItemError, Outcome,
    document::{DocumentType, Draft, Identity},
    item::Item,
    limits::MAX_DEPTH,
    links,
    markdown::{Markdown, Marks, Style},
    metadata::{Facts, shortened},
};
use anchorage_domain::SkipReason;
use serde_json::Value;

pub(crate) fn read(item: &Item<'_>) -> Result<Outcome, ItemError> {
    if item.text("object")?.is_some_and(|object| object != "page") {
        return Err(ItemError::invalid(
            "object",
            "\"page\": blocks stand inside their page, and a data source is no document",
        ));
    }
    let id = item.required_id("id", "the page's id")?;
    // The same id is written with hyphens and without.
    let id: String = id.chars().filter(|c| *c != '-').map(|c| c.to_ascii_lowercase()).collect();
    let identity = Identity::new(DocumentType::NotionPage, &[&id], "id")?;
    if item.flag("in_trash")? || item.flag("archived")? {
        return Ok(identity.removed());
    }
    let mut draft = Draft::new(identity);
    draft.url = item.url("url")?;
    draft.updated_at = item.first_time(&["last_edited_time", "created_time"])?;
    draft.facts.text("icon", item.text("icon.emoji")?);
    if let Some(properties) = item.object("properties")? {
        for (name, value) in properties.map() {
            let property = Item::at(value, properties.place(name))?;
            if property.text("type")? == Some("title") {
                draft.title = Some(plain_of(&property, "title")?);
            } else {
                self::property(&property, name, &mut draft.facts, &mut draft.markdown)?;
            }
        }
    }
    if let Some(text) = item.text("markdown")? {
        draft.markdown.native(text);
        return draft.finish("markdown");
    }
    let field = if item.has("blocks") { "blocks" } else { "children" };
    blocks(item.list(field)?, &mut draft.markdown)?;
    draft.finish("blocks")
}

fn plain_of(item: &Item<'_>, path: &str) -> Result<String, ItemError> {
    Ok(item.texts_as_they_are(path, "plain_text")?.concat())
}

/// Short properties are metadata; text that was written into one is text of the page.
fn property(item: &Item<'_>, name: &str, facts: &mut Facts, markdown: &mut Markdown) -> Result<(), ItemError> {
    let key = format!("property.{}", shortened(name, 64));
    match item.text("type")?.unwrap_or_default() {
        "rich_text" => {
            let parts = item.list("rich_text")?;
            if !parts.is_empty() {
                markdown.flush();
                markdown.text(name, &Style::marked(Marks::STRONG));
                markdown.text(": ", &Style::default());
                rich_text(&parts, markdown)?;
                markdown.flush();
            }
        }
        "select" => facts.text(&key, item.text("select.name")?),
        "status" => facts.text(&key, item.text("status.name")?),
        "multi_select" => facts.list(&key, item.texts("multi_select", "name")?),
        "people" => facts.list(&key, item.texts("people", "name")?),
        "date" => facts.text(&key, item.text("date.start")?),
        "checkbox" => facts.flag(&key, item.flag("checkbox")?),
        "number" => facts.text(&key, item.value("number")?.map(Value::to_string).as_deref()),
        kind @ ("url" | "email" | "phone_number") => facts.text(&key, item.text(kind)?),
        _ => {}
    }
    Ok(())
}

fn rich_text(parts: &[Item<'_>], markdown: &mut Markdown) -> Result<(), ItemError> {
    for part in parts {
        let text = match part.text("plain_text")? {
            Some(text) => text,
            None => part.text("text.content")?.unwrap_or_default(),
        };
        let link = part.text("href")?.or(part.text("text.link.url")?).and_then(|url| links::target(url, None));
        let code = part.flag("annotations.code")? || part.text("type")? == Some("equation");
        let marks = Marks::default()
            .with_if(part.flag("annotations.bold")?, Marks::STRONG)
            .with_if(part.flag("annotations.italic")?, Marks::EMPHASIS)
            .with_if(part.flag("annotations.strikethrough")?, Marks::STRIKE)
            .with_if(code, Marks::CODE);
        markdown.text(text, &Style { marks, ..Style::link(link) });
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum List {
    Bulleted,
    Numbered,
    ToDo,
}

#[derive(Debug, Clone, Copy)]
enum Leave {
    Nothing,
    Container,
    Table,
}

/// Blocks that stand beside each other.
struct Level<'a> {
    blocks: std::vec::IntoIter<Item<'a>>,
    /// The list that the last block was an item of.
    list: Option<List>,
    leave: Leave,
}

fn blocks(top: Vec<Item<'_>>, markdown: &mut Markdown) -> Result<(), ItemError> {
    let mut stack = vec![Level { blocks: top.into_iter(), list: None, leave: Leave::Nothing }];
    while let Some(level) = stack.last_mut() {
        let Some(block) = level.blocks.next() else {
            if level.list.is_some() {
                markdown.close();
            }
            match level.leave {
                Leave::Nothing => markdown.flush(),
                Leave::Container => markdown.close(),
                Leave::Table => markdown.close_table(),
            }
            stack.pop();
            continue;
        };
        if block.flag("in_trash")? || block.flag("archived")? {
            continue;
        }
        let kind = block.text("type")?.ok_or_else(|| ItemError::missing(block.place("type"), "the block's type"))?;
        let list = match kind {
            "bulleted_list_item" => Some(List::Bulleted),
            "numbered_list_item" => Some(List::Numbered),
            "to_do" => Some(List::ToDo),
            _ => None,
        };
        if list != level.list {
            if level.list.is_some() {
                markdown.close();
            }
            match list {
                Some(List::Numbered) => markdown.open_list(Some(1)),
                Some(_) => markdown.open_list(None),
                None => {}
            }
            level.list = list;
        }
        let children = children(&block, kind, markdown)?;
        let leave = begin(&block, kind, markdown)?;
        if stack.len() >= MAX_DEPTH {
            return Err(ItemError::too_deep("blocks"));
        }
        stack.push(Level { blocks: children.into_iter(), list: None, leave });
    }
    Ok(())
}

/// The blocks inside a block, and a note where the page says that there are some and they were not sent.
fn children<'a>(block: &Item<'a>, kind: &str, markdown: &mut Markdown) -> Result<Vec<Item<'a>>, ItemError> {
    let mut children = block.list("children")?;
    if children.is_empty()
        && let Some(content) = block.object(kind)?
    {
        children = content.list("children")?;
    }
    let elsewhere = matches!(kind, "child_page" | "child_database");
    if children.is_empty() && !elsewhere && block.flag("has_children")? {
        markdown.omitted.add("blocks inside a block that were not sent", SkipReason::Unsupported);
    }
    Ok(children)
}

fn begin(block: &Item<'_>, kind: &str, markdown: &mut Markdown) -> Result<Leave, ItemError> {
    markdown.flush();
    let Some(content) = block.object(kind)? else {
        markdown.omitted.add(&format!("block {kind}"), SkipReason::Unsupported);
        return Ok(Leave::Nothing);
    };
    let text = content.list("rich_text")?;
    match kind {
        "bulleted_list_item" | "numbered_list_item" => markdown.open_item(None),
        "to_do" => markdown.open_item(Some(content.flag("checked")?)),
        "quote" | "callout" => {
            markdown.open_quote();
            if let Some(emoji) = content.words("icon.emoji").unwrap_or(None) {
                markdown.text(&format!("{emoji} "), &Style::default());
            }
        }
        "heading_1" => markdown.heading(1),
        "heading_2" => markdown.heading(2),
        "heading_3" => markdown.heading(3),
        "heading_4" => markdown.heading(4),
        "code" => {
            let code: String = content.texts_as_they_are("rich_text", "plain_text")?.concat();
            markdown.code(content.text("language")?.filter(|name| *name != "plain text").unwrap_or_default(), &code);
            rich_text(&content.list("caption")?, markdown)?;
            return Ok(Leave::Nothing);
        }
        "equation" => markdown.code("latex", content.text("expression")?.unwrap_or_default()),
        "divider" => markdown.rule(),
        "table" => {
            markdown.open_table();
            return Ok(Leave::Table);
        }
        "table_row" => {
            row(&content, markdown)?;
            return Ok(Leave::Nothing);
        }
        "bookmark" | "embed" | "link_preview" => {
            let url = content.text("url")?.unwrap_or_default();
            let style = Style::link(links::target(url, None));
            let caption = content.list("caption")?;
            if caption.is_empty() {
                markdown.text(url, &style);
            }
            rich_text(&caption, markdown)?;
        }
        "child_page" | "child_database" => {
            markdown.text(content.text("title")?.unwrap_or_default(), &Style::default());
        }
        "image" => {
            let url = content.first_words(&["external.url"])?.and_then(|url| links::target(url, None));
            let caption = plain_of(&content, "caption")?;
            markdown.image(Some(&caption), url.as_deref());
        }
        "file" | "pdf" | "video" | "audio" => {
            let name = content.words("name")?.unwrap_or(kind);
            markdown.omitted.add(&format!("{kind} {name}"), SkipReason::Unsupported);
            rich_text(&content.list("caption")?, markdown)?;
        }
        // They hold blocks, or show what the page has elsewhere.
        "paragraph" | "toggle" | "template" | "column_list" | "column" | "synced_block" | "table_of_contents"
        | "breadcrumb" | "link_to_page" | "tab" => {}
        _ if text.is_empty() => markdown.omitted.add(&format!("block {kind}"), SkipReason::Unsupported),
        _ => {}
    }
    rich_text(&text, markdown)?;
    let leave = match kind {
        "bulleted_list_item" | "numbered_list_item" | "to_do" | "quote" | "callout" => Leave::Container,
        _ => Leave::Nothing,
    };
    markdown.flush();
    Ok(leave)
}

fn row(content: &Item<'_>, markdown: &mut Markdown) -> Result<(), ItemError> {
    markdown.open_row();
    for (index, cell) in content.values("cells")?.iter().enumerate() {
        let place = format!("{}[{index}]", content.place("cells"));
        let Value::Array(parts) = cell else {
            return Err(ItemError::invalid(place, "a list of rich texts"));
        };
        let parts: Result<Vec<_>, _> = parts.iter().map(|part| Item::at(part, place.clone())).collect();
        markdown.open_cell(1);
        rich_text(&parts?, markdown)?;
    }
    Ok(())
}
