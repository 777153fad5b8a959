//! What the styles of a Word document make of a paragraph: a heading of some level, an item of a numbered list.

use super::super::xml::{attribute, for_each_start};
use crate::ParseError;
use quick_xml::events::BytesStart;
use std::collections::HashMap;

/// Longest chain of styles that stand on each other; a circle is longer than any.
const MAX_CHAIN: usize = 16;

/// A list and the level in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct NumberRef {
    pub list: Option<String>,
    pub level: Option<u8>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Style {
    /// Heading level, 0 for the document's title.
    pub heading: Option<u8>,
    pub number: NumberRef,
    name_level: Option<u8>,
    outline_level: Option<u8>,
    based_on: Option<String>,
}

/// Paragraph styles by id, each with what it takes over from those it stands on.
pub(super) fn read(xml: &str) -> Result<HashMap<String, Style>, ParseError> {
    let mut own: HashMap<String, Style> = HashMap::new();
    let mut open = None;
    for_each_start(xml, |element| {
        if element.local_name().as_ref() == "style" {
            open = attribute(element, "styleId");
            return;
        }
        let Some(style) = open.as_ref().map(|id| own.entry(id.clone()).or_default()) else { return };
        let value = || attribute(element, "val").unwrap_or_default();
        match element.local_name().as_ref() {
            "name" => {
                let name = value().to_lowercase();
                let level = name.strip_prefix("heading ").and_then(|level| level.parse().ok());
                style.name_level = level.or((name == "title").then_some(0));
            }
            "outlineLvl" => style.outline_level = outline_level(element),
            "basedOn" => style.based_on = Some(value()),
            "numId" => style.number.list = Some(value()),
            "ilvl" => style.number.level = value().parse().ok(),
            _ => {}
        }
    })?;
    let resolved = own.keys().map(|id| (id.clone(), resolve(&own, id))).collect();
    Ok(resolved)
}

/// The nearest style of the chain that says something says it.
fn resolve(own: &HashMap<String, Style>, id: &str) -> Style {
    let mut found = Style::default();
    let mut next = own.get(id);
    for _ in 0..MAX_CHAIN {
        let Some(style) = next else { break };
        found.heading = found.heading.or(style.name_level).or(style.outline_level);
        found.number.list = found.number.list.or_else(|| style.number.list.clone());
        found.number.level = found.number.level.or(style.number.level);
        next = style.based_on.as_ref().and_then(|id| own.get(id));
    }
    found
}

/// Level 9 means body text.
pub(super) fn outline_level(element: &BytesStart<'_>) -> Option<u8> {
    attribute(element, "val")?.parse::<u8>().ok().filter(|level| *level < 9).map(|level| level + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn style_takes_over_what_it_stands_on_and_circles_end() {
        let styles = read(
            r#"<styles><style styleId="H"><name val="heading 2"/><pPr><numPr><numId val="4"/></numPr></pPr></style>
            <style styleId="Own"><name val="Clause"/><basedOn val="H"/><pPr><numPr><ilvl val="1"/></numPr></pPr></style>
            <style styleId="A"><basedOn val="B"/></style><style styleId="B"><basedOn val="A"/></style></styles>"#,
        )
        .unwrap();
        assert_eq!(styles["Own"].heading, Some(2));
        assert_eq!(styles["Own"].number, NumberRef { list: Some("4".into()), level: Some(1) });
        assert_eq!(styles["A"].heading, None);
    }
}
