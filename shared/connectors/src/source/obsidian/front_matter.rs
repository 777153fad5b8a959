//! The properties that a note begins with, as YAML between two lines of `---`.

use crate::limits::MAX_FRONT_MATTER_BYTES;
use saphyr_parser::{Event, Parser};

/// The value of a property: its texts, as they are written.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Property {
    One(String),
    Many(Vec<String>),
    /// A mapping, which says more than an entry of metadata can hold.
    Nested,
}

/// Front matter and what follows it.
pub(super) fn split(content: &str) -> (Option<&str>, &str) {
    let text = content.trim_start_matches('\u{feff}');
    let Some(inner) = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")) else { return (None, text) };
    let mut end = 0;
    for line in inner.split_inclusive('\n') {
        if matches!(line.trim_end(), "---" | "...") {
            let body = inner.get(end + line.len()..).unwrap_or_default();
            return (inner.get(..end), body);
        }
        end += line.len();
        if end > MAX_FRONT_MATTER_BYTES {
            break;
        }
    }
    (None, text)
}

/// The properties of the outermost mapping that are texts or lists of texts; nothing when it is no such mapping.
///
/// Events are read one by one: no alias is followed and nothing is built, so that neither can grow.
pub(super) fn properties(yaml: &str) -> Option<Vec<(String, Property)>> {
    let mut properties = Vec::new();
    let mut depth = 0_usize;
    let mut name: Option<String> = None;
    let mut list: Option<Vec<String>> = None;
    let mut parser = Parser::new_from_str(yaml);
    while let Some(event) = parser.next_event() {
        let (event, _) = event.ok()?;
        match event {
            Event::MappingStart(..) => depth += 1,
            Event::SequenceStart(..) => {
                if depth == 0 {
                    return None;
                }
                depth += 1;
                if depth == 2 && name.is_some() {
                    list = Some(Vec::new());
                }
            }
            Event::Scalar(text, ..) => match (&mut list, depth) {
                (Some(list), 2) => list.push(text.into_owned()),
                (None, 1) => match name.take() {
                    None => name = Some(text.into_owned()),
                    Some(name) => properties.push((name, Property::One(text.into_owned()))),
                },
                (_, 0) => return None,
                _ => {}
            },
            Event::SequenceEnd | Event::MappingEnd => {
                depth = depth.saturating_sub(1);
                if depth == 1
                    && let Some(name) = name.take()
                {
                    properties.push((name, list.take().map_or(Property::Nested, Property::Many)));
                }
            }
            Event::Alias(_) if depth == 1 => name = None,
            _ => {}
        }
    }
    Some(properties)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_is_what_stands_between_two_rules() {
        for (content, expected) in [
            ("---\na: 1\n---\nbody", (Some("a: 1\n"), "body")),
            ("\u{feff}---\r\na: 1\r\n---\r\nbody", (Some("a: 1\r\n"), "body")),
            ("---\nno end", (None, "---\nno end")),
            ("text\n---\na\n---\n", (None, "text\n---\na\n---\n")),
            ("---\n---\n", (Some(""), "")),
        ] {
            assert_eq!(split(content), expected, "{content:?}");
        }
    }

    #[test]
    fn front_matter_past_its_bound_is_text() {
        let note = |size: usize| format!("---\n{}\n---\nbody", "#".repeat(size));
        assert!(split(&note(MAX_FRONT_MATTER_BYTES - 1)).0.is_some());
        assert_eq!(split(&note(MAX_FRONT_MATTER_BYTES)), (None, note(MAX_FRONT_MATTER_BYTES).as_str()));
    }

    #[test]
    fn properties_are_texts_and_lists_of_texts() {
        let one = |text: &str| Property::One(text.to_owned());
        let read =
            properties("title: 'A: b'\ntags: [x, y]\naliases:\n  - z\nnested:\n  a: 1\n  b: [2]\nn: 3\nfa: متن\n");
        let expected = [
            ("title", one("A: b")),
            ("tags", Property::Many(vec!["x".into(), "y".into()])),
            ("aliases", Property::Many(vec!["z".into()])),
            ("nested", Property::Nested),
            ("n", one("3")),
            ("fa", one("متن")),
        ];
        assert_eq!(read.unwrap(), expected.map(|(name, value)| (name.to_owned(), value)));
        for (yaml, expected) in
            [("", Some(0)), ("- a", None), ("just text", None), ("a: [", None), ("a: &x 1\nb: *x", Some(1))]
        {
            assert_eq!(properties(yaml).map(|properties| properties.len()), expected, "{yaml:?}");
        }
    }

    #[test]
    fn nested_and_repeated_yaml_does_not_grow() {
        let deep = format!("a: {}", "[".repeat(10_000));
        assert!(properties(&deep).is_none_or(|properties| properties.len() <= 1));
        let bomb: Vec<_> = (1..20).map(|n| format!("k{n}: &a{n} [*a{}, *a{}]\n", n - 1, n - 1)).collect();
        assert!(
            properties(&format!("k0: &a0 [x]\n{}", bomb.concat())).is_some_and(|properties| properties.len() == 20)
        );
    }
}
