//! The fold: what two spellings of one word have in common.
//!
//! Frozen as part of the analyzer: a change here bumps its version, since stored vectors were made with the old one.
//! Rules, in order: compatibility composition (presentation forms become letters); lower case; Arabic yeh, kaf and heh
//! forms become Persian; alef variants become bare alef; digits of both scripts become ASCII; tatweel, harakat, superscript
//! alef and the zero-width joiners vanish, before anything is composed, so that what stood around them composes as if they
//! had never been there. Vietnamese letters keep their marks, and đ is not d.

use std::ops::Range;
use unicode_normalization::UnicodeNormalization as _;
use unicode_segmentation::UnicodeSegmentation as _;

/// A folded text that knows where each of its pieces came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folded {
    pub text: String,
    /// For each original grapheme that left something: where in `text` it starts, and which original bytes it was.
    /// Empty when the text was ASCII, where both are the same.
    pieces: Vec<(usize, Range<usize>)>,
}

impl Folded {
    /// The bytes of the original that a range of the folded text stands for.
    #[must_use]
    pub fn original(&self, range: Range<usize>) -> Range<usize> {
        if self.pieces.is_empty() {
            return range;
        }
        let piece_at = |position: usize| self.pieces.partition_point(|(start, _)| *start <= position).saturating_sub(1);
        let first = self.pieces.get(piece_at(range.start));
        let last = self.pieces.get(piece_at(range.end.saturating_sub(1).max(range.start)));
        match (first, last) {
            (Some((_, first)), Some((_, last))) => first.start..last.end,
            _ => range,
        }
    }
}

/// Folds a text for matching. Folding twice changes nothing more.
#[must_use]
pub fn fold(text: &str) -> Folded {
    if text.is_ascii() {
        return Folded { text: text.to_ascii_lowercase(), pieces: Vec::new() };
    }
    let kept = Kept::of(text);
    let mut folded = String::with_capacity(kept.text.len());
    let mut pieces = Vec::with_capacity(kept.text.len() / 2);
    for (start, grapheme) in kept.text.grapheme_indices(true) {
        let before = folded.len();
        // Most of a text are letters that no table changes.
        if let Some(c) = alone(grapheme).filter(|c| is_plain(*c)) {
            folded.extend(fold_char(c.to_ascii_lowercase()));
            pieces.push((before, kept.original(start)..kept.original(start + grapheme.len())));
            continue;
        }
        // Lower-casing can take a letter apart again ("İ"), so composition comes last.
        let lowered = grapheme.nfkc().flat_map(char::to_lowercase).nfkc();
        folded.extend(lowered.filter_map(fold_char));
        if folded.len() > before {
            pieces.push((before, kept.original(start)..kept.original(start + grapheme.len())));
        }
    }
    Folded { text: folded, pieces }
}

fn alone(grapheme: &str) -> Option<char> {
    let mut chars = grapheme.chars();
    chars.next().filter(|_| chars.next().is_none())
}

/// Characters of the most common alphabets that stay as they are under compatibility composition and have no capitals but
/// those of ASCII, and that never vanish.
const fn is_plain(c: char) -> bool {
    c.is_ascii()
        || matches!(c, '\u{620}'..='\u{63F}' | '\u{641}'..='\u{64A}' | '\u{671}'..='\u{674}' | '\u{679}'..='\u{6D3}')
}

/// A text without what vanishes, and the way back.
struct Kept {
    text: String,
    /// After each thing that vanished: its place in `text`, and how many bytes had vanished by then.
    gaps: Vec<(usize, usize)>,
}

impl Kept {
    fn of(text: &str) -> Self {
        let mut kept = Self { text: String::with_capacity(text.len()), gaps: Vec::new() };
        let mut vanished = 0;
        for c in text.chars() {
            if vanishes(c) {
                vanished += c.len_utf8();
                match kept.gaps.last_mut() {
                    Some((place, bytes)) if *place == kept.text.len() => *bytes = vanished,
                    _ => kept.gaps.push((kept.text.len(), vanished)),
                }
            } else {
                kept.text.push(c);
            }
        }
        kept
    }

    /// What vanished at a border belongs to what stands before it, as a mark belongs to its letter.
    fn original(&self, position: usize) -> usize {
        let gap = self.gaps.partition_point(|(place, _)| *place <= position).checked_sub(1);
        position + gap.and_then(|gap| self.gaps.get(gap)).map_or(0, |(_, vanished)| *vanished)
    }
}

/// Whether nothing of a character is left: what the fold drops, and the presentation forms made of nothing else.
fn vanishes(c: char) -> bool {
    fold_char(c).is_none()
        || matches!(
            c,
            '\u{FCF2}'..='\u{FCF4}' | '\u{FE71}' | '\u{FE77}' | '\u{FE79}' | '\u{FE7B}' | '\u{FE7D}' | '\u{FE7F}'
        )
}

fn fold_char(c: char) -> Option<char> {
    Some(match c {
        // tatweel, harakat and other marks, superscript alef, zero-width (non-)joiners and marks of direction, soft hyphen
        '\u{0640}'
        | '\u{064B}'..='\u{065F}'
        | '\u{0670}'
        | '\u{200B}'..='\u{200F}'
        | '\u{202A}'..='\u{202E}'
        | '\u{2066}'..='\u{2069}'
        | '\u{FEFF}'
        | '\u{00AD}' => return None,
        'ي' | 'ى' | 'ئ' => 'ی',
        'ك' => 'ک',
        'ة' | 'ۀ' | 'ە' | 'ھ' => 'ه',
        'آ' | 'أ' | 'إ' | 'ٱ' => 'ا',
        'ؤ' => 'و',
        '٠'..='٩' => digit(c, '٠'),
        '۰'..='۹' => digit(c, '۰'),
        _ => c,
    })
}

fn digit(c: char, zero: char) -> char {
    char::from_digit(u32::from(c) - u32::from(zero), 10).unwrap_or(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(fold(text).text, expected, "{text:?}");
    }

    #[test]
    fn fold_follows_its_rules() {
        check("Hello WORLD 42", "hello world 42");
        check("كتاب ١٢٣ ۴۵۶", "کتاب 123 456");
        check("قُرآن", "قران");
        check("إسلام أحمد آب", "اسلام احمد اب");
        check("کـــتاب", "کتاب");
        check("می‌روم", "میروم");
        check("خانۀ", "خانه");
        check("\u{FEF5}", "لا");
        check("Đà Nẵng", "đà nẵng");
        // What vanishes leaves no border behind.
        for gap in ["\u{640}", "\u{200D}", "\u{AD}", "\u{FE71}"] {
            check(&format!("e{gap}\u{301}"), "é");
        }
        check("\u{1100}\u{200D}\u{1161}", "가");
        // Decomposed and composed letters are one.
        check("e\u{0301}", "é");
    }

    #[test]
    fn fold_leads_back_to_the_original() {
        let text = "یک كِتاب";
        let folded = fold(text);
        let place = folded.text.find("کتاب").unwrap();
        assert_eq!(&text[folded.original(place..place + "کتاب".len())], "كِتاب");
    }

    /// Case C43: the stored text keeps its joiners, and marks belong to their letters.
    #[test]
    fn fold_leads_back_past_what_vanished() {
        for (text, found, original) in [
            ("او می\u{200C}روم.", "میروم", "می\u{200C}روم"),
            ("\u{200F}کِتابِ نو", "کتاب", "کِتابِ"),
            ("\u{FEFF}a é", "a", "a"),
        ] {
            let folded = fold(text);
            let place = folded.text.find(found).unwrap();
            assert_eq!(&text[folded.original(place..place + found.len())], original);
        }
    }

    /// Letters, marks and what vanishes, as no real text has them side by side.
    const ODD: &str = "[aeAİǅßΣ\u{301}\u{302}\u{307}\u{640}\u{64B}\u{653}\u{654}\u{670}\u{200C}\u{200D}\u{AD}\u{FEFF}\
        اآأیيىئكکۀهةؤ۴٤ﷺﻵ\u{FE71}\u{FE70}\u{1100}\u{1161}\u{11A8}½ ]{0,12}";

    #[test]
    fn plain_characters_are_their_own_form_and_stay() {
        for c in (0..0x700).filter_map(char::from_u32).filter(|c| is_plain(*c)) {
            assert_eq!(c.nfkc().collect::<String>(), c.to_string());
            assert!(fold_char(c).is_some() && (c.is_ascii() || c.to_lowercase().eq([c])), "{c:?}");
        }
    }

    proptest! {
        #[test]
        fn fold_of_odd_neighbours_is_idempotent(text in ODD) {
            let once = fold(&text).text;
            prop_assert_eq!(fold(&once).text, once);
        }

        #[test]
        fn fold_is_idempotent(text in "\\PC{0,40}") {
            let once = fold(&text).text;
            prop_assert_eq!(fold(&once).text, once);
        }

        #[test]
        fn every_piece_leads_to_a_border_of_the_original(text in "\\PC{0,40}") {
            let folded = fold(&text);
            for (start, c) in folded.text.char_indices() {
                prop_assert!(text.get(folded.original(start..start + c.len_utf8())).is_some());
            }
        }
    }
}
