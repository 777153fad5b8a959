//! The walk itself: what each tag begins and ends.

use super::{
    Head, Mode,
    storage::Storage,
    tags::{Attributes, Tag},
};
use crate::{
    limits::MAX_OPEN_ELEMENTS,
    links,
    markdown::{Markdown, Marks, Style, clean},
    metadata::plain,
};
use anchorage_domain::SkipReason;
use html5gum::emitters::callback::CallbackEvent;
use std::rc::Rc;
use url::Url;

/// An element that is open.
struct Element {
    tag: Tag,
    /// How text is set from here on.
    style: Style,
    /// Containers of the Markdown that were open before it.
    depth: usize,
}

/// Text that is collected instead of written.
pub(super) enum Capture {
    Title(String),
    /// Code, with its language.
    Code(String, String),
}

pub(super) struct Walk<'m> {
    pub(super) markdown: &'m mut Markdown,
    base: Option<Url>,
    mode: Mode,
    keeps_navigation: bool,
    /// Only the main part is read, and it has not begun or has ended.
    is_outside: bool,
    open: Vec<Element>,
    /// Elements past the bound on their number.
    flattened: usize,
    tag: Option<Tag>,
    pub(super) attributes: Attributes,
    /// What is passed over, and how many elements of its name are open in it.
    skipping: Option<(Tag, usize)>,
    pub(super) capture: Option<Capture>,
    /// The first top heading, while it is read and after.
    heading: Option<String>,
    in_heading: bool,
    pub(super) storage: Storage,
    head: Head,
}

impl<'m> Walk<'m> {
    pub(super) fn new(markdown: &'m mut Markdown, base: Option<&Url>, mode: Mode, keeps_navigation: bool) -> Self {
        Self {
            markdown,
            base: base.cloned(),
            mode,
            keeps_navigation,
            is_outside: mode == Mode::MainPart,
            open: Vec::new(),
            flattened: 0,
            tag: None,
            attributes: Attributes::default(),
            skipping: None,
            capture: None,
            heading: None,
            in_heading: false,
            storage: Storage::default(),
            head: Head::default(),
        }
    }

    /// Ends what is open at the end of the page.
    pub(super) fn finish(mut self) -> Head {
        if self.skipping.is_some() {
            self.markdown.omitted.add("the rest of an element that does not end", SkipReason::Unreadable);
        }
        self.close_to(0);
        self.markdown.flush();
        self.head
    }

    pub(super) fn event(&mut self, event: &CallbackEvent<'_>) {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.tag = Some(Tag::of(name));
                self.attributes.values.clear();
                self.attributes.name.clear();
            }
            CallbackEvent::AttributeName { name } if self.tag.is_some() => {
                self.attributes.name.clear();
                self.attributes.name.extend_from_slice(name);
                // It counts without a value, which then is not told.
                if *name == b"checked" {
                    self.attributes.value(b"");
                }
            }
            CallbackEvent::AttributeValue { value } if self.tag.is_some() => self.attributes.value(value),
            CallbackEvent::CloseStartTag { self_closing } => {
                if let Some(tag) = self.tag.take() {
                    self.start(tag, *self_closing);
                }
            }
            CallbackEvent::EndTag { name } => {
                self.tag = None;
                self.end(Tag::of(name));
            }
            CallbackEvent::String { value } => self.text(&String::from_utf8_lossy(value)),
            _ => {}
        }
    }

    pub(super) fn style(&self) -> Style {
        self.open.last().map(|element| element.style.clone()).unwrap_or_default()
    }

    pub(super) fn text(&mut self, text: &str) {
        if self.skipping.is_some() || (self.is_outside && self.capture.is_none()) {
            return;
        }
        match &mut self.capture {
            Some(Capture::Title(title)) => title.push_str(text),
            Some(Capture::Code(_, code)) => code.push_str(&clean(text)),
            None => {
                if self.in_heading
                    && let Some(heading) = &mut self.heading
                {
                    heading.push_str(text);
                }
                if !self.storage_text(text) {
                    let style = self.style();
                    self.markdown.flowing(text, &style);
                }
            }
        }
    }

    fn start(&mut self, tag: Tag, self_closing: bool) {
        if let Some((skipped, depth)) = &mut self.skipping {
            if *skipped == tag && !self_closing {
                *depth = depth.saturating_add(1);
            }
            return;
        }
        if matches!(self.capture, Some(Capture::Code(..))) && tag != Tag::Code && !tag.is_storage() {
            if tag == Tag::Break {
                self.text("\n");
            }
            return;
        }
        if self.is_outside && !tag.counts_outside() {
            return;
        }
        if tag.is_storage() {
            self.start_storage(tag, self_closing);
            return;
        }
        match tag {
            Tag::Main => {
                self.markdown.flush();
                self.is_outside = false;
            }
            Tag::Skip(_) => {
                if !self_closing {
                    self.skipping = Some((tag, 0));
                }
            }
            Tag::Navigation if self.keeps_navigation => self.markdown.flush(),
            Tag::Navigation => {
                self.markdown.omitted.add("navigation", SkipReason::Unsupported);
                self.skipping = Some((tag, 0));
            }
            Tag::Title if self.head.title.is_none() => self.capture = Some(Capture::Title(String::new())),
            Tag::Block | Tag::Title | Tag::Paragraph => self.markdown.flush(),
            Tag::Html => self.head.language = self.attributes.get("lang").map(plain),
            Tag::Base => {
                let href = self.attributes.get("href").and_then(|href| links::target(href, self.base.as_ref()));
                self.base = href.and_then(|href| Url::parse(&href).ok()).or_else(|| self.base.take());
            }
            Tag::Meta => self.meta(),
            Tag::Break => self.markdown.line_break(),
            Tag::Rule => self.markdown.rule(),
            Tag::Image => {
                let url = self.attributes.get("src").and_then(|src| links::target(src, self.base.as_ref()));
                let alt = self.attributes.get("alt").map(str::to_owned);
                self.markdown.image(alt.as_deref(), url.as_deref());
            }
            Tag::Input => {
                if self.attributes.get("type").is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox")) {
                    let done = self.attributes.get("checked").is_some();
                    self.markdown.raw(if done { "[x] " } else { "[ ] " });
                }
            }
            Tag::Quotation => self.text("\""),
            Tag::Code if matches!(self.capture, Some(Capture::Code(..))) => self.code_language(),
            Tag::Other => {}
            _ => {
                self.start_remembered(tag);
                if self_closing && self.mode == Mode::Storage {
                    self.end(tag);
                }
            }
        }
    }

    /// Elements that are remembered until they end.
    fn start_remembered(&mut self, tag: Tag) {
        self.close_implied(tag);
        let depth = self.markdown.depth();
        let mut style = self.style();
        match tag {
            Tag::Strong => style.marks = style.marks.with(Marks::STRONG),
            Tag::Emphasis => style.marks = style.marks.with(Marks::EMPHASIS),
            Tag::Strike => style.marks = style.marks.with(Marks::STRIKE),
            Tag::Code => style.marks = style.marks.with(Marks::CODE),
            Tag::Link => {
                let target = self.attributes.get("href").and_then(|href| links::target(href, self.base.as_ref()));
                style.link = target.map(Rc::from);
            }
            Tag::Preformatted => self.capture = Some(Capture::Code(self.language_of(), String::new())),
            Tag::Heading(level) => {
                self.markdown.heading(level);
                self.in_heading = level == 1 && self.heading.is_none();
                if self.in_heading {
                    self.heading = Some(String::new());
                }
            }
            _ => self.start_structure(tag),
        }
        self.remember(tag, style, depth);
    }

    fn start_structure(&mut self, tag: Tag) {
        match tag {
            Tag::Quote => self.markdown.open_quote(),
            Tag::BulletList => self.markdown.open_list(None),
            Tag::NumberedList => {
                let start = self.attributes.get("start").and_then(|start| start.trim().parse().ok());
                self.markdown.open_list(Some(start.unwrap_or(1)));
            }
            Tag::Item => {
                if self.innermost(Tag::is_list).is_some() {
                    self.markdown.open_item(None);
                } else {
                    self.markdown.flush();
                }
            }
            Tag::Table if self.attributes.get("role").is_some_and(|role| matches!(role, "presentation" | "none")) => {
                self.markdown.open_layout();
            }
            Tag::Table => self.markdown.open_table(),
            Tag::Row => self.markdown.open_row(),
            Tag::Cell => {
                let span = self.attributes.get("colspan").and_then(|span| span.trim().parse().ok());
                self.markdown.open_cell(span.unwrap_or(1));
            }
            _ => {}
        }
    }

    pub(super) fn remember(&mut self, tag: Tag, style: Style, depth: usize) {
        if self.open.len() >= MAX_OPEN_ELEMENTS {
            self.flattened = self.flattened.saturating_add(1);
            self.leave(tag);
            if tag.holds_blocks() {
                self.markdown.close_to(depth);
            }
        } else {
            self.open.push(Element { tag, style, depth });
        }
    }

    fn innermost(&self, is: fn(Tag) -> bool) -> Option<usize> {
        let inside = self.open.iter().rposition(|element| element.tag == Tag::Cell).map_or(0, |cell| cell + 1);
        let found = self.open.iter().rposition(|element| is(element.tag));
        found.filter(|found| *found >= inside)
    }

    /// Ends elements whose end tags may be left out.
    fn close_implied(&mut self, tag: Tag) {
        let inside = self.open.iter().rposition(|element| element.tag == Tag::Table).map_or(0, |table| table + 1);
        let in_table = |is: fn(Tag) -> bool| {
            self.open.iter().skip(inside).position(|element| is(element.tag)).map(|at| at + inside)
        };
        let from = match tag {
            Tag::Item => {
                let list = self.innermost(Tag::is_list);
                self.innermost(|tag| tag == Tag::Item).filter(|item| list.is_none_or(|list| list < *item))
            }
            Tag::Cell => in_table(|tag| tag == Tag::Cell),
            Tag::Row => in_table(|tag| matches!(tag, Tag::Row | Tag::Cell)),
            Tag::Link => self.innermost(|tag| tag == Tag::Link),
            Tag::Heading(_) => self.innermost(|tag| matches!(tag, Tag::Heading(_))),
            _ => None,
        };
        if let Some(from) = from {
            self.close_to(from);
        }
    }

    fn end(&mut self, tag: Tag) {
        if let Some((skipped, depth)) = &mut self.skipping {
            if *skipped == tag {
                match depth.checked_sub(1) {
                    Some(less) => *depth = less,
                    None => self.skipping = None,
                }
            }
            return;
        }
        if let Some(Capture::Code(_, code)) = &mut self.capture
            && tag != Tag::Preformatted
            && !tag.is_storage()
        {
            // Some pages make a block of every line of code.
            if matches!(tag, Tag::Block | Tag::Paragraph | Tag::Item) && !code.ends_with('\n') {
                code.push('\n');
            }
            return;
        }
        match tag {
            Tag::Main => {
                self.markdown.flush();
                if self.mode == Mode::MainPart {
                    self.close_to(0);
                    self.is_outside = true;
                }
            }
            Tag::Title => {
                if let Some(Capture::Title(title)) =
                    self.capture.take_if(|capture| matches!(capture, Capture::Title(_)))
                {
                    self.head.title = Some(plain(&title)).filter(|title| !title.is_empty());
                }
            }
            Tag::Block | Tag::Paragraph | Tag::Navigation => self.markdown.flush(),
            Tag::Break => self.markdown.line_break(),
            Tag::Quotation => self.text("\""),
            _ => self.end_remembered(tag),
        }
    }

    fn end_remembered(&mut self, tag: Tag) {
        let same = |element: &Element| match (element.tag, tag) {
            (Tag::Heading(_), Tag::Heading(_)) => true,
            (open, tag) => open == tag,
        };
        let Some(found) = self.open.iter().rposition(same) else { return };
        if self.flattened > 0 {
            self.flattened -= 1;
            return;
        }
        // What is inside a cell does not end what is around its table.
        let cell = self.open.iter().rposition(|element| element.tag == Tag::Cell);
        if cell.is_some_and(|cell| cell > found) && !tag.is_of_tables() && !tag.is_storage() {
            return;
        }
        self.close_to(found);
    }

    /// Ends elements until `count` are open.
    fn close_to(&mut self, count: usize) {
        while self.open.len() > count {
            let Some(element) = self.open.pop() else { return };
            self.leave(element.tag);
            if !matches!(element.tag, Tag::Table | Tag::Row | Tag::Cell) && element.tag.holds_blocks() {
                self.markdown.close_to(element.depth);
            }
        }
    }

    pub(super) fn leave(&mut self, tag: Tag) {
        match tag {
            Tag::Heading(_) => {
                self.markdown.flush();
                if self.in_heading {
                    self.in_heading = false;
                    self.head.heading = self.heading.as_deref().map(plain).filter(|heading| !heading.is_empty());
                }
            }
            Tag::Preformatted => {
                if let Some(Capture::Code(language, code)) = self.capture.take() {
                    self.markdown.code(&language, &code);
                }
            }
            Tag::Table => self.markdown.close_table(),
            Tag::Row => self.markdown.close_row(),
            Tag::Cell => self.markdown.close_cell(),
            tag if tag.is_storage() => self.leave_storage(tag),
            tag if tag.holds_blocks() => self.markdown.flush(),
            _ => {}
        }
    }

    fn meta(&mut self) {
        let Some(content) = self.attributes.get("content").map(plain).filter(|content| !content.is_empty()) else {
            return;
        };
        let name = self.attributes.get("name").or_else(|| self.attributes.get("property")).unwrap_or_default();
        let place = match name.to_ascii_lowercase().as_str() {
            "description" | "og:description" => &mut self.head.description,
            "author" | "article:author" => &mut self.head.author,
            "article:modified_time" | "og:updated_time" | "last-modified" => &mut self.head.modified,
            _ => return,
        };
        place.get_or_insert(content);
    }

    /// The language of a code block, as the usual classes name it.
    fn language_of(&self) -> String {
        let classes = self.attributes.get("class").unwrap_or_default();
        let named = classes.split_whitespace().find_map(|class| {
            ["language-", "lang-", "highlight-source-"].iter().find_map(|prefix| class.strip_prefix(prefix))
        });
        named.unwrap_or_default().to_owned()
    }

    fn code_language(&mut self) {
        let named = self.language_of();
        if let Some(Capture::Code(language, _)) = &mut self.capture
            && language.is_empty()
        {
            *language = named;
        }
    }
}
