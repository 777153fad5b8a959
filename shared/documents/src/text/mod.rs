//! Words as they are matched: one fold for index and query, with a way back to the original.

mod fold;
mod stop_words;

pub use fold::{Folded, fold};

use anchorage_domain::Language;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation as _;

/// A folded word and the bytes of the original that it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    pub text: String,
    pub range: Range<usize>,
}

/// Particles that Farsi writes joined, apart or with a zero-width non-joiner, as the writer likes: all three are one word.
const JOINED_TO_THE_NEXT: [&str; 2] = ["می", "نمی"];
const JOINED_TO_THE_LAST: [&str; 8] = ["ها", "های", "هایی", "هایش", "هایم", "تر", "ترین", "ام"];

/// The folded words of a text, stop words included, in order.
#[must_use]
pub fn words(text: &str) -> Vec<Word> {
    let folded = fold(text);
    let mut words: Vec<Word> = Vec::new();
    let mut pending: Option<Word> = None;
    for (start, word) in folded.text.unicode_word_indices() {
        let mut word = Word { text: word.to_owned(), range: folded.original(start..start + word.len()) };
        let only_space_since = |earlier: &Word| {
            text.get(earlier.range.end..word.range.start).is_some_and(|gap| gap.chars().all(char::is_whitespace))
        };
        if let Some(prefix) = pending.take() {
            if only_space_since(&prefix) {
                word = Word { text: prefix.text + &word.text, range: prefix.range.start..word.range.end };
            } else {
                words.push(prefix);
            }
        } else if JOINED_TO_THE_LAST.contains(&word.text.as_str())
            && let Some(last) = words.last_mut()
            && only_space_since(last)
        {
            last.text.push_str(&word.text);
            last.range.end = word.range.end;
            continue;
        }
        if JOINED_TO_THE_NEXT.contains(&word.text.as_str()) {
            pending = Some(word);
        } else {
            words.push(word);
        }
    }
    words.extend(pending);
    words
}

/// The words that carry meaning: without the language's stop words.
#[must_use]
pub fn terms(language: Language, text: &str) -> Vec<Word> {
    words(text).into_iter().filter(|word| !stop_words::contains(language, &word.text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        words(text).into_iter().map(|word| word.text).collect()
    }

    /// Case C42: keyboards differ, words do not.
    #[test]
    fn words_of_arabic_and_persian_keyboards_are_the_same() {
        let stored = texts("كتاب هاي ١٢٣");
        for query in ["کتاب های 123", "کتاب‌های ۱۲۳", "كتاب هاي 123"] {
            assert_eq!(texts(query), stored, "{query}");
        }
        assert_eq!(stored, ["کتابهای", "123"]);
    }

    /// Case C43: joined, apart, or with a zero-width non-joiner.
    #[test]
    fn words_of_one_verb_in_three_spellings_are_the_same() {
        for text in ["می‌روم", "می روم", "میروم"] {
            assert_eq!(texts(text), ["میروم"], "{text}");
        }
        assert_eq!(texts("بندر ها"), texts("بندرها"));
        assert_eq!(texts("نمی\nخواهم"), ["نمیخواهم"]);
        // A particle that a mark separates stands alone.
        assert_eq!(texts("می. روم"), ["می", "روم"]);
    }

    #[test]
    fn word_ranges_lead_back_to_the_original_letters() {
        let text = "او می‌رود، كتاب ها";
        let original: Vec<_> = words(text).into_iter().map(|word| text[word.range].to_owned()).collect();
        assert_eq!(original, ["او", "می‌رود", "كتاب ها"]);
    }

    #[test]
    fn terms_leave_out_stop_words_of_their_language_only() {
        let of = |language, text| terms(language, text).into_iter().map(|word| word.text).collect::<Vec<_>>();
        assert_eq!(of(Language::En, "When does the branch open?"), ["branch", "open"]);
        assert_eq!(of(Language::Fa, "این کتاب در قفسه است"), ["کتاب", "قفسه"]);
        assert_eq!(of(Language::Vi, "Thuốc này là của tôi"), ["thuốc"]);
        assert_eq!(of(Language::Vi, "đá da"), ["đá", "da"]);
    }
}
