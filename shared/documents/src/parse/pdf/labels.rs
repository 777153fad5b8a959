//! The numbers printed on pages, apart from where the pages stand in the file.

use super::strings::decode;
use hayro_syntax::object::{Array, Dict, MaybeRef, Name, Object, String as PdfString};
use std::{collections::HashSet, fmt::Write as _};

/// Most nodes of the tree of labels, and most ranges it may hold.
const MAX_NODES: usize = 4_096;
const MAX_RANGES: usize = 65_536;
/// Longest label in characters; a longer one is no page number.
const MAX_LABEL: usize = 32;
/// Past this a Roman or lettered number is longer than any label.
const MAX_SPELLED: u32 = 4_999;

/// From a page on, how its label is made.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Range {
    first: u32,
    prefix: String,
    style: Option<u8>,
    start: u32,
}

#[derive(Debug, Default)]
pub(super) struct Labels {
    ranges: Vec<Range>,
}

impl Labels {
    pub(super) fn of(catalog: &Dict<'_>) -> Self {
        let Some(root) = catalog.get::<Dict<'_>>("PageLabels") else { return Self::default() };
        let mut ranges = Vec::new();
        let mut seen = HashSet::new();
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            if seen.len() >= MAX_NODES || ranges.len() >= MAX_RANGES {
                break;
            }
            if let Some(kids) = node.get::<Array<'_>>("Kids") {
                for (kid, dict) in kids.raw_iter().zip(kids.iter::<Object<'_>>()).take(MAX_NODES) {
                    let new = match kid {
                        MaybeRef::Ref(reference) => seen.insert((reference.obj_number, reference.gen_number)),
                        MaybeRef::NotRef(_) => false,
                    };
                    if let Some(dict) = dict.into_dict()
                        && new
                    {
                        open.push(dict);
                    }
                }
            }
            if let Some(numbers) = node.get::<Array<'_>>("Nums") {
                let mut items = numbers.iter::<Object<'_>>().take(MAX_RANGES * 2);
                while let (Some(first), Some(label)) = (items.next(), items.next()) {
                    if let (Object::Number(first), Some(label)) = (first, label.into_dict())
                        && let Ok(first) = u32::try_from(first.as_i64())
                    {
                        ranges.push(Range {
                            first,
                            prefix: label.get::<PdfString<'_>>("P").map(|p| decode(p.as_bytes())).unwrap_or_default(),
                            style: label.get::<Name<'_>>("S").and_then(|style| style.first().copied()),
                            start: label.get::<u32>("St").unwrap_or(1),
                        });
                    }
                }
            }
        }
        ranges.sort_by_key(|range| range.first);
        Self { ranges }
    }

    /// What is printed on a page, counted from 0. `None` where the document does not say.
    pub(super) fn label(&self, page: u32) -> Option<String> {
        let at = self.ranges.partition_point(|range| range.first <= page).checked_sub(1)?;
        let range = self.ranges.get(at)?;
        let number = range.start.saturating_add(page - range.first);
        let mut label: String = range.prefix.chars().filter(|c| !c.is_control()).take(MAX_LABEL).collect();
        match range.style {
            Some(b'D') => {
                let _ = write!(label, "{number}");
            }
            Some(b'R') => label.push_str(&roman(number)),
            Some(b'r') => label.push_str(&roman(number).to_lowercase()),
            Some(b'A') => label.push_str(&letters(number)),
            Some(b'a') => label.push_str(&letters(number).to_lowercase()),
            _ => {}
        }
        (!label.is_empty()).then_some(label)
    }
}

fn roman(number: u32) -> String {
    const NUMERALS: [(u32, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    if number > MAX_SPELLED {
        return number.to_string();
    }
    let mut rest = number;
    let mut text = String::new();
    for (value, numeral) in NUMERALS {
        while rest >= value {
            text.push_str(numeral);
            rest -= value;
        }
    }
    text
}

/// A to Z, then AA to ZZ, and so on: the letter again for every turn of the alphabet.
fn letters(number: u32) -> String {
    let Some(index) = number.checked_sub(1).filter(|_| number <= MAX_SPELLED) else { return number.to_string() };
    let letter = char::from(b'A' + u8::try_from(index % 26).unwrap_or(0));
    std::iter::repeat_n(letter, index as usize / 26 + 1).take(MAX_LABEL).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_follows_the_range_its_page_stands_in() {
        let range = |first, prefix: &str, style, start| Range { first, prefix: prefix.into(), style, start };
        let labels = Labels {
            ranges: vec![
                range(0, "", Some(b'r'), 1),
                range(4, "", Some(b'D'), 1),
                range(7, "A-", Some(b'D'), 8),
                range(9, "", Some(b'a'), 26),
                range(11, "Cover", None, 1),
                range(12, "", None, 1),
            ],
        };
        let all: Vec<_> = (0..13).map(|page| labels.label(page).unwrap_or_default()).collect();
        assert_eq!(all, ["i", "ii", "iii", "iv", "1", "2", "3", "A-8", "A-9", "z", "aa", "Cover", ""]);
        assert_eq!(Labels::default().label(3), None);
    }

    #[test]
    fn roman_is_spelled_as_far_as_it_is_readable() {
        for (number, expected) in [(4, "IV"), (1994, "MCMXCIV"), (4_999, "MMMMCMXCIX"), (5_000, "5000"), (0, "")] {
            assert_eq!(roman(number), expected);
        }
    }
}
