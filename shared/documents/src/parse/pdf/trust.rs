//! Whether a page's text can be believed.

use super::drawn::Drawn;
use anchorage_domain::QuarantineReason;

/// From this part of all glyphs on, those without a meaning make a page untrustworthy; fewer than this many never do.
const UNMAPPED_PART: f32 = 0.05;
const MIN_UNMAPPED: u32 = 5;
/// From this part on there is nothing left to read.
const HOPELESS_PART: f32 = 0.8;
/// Fewest words that stand the wrong way round, and how often they outnumber those that stand the right way.
const MIN_REVERSED: u32 = 4;
const REVERSED_RATIO: u32 = 2;

/// Letters that end a word and begin none: teh marbuta, alef maksura, and the final forms of Hebrew.
const FINAL: [char; 8] = ['ة', 'ى', 'ۃ', 'ך', 'ם', 'ן', 'ף', 'ץ'];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    Full,
    Quarantined(QuarantineReason),
    /// Nothing of it says anything.
    None,
}

/// Judges a page by what was drawn and by the text that was made of it.
pub(super) fn judge<'t>(drawn: &Drawn, lines: impl Iterator<Item = &'t str>) -> Trust {
    #[expect(clippy::cast_precision_loss, reason = "a page has few glyphs")]
    let (unknown, shown) = (drawn.unknown as f32, drawn.shown as f32);
    if drawn.unknown > 0 && unknown >= HOPELESS_PART * shown {
        return Trust::None;
    }
    if drawn.unknown >= MIN_UNMAPPED && unknown >= UNMAPPED_PART * shown {
        return Trust::Quarantined(QuarantineReason::UnmappedGlyphs);
    }
    let (mut right, mut reversed) = (0_u32, 0_u32);
    for word in lines.flat_map(str::split_whitespace) {
        let (Some(first), Some(last)) = (word.chars().next(), word.chars().next_back()) else { continue };
        if first == last || !super::logical::is_right_to_left(last) {
            continue;
        }
        right += u32::from(FINAL.contains(&last)) + u32::from(word.starts_with("ال"));
        reversed += u32::from(FINAL.contains(&first)) + u32::from(word.ends_with("لا"));
    }
    if reversed >= MIN_REVERSED && reversed > right.saturating_mul(REVERSED_RATIO) {
        return Trust::Quarantined(QuarantineReason::VisualOrder);
    }
    Trust::Full
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn judge_doubts_glyphs_without_meaning_and_words_that_begin_with_their_end() {
        let drawn = |shown, unknown| Drawn { shown, unknown, ..Drawn::default() };
        let unmapped = Trust::Quarantined(QuarantineReason::UnmappedGlyphs);
        let visual = Trust::Quarantined(QuarantineReason::VisualOrder);
        for (shown, unknown, text, expected) in [
            (100, 0, "plain text", Trust::Full),
            (100, 4, "pla n t xt", Trust::Full),
            (100, 5, "pl n t xt", unmapped),
            (10_000, 5, "pl n t xt", Trust::Full),
            (100, 80, "p", Trust::None),
            (0, 0, "", Trust::Full),
            (90, 0, "المدرسة الكبيرة في المدينة القديمة", Trust::Full),
            (90, 0, "ةسردملا ةريبكلا يف ةنيدملا ةميدقلا", visual),
            (90, 0, "םולש םלוע", Trust::Full),
            (90, 0, "םולש םלוע ןב ץע", visual),
        ] {
            assert_eq!(judge(&drawn(shown, unknown), std::iter::once(text)), expected, "{text}");
        }
    }
}
