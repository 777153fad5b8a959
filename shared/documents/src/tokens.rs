//! How many tokens a text has at most, without the model's own tokenizer.
//!
//! Subword vocabularies of the XLM-R kind give a common word one to three tokens, but fall back to single characters for
//! strings they have never seen and to bytes for scripts they hardly know. The estimate errs upwards: a word that reads
//! like one counts half its letters, anything else counts every character, and what may fall back to bytes counts those.

/// Longest run of letters taken for a word; longer ones are identifiers, sequences, encodings.
const LONGEST_WORD: usize = 20;

/// An upper estimate of the tokens of `text`. Adds up over pieces cut at white space.
#[must_use]
pub fn estimate_tokens(text: &str) -> u32 {
    let mut total = 0_usize;
    for piece in text.split_whitespace() {
        // A border of words can be a token of its own.
        total += 1;
        let mut rest = piece;
        while let Some(first) = rest.chars().next() {
            let letters = first.is_alphabetic();
            let end = rest.find(|c: char| c.is_alphabetic() != letters).unwrap_or(rest.len());
            let (run, after) = rest.split_at(end);
            total += if letters { letter_run(run) } else { run.chars().map(fallback).sum() };
            rest = after;
        }
    }
    u32::try_from(total).unwrap_or(u32::MAX)
}

/// What a piece that was cut inside a word counts at most, whatever it is joined with.
pub(crate) fn estimate_fragment(text: &str) -> u32 {
    let count: usize = text.chars().filter(|c| !c.is_whitespace()).map(fallback).sum();
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn letter_run(run: &str) -> usize {
    let count = run.chars().count();
    let known = run.chars().all(|c| u32::from(c) < 0x0700 || (0x1E00..0x1F00).contains(&u32::from(c)));
    if known && count <= LONGEST_WORD && reads_like_a_word(run) {
        (count.div_ceil(2) + 1).min(count)
    } else {
        run.chars().map(fallback).sum()
    }
}

/// Lower case (perhaps with a capital first), and never more than four ASCII consonants in a row.
fn reads_like_a_word(run: &str) -> bool {
    let mut consonants = 0;
    for (position, c) in run.chars().enumerate() {
        if position > 0 && c.is_uppercase() {
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

/// Alphabets and CJK that the vocabularies hold character by character; anything else may become bytes.
fn fallback(c: char) -> usize {
    match u32::from(c) {
        0..0x0700
        | 0x1E00..0x1F00
        | 0x2000..0x2070
        | 0x3000..0x3100
        | 0x4E00..0xA000
        | 0xAC00..0xD7B0
        | 0xFB50..0xFF00 => 1,
        _ => c.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimate_grows_with_strangeness() {
        for (text, at_least) in [
            ("the battery is warranted for twelve months", 7),
            ("ACGTACGTACGTACGT", 16),
            ("0123456789", 10),
            ("ضمانت باتری دستگاه دوازده ماه است", 12),
            ("😀", 4),
            ("xkcdqwrtz", 9),
        ] {
            assert!(estimate_tokens(text) >= at_least, "{text}: {}", estimate_tokens(text));
        }
        assert_eq!(estimate_tokens(" \n "), 0);
    }

    #[test]
    fn estimate_adds_up_over_pieces_cut_at_white_space() {
        let text = "One two-three 44,5 چهار";
        let sum: u32 = text.split_whitespace().map(estimate_tokens).sum();
        assert_eq!(estimate_tokens(text), sum);
    }
}
