//! The elements that mean something to Markdown, and the attributes that are read.

use crate::limits::MAX_ATTRIBUTE_BYTES;

const ATTRIBUTES: [&str; 26] = [
    "href",
    "src",
    "alt",
    "type",
    "checked",
    "class",
    "start",
    "colspan",
    "role",
    "lang",
    "name",
    "property",
    "content",
    "datetime",
    "ac:name",
    "ac:alt",
    "ac:emoji-fallback",
    "ac:emoji-shortname",
    "ri:content-title",
    "ri:account-id",
    "ri:userkey",
    "ri:username",
    "ri:filename",
    "ri:value",
    "ri:space-key",
    "ac:key",
];

/// Attributes that are read, of the tag that is being read.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    pub(super) name: Vec<u8>,
    pub(super) values: Vec<(&'static str, String)>,
}

impl Attributes {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// The first value of a name stays, as HTML has it.
    pub(super) fn value(&mut self, value: &[u8]) {
        let Some(name) = ATTRIBUTES.iter().find(|known| known.as_bytes() == self.name) else { return };
        if self.get(name).is_none() {
            let value = String::from_utf8_lossy(value);
            let end = value.floor_char_boundary(MAX_ATTRIBUTE_BYTES);
            self.values.push((name, value.get(..end).unwrap_or_default().to_owned()));
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    /// Its content is not for readers.
    Skip(Skip),
    Navigation,
    Title,
    Html,
    Base,
    Meta,
    /// The part of a page that is the page.
    Main,
    Block,
    Paragraph,
    Break,
    Rule,
    Image,
    Input,
    Quotation,
    Strong,
    Emphasis,
    Strike,
    Code,
    Link,
    Preformatted,
    Heading(u8),
    Quote,
    BulletList,
    NumberedList,
    Item,
    Table,
    Row,
    Cell,
    // Confluence's own
    Macro,
    MacroParameter,
    PlainTextBody,
    RichTextBody,
    PageLink,
    LinkText,
    Resource,
    StorageImage,
    TaskList,
    Task,
    TaskStatus,
    TaskNote,
    Time,
    Emoticon,
    /// Anything else: its content counts, itself does not.
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Skip {
    Script,
    Style,
    Template,
    NoScript,
    Frame,
    Object,
    Drawing,
    Canvas,
    Media,
    /// The copy of a Confluence extension for readers that do not know it.
    Fallback,
    Attribute,
}

impl Tag {
    pub(super) fn of(name: &[u8]) -> Self {
        match name {
            b"script" => Self::Skip(Skip::Script),
            b"style" => Self::Skip(Skip::Style),
            b"template" => Self::Skip(Skip::Template),
            b"noscript" => Self::Skip(Skip::NoScript),
            b"iframe" => Self::Skip(Skip::Frame),
            b"object" => Self::Skip(Skip::Object),
            b"svg" => Self::Skip(Skip::Drawing),
            b"canvas" => Self::Skip(Skip::Canvas),
            b"audio" | b"video" => Self::Skip(Skip::Media),
            b"nav" => Self::Navigation,
            b"title" => Self::Title,
            b"html" => Self::Html,
            b"base" => Self::Base,
            b"meta" => Self::Meta,
            b"main" => Self::Main,
            b"p" => Self::Paragraph,
            b"br" => Self::Break,
            b"hr" => Self::Rule,
            b"img" => Self::Image,
            b"input" => Self::Input,
            b"q" => Self::Quotation,
            b"b" | b"strong" => Self::Strong,
            b"i" | b"em" | b"cite" | b"dfn" => Self::Emphasis,
            b"s" | b"del" | b"strike" => Self::Strike,
            b"code" | b"kbd" | b"samp" | b"tt" => Self::Code,
            b"a" => Self::Link,
            b"pre" | b"listing" | b"xmp" => Self::Preformatted,
            b"h1" => Self::Heading(1),
            b"h2" => Self::Heading(2),
            b"h3" => Self::Heading(3),
            b"h4" => Self::Heading(4),
            b"h5" => Self::Heading(5),
            b"h6" => Self::Heading(6),
            b"blockquote" => Self::Quote,
            b"ul" | b"menu" | b"dir" => Self::BulletList,
            b"ol" => Self::NumberedList,
            b"li" => Self::Item,
            b"table" => Self::Table,
            b"tr" => Self::Row,
            b"td" | b"th" => Self::Cell,
            b"div" | b"section" | b"article" | b"header" | b"footer" | b"aside" | b"figure" | b"figcaption"
            | b"address" | b"details" | b"summary" | b"fieldset" | b"legend" | b"form" | b"dl" | b"dt" | b"dd"
            | b"hgroup" | b"body" | b"center" | b"option" | b"caption" | b"search" | b"dialog" => Self::Block,
            _ => Self::of_storage(name),
        }
    }

    fn of_storage(name: &[u8]) -> Self {
        match name {
            b"ac:structured-macro" | b"ac:macro" => Self::Macro,
            b"ac:parameter" | b"ac:default-parameter" => Self::MacroParameter,
            b"ac:plain-text-body" => Self::PlainTextBody,
            b"ac:rich-text-body" | b"ac:adf-content" => Self::RichTextBody,
            b"ac:link" => Self::PageLink,
            b"ac:link-body" | b"ac:plain-text-link-body" => Self::LinkText,
            b"ri:page" | b"ri:user" | b"ri:attachment" | b"ri:url" | b"ri:space" | b"ri:blog-post" | b"ri:shortcut"
            | b"ri:content-entity" => Self::Resource,
            b"ac:image" => Self::StorageImage,
            b"ac:task-list" => Self::TaskList,
            b"ac:task" => Self::Task,
            b"ac:task-status" => Self::TaskStatus,
            b"ac:task-id" | b"ac:task-uuid" => Self::TaskNote,
            b"ac:emoticon" => Self::Emoticon,
            b"time" => Self::Time,
            b"ac:adf-fallback" => Self::Skip(Skip::Fallback),
            b"ac:adf-attribute" => Self::Skip(Skip::Attribute),
            _ => Self::Other,
        }
    }

    /// Whether it is read where only the main part of a page is.
    pub(super) const fn counts_outside(self) -> bool {
        matches!(self, Self::Main | Self::Skip(_) | Self::Title | Self::Html | Self::Base | Self::Meta)
    }

    pub(super) fn is_list(self) -> bool {
        matches!(self, Self::BulletList | Self::NumberedList)
    }

    pub(super) const fn is_of_tables(self) -> bool {
        matches!(self, Self::Table | Self::Row | Self::Cell)
    }

    /// Whether its end closes the containers that it opened.
    pub(super) const fn holds_blocks(self) -> bool {
        matches!(
            self,
            Self::Quote
                | Self::BulletList
                | Self::NumberedList
                | Self::Item
                | Self::Macro
                | Self::RichTextBody
                | Self::TaskList
                | Self::Task
        )
    }

    pub(super) const fn is_storage(self) -> bool {
        matches!(
            self,
            Self::Macro
                | Self::MacroParameter
                | Self::PlainTextBody
                | Self::RichTextBody
                | Self::PageLink
                | Self::LinkText
                | Self::Resource
                | Self::StorageImage
                | Self::TaskList
                | Self::Task
                | Self::TaskStatus
                | Self::TaskNote
                | Self::Time
                | Self::Emoticon
        )
    }
}
