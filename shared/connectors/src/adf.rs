//! The Atlassian Document Format: a tree of typed nodes, walked without recursion.

use crate::{
    ItemError,
    item::kind,
    limits::{MAX_DEPTH, MAX_TEXT_BYTES},
    links,
    markdown::{Markdown, Marks, Style},
};
use anchorage_domain::SkipReason;
use serde_json::Value;

/// What is done when all content of a node was read.
#[derive(Debug, Clone, Copy)]
enum Leave {
    Nothing,
    Flush,
    Container,
    Cell,
    Row,
    Table,
}

/// Appends a document to `markdown`; `field` is where it is from.
///
/// # Errors
/// Where it is no such document: a node that is no object, content that is no list, nesting past the bound.
pub(crate) fn read(document: &Value, field: &str, markdown: &mut Markdown) -> Result<(), ItemError> {
    let mut walk = Walk { field, markdown };
    let mut stack = vec![(std::slice::from_ref(document).iter(), Leave::Flush)];
    while let Some((nodes, leave)) = stack.last_mut() {
        let Some(node) = nodes.next() else {
            let leave = *leave;
            stack.pop();
            walk.leave(leave);
            continue;
        };
        let (content, leave) = walk.enter(node)?;
        if stack.len() > MAX_DEPTH {
            return Err(ItemError::too_deep(field));
        }
        stack.push((content.iter(), leave));
    }
    Ok(())
}

/// Appends a document that stands as JSON in a text.
///
/// # Errors
/// As [`read`], and when the text is no JSON, or nested deeper than JSON is read.
pub(crate) fn read_text(json: &str, field: &str, markdown: &mut Markdown) -> Result<(), ItemError> {
    if json.len() > MAX_TEXT_BYTES {
        return Err(ItemError::TooLarge { field: field.to_owned(), limit: MAX_TEXT_BYTES });
    }
    let document: Value = serde_json::from_str(json)
        .map_err(|_| ItemError::invalid(field, "an Atlassian document as JSON, nested at most 64 levels deep"))?;
    read(&document, field, markdown)
}

/// A text among the attributes of a node.
fn attribute<'a>(node: &'a Value, name: &str) -> Option<&'a str> {
    node.get("attrs")?.get(name)?.as_str()
}

struct Walk<'m> {
    field: &'m str,
    markdown: &'m mut Markdown,
}

impl Walk<'_> {
    fn wrong(&self, expected: &'static str, found: &Value) -> ItemError {
        ItemError::WrongType { field: self.field.to_owned(), expected, found: kind(found) }
    }

    /// Begins a node; gives its content and what ends it.
    fn enter<'a>(&mut self, node: &'a Value) -> Result<(&'a [Value], Leave), ItemError> {
        const NONE: &[Value] = &[];
        let Value::Object(_) = node else { return Err(self.wrong("an Atlassian document of nodes", node)) };
        let content = match node.get("content") {
            None | Some(Value::Null) => NONE,
            Some(Value::Array(content)) => content.as_slice(),
            Some(other) => return Err(self.wrong("an Atlassian document whose `content` is a list", other)),
        };
        let name = match node.get("type") {
            Some(Value::String(name)) => name.as_str(),
            None | Some(Value::Null) => "",
            Some(other) => return Err(self.wrong("an Atlassian document whose `type` is a text", other)),
        };
        let flag = |name: &str, value: &str| Some(attribute(node, name) == Some(value));
        let leave = match name {
            "text" => {
                self.text(node)?;
                return Ok((NONE, Leave::Nothing));
            }
            "codeBlock" => {
                self.code(node, content)?;
                return Ok((NONE, Leave::Nothing));
            }
            "heading" => {
                let level = node.get("attrs").and_then(|attrs| attrs.get("level")).and_then(Value::as_u64);
                self.markdown.heading(level.and_then(|level| u8::try_from(level).ok()).unwrap_or(1));
                Leave::Flush
            }
            "bulletList" | "decisionList" | "taskList" => self.container(|markdown| markdown.open_list(None)),
            "orderedList" => {
                let start = node.get("attrs").and_then(|attrs| attrs.get("order")).and_then(Value::as_u64);
                self.container(|markdown| markdown.open_list(Some(start.unwrap_or(1))))
            }
            "listItem" | "decisionItem" => self.container(|markdown| markdown.open_item(None)),
            "taskItem" | "blockTaskItem" => self.container(|markdown| markdown.open_item(flag("state", "DONE"))),
            "blockquote" | "panel" => self.container(Markdown::open_quote),
            "expand" | "nestedExpand" => {
                self.markdown.flush();
                if let Some(title) = attribute(node, "title") {
                    self.markdown.text(title, &Style::marked(Marks::STRONG));
                }
                self.markdown.flush();
                Leave::Flush
            }
            "table" => {
                self.markdown.open_table();
                Leave::Table
            }
            "tableRow" => {
                self.markdown.open_row();
                Leave::Row
            }
            "tableHeader" | "tableCell" => {
                let span = node.get("attrs").and_then(|attrs| attrs.get("colspan")).and_then(Value::as_u64);
                self.markdown.open_cell(span.and_then(|span| usize::try_from(span).ok()).unwrap_or(1));
                Leave::Cell
            }
            "rule" => {
                self.markdown.rule();
                Leave::Nothing
            }
            "paragraph" | "doc" | "caption" | "mediaSingle" | "mediaGroup" | "layoutSection" | "layoutColumn"
            | "bodiedExtension" | "bodiedSyncBlock" => {
                self.markdown.flush();
                Leave::Flush
            }
            other => {
                self.inline(other, node, content.is_empty());
                Leave::Nothing
            }
        };
        Ok((content, leave))
    }

    fn container(&mut self, open: impl FnOnce(&mut Markdown)) -> Leave {
        open(self.markdown);
        Leave::Container
    }

    fn leave(&mut self, leave: Leave) {
        match leave {
            Leave::Nothing => {}
            Leave::Flush => self.markdown.flush(),
            Leave::Container => self.markdown.close(),
            Leave::Cell => self.markdown.close_cell(),
            Leave::Row => self.markdown.close_row(),
            Leave::Table => self.markdown.close_table(),
        }
    }

    /// A node that stands in a line, or one that is not known.
    fn inline(&mut self, name: &str, node: &Value, is_leaf: bool) {
        let plain = Style::default();
        match name {
            "hardBreak" => self.markdown.line_break(),
            "mention" => {
                let known = attribute(node, "text").filter(|text| !text.trim().is_empty());
                let shown = known.or_else(|| attribute(node, "id")).unwrap_or_default();
                self.markdown.text(&format!("@{}", shown.trim_start_matches('@')), &plain);
            }
            "emoji" => {
                let shown = attribute(node, "text").or_else(|| attribute(node, "shortName")).unwrap_or_default();
                self.markdown.text(shown, &plain);
            }
            "status" | "placeholder" => self.markdown.text(attribute(node, "text").unwrap_or_default(), &plain),
            "date" => {
                let day = attribute(node, "timestamp").and_then(crate::when::parse).map(|day| day.to_string());
                self.markdown.text(day.as_deref().and_then(|day| day.split('T').next()).unwrap_or_default(), &plain);
            }
            "inlineCard" | "blockCard" | "embedCard" => {
                let url = attribute(node, "url").unwrap_or_default();
                self.markdown.text(url, &Style::link(links::target(url, None)));
            }
            "media" | "mediaInline" => self.markdown.image(attribute(node, "alt"), None),
            other if is_leaf && !other.is_empty() => {
                if let Some(text) = attribute(node, "text") {
                    self.markdown.text(text, &plain);
                }
                let what = attribute(node, "extensionKey").unwrap_or(other);
                self.markdown.omitted.add(&format!("node {what}"), SkipReason::Unsupported);
            }
            _ => {}
        }
    }

    fn text(&mut self, node: &Value) -> Result<(), ItemError> {
        let text = match node.get("text") {
            Some(Value::String(text)) => text,
            None | Some(Value::Null) => return Ok(()),
            Some(other) => return Err(self.wrong("an Atlassian document whose `text` is a text", other)),
        };
        let mut style = Style::default();
        for mark in node.get("marks").and_then(Value::as_array).into_iter().flatten() {
            match mark.get("type").and_then(Value::as_str) {
                Some("strong") => style.marks = style.marks.with(Marks::STRONG),
                Some("em") => style.marks = style.marks.with(Marks::EMPHASIS),
                Some("strike") => style.marks = style.marks.with(Marks::STRIKE),
                Some("code") => style.marks = style.marks.with(Marks::CODE),
                Some("link") => {
                    let target = attribute(mark, "href").and_then(|href| links::target(href, None));
                    style.link = Style::link(target).link;
                }
                _ => {}
            }
        }
        self.markdown.text(text, &style);
        Ok(())
    }

    fn code(&mut self, node: &Value, content: &[Value]) -> Result<(), ItemError> {
        let mut code = String::new();
        for part in content {
            match part.get("text") {
                Some(Value::String(text)) => code.push_str(text),
                None | Some(Value::Null) => {}
                Some(other) => return Err(self.wrong("an Atlassian document whose `text` is a text", other)),
            }
        }
        self.markdown.code(attribute(node, "language").unwrap_or_default(), &code);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nesting_is_read_to_the_bound_and_refused_past_it() {
        let nested = |depth: usize| {
            let mut node = json!({"type": "text", "text": "core"});
            for _ in 0..depth {
                // Made by hand: the macro, and the end of such a value, would recurse.
                let mut panel = serde_json::Map::new();
                panel.insert("type".to_owned(), json!("panel"));
                panel.insert("content".to_owned(), Value::Array(vec![node]));
                node = Value::Object(panel);
            }
            let node = std::mem::ManuallyDrop::new(node);
            let mut markdown = Markdown::default();
            read(&node, "body", &mut markdown).and_then(|()| markdown.finish("body"))
        };
        assert!(nested(MAX_DEPTH - 1).unwrap().0.contains("core"));
        assert_eq!(nested(MAX_DEPTH).unwrap_err(), ItemError::too_deep("body"));
        assert_eq!(nested(10_000).unwrap_err(), ItemError::too_deep("body"));
        // What comes as text is refused by the reader of JSON before that.
        let text = format!("{}{}", "{\"content\":[".repeat(10_000), "]}".repeat(10_000));
        assert_eq!(read_text(&text, "body", &mut Markdown::default()).unwrap_err().code(), "invalid_value");
    }

    #[test]
    fn document_of_the_wrong_shape_is_a_typed_error() {
        for document in [
            json!("text"),
            json!({"type": 3}),
            json!({"type": "doc", "content": {}}),
            json!({"type": "doc", "content": ["x"]}),
            json!({"type": "text", "text": 1}),
            json!({"type": "codeBlock", "content": [{"text": 1}]}),
        ] {
            let error = read(&document, "body", &mut Markdown::default()).unwrap_err();
            assert_eq!((error.code(), error.field()), ("wrong_type", "body"), "{document}");
        }
    }
}
