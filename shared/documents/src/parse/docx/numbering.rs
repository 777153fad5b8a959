//! The numbers that Word writes before the items of its lists: they are counted, not stored.

use super::super::{
    label,
    xml::{attribute, for_each_start},
};
use super::styles::NumberRef;
use crate::ParseError;
use std::collections::HashMap;

/// Levels of a list, as the format has them.
const LEVELS: usize = 9;
/// Longest number in letters or Roman digits; past it, decimal digits say the same.
const MAX_SPELLED: u32 = 3_999;

#[derive(Debug, Clone, Default)]
struct Level {
    start: u32,
    format: String,
    /// `%1.%2`: each place is filled with the count of that level.
    text: String,
    legal: bool,
}

#[derive(Debug, Default)]
struct List {
    definition: String,
    /// Levels that start again where this list is first used.
    restart: HashMap<usize, u32>,
}

#[derive(Debug, Default)]
pub(super) struct Numbering {
    definitions: HashMap<String, Vec<Level>>,
    lists: HashMap<String, List>,
    /// Items counted so far, by definition and level.
    counts: HashMap<String, [Option<u32>; LEVELS]>,
}

impl Numbering {
    pub(super) fn read(xml: &str) -> Result<Self, ParseError> {
        let mut numbering = Self::default();
        let (mut definition, mut list, mut level) = (None::<String>, None::<String>, 0_usize);
        for_each_start(xml, |element| {
            let value = || attribute(element, "val").unwrap_or_default();
            let at = || attribute(element, "ilvl").and_then(|level| level.parse().ok()).unwrap_or(LEVELS);
            match element.local_name().as_ref() {
                "abstractNum" => (definition, list) = (attribute(element, "abstractNumId"), None),
                "num" => (definition, list) = (None, attribute(element, "numId")),
                "lvl" | "lvlOverride" => level = at(),
                name => {
                    if let Some(id) = &definition {
                        let levels =
                            numbering.definitions.entry(id.clone()).or_insert_with(|| vec![Level::default(); LEVELS]);
                        let Some(level) = levels.get_mut(level) else { return };
                        match name {
                            "start" => level.start = value().parse().unwrap_or(1),
                            "numFmt" => level.format = value(),
                            "lvlText" => level.text = label(&value()),
                            "isLgl" => level.legal = true,
                            _ => {}
                        }
                    } else if let Some(id) = &list {
                        let list = numbering.lists.entry(id.clone()).or_default();
                        match name {
                            "abstractNumId" => list.definition = value(),
                            "startOverride" => {
                                list.restart.insert(level, value().parse().unwrap_or(1));
                            }
                            _ => {}
                        }
                    }
                }
            }
        })?;
        Ok(numbering)
    }

    /// Counts an item and gives what stands before it; nothing for a bullet, which says nothing.
    pub(super) fn next(&mut self, item: &NumberRef) -> Option<String> {
        let level = usize::from(item.level.unwrap_or(0));
        let list = self.lists.get_mut(item.list.as_ref()?)?;
        let levels = self.definitions.get(&list.definition)?;
        let counts = self.counts.entry(list.definition.clone()).or_default();
        if let Some(start) = list.restart.remove(&level)
            && let Some(count) = counts.get_mut(level)
        {
            *count = start.checked_sub(1);
        }
        let own = levels.get(level)?;
        let count = counts.get_mut(level)?;
        *count = Some(count.map_or(own.start, |count| count.saturating_add(1)));
        counts.iter_mut().skip(level + 1).for_each(|below| *below = None);
        if matches!(own.format.as_str(), "bullet" | "none") {
            return None;
        }
        let mut text = String::new();
        let mut parts = own.text.split('%');
        text.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let mut rest = part.chars();
            let place = rest.next().and_then(|digit| digit.to_digit(10)).and_then(|digit| digit.checked_sub(1));
            let place = usize::try_from(place?).ok()?;
            let of = levels.get(place)?;
            let number = counts.get(place).copied().flatten().unwrap_or(of.start);
            text.push_str(&spell(number, if own.legal { "decimal" } else { &of.format }));
            text.push_str(rest.as_str());
        }
        let text = label(&text);
        (!text.is_empty()).then_some(text)
    }
}

fn spell(number: u32, format: &str) -> String {
    match format {
        "lowerLetter" if (1..=MAX_SPELLED).contains(&number) => letters(number),
        "upperLetter" if (1..=MAX_SPELLED).contains(&number) => letters(number).to_uppercase(),
        "lowerRoman" if (1..=MAX_SPELLED).contains(&number) => roman(number),
        "upperRoman" if (1..=MAX_SPELLED).contains(&number) => roman(number).to_uppercase(),
        "decimalZero" => format!("{number:02}"),
        _ => number.to_string(),
    }
}

/// a … z, aa … zz, aaa …: the letter is repeated, as Word counts.
fn letters(number: u32) -> String {
    let letter = char::from_u32(u32::from('a') + (number - 1) % 26).unwrap_or('a');
    std::iter::repeat_n(letter, ((number - 1) / 26 + 1) as usize).collect()
}

fn roman(mut number: u32) -> String {
    const DIGITS: [(u32, &str); 13] = [
        (1000, "m"),
        (900, "cm"),
        (500, "d"),
        (400, "cd"),
        (100, "c"),
        (90, "xc"),
        (50, "l"),
        (40, "xl"),
        (10, "x"),
        (9, "ix"),
        (5, "v"),
        (4, "iv"),
        (1, "i"),
    ];
    let mut text = String::new();
    for (value, digit) in DIGITS {
        while number >= value {
            text.push_str(digit);
            number -= value;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const XML: &str = r#"<numbering><abstractNum abstractNumId="7">
        <lvl ilvl="0"><start val="1"/><numFmt val="decimal"/><lvlText val="%1."/></lvl>
        <lvl ilvl="1"><start val="1"/><numFmt val="lowerLetter"/><lvlText val="%1.%2)"/></lvl>
        <lvl ilvl="2"><start val="1"/><numFmt val="bullet"/><lvlText val="•"/></lvl></abstractNum>
        <num numId="1"><abstractNumId val="7"/></num>
        <num numId="2"><abstractNumId val="7"/><lvlOverride ilvl="0"><startOverride val="9"/></lvlOverride></num></numbering>"#;

    #[test]
    fn numbering_counts_levels_and_starts_again_where_it_is_told() {
        let mut numbering = Numbering::read(XML).unwrap();
        let steps = [
            ("1", 0, Some("1.")),
            ("1", 1, Some("1.a)")),
            ("1", 1, Some("1.b)")),
            ("1", 2, None),
            ("1", 0, Some("2.")),
            ("1", 1, Some("2.a)")),
            ("2", 0, Some("9.")),
            ("2", 0, Some("10.")),
            ("0", 0, None),
            ("1", 200, None),
        ];
        for (list, level, expected) in steps {
            let item = NumberRef { list: Some(list.into()), level: Some(level) };
            assert_eq!(numbering.next(&item).as_deref(), expected, "{list} {level}");
        }
    }

    #[test]
    fn numbers_are_spelled_as_their_format_says() {
        for (number, format, expected) in [
            (28, "lowerLetter", "bb"),
            (1994, "upperRoman", "MCMXCIV"),
            (7, "decimalZero", "07"),
            (0, "lowerRoman", "0"),
            (u32::MAX, "upperLetter", "4294967295"),
        ] {
            assert_eq!(spell(number, format), expected);
        }
    }
}
