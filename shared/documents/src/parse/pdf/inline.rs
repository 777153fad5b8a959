//! Pictures among a page's instructions, taken out before these are read.
//!
//! Their data ends at a word that it may hold as well, and the library that reads instructions looks at all the rest of a
//! page, over and over, to be sure. What is needed of them is that they are there.

use memchr::memmem;
use std::borrow::Cow;

/// After the end of a picture's data instructions go on: so many bytes of them can be read.
const READABLE: usize = 12;

/// The instructions without the data of pictures, and how many of these there are.
pub(super) fn without_pictures(instructions: &[u8]) -> (Cow<'_, [u8]>, u32) {
    let mut kept: Option<Vec<u8>> = None;
    let (mut from, mut pictures) = (0, 0_u32);
    for at in memmem::find_iter(instructions, b"BI") {
        let Some(data) = (at >= from).then(|| data_of(instructions, at)).flatten() else { continue };
        let end = end_of(instructions, data);
        let kept = kept.get_or_insert_with(|| Vec::with_capacity(instructions.len()));
        kept.extend_from_slice(instructions.get(from..at).unwrap_or_default());
        kept.push(b' ');
        (from, pictures) = (end, pictures.saturating_add(1));
    }
    match kept {
        Some(mut kept) => {
            kept.extend_from_slice(instructions.get(from..).unwrap_or_default());
            (Cow::Owned(kept), pictures)
        }
        None => (Cow::Borrowed(instructions), 0),
    }
}

/// Where the data of a picture begins whose dictionary begins here.
fn data_of(instructions: &[u8], at: usize) -> Option<usize> {
    let before = at.checked_sub(1).and_then(|before| instructions.get(before));
    let rest = instructions.get(at + 2..)?;
    let dict = rest.trim_ascii_start();
    let begins = dict.len() < rest.len() && (dict.starts_with(b"/") || dict.starts_with(b"ID"));
    if !begins || before.is_some_and(u8::is_ascii_alphanumeric) {
        return None;
    }
    let after_space = |at: usize| at == 0 || dict.get(at - 1).is_some_and(u8::is_ascii_whitespace);
    let before_space = |at: usize| dict.get(at + 2).is_none_or(u8::is_ascii_whitespace);
    let mut words = memmem::find_iter(dict.get(..MAX_DICTIONARY.min(dict.len()))?, b"ID");
    let id = words.find(|id| after_space(*id) && before_space(*id))?;
    Some(instructions.len() - dict.len() + id + 2)
}

/// Longest dictionary of a picture among instructions, in bytes.
const MAX_DICTIONARY: usize = 4_096;

/// Where instructions go on after a picture's data; at their end, where the data does not end.
fn end_of(instructions: &[u8], data: usize) -> usize {
    let rest = instructions.get(data..).unwrap_or_default();
    let is_readable = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    let ends = |at: &usize| {
        let before = at.checked_sub(1).and_then(|before| rest.get(before));
        let after = rest.get(at + 2..).unwrap_or_default();
        before.is_none_or(u8::is_ascii_whitespace)
            && after.first().is_none_or(u8::is_ascii_whitespace)
            && after.iter().take(READABLE).all(is_readable)
    };
    memmem::find_iter(rest, b"EI").find(ends).map_or(instructions.len(), |at| data + at + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_pictures_keeps_what_stands_around_them() {
        for (instructions, expected, count) in [
            (&b"q (Power BI) Tj Q"[..], &b"q (Power BI) Tj Q"[..], 0),
            (b"q BI /W 1 ID \xff\0EI x EI \xfe EI Q (t) Tj", b"q   Q (t) Tj", 1),
            (b"BI\n/W 1/H 1\nID abc\nEI\nq BI /W 2 ID d EI", b" \nq  ", 2),
            (b"q BI /W 1 ID no end", b"q  ", 1),
            (b"q BI 5 Q", b"q BI 5 Q", 0),
        ] {
            let (kept, pictures) = without_pictures(instructions);
            assert_eq!((kept.as_ref(), pictures), (expected, count), "{}", String::from_utf8_lossy(instructions));
        }
    }
}
