//! Google Docs: a document as the Docs API gives it, with tabs or without.

use crate::{
    ItemError, Outcome,
    document::{DocumentType, Draft, Identity},
    item::Item,
    limits::MAX_DEPTH,
    links,
    markdown::{Markdown, Marks, Style},
};
use anchorage_domain::SkipReason;

pub(crate) fn read(item: &Item<'_>) -> Result<Outcome, ItemError> {
    let id = item.required_id("documentId", "the document's id")?;
    let identity = Identity::new(DocumentType::GoogleDoc, &[&id], "documentId")?;
    let mut draft = Draft::new(identity);
    draft.title = item.words("title")?.map(str::to_owned);
    draft.url = links::address(&format!("https://docs.google.com/document/d/{id}/edit"));
    draft.facts.text("revision", item.text("revisionId")?);
    if !item.has("tabs") {
        tab(item, &mut draft.markdown)?;
        return draft.finish("body.content");
    }
    let tabs = item.list("tabs")?;
    let named = tabs.len() > 1 || tabs.iter().any(|tab| tab.has("childTabs"));
    let mut stack = vec![tabs.into_iter()];
    while let Some(level) = stack.last_mut() {
        let Some(next) = level.next() else {
            stack.pop();
            continue;
        };
        if named && let Some(title) = next.words("tabProperties.title")? {
            draft.markdown.heading_of(u8::try_from(stack.len()).unwrap_or(u8::MAX), title);
        }
        if let Some(content) = next.object("documentTab")? {
            tab(&content, &mut draft.markdown)?;
        }
        if stack.len() >= MAX_DEPTH {
            return Err(ItemError::too_deep("tabs"));
        }
        stack.push(next.list("childTabs")?.into_iter());
    }
    draft.finish("tabs")
}

/// What one tab holds: its body, and its footnotes after it.
fn tab(tab: &Item<'_>, markdown: &mut Markdown) -> Result<(), ItemError> {
    content(tab, tab.list("body.content")?, markdown)?;
    for (name, part) in [("headers", "header"), ("footers", "footer")] {
        if tab.value(name)?.and_then(serde_json::Value::as_object).is_some_and(|parts| !parts.is_empty()) {
            markdown.omitted.add(&format!("{part} of the page"), SkipReason::Unsupported);
        }
    }
    if let Some(notes) = tab.object("footnotes")? {
        for (id, note) in notes.map() {
            let note = Item::at(note, notes.place(id))?;
            markdown.open_note(&plain_id(id));
            content(tab, note.list("content")?, markdown)?;
            markdown.close();
        }
    }
    Ok(())
}

fn plain_id(id: &str) -> String {
    id.chars().filter(char::is_ascii_alphanumeric).collect()
}

enum Leave {
    Nothing,
    Cell,
    Row,
    Table,
}

struct Level<'a> {
    elements: std::vec::IntoIter<Item<'a>>,
    /// Containers that were open before each list that is open.
    lists: Vec<usize>,
    list_id: Option<&'a str>,
    leave: Leave,
}

impl<'a> Level<'a> {
    fn new(elements: Vec<Item<'a>>, leave: Leave) -> Self {
        Self { elements: elements.into_iter(), lists: Vec::new(), list_id: None, leave }
    }

    fn close_lists(&mut self, to: usize, markdown: &mut Markdown) {
        while self.lists.len() > to {
            if let Some(depth) = self.lists.pop() {
                markdown.close_to(depth);
            }
        }
    }
}

fn content<'a>(tab: &Item<'a>, elements: Vec<Item<'a>>, markdown: &mut Markdown) -> Result<(), ItemError> {
    let mut stack = vec![Level::new(elements, Leave::Nothing)];
    while let Some(level) = stack.last_mut() {
        let Some(element) = level.elements.next() else {
            level.close_lists(0, markdown);
            match level.leave {
                Leave::Nothing => markdown.flush(),
                Leave::Cell => markdown.close_cell(),
                Leave::Row => markdown.close_row(),
                Leave::Table => markdown.close_table(),
            }
            stack.pop();
            continue;
        };
        let mut inside = None;
        if let Some(paragraph) = element.object("paragraph")? {
            self::paragraph(tab, level, &paragraph, markdown)?;
        } else if let Some(table) = element.object("table")? {
            level.close_lists(0, markdown);
            markdown.open_table();
            inside = Some(Level::new(table.list("tableRows")?, Leave::Table));
        } else if element.has("tableCells") {
            markdown.open_row();
            inside = Some(Level::new(element.list("tableCells")?, Leave::Row));
        } else if element.has("content") {
            let span = element.number("tableCellStyle.columnSpan")?.unwrap_or(1);
            markdown.open_cell(usize::try_from(span).unwrap_or(1));
            inside = Some(Level::new(element.list("content")?, Leave::Cell));
        } else if element.has("tableOfContents") || element.has("sectionBreak") {
            // The one repeats the headings, the other has no text.
            level.close_lists(0, markdown);
        }
        if let Some(inside) = inside {
            if stack.len() >= MAX_DEPTH {
                return Err(ItemError::too_deep("body.content"));
            }
            stack.push(inside);
        }
    }
    Ok(())
}

fn paragraph<'a>(
    tab: &Item<'a>,
    level: &mut Level<'a>,
    paragraph: &Item<'a>,
    markdown: &mut Markdown,
) -> Result<(), ItemError> {
    markdown.flush();
    let elements = paragraph.list("elements")?;
    let bullet = paragraph.object("bullet")?;
    let mut item = false;
    if let Some(bullet) = bullet {
        let depth = usize::try_from(bullet.number("nestingLevel")?.unwrap_or(0)).unwrap_or(0).min(MAX_DEPTH);
        let id = bullet.text("listId")?;
        if level.list_id != id {
            level.close_lists(0, markdown);
            level.list_id = id;
        }
        level.close_lists(depth + 1, markdown);
        if level.lists.len() <= depth {
            level.lists.push(markdown.depth());
            markdown.open_list(numbered(tab, id.unwrap_or_default(), depth)?.then_some(1));
        }
        markdown.open_item(None);
        item = true;
    } else {
        level.close_lists(0, markdown);
        level.list_id = None;
        match paragraph.text("paragraphStyle.namedStyleType")?.unwrap_or_default() {
            "TITLE" | "HEADING_1" => markdown.heading(1),
            "SUBTITLE" | "HEADING_2" => markdown.heading(2),
            "HEADING_3" => markdown.heading(3),
            "HEADING_4" => markdown.heading(4),
            "HEADING_5" => markdown.heading(5),
            "HEADING_6" => markdown.heading(6),
            _ => {}
        }
    }
    for element in elements {
        inline(tab, &element, markdown)?;
    }
    if item {
        markdown.close();
    }
    markdown.flush();
    Ok(())
}

/// Whether a level of a list counts its items.
fn numbered(tab: &Item<'_>, id: &str, depth: usize) -> Result<bool, ItemError> {
    let Some(lists) = tab.object("lists")? else { return Ok(false) };
    let Some(list) = lists.map().get(id) else { return Ok(false) };
    let list = Item::at(list, lists.place(id))?;
    let levels = list.list("listProperties.nestingLevels")?;
    let Some(level) = levels.get(depth) else { return Ok(false) };
    let kind = level.text("glyphType")?.unwrap_or_default();
    Ok(!matches!(kind, "" | "NONE" | "GLYPH_TYPE_UNSPECIFIED") && !level.has("glyphSymbol"))
}

fn inline(tab: &Item<'_>, element: &Item<'_>, markdown: &mut Markdown) -> Result<(), ItemError> {
    // Text that a suggestion would take away is still there; a suggested deletion is read as done, as in other formats.
    let run = element.map().values().find(|part| part.get("suggestedDeletionIds").is_some_and(|ids| !ids.is_null()));
    if run.is_some() {
        markdown.omitted.add("text that is suggested to be deleted", SkipReason::Unsupported);
        return Ok(());
    }
    if let Some(run) = element.object("textRun")? {
        let marks = Marks::default()
            .with_if(run.flag("textStyle.bold")?, Marks::STRONG)
            .with_if(run.flag("textStyle.italic")?, Marks::EMPHASIS)
            .with_if(run.flag("textStyle.strikethrough")?, Marks::STRIKE);
        let link = run.text("textStyle.link.url")?.and_then(|url| links::target(url, None));
        // The last run of a paragraph ends with its line.
        let text = run.text("content")?.unwrap_or_default();
        markdown.text(text.strip_suffix('\n').unwrap_or(text), &Style { marks, ..Style::link(link) });
    } else if let Some(person) = element.object("person")? {
        let name = person.first_words(&["personProperties.name", "personProperties.email"])?.unwrap_or_default();
        markdown.text(&format!("@{name}"), &Style::default());
    } else if let Some(link) = element.object("richLink")? {
        let url = link.text("richLinkProperties.uri")?.unwrap_or_default();
        let title = link.words("richLinkProperties.title")?.unwrap_or(url);
        markdown.text(title, &Style::link(links::target(url, None)));
    } else if let Some(note) = element.object("footnoteReference")? {
        markdown.raw(&format!("[^{}]", plain_id(&note.id("footnoteId")?.unwrap_or_default())));
    } else if let Some(date) = element.object("dateElement")? {
        let shown = date.first_words(&["dateElementProperties.displayText", "dateElementProperties.timestamp"])?;
        markdown.text(shown.unwrap_or_default(), &Style::default());
    } else if let Some(object) = element.object("inlineObjectElement")? {
        picture(tab, &object, markdown)?;
    } else if element.has("horizontalRule") {
        markdown.rule();
    } else if element.has("equation") {
        markdown.omitted.add("equation", SkipReason::Unsupported);
    }
    Ok(())
}

/// A picture, by what its author wrote about it.
fn picture(tab: &Item<'_>, element: &Item<'_>, markdown: &mut Markdown) -> Result<(), ItemError> {
    let id = element.id("inlineObjectId")?.unwrap_or_default();
    let mut alt = None;
    if let Some(objects) = tab.object("inlineObjects")?
        && let Some(object) = objects.map().get(id.as_ref())
    {
        let object = Item::at(object, objects.place(&id))?;
        let base = "inlineObjectProperties.embeddedObject";
        alt = object.first_words(&[&format!("{base}.description"), &format!("{base}.title")])?;
    }
    markdown.image(alt, None);
    Ok(())
}
