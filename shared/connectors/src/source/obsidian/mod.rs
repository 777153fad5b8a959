//! Obsidian: a note as its local REST API gives it: `path`, `content`, and what it knows of it (`frontmatter`, `tags`,
//! `stat`). `vault` tells notes of several vaults apart.

mod front_matter;

use crate::{
    ItemError, Outcome,
    document::{DocumentType, Draft, Identity},
    item::Item,
    markdown::outside_code,
    metadata::shortened,
};
use anchorage_domain::SkipReason;
use front_matter::Property;
use serde_json::Value;

pub(crate) fn read(item: &Item<'_>) -> Result<Outcome, ItemError> {
    let path = item.words("path")?.ok_or_else(|| ItemError::missing("path", "the note's path in its vault"))?;
    let vault = item.id("vault")?;
    let parts: Vec<&str> = vault.as_deref().into_iter().chain([path]).collect();
    let identity = Identity::new(DocumentType::ObsidianNote, &parts, "path")?;
    if item.flag("deleted")? {
        return Ok(identity.removed());
    }
    let content = item.text("content")?.ok_or_else(|| ItemError::missing("content", "the note's Markdown"))?;
    let mut draft = Draft::new(identity);
    let name = path.rsplit('/').next().unwrap_or(path);
    draft.title = Some(name.strip_suffix(".md").unwrap_or(name).to_owned());
    draft.updated_at = item.first_time(&["stat.mtime", "stat.ctime"])?;
    draft.facts.text("path", Some(path));
    draft.facts.text("vault", vault.as_deref());
    let (matter, body) = front_matter::split(content);
    let mut tags: Vec<String> = Vec::new();
    match matter.map(front_matter::properties) {
        Some(Some(properties)) => {
            for (name, value) in &properties {
                let (texts, many): (Vec<&str>, bool) = match value {
                    Property::One(text) => (vec![text], false),
                    Property::Many(texts) => (texts.iter().map(String::as_str).collect(), true),
                    Property::Nested => {
                        draft.facts.omitted.add(&format!("property {name}"), SkipReason::Unsupported);
                        continue;
                    }
                };
                property(name, &texts, many, &mut tags, &mut draft);
            }
        }
        // It is no YAML: the text is kept where it stands.
        Some(None) => {
            draft.facts.omitted.add("front matter", SkipReason::Unreadable);
            draft.markdown.code("yaml", matter.unwrap_or_default());
        }
        None => sent(item, &mut tags, &mut draft)?,
    }
    tags.extend(item.strings("tags")?.into_iter().map(str::to_owned));
    draft.facts.list("tags", tags.iter().map(|tag| tag.trim_start_matches('#')));
    let mut links = Vec::new();
    let text = outside_code(body, |piece, out| wikilinks(piece, out, &mut links));
    draft.facts.list("links", links);
    draft.markdown.native(&text);
    draft.finish("content")
}

/// Front matter that the API has read already, for content that comes without it.
fn sent(item: &Item<'_>, tags: &mut Vec<String>, draft: &mut Draft) -> Result<(), ItemError> {
    let Some(matter) = item.object("frontmatter")? else { return Ok(()) };
    for (name, value) in matter.map() {
        match value {
            Value::Null => {}
            Value::String(text) => property(name, &[text], false, tags, draft),
            Value::Array(values) => {
                let texts: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
                property(name, &texts, true, tags, draft);
            }
            Value::Object(_) => draft.facts.omitted.add(&format!("property {name}"), SkipReason::Unsupported),
            Value::Number(_) | Value::Bool(_) => property(name, &[&value.to_string()], false, tags, draft),
        }
    }
    Ok(())
}

fn property(name: &str, texts: &[&str], many: bool, tags: &mut Vec<String>, draft: &mut Draft) {
    let key = format!("property.{}", shortened(name, 64));
    match name {
        "title" => {
            if let Some(title) = texts.first().filter(|title| !title.trim().is_empty()) {
                draft.title = Some((*title).to_owned());
            }
        }
        // One text holds several, between commas or spaces.
        "tags" | "tag" => tags.extend(texts.iter().flat_map(|text| text.split([',', ' '])).map(str::to_owned)),
        "aliases" | "alias" => draft.facts.list("aliases", texts),
        _ if many => draft.facts.list(&key, texts),
        _ => draft.facts.text(&key, texts.first().copied()),
    }
}

/// Longest link to a note, in bytes: what is longer is no link.
const MAX_WIKILINK_BYTES: usize = 1_024;

/// Links to notes as the words that they show; where they lead is collected.
fn wikilinks(piece: &str, out: &mut String, links: &mut Vec<String>) {
    let mut rest = piece;
    while let Some((before, from)) = rest.split_once("[[") {
        let near = from.get(..from.floor_char_boundary(MAX_WIKILINK_BYTES)).unwrap_or(from);
        let inside = near.split_once("]]").map(|(inside, _)| inside);
        let Some(inside) = inside.filter(|inside| !inside.trim().is_empty() && !inside.contains(['[', '\n'])) else {
            // The second bracket may begin one.
            out.push_str(before);
            out.push('[');
            rest = rest.get(before.len() + 1..).unwrap_or_default();
            continue;
        };
        // An embedded note or picture is named; it is an item of its own.
        out.push_str(before.strip_suffix('!').unwrap_or(before));
        let (target, label) = inside.split_once('|').map_or((inside, None), |(target, label)| (target, Some(label)));
        // In a table the bar is escaped.
        let target = target.trim_end_matches('\\').trim();
        let (note, part) = target.split_once('#').unwrap_or((target, ""));
        if !note.is_empty() && links.len() <= crate::limits::MAX_METADATA_LIST {
            links.push(note.trim().to_owned());
        }
        let part = part.trim_start_matches('^');
        let shown = match label.map(str::trim).filter(|label| !label.is_empty()) {
            Some(label) => label.to_owned(),
            None if note.is_empty() => part.to_owned(),
            None if part.is_empty() => note.to_owned(),
            None => format!("{note} > {}", part.replace('#', " > ")),
        };
        out.push_str(&shown);
        rest = from.get(inside.len() + 2..).unwrap_or_default();
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wikilink_is_shown_as_its_words() {
        for (text, expected, leads) in [
            ("see [[A/B]]", "see A/B", vec!["A/B"]),
            ("[[A|b]] [[A#C#D]] [[A#^id]]", "b A > C > D A > id", vec!["A", "A", "A"]),
            ("[[#Here]] ![[p.png|100]]", "Here 100", vec!["p.png"]),
            ("[[ ]] [[a\nb]] [[a", "[[ ]] [[a\nb]] [[a", vec![]),
            ("[[[x]]]", "[x]", vec!["x"]),
        ] {
            let (mut out, mut links) = (String::new(), Vec::new());
            wikilinks(text, &mut out, &mut links);
            assert_eq!((out.as_str(), links), (expected, leads.into_iter().map(str::to_owned).collect()), "{text}");
        }
    }
}
