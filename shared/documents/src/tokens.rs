//! How many tokens a text has at most, without the model's own tokenizer.
//!
//! Subword vocabularies of the XLM-R kind hold a common word whole, give another two or three tokens, and fall back to
//! single characters for strings they have never seen. The estimate knows the words that are held whole; of any other it
//! takes the longest beginning that is, and counts half of the letters that are left. What does not read like a word
//! counts every character of its compatibility form, which is what such tokenizers see, and what other vocabularies
//! may take apart into bytes counts those.

use std::sync::LazyLock;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfkc_quick};

/// The 48,000 most frequent words of Latin and Arabic letters that the vocabulary of XLM-R (MIT licence) holds whole, each
/// of them one token there. Sorted, one a line.
const WORDS: &str = include_str!("tokens/words.txt");

/// Longest run of letters taken for a word; longer ones are identifiers, sequences, encodings.
const LONGEST_WORD: usize = 20;
/// Shortest beginning of a word that is looked up, in letters.
const SHORTEST_BEGINNING: usize = 3;

/// An upper estimate of the tokens of `text`. Adds up over pieces cut at white space.
#[must_use]
pub fn estimate_tokens(text: &str) -> u32 {
    #[cfg(test)]
    work::count(text.len());
    let total: usize = text.split_whitespace().map(piece).sum();
    u32::try_from(total).unwrap_or(u32::MAX)
}

/// The estimate of a text where that is at most `most`; nothing where it is more, without looking at all of it.
pub(crate) fn estimate_within(text: &str, most: u32) -> Option<u32> {
    let mut total = 0_u32;
    for word in text.split_whitespace() {
        #[cfg(test)]
        work::count(word.len());
        total = total.saturating_add(u32::try_from(piece(word)).unwrap_or(u32::MAX));
        if total > most {
            return None;
        }
    }
    Some(total)
}

/// What a piece that was cut inside a word counts at most, whatever it is joined with.
pub(crate) fn estimate_fragment(text: &str) -> u32 {
    #[cfg(test)]
    work::count(text.len());
    let count: usize = text.chars().filter(|c| !c.is_whitespace()).map(fallback).sum();
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn piece(piece: &str) -> usize {
    let mut total = 0;
    let mut rest = piece;
    while let Some(first) = rest.chars().next() {
        let begins = rest.len() == piece.len();
        let letters = is_letter(first);
        let end = rest.find(|c: char| is_letter(c) != letters).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        total += match (letters, begins) {
            (true, true) => beginning(run),
            (true, false) => word(run),
            // A border of words can be a token of its own.
            (false, _) => usize::from(begins) + run.chars().map(fallback).sum::<usize>(),
        };
        rest = after;
    }
    total
}

/// A run of letters after white space.
fn beginning(run: &str) -> usize {
    if WHOLE.holds(run) {
        return 1;
    }
    let least = run.char_indices().nth(SHORTEST_BEGINNING).map_or(run.len(), |(at, _)| at);
    if run.len() <= LONGEST_WORD * 2 {
        for (at, _) in run.char_indices().rev().take_while(|(at, _)| *at >= least) {
            let (start, rest) = run.split_at(at);
            if WHOLE.holds(start) {
                // Two words run into one, in letters with marks, are cut anywhere.
                let joined = !rest.is_ascii() && rest.starts_with(char::is_uppercase);
                return 1 + if joined { rest.chars().map(fallback).sum() } else { word(rest) };
            }
        }
    }
    1 + word(run)
}

/// Letters, but no marks on them: those stand in no word that is held whole, and count one by one.
fn is_letter(c: char) -> bool {
    is_plain(c)
        || !c.is_ascii()
            && c.is_alphabetic()
            && !matches!(c, '\u{300}'..='\u{36F}' | '\u{610}'..='\u{61A}' | '\u{64B}'..='\u{65F}' | '\u{670}' | '\u{6D6}'..='\u{6ED}')
}

/// Letters of the most common alphabets that are their own compatibility form: no table needs to be asked.
const fn is_plain(c: char) -> bool {
    c.is_ascii_alphabetic()
        || matches!(c, '\u{620}'..='\u{63F}' | '\u{641}'..='\u{64A}' | '\u{671}'..='\u{674}' | '\u{679}'..='\u{6D3}')
}

fn word(run: &str) -> usize {
    let known = run.chars().all(|c| u32::from(c) < 0x0700 || (0x1E00..0x1F00).contains(&u32::from(c)));
    let count = if known { run.chars().count() } else { usize::MAX };
    if count <= LONGEST_WORD && reads_like_a_word(run) && is_composed(run) {
        (count.div_ceil(2) + 1 + WHOLE.strangeness(run)).min(count)
    } else {
        run.chars().map(fallback).sum()
    }
}

fn is_composed(run: &str) -> bool {
    run.chars().all(is_plain) || is_nfkc_quick(run.chars()) == IsNormalized::Yes
}

/// Lower case (perhaps with a capital first), and never more than four ASCII consonants in a row.
fn reads_like_a_word(run: &str) -> bool {
    let mut consonants = 0;
    for (position, c) in run.chars().enumerate() {
        if position > 0 && (c.is_ascii_uppercase() || !is_plain(c) && c.is_uppercase()) {
            return false;
        }
        let consonant = c.is_ascii() && !"aeiouyAEIOUY".contains(c);
        consonants = if consonant { consonants + 1 } else { 0 };
        if consonants > 4 {
            return false;
        }
    }
    true
}

/// A character by itself. Alphabets and CJK are held character by character; anything else may become bytes.
fn fallback(c: char) -> usize {
    if c.is_ascii() {
        return 1;
    }
    let characters = c.nfkc().count();
    match u32::from(c) {
        0..0x0700
        | 0x1E00..0x1F00
        | 0x2000..0x2070
        | 0x3000..0x3100
        | 0x4E00..0xA000
        | 0xAC00..0xD7B0
        | 0xFB50..0xFF00 => characters,
        _ => c.len_utf8().max(characters),
    }
}

/// An odd number without a pattern, which spreads what it is multiplied with.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
/// Bits to mark triples of letters in: few enough to stay near, many enough that two triples rarely share one.
const TRIPLE_BITS: usize = 1 << 19;

/// The words that are held whole, by their hashes: a word taken for another by all 64 bits is rarer than a fault of memory.
static WHOLE: LazyLock<Whole> = LazyLock::new(|| Whole::of(WORDS));

struct Whole {
    /// Slots probed one after the other; 0 is free. A power of two, so that a mask finds the first.
    slots: Vec<u64>,
    /// A bit for each three letters that follow each other in any of them, by the hash of the three.
    triples: Vec<u64>,
}

impl Whole {
    fn of(words: &str) -> Self {
        let size = (words.lines().count() * 2).next_power_of_two();
        let mut slots = vec![0_u64; size];
        let mut triples = vec![0_u64; TRIPLE_BITS / 64];
        for word in words.lines() {
            let hash = hash(word);
            let free = probe(hash, size).find(|at| slots.get(*at).is_some_and(|slot| *slot == 0));
            if let Some(slot) = free.and_then(|at| slots.get_mut(at)) {
                *slot = hash;
            }
            for (place, bit) in triples_of(word) {
                if let Some(bits) = triples.get_mut(place) {
                    *bits |= bit;
                }
            }
        }
        Self { slots, triples }
    }

    /// How many three letters of a word follow each other in none that is held whole.
    fn strangeness(&self, word: &str) -> usize {
        triples_of(word).filter(|(place, bit)| self.triples.get(*place).is_none_or(|bits| bits & bit == 0)).count()
    }

    fn holds(&self, word: &str) -> bool {
        let hash = hash(word);
        for at in probe(hash, self.slots.len()) {
            match self.slots.get(at) {
                Some(0) | None => return false,
                Some(slot) if *slot == hash => return true,
                Some(_) => {}
            }
        }
        false
    }
}

/// Where the bits of a word's triples stand, in lower case.
fn triples_of(word: &str) -> impl Iterator<Item = (usize, u64)> {
    let lower = |c: char| {
        if c.is_ascii() || is_plain(c) { c.to_ascii_lowercase() } else { c.to_lowercase().next().unwrap_or(c) }
    };
    let letters = || word.chars().map(lower);
    letters().zip(letters().skip(1)).zip(letters().skip(2)).map(|((a, b), c)| {
        let key = [a, b, c].iter().fold(0_u64, |key, c| key << 21 | u64::from(u32::from(*c)));
        let hash = key.wrapping_mul(FACTOR) >> (64 - TRIPLE_BITS.trailing_zeros());
        (usize::try_from(hash / 64).unwrap_or(0), 1 << (hash % 64))
    })
}

fn probe(hash: u64, size: usize) -> impl Iterator<Item = usize> {
    let mask = size.wrapping_sub(1);
    let start = usize::try_from(hash >> 32).unwrap_or(0);
    (0..size).map(move |step| (start + step) & mask)
}

/// Multiplies and mixes eight bytes at a time; never 0, which stands for a free slot.
fn hash(word: &str) -> u64 {
    let mut hash = word.len() as u64;
    let mut mix = |block: u64| {
        hash = (hash ^ block).wrapping_mul(FACTOR);
        hash ^= hash >> 29;
    };
    let (blocks, tail) = word.as_bytes().as_chunks::<8>();
    for block in blocks {
        mix(u64::from_le_bytes(*block));
    }
    if !tail.is_empty() {
        mix(tail.iter().fold(0, |block, byte| (block << 8) | u64::from(*byte)));
    }
    mix(0);
    hash.max(1)
}

/// Counts the bytes that were looked at, so that a test can tell linear work from quadratic without a clock.
#[cfg(test)]
pub(crate) mod work {
    use std::cell::Cell;

    thread_local! {
        static BYTES: Cell<usize> = const { Cell::new(0) };
    }

    pub(super) fn count(bytes: usize) {
        BYTES.set(BYTES.get() + bytes);
    }

    /// The bytes looked at while `work` was done.
    pub(crate) fn of<T>(work: impl FnOnce() -> T) -> usize {
        BYTES.set(0);
        work();
        BYTES.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts and what the tokenizer of multilingual-e5, which is XLM-R's, makes of them.
    const GOLDEN: &str = include_str!("../tests/golden/tokens.json");

    #[derive(Default)]
    struct Sum {
        estimated: u32,
        counted: u32,
    }

    #[test]
    fn estimate_is_never_below_what_the_tokenizer_counts_nor_far_above_for_prose() {
        let golden: serde_json::Value = serde_json::from_str(GOLDEN).unwrap();
        let mut sums = std::collections::BTreeMap::<String, Sum>::new();
        for sample in golden.as_array().unwrap() {
            let text = sample["text"].as_str().unwrap();
            let counted = u32::try_from(sample["tokens"].as_u64().unwrap()).unwrap();
            let estimated = estimate_tokens(text);
            assert!(estimated >= counted, "{estimated} for {counted}: {text}");
            let sum = sums.entry(sample["kind"].as_str().unwrap().to_owned()).or_default();
            (sum.estimated, sum.counted) = (sum.estimated + estimated, sum.counted + counted);
        }
        for language in ["fa", "vi", "en"] {
            let Sum { estimated, counted } = sums[language];
            assert!(estimated * 10 <= counted * 16, "{language}: {estimated} for {counted}");
        }
    }

    #[test]
    fn estimate_counts_what_compatibility_forms_become() {
        for (text, at_least) in [("ﷺ", 18), ("㍿", 4), ("…", 3), ("½", 3), ("ǆ", 2), ("\u{1D400}", 1)] {
            assert!(estimate_tokens(text) > at_least, "{text}");
            assert!(estimate_fragment(text) >= at_least, "{text}");
        }
    }

    #[test]
    fn words_held_whole_are_one_token_and_no_other_is_taken_for_one() {
        assert!(WORDS.lines().is_sorted() && WORDS.lines().all(|word| WHOLE.holds(word)));
        for word in ["", "qzxv", "warrantyx", "the ", "ضمانتنامهها"] {
            assert!(!WHOLE.holds(word), "{word}");
        }
        assert_eq!(estimate_tokens("the house is new"), 4);
    }

    #[test]
    fn estimate_adds_up_over_pieces_cut_at_white_space() {
        let text = "One two-three 44,5 چهار";
        let sum: u32 = text.split_whitespace().map(estimate_tokens).sum();
        assert_eq!(estimate_tokens(text), sum);
        assert_eq!(estimate_tokens(" \n "), 0);
        assert_eq!(estimate_within(text, sum), Some(sum));
        assert_eq!(estimate_within(text, sum - 1), None);
    }
}
