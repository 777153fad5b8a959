//! XML as office documents use it: one pass, without recursion, so that nesting costs no stack.

use crate::{Limits, ParseError};
use quick_xml::{
    Reader, XmlVersion,
    events::{BytesStart, Event},
};
use std::borrow::Cow;

/// What is made of a part while it is read.
pub(super) trait Visit {
    /// Whether an element is left out, with everything in it.
    fn skips(&self, name: &str, element: &BytesStart<'_>) -> bool;
    fn start(&mut self, name: &str, element: &BytesStart<'_>) -> Result<(), ParseError>;
    fn end(&mut self, name: &str) -> Result<(), ParseError>;
    fn text(&mut self, text: &str) -> Result<(), ParseError>;
}

/// Reads a part, by the local names of its elements. Of the alternatives that a part offers for one thing, one is taken.
pub(super) fn walk(xml: &str, limits: &Limits, visit: &mut impl Visit) -> Result<(), ParseError> {
    let mut reader = Reader::from_str(xml);
    let mut open = Open::default();
    loop {
        match reader.read_event() {
            Ok(Event::Start(element)) => {
                open.depth += 1;
                if open.depth > limits.max_depth {
                    let problem = format!("the document is nested deeper than {} elements", limits.max_depth);
                    return Err(ParseError::failed(problem));
                }
                open.start(&element, visit)?;
            }
            Ok(Event::Empty(element)) => {
                open.start(&element, visit)?;
                open.end(element.local_name().as_ref(), visit)?;
            }
            Ok(Event::End(element)) => {
                open.depth = open.depth.saturating_sub(1);
                open.end(element.local_name().as_ref(), visit)?;
            }
            Ok(Event::Text(text)) if open.skipping == 0 => visit.text(&text.xml_content(XmlVersion::Implicit1_0))?,
            Ok(Event::CData(text)) if open.skipping == 0 => visit.text(&text.xml_content(XmlVersion::Implicit1_0))?,
            Ok(Event::GeneralRef(reference)) if open.skipping == 0 => {
                let character = reference.resolve_char_ref().ok().flatten().map(String::from);
                let named = || quick_xml::escape::resolve_predefined_entity(&reference).map(str::to_owned);
                if let Some(text) = character.or_else(named) {
                    visit.text(&text)?;
                }
            }
            Ok(Event::Eof) if open.depth > 0 => return Err(ParseError::failed("the document's XML is cut off")),
            Ok(Event::Eof) => return Ok(()),
            Ok(_) => {}
            Err(_) => return Err(ParseError::failed("a part of the document is no well-formed XML")),
        }
    }
}

#[derive(Default)]
struct Open {
    depth: usize,
    /// Elements open inside something that is left out, itself included; 0 when nothing is.
    skipping: usize,
    /// For each open alternative, whether one of its choices was taken.
    alternatives: Vec<bool>,
}

impl Open {
    fn start(&mut self, element: &BytesStart<'_>, visit: &mut impl Visit) -> Result<(), ParseError> {
        let name = element.local_name();
        let name = name.as_ref();
        if self.skipping > 0 {
            self.skipping += 1;
            return Ok(());
        }
        match name {
            "AlternateContent" => self.alternatives.push(false),
            "Choice" | "Fallback" => {
                if let Some(taken) = self.alternatives.last_mut() {
                    // Once one alternative was taken, the others would say the same again.
                    self.skipping = usize::from(*taken);
                    *taken = true;
                }
            }
            name if visit.skips(name, element) => self.skipping = 1,
            name => visit.start(name, element)?,
        }
        Ok(())
    }

    fn end(&mut self, name: &str, visit: &mut impl Visit) -> Result<(), ParseError> {
        if self.skipping > 0 {
            self.skipping -= 1;
            return Ok(());
        }
        match name {
            "AlternateContent" => {
                self.alternatives.pop();
                Ok(())
            }
            "Choice" | "Fallback" => Ok(()),
            name => visit.end(name),
        }
    }
}

/// Calls `visit` for the start of every element of a part, in order.
pub(super) fn for_each_start(xml: &str, mut visit: impl FnMut(&BytesStart<'_>)) -> Result<(), ParseError> {
    let mut reader = Reader::from_str(xml);
    loop {
        match reader.read_event() {
            Ok(Event::Start(element) | Event::Empty(element)) => visit(&element),
            Ok(Event::Eof) => return Ok(()),
            Ok(_) => {}
            Err(_) => return Err(ParseError::failed("a part of the document is no XML")),
        }
    }
}

/// The value of an attribute by its local name. Attributes are not checked against each other: a tag with very many of
/// them stays linear.
pub(super) fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    find(element, |key| key.local_name().as_ref() == name)
}

/// The relation that an element names: the attribute `id` of a namespace, where the element may have an `id` of its own.
pub(super) fn relation_id(element: &BytesStart<'_>) -> Option<String> {
    find(element, |key| key.prefix().is_some() && key.local_name().as_ref() == "id")
}

fn find(element: &BytesStart<'_>, matches: impl Fn(quick_xml::name::QName<'_>) -> bool) -> Option<String> {
    let mut attributes = element.attributes();
    attributes.with_checks(false);
    let found = attributes.filter_map(Result::ok).find(|attribute| matches(attribute.key))?;
    found.normalized_value(XmlVersion::Implicit1_0).ok().map(Cow::into_owned)
}

/// Whether an attribute that switches something says so; one without a value does.
pub(super) fn is_on(value: Option<&str>) -> bool {
    !matches!(value, Some("0" | "false" | "off"))
}
