//! Whether the evidence contains what was asked for, and the words in which it does.
//!
//! No retrieval score tells an answerable question from one that merely shares words with a document. So the question's
//! own terms are looked for in each candidate: rare ones count more, numbers must be there, and what is quoted is the
//! fewest sentences that hold the most of them.

use anchorage_documents::{Word, sentences, terms, words};
use anchorage_domain::Language;
use std::{collections::BTreeMap, ops::Range};

/// Share of the question's weight that a candidate must hold.
const MIN_COVERAGE: f32 = 0.6;
/// Share that the quoted sentences must hold by themselves: words scattered over a long chunk are no statement.
const MIN_QUOTED_COVERAGE: f32 = 0.5;
/// Sentences a quote has at most.
const MAX_SENTENCES: usize = 3;
/// How much more a name counts than another word.
const NAME_FACTOR: f32 = 2.0;
/// Letters two words must share from the start to be forms of one word, and how many may follow them.
const MIN_STEM: usize = 4;
const MAX_ENDING: usize = 3;

/// The quote: which candidate, and which of its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Quote {
    pub candidate: usize,
    pub span: Range<usize>,
}

/// The best quote among candidates in order of rank, if one of them holds enough of what was asked.
pub(super) fn best_quote(query: &str, candidates: &[(Language, &str)]) -> Option<Quote> {
    let texts: Vec<Vec<Word>> = candidates.iter().map(|(_, text)| words(text)).collect();
    let mut best: Option<(f32, Quote)> = None;
    for (candidate, ((language, text), found)) in candidates.iter().zip(&texts).enumerate() {
        let asked = asked(*language, query);
        let (asked, factors): (Vec<_>, Vec<_>) = asked.into_iter().unzip();
        let weights: Vec<f32> = asked.iter().zip(factors).map(|(term, factor)| factor * rarity(term, &texts)).collect();
        let total: f32 = weights.iter().sum();
        let held: Vec<bool> = asked.iter().map(|term| found.iter().any(|word| same_word(term, &word.text))).collect();
        let number_missing = asked.iter().zip(&held).any(|(term, held)| is_number(term) && !held);
        let weight: f32 = weights.iter().zip(&held).filter(|(_, held)| **held).map(|(weight, _)| weight).sum();
        let coverage = if total > 0.0 { weight / total } else { 0.0 };
        let better = best.as_ref().is_none_or(|(best, _)| coverage > *best);
        if number_missing || coverage < MIN_COVERAGE || !better {
            continue;
        }
        if let Some((quoted, span)) = window(text, found, &asked, &weights)
            && quoted / total >= MIN_QUOTED_COVERAGE
        {
            best = Some((coverage, Quote { candidate, span }));
        }
    }
    best.map(|(_, quote)| quote)
}

/// What the question asks for: its terms, each once, a name more than other words; all of its words when it has nothing
/// but stop words.
fn asked(language: Language, query: &str) -> BTreeMap<String, f32> {
    let own = terms(language, query);
    let own = if own.is_empty() { words(query) } else { own };
    let capital = |word: &Word| {
        query.get(word.range.clone()).and_then(|text| text.chars().next()).is_some_and(char::is_uppercase)
    };
    // In a headline every word has a capital, and says nothing by it; at the start of a sentence likewise.
    let headline = own.iter().filter(|word| capital(word)).count() * 2 > own.len();
    let is_name = |word: &Word| !headline && capital(word) && word.range.start > 0;
    own.iter().map(|word| (word.text.clone(), if is_name(word) { NAME_FACTOR } else { 1.0 })).collect()
}

/// More for a term that few of the candidates hold.
fn rarity(term: &str, texts: &[Vec<Word>]) -> f32 {
    let holding = texts.iter().filter(|text| text.iter().any(|word| same_word(term, &word.text))).count();
    let ratio = |a: usize, b: usize| {
        f32::from(u16::try_from(a).unwrap_or(u16::MAX)) / f32::from(u16::try_from(b).unwrap_or(u16::MAX))
    };
    (1.0 + ratio(texts.len(), holding + 1)).ln()
}

/// Equal, or two forms of one word: a common beginning and short endings. Numbers have no forms.
fn same_word(left: &str, right: &str) -> bool {
    if left == right {
        return true;
    }
    if is_number(left) || is_number(right) {
        return false;
    }
    let shared = left.chars().zip(right.chars()).take_while(|(a, b)| a == b).count();
    let longest = left.chars().count().max(right.chars().count());
    shared >= MIN_STEM && longest - shared <= MAX_ENDING
}

fn is_number(word: &str) -> bool {
    word.chars().any(|c| c.is_ascii_digit())
}

/// The shortest run of sentences that holds the most of what was asked, and how much it holds.
fn window(text: &str, found: &[Word], asked: &[String], weights: &[f32]) -> Option<(f32, Range<usize>)> {
    let sentences: Vec<_> = sentences(text);
    let mut best: Option<(f32, usize, Range<usize>)> = None;
    for first in 0..sentences.len() {
        for count in 1..=MAX_SENTENCES {
            let run = sentences.get(first..first + count)?.first().zip(sentences.get(first + count - 1));
            let Some(range) = run.map(|(first, last)| first.start..last.end) else { break };
            let inside = |word: &&Word| word.range.start >= range.start && word.range.end <= range.end;
            let held = asked
                .iter()
                .zip(weights)
                .filter(|(term, _)| found.iter().filter(inside).any(|word| same_word(term, &word.text)));
            let weight: f32 = held.map(|(_, weight)| weight).sum();
            // Another sentence has to bring something.
            let better = best.as_ref().is_none_or(|(most, sentences, _)| {
                weight > *most + f32::EPSILON || ((weight - *most).abs() <= f32::EPSILON && count < *sentences)
            });
            if better {
                best = Some((weight, count, range));
            }
            if first + count >= sentences.len() {
                break;
            }
        }
    }
    let (weight, _, range) = best?;
    let quoted = text.get(range.clone())?;
    let lead = quoted.len() - quoted.trim_start().len();
    Some((weight, range.start + lead..range.start + lead + quoted.trim().len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(language: Language, text: &str, question: &str, expected: Option<&str>) {
        let quote = best_quote(question, &[(language, text)]).map(|quote| &text[quote.span]);
        assert_eq!(quote, expected, "{question}");
    }

    /// Case C59: words in common are no answer.
    #[test]
    fn question_is_answered_only_where_its_terms_are() {
        let text =
            "Halcyon Robotics builds warehouse robots. Its R2 robot lifts forty kilograms. It was founded in Oslo.";
        check(
            Language::En,
            text,
            "How many kilograms does the R2 robot lift?",
            Some("Its R2 robot lifts forty kilograms."),
        );
        check(Language::En, text, "Who acquired Halcyon Robotics?", None);
        check(Language::En, text, "How many kilograms does the R3 robot lift?", None);
        check(
            Language::En,
            text,
            "Where was Halcyon Robotics founded?",
            Some(
                "Halcyon Robotics builds warehouse robots. Its R2 robot lifts forty kilograms. It was founded in Oslo.",
            ),
        );
    }

    #[test]
    fn words_scattered_over_a_chunk_are_no_answer() {
        let filler = "Nothing of interest stands in this line. ".repeat(12);
        let text =
            format!("Halcyon builds cranes. {filler}The city acquired a park. {filler}The robotics fair is loud.");
        check(Language::En, &text, "Who acquired Halcyon Robotics?", None);
    }

    #[test]
    fn farsi_question_from_any_keyboard_finds_its_sentence() {
        let text = "این راهنما برای کاربران است. ضمانت باتری دستگاه دوازده ماه است. تعمیرات در تهران انجام می‌شود.";
        let answer = Some("ضمانت باتری دستگاه دوازده ماه است.");
        check(Language::Fa, text, "ضمانت باتری دستگاه چند ماه است؟", answer);
        check(Language::Fa, text, "ضمانت باتري چند ماه است", answer);
        check(Language::Fa, text, "قیمت باتری دستگاه چقدر است؟", None);
        check(Language::Fa, text, "تعميرات كجا انجام ميشود؟", Some("تعمیرات در تهران انجام می‌شود."));
    }

    #[test]
    fn vietnamese_question_keeps_its_tones() {
        let text = "Thuốc Zelora uống hai viên mỗi ngày sau bữa ăn. Không dùng cho trẻ em.";
        check(
            Language::Vi,
            text,
            "Thuốc Zelora uống mấy viên mỗi ngày?",
            Some("Thuốc Zelora uống hai viên mỗi ngày sau bữa ăn."),
        );
        check(Language::Vi, text, "Thuốc Mirapil uống mấy viên?", None);
    }

    #[test]
    fn better_covered_candidate_wins_over_a_higher_rank() {
        let candidates = [(Language::En, "Branches open early."), (Language::En, "The Halden branch opens at nine.")];
        let quote = best_quote("When does the Halden branch open?", &candidates).unwrap();
        assert_eq!(quote, Quote { candidate: 1, span: 0..candidates[1].1.len() });
    }
}
