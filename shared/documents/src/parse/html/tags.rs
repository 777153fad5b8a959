//! What the tags of HTML mean for a text.

use html5gum::StartTag;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Part of a line: its tags say nothing.
    Inline,
    /// Has no content, and nothing to say.
    Void,
    Break,
    Rule,
    Image,
    Title,
    /// Not shown, or no text.
    Skipped,
    Navigation,
    Heading,
    Paragraph,
    Pre,
    List,
    Item,
    Table,
    /// A table that only lays the page out, and what is in it.
    Layout,
    Caption,
    Group,
    Row,
    Cell,
    /// Any other element that begins on a new line.
    Block,
}

impl Kind {
    pub(super) const COUNT: usize = Self::Block as usize + 1;
}

pub(super) fn kind_of(name: &str) -> Kind {
    match name {
        "br" => Kind::Break,
        "hr" => Kind::Rule,
        "img" | "area" => Kind::Image,
        "wbr" | "input" | "meta" | "link" | "base" | "col" | "embed" | "source" | "track" | "param" => Kind::Void,
        "title" => Kind::Title,
        "script" | "style" | "template" | "noscript" | "iframe" | "object" | "svg" | "canvas" | "select"
        | "datalist" | "textarea" | "audio" | "video" | "map" | "noframes" | "noembed" => Kind::Skipped,
        "nav" => Kind::Navigation,
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => Kind::Heading,
        "p" => Kind::Paragraph,
        "pre" | "listing" | "xmp" | "plaintext" => Kind::Pre,
        "ul" | "ol" | "dl" | "menu" | "dir" => Kind::List,
        "li" | "dt" | "dd" => Kind::Item,
        "table" => Kind::Table,
        "caption" => Kind::Caption,
        "thead" | "tbody" | "tfoot" => Kind::Group,
        "tr" => Kind::Row,
        "td" | "th" => Kind::Cell,
        "html" | "head" | "body" | "address" | "article" | "aside" | "blockquote" | "center" | "details" | "dialog"
        | "div" | "fieldset" | "figcaption" | "figure" | "footer" | "form" | "frameset" | "header" | "hgroup"
        | "legend" | "main" | "option" | "optgroup" | "search" | "section" | "summary" => Kind::Block,
        _ => Kind::Inline,
    }
}

pub(super) fn attribute(tag: &StartTag<()>, name: &str) -> Option<String> {
    let value = tag.attributes.get(name.as_bytes())?;
    Some(String::from_utf8_lossy(value).into_owned())
}

/// How many columns or rows a cell spans; what is no number spans one.
pub(super) fn span(tag: &StartTag<()>, name: &str) -> u32 {
    attribute(tag, name).and_then(|count| count.trim().parse().ok()).unwrap_or(1)
}

/// Whether an element says of itself that it is not shown, or navigates.
pub(super) fn hides(name: &str, tag: &StartTag<()>) -> bool {
    if tag.attributes.is_empty() {
        return name == "dialog";
    }
    // Content that a search in the page would reveal is content.
    let hidden = attribute(tag, "hidden").is_some_and(|value| !value.eq_ignore_ascii_case("until-found"));
    let closed = name == "dialog" && attribute(tag, "open").is_none();
    let navigates = attribute(tag, "role").is_some_and(|role| role.eq_ignore_ascii_case("navigation"));
    hidden || closed || navigates || attribute(tag, "style").is_some_and(|style| style_hides(&style))
}

fn style_hides(style: &str) -> bool {
    style.split(';').filter_map(|declaration| declaration.split_once(':')).any(|(property, value)| {
        let value = value.split('!').next().unwrap_or_default().trim();
        match property.trim().to_ascii_lowercase().as_str() {
            "display" => value.eq_ignore_ascii_case("none"),
            "visibility" => value.eq_ignore_ascii_case("hidden"),
            _ => false,
        }
    })
}

/// An element that is left out, until its end.
#[derive(Debug)]
pub(super) struct Skipping {
    pub name: String,
    /// Elements of the same name open in it, itself included.
    same: usize,
    /// For an element whose end tag may be missing: the lists or tables open in it.
    containers: usize,
    /// Its end tag may be missing, or the whole rest of a file belongs to it.
    pub without_end: bool,
}

pub(super) enum AtEnd {
    GoesOn,
    Ends,
    /// The tag belongs to an element outside: what was left out had ended without one.
    EndedBefore,
}

impl Skipping {
    pub(super) fn new(name: &str) -> Self {
        let without_end = matches!(kind_of(name), Kind::Paragraph | Kind::Item | Kind::Cell | Kind::Row | Kind::Group)
            || matches!(name, "html" | "body");
        Self { name: name.to_owned(), same: 1, containers: 0, without_end }
    }

    fn contains(&self, name: &str) -> bool {
        match kind_of(&self.name) {
            Kind::Item => kind_of(name) == Kind::List,
            Kind::Cell | Kind::Row | Kind::Group => name == "table",
            _ => false,
        }
    }

    pub(super) fn goes_on_at_start(&mut self, name: &str) -> bool {
        if self.without_end {
            let (own, new) = (kind_of(&self.name), kind_of(name));
            self.containers += usize::from(self.contains(name));
            let ends = match own {
                Kind::Paragraph => {
                    !matches!(new, Kind::Inline | Kind::Void | Kind::Break | Kind::Image | Kind::Skipped)
                }
                Kind::Cell => matches!(new, Kind::Cell | Kind::Row | Kind::Group),
                Kind::Row => matches!(new, Kind::Row | Kind::Group),
                own => new == own && own != Kind::Block,
            };
            return self.containers > 0 || !ends;
        }
        self.same += usize::from(name == self.name);
        true
    }

    pub(super) fn at_end(&mut self, name: &str) -> AtEnd {
        if self.without_end {
            if self.contains(name) {
                if self.containers == 0 {
                    return AtEnd::EndedBefore;
                }
                self.containers -= 1;
            }
            return if name == self.name && self.containers == 0 { AtEnd::Ends } else { AtEnd::GoesOn };
        }
        self.same -= usize::from(name == self.name);
        if self.same == 0 { AtEnd::Ends } else { AtEnd::GoesOn }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn style_hides_only_by_what_hides() {
        for (style, expected) in [
            ("display:none", true),
            ("color: red; DISPLAY : None !important", true),
            ("visibility:hidden", true),
            ("display:block", false),
            ("background:url(none)", false),
            ("", false),
        ] {
            assert_eq!(style_hides(style), expected, "{style}");
        }
    }
}
