//! Slack's blocks: rich text as people write it, and what apps lay out.

use super::{Names, mrkdwn};
use crate::{
    ItemError,
    item::Item,
    links,
    markdown::{Markdown, Marks, Style},
};
use anchorage_domain::SkipReason;
use std::fmt::Write as _;

/// Appends blocks; says whether they said anything.
pub(super) fn read(blocks: &[Item<'_>], names: &Names<'_>, markdown: &mut Markdown) -> Result<bool, ItemError> {
    let before = markdown.said();
    for block in blocks {
        let kind = block.text("type")?.unwrap_or_default();
        match kind {
            "rich_text" => rich_text(block, names, markdown)?,
            "section" => {
                text_object(block, "text", names, markdown)?;
                for field in block.list("fields")? {
                    markdown.flush();
                    text_of(&field, names, markdown)?;
                }
            }
            "header" => {
                markdown.heading(2);
                text_object(block, "text", names, markdown)?;
            }
            "context" => {
                for element in block.list("elements")? {
                    if element.text("type")? != Some("image") {
                        text_of(&element, names, markdown)?;
                        markdown.text(" ", &Style::default());
                    }
                }
            }
            "markdown" => markdown.native(block.text("text")?.unwrap_or_default()),
            "image" => markdown.image(block.text("alt_text")?, None),
            "divider" => markdown.rule(),
            // Buttons and menus ask; they say nothing.
            "actions" | "input" => {}
            _ => markdown.omitted.add(&format!("block {kind}"), SkipReason::Unsupported),
        }
        markdown.flush();
    }
    Ok(markdown.said() > before)
}

fn text_object(block: &Item<'_>, path: &str, names: &Names<'_>, markdown: &mut Markdown) -> Result<(), ItemError> {
    match block.object(path)? {
        Some(text) => text_of(&text, names, markdown),
        None => Ok(()),
    }
}

fn text_of(text: &Item<'_>, names: &Names<'_>, markdown: &mut Markdown) -> Result<(), ItemError> {
    let said = text.text("text")?.unwrap_or_default();
    if text.text("type")? == Some("mrkdwn") {
        mrkdwn::read(said, names, markdown);
    } else {
        markdown.text(said, &Style::default());
    }
    Ok(())
}

/// Its lists are flat, each with its depth.
fn rich_text(block: &Item<'_>, names: &Names<'_>, markdown: &mut Markdown) -> Result<(), ItemError> {
    let outside = markdown.depth();
    // Containers that were open before each list that is open, and whether it is numbered.
    let mut lists: Vec<(usize, bool)> = Vec::new();
    for part in block.list("elements")? {
        let kind = part.text("type")?.unwrap_or_default();
        if kind != "rich_text_list" {
            markdown.close_to(outside);
            lists.clear();
        }
        match kind {
            "rich_text_section" => inline(&part, names, markdown)?,
            "rich_text_quote" => {
                markdown.open_quote();
                inline(&part, names, markdown)?;
                markdown.close();
            }
            "rich_text_preformatted" => {
                let mut code = String::new();
                for element in part.list("elements")? {
                    code.push_str(element.text("text")?.or(element.text("url")?).unwrap_or_default());
                }
                markdown.code(part.text("language")?.unwrap_or_default(), &code);
            }
            "rich_text_list" => {
                let level = usize::try_from(part.number("indent")?.unwrap_or(0)).unwrap_or(0);
                let numbered = part.text("style")? == Some("ordered");
                while lists.len() > level.saturating_add(1)
                    || (lists.len() == level.saturating_add(1)
                        && lists.last().is_some_and(|(_, open)| *open != numbered))
                {
                    if let Some((depth, _)) = lists.pop() {
                        markdown.close_to(depth);
                    }
                }
                if lists.len() <= level {
                    let offset = u64::try_from(part.number("offset")?.unwrap_or(0)).unwrap_or(0);
                    lists.push((markdown.depth(), numbered));
                    markdown.open_list(numbered.then(|| offset.saturating_add(1)));
                }
                for item in part.list("elements")? {
                    markdown.open_item(None);
                    inline(&item, names, markdown)?;
                    markdown.close();
                }
            }
            other => markdown.omitted.add(&format!("element {other}"), SkipReason::Unsupported),
        }
        markdown.flush();
    }
    markdown.close_to(outside);
    Ok(())
}

fn inline(part: &Item<'_>, names: &Names<'_>, markdown: &mut Markdown) -> Result<(), ItemError> {
    for element in part.list("elements")? {
        let marks = Marks::default()
            .with_if(element.flag("style.bold")?, Marks::STRONG)
            .with_if(element.flag("style.italic")?, Marks::EMPHASIS)
            .with_if(element.flag("style.strike")?, Marks::STRIKE)
            .with_if(element.flag("style.code")?, Marks::CODE);
        let style = Style::marked(marks);
        let kind = element.text("type")?.unwrap_or_default();
        let shown = match kind {
            "text" => element.text("text")?.unwrap_or_default().to_owned(),
            "link" => {
                let url = element.text("url")?.unwrap_or_default();
                let shown = element.words("text")?.unwrap_or(url);
                markdown.text(shown, &Style { marks, ..Style::link(links::target(url, None)) });
                continue;
            }
            "user" => names.mention(&element.id("user_id")?.unwrap_or_default()),
            "channel" => format!("#{}", element.id("channel_id")?.unwrap_or_default()),
            "usergroup" => format!("@{}", element.id("usergroup_id")?.unwrap_or_default()),
            "team" => format!("@{}", element.id("team_id")?.unwrap_or_default()),
            "broadcast" => format!("@{}", element.text("range")?.unwrap_or_default()),
            "emoji" => emoji(&element)?,
            "date" => match element.words("fallback")? {
                Some(shown) => shown.to_owned(),
                None => element.time("timestamp")?.map(|time| time.to_string()).unwrap_or_default(),
            },
            "color" => element.text("value")?.unwrap_or_default().to_owned(),
            other => {
                markdown.omitted.add(&format!("element {other}"), SkipReason::Unsupported);
                continue;
            }
        };
        markdown.text(&shown, &style);
    }
    Ok(())
}

/// An emoji by its code points, or by its name where the workspace made it.
fn emoji(element: &Item<'_>) -> Result<String, ItemError> {
    let points = element.text("unicode")?.unwrap_or_default();
    let mut shown = String::new();
    for point in points.split('-') {
        shown.extend(u32::from_str_radix(point, 16).ok().and_then(char::from_u32));
    }
    if shown.is_empty() {
        // Writing to a String does not fail.
        let _ = write!(shown, ":{}:", element.text("name")?.unwrap_or_default());
    }
    Ok(shown)
}
