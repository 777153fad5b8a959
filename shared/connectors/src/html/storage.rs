//! Confluence's storage format: XHTML with elements for macros, links to pages and people, tasks and pictures.

use super::{
    tags::Tag,
    walk::{Capture, Walk},
};
use crate::{
    links,
    markdown::{Marks, Style},
};
use anchorage_domain::SkipReason;
use std::{borrow::Cow, rc::Rc};

/// What is known of the storage elements that are open.
#[derive(Debug, Default)]
pub(super) struct Storage {
    macros: Vec<Macro>,
    /// Text of an element that is read as a value: a parameter, a status.
    value: Option<String>,
    parameter: String,
    link: Option<PageLink>,
    image: Option<Picture>,
}

#[derive(Debug, Default)]
struct Macro {
    name: String,
    title: String,
    language: String,
    has_body: bool,
}

#[derive(Debug, Default)]
struct PageLink {
    /// What it leads to, as far as the page says it.
    name: String,
    url: Option<String>,
    text: String,
    in_text: bool,
}

#[derive(Debug, Default)]
struct Picture {
    alt: String,
    url: Option<String>,
}

impl Walk<'_> {
    /// Takes text that belongs to a storage element; says whether it did.
    pub(super) fn storage_text(&mut self, text: &str) -> bool {
        if let Some(value) = &mut self.storage.value {
            value.push_str(text);
            return true;
        }
        match &mut self.storage.link {
            Some(link) => {
                if link.in_text {
                    link.text.push_str(text);
                }
                true
            }
            None => self.storage.image.is_some(),
        }
    }

    pub(super) fn start_storage(&mut self, tag: Tag, self_closing: bool) {
        let depth = self.markdown.depth();
        let style = self.style();
        let attribute = |name: &str| self.attributes.get(name).map(str::to_owned);
        match tag {
            Tag::Macro => {
                let name = attribute("ac:name").unwrap_or_default();
                self.storage.macros.push(Macro { name, ..Macro::default() });
            }
            Tag::MacroParameter => {
                self.storage.parameter = attribute("ac:name").unwrap_or_default();
                self.storage.value = Some(String::new());
            }
            Tag::TaskStatus | Tag::TaskNote => self.storage.value = Some(String::new()),
            Tag::PlainTextBody => {
                self.body_title();
                let language = self.storage.macros.last().map(|open| open.language.clone()).unwrap_or_default();
                self.capture = Some(Capture::Code(language, String::new()));
            }
            Tag::RichTextBody => self.start_rich_body(),
            Tag::PageLink => self.storage.link = Some(PageLink::default()),
            Tag::LinkText => {
                if let Some(link) = &mut self.storage.link {
                    link.in_text = true;
                }
            }
            Tag::StorageImage => {
                let alt = attribute("ac:alt").unwrap_or_default();
                self.storage.image = Some(Picture { alt, url: None });
            }
            Tag::Resource => self.resource(),
            Tag::TaskList => self.markdown.open_list(None),
            Tag::Time => {
                if let Some(time) = attribute("datetime").filter(|_| self_closing) {
                    self.text(&time);
                }
            }
            Tag::Emoticon => {
                let shown = attribute("ac:emoji-fallback").or_else(|| attribute("ac:name"));
                self.text(&shown.unwrap_or_default());
            }
            _ => {}
        }
        if self_closing {
            self.leave(tag);
            if tag.holds_blocks() {
                self.markdown.close_to(depth);
            }
        } else if !matches!(tag, Tag::Resource | Tag::Time | Tag::Emoticon) {
            self.remember(tag, style, depth);
        }
    }

    /// The title of a macro, above its body.
    fn body_title(&mut self) {
        let Some(open) = self.storage.macros.last_mut() else { return };
        open.has_body = true;
        let title = std::mem::take(&mut open.title);
        if !title.trim().is_empty() {
            self.markdown.flush();
            self.markdown.text(title.trim(), &Style::marked(Marks::STRONG));
        }
        self.markdown.flush();
    }

    fn start_rich_body(&mut self) {
        let panel = self
            .storage
            .macros
            .last()
            .is_some_and(|open| matches!(open.name.as_str(), "info" | "note" | "warning" | "tip" | "panel"));
        self.markdown.flush();
        if panel {
            self.markdown.open_quote();
        }
        self.body_title();
    }

    fn resource(&mut self) {
        let names = ["ri:content-title", "ri:filename", "ri:value", "ri:space-key"];
        let person = ["ri:account-id", "ri:userkey", "ri:username"];
        let name = names.iter().find_map(|name| self.attributes.get(name)).map(str::to_owned);
        let name = name.or_else(|| person.iter().find_map(|name| self.attributes.get(name)).map(|id| format!("@{id}")));
        let url = self.attributes.get("ri:value").and_then(|url| links::target(url, None));
        let name = name.unwrap_or_default();
        if let Some(image) = &mut self.storage.image {
            image.url = url;
            if image.alt.is_empty() {
                image.alt = name;
            }
        } else if let Some(link) = &mut self.storage.link {
            link.name = name;
            link.url = url;
        }
    }

    pub(super) fn leave_storage(&mut self, tag: Tag) {
        match tag {
            Tag::MacroParameter => {
                let value = self.storage.value.take().unwrap_or_default();
                if let Some(open) = self.storage.macros.last_mut() {
                    match self.storage.parameter.as_str() {
                        "title" => open.title = value,
                        "language" => open.language = value,
                        _ => {}
                    }
                }
            }
            Tag::PlainTextBody => {
                if let Some(Capture::Code(language, code)) = self.capture.take() {
                    self.markdown.code(&language, &code);
                }
            }
            Tag::RichTextBody | Tag::TaskList | Tag::Task => self.markdown.flush(),
            Tag::Macro => self.leave_macro(),
            Tag::TaskNote => self.storage.value = None,
            Tag::TaskStatus => {
                let status = self.storage.value.take().unwrap_or_default();
                self.markdown.open_item(Some(status.trim() == "complete"));
            }
            Tag::LinkText => {
                if let Some(link) = &mut self.storage.link {
                    link.in_text = false;
                }
            }
            Tag::PageLink => {
                let Some(link) = self.storage.link.take() else { return };
                let text = if link.text.trim().is_empty() { link.name } else { link.text };
                let mut style = self.style();
                style.link = link.url.map(Rc::from).or(style.link);
                self.markdown.flowing(&text, &style);
            }
            Tag::StorageImage => {
                if let Some(image) = self.storage.image.take() {
                    self.markdown.image(Some(&image.alt), image.url.as_deref());
                }
            }
            _ => {}
        }
    }

    fn leave_macro(&mut self) {
        let Some(open) = self.storage.macros.pop() else { return };
        if open.has_body {
            self.markdown.flush();
        } else if !open.title.trim().is_empty() {
            let style = self.style();
            self.markdown.flowing(&open.title, &style);
        } else if !matches!(open.name.as_str(), "toc" | "anchor") {
            // Those two say nothing that the page does not say itself.
            self.markdown.omitted.add(&format!("macro {}", open.name), SkipReason::Unsupported);
        }
    }
}

/// Text in `<![CDATA[…]]>` as ordinary text: HTML, whose rules the rest is read by, has no such sections.
pub(crate) fn unwrap_sections(storage: &str) -> Cow<'_, str> {
    const START: &str = "<![CDATA[";
    const END: &str = "]]>";
    if !storage.contains(START) {
        return Cow::Borrowed(storage);
    }
    let mut out = String::with_capacity(storage.len());
    let mut rest = storage;
    while let Some((before, inside)) = rest.split_once(START) {
        out.push_str(before);
        let (section, after) = inside.split_once(END).unwrap_or((inside, ""));
        for c in section.chars() {
            match c {
                '<' => out.push_str("&lt;"),
                '&' => out.push_str("&amp;"),
                c => out.push(c),
            }
        }
        rest = after;
    }
    out.push_str(rest);
    Cow::Owned(out)
}
