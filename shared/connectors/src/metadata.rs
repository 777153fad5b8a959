//! What is known of an item beside its text: few, short, typed entries.

use crate::limits::{
    MAX_METADATA_BYTES, MAX_METADATA_ENTRIES, MAX_METADATA_LABEL_BYTES, MAX_METADATA_LIST, MAX_METADATA_TEXT_BYTES,
    MAX_SKIPPED, MAX_SKIPPED_CHARS,
};
use anchorage_domain::{SkipReason, Skipped, Timestamp};
use serde::Serialize;
use std::collections::BTreeMap;

/// One value of metadata.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum MetadataValue {
    Text(String),
    List(Vec<String>),
    Flag(bool),
    Time(Timestamp),
}

/// Entries by name, within their bounds: at most 48, each text at most 512 bytes, 15 KiB of JSON together.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct Metadata {
    entries: BTreeMap<String, MetadataValue>,
    #[serde(skip)]
    bytes: usize,
}

impl Metadata {
    #[must_use]
    pub const fn entries(&self) -> &BTreeMap<String, MetadataValue> {
        &self.entries
    }

    #[must_use]
    pub fn get(&self, name: &str) -> Option<&MetadataValue> {
        self.entries.get(name)
    }

    /// Adds an entry unless a bound is passed. The first value of a name stays.
    fn insert(&mut self, name: &str, value: MetadataValue) -> bool {
        let Ok(json) = serde_json::to_string(&(name, &value)) else { return false };
        let bytes = self.bytes.saturating_add(json.len());
        let fits = bytes <= MAX_METADATA_BYTES && self.entries.len() < MAX_METADATA_ENTRIES;
        if fits && !self.entries.contains_key(name) {
            self.entries.insert(name.to_owned(), value);
            self.bytes = bytes;
        }
        fits
    }
}

/// Collects metadata and reports what does not fit.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) metadata: Metadata,
    pub(crate) omitted: Omissions,
}

impl Facts {
    fn put(&mut self, name: &str, value: MetadataValue) {
        if !self.metadata.insert(&plain(name), value) {
            self.omitted.add("metadata past its bound", SkipReason::Unsupported);
        }
    }

    /// A text, where there is one that says something.
    pub(crate) fn text(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text.map(plain).filter(|text| !text.is_empty()) {
            self.put(name, MetadataValue::Text(shortened(&text, MAX_METADATA_TEXT_BYTES)));
        }
    }

    /// The texts that say something, each once; nothing where there are none.
    pub(crate) fn list<T: AsRef<str>>(&mut self, name: &str, texts: impl IntoIterator<Item = T>) {
        let mut kept: Vec<String> = Vec::new();
        for text in texts {
            let text = shortened(&plain(text.as_ref()), MAX_METADATA_LABEL_BYTES);
            if text.is_empty() || kept.contains(&text) {
                continue;
            }
            if kept.len() == MAX_METADATA_LIST {
                self.omitted.add("metadata past its bound", SkipReason::Unsupported);
                break;
            }
            kept.push(text);
        }
        if !kept.is_empty() {
            self.put(name, MetadataValue::List(kept));
        }
    }

    /// Only what is so is noted.
    pub(crate) fn flag(&mut self, name: &str, flag: bool) {
        if flag {
            self.put(name, MetadataValue::Flag(true));
        }
    }

    pub(crate) fn time(&mut self, name: &str, time: Option<Timestamp>) {
        if let Some(time) = time {
            self.put(name, MetadataValue::Time(time));
        }
    }
}

/// What was left out, by kind, with how often.
#[derive(Debug, Default, Clone)]
pub(crate) struct Omissions {
    counts: BTreeMap<(String, SkipReason), u32>,
}

impl Omissions {
    pub(crate) fn add(&mut self, what: &str, reason: SkipReason) {
        let what: String = plain(what).chars().take(MAX_SKIPPED_CHARS).collect();
        let known = self.counts.contains_key(&(what.clone(), reason));
        let what = if known || self.counts.len() < MAX_SKIPPED { what } else { "other parts".to_owned() };
        let count = self.counts.entry((what, reason)).or_default();
        *count = count.saturating_add(1);
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for ((what, reason), count) in other.counts {
            let room = self.counts.len() < MAX_SKIPPED || self.counts.contains_key(&(what.clone(), reason));
            let what = if room { what } else { "other parts".to_owned() };
            let sum = self.counts.entry((what, reason)).or_default();
            *sum = sum.saturating_add(count);
        }
    }

    pub(crate) fn into_skipped(self) -> Vec<Skipped> {
        let shown = |what: String, count: u32| if count == 1 { what } else { format!("{what} ({count})") };
        self.counts.into_iter().map(|((what, reason), count)| Skipped { what: shown(what, count), reason }).collect()
    }
}

/// A text on one line, without control characters.
pub(crate) fn plain(text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    words
}

/// At most `max` bytes of a text, with a mark where it was cut.
pub(crate) fn shortened(text: &str, max: usize) -> String {
    const MARK: char = '…';
    if text.len() <= max {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(max.saturating_sub(MARK.len_utf8()));
    let mut short = text.get(..end).unwrap_or_default().trim_end().to_owned();
    short.push(MARK);
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_bounds_hold_at_the_limit_and_past_it() {
        let mut facts = Facts::default();
        for n in 0..=MAX_METADATA_ENTRIES {
            facts.flag(&format!("n{n:02}"), true);
            assert_eq!(facts.omitted.clone().into_skipped().is_empty(), n < MAX_METADATA_ENTRIES, "{n}");
        }
        assert_eq!(facts.metadata.entries().len(), MAX_METADATA_ENTRIES);

        let mut facts = Facts::default();
        for n in 0..MAX_METADATA_ENTRIES {
            facts.list(&format!("n{n}"), (0..40).map(|m| format!("{m}{}", "\"".repeat(600))));
        }
        let json = serde_json::to_string(&facts.metadata).unwrap();
        assert!(json.len() <= 16 * 1024 && json.len() > 4 * 1024, "{}", json.len());
        assert!(!facts.omitted.into_skipped().is_empty());
    }

    #[test]
    fn text_is_cut_between_characters_and_says_so() {
        assert_eq!(shortened("سلام", 8), "سلام");
        assert_eq!(shortened("سلام", 7), "سل…");
        assert_eq!(plain(" a\u{0}b\n\tc "), "a b c");
    }

    #[test]
    fn omissions_of_many_kinds_are_counted_together() {
        let mut omitted = Omissions::default();
        for n in 0..MAX_SKIPPED + 10 {
            omitted.add(&format!("kind {n:03}"), SkipReason::Unsupported);
        }
        let skipped = omitted.into_skipped();
        assert_eq!(skipped.len(), MAX_SKIPPED + 1);
        assert!(skipped.iter().any(|skipped| skipped.what == "other parts (10)"));
    }
}
