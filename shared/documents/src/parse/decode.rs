//! Bytes to text: byte order mark, then strict UTF-8, then what the text itself declares, then detection over the whole.

use crate::ParseError;
use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE};

pub(super) struct Decoded {
    pub text: String,
    /// Sequences that are no text in the encoding.
    pub replaced: u64,
}

/// Control characters per thousand, past which bytes are no text in any encoding.
const MAX_CONTROLS_PER_MILLE: usize = 20;

pub(super) fn decode(bytes: &[u8]) -> Result<Decoded, ParseError> {
    let (encoding, body) = match Encoding::for_bom(bytes) {
        Some((encoding, length)) => (encoding, bytes.get(length..).unwrap_or_default()),
        None => (wide(bytes).unwrap_or_else(|| without_mark(bytes)), bytes),
    };
    let (text, _) = encoding.decode_without_bom_handling(body);
    let controls = text.chars().filter(|c| c.is_control() && !c.is_whitespace()).count();
    let replaced = text.chars().filter(|c| *c == '\u{FFFD}').count();
    if (controls + replaced) * 1000 > text.chars().count().max(1) * MAX_CONTROLS_PER_MILLE && controls > 0 {
        return Err(ParseError::UnsupportedType { detected: "binary data" });
    }
    Ok(Decoded { text: super::clean(&text), replaced: replaced as u64 })
}

/// UTF-16 without its mark: text of mostly Latin letters, digits and spaces has every other byte 0.
fn wide(bytes: &[u8]) -> Option<&'static Encoding> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let zeros = |place: usize| pairs.iter().filter(|pair| pair.get(place) == Some(&0)).count();
    let (first, second) = (zeros(0), zeros(1));
    match pairs.len() / 2 {
        0 => None,
        _ if !rest.is_empty() => None,
        half if second > half && first == 0 => Some(UTF_16LE),
        half if first > half && second == 0 => Some(UTF_16BE),
        _ => None,
    }
}

/// How far into a page its declaration of an encoding is looked for.
const DECLARED_WITHIN: usize = 16 * 1024;

/// A declaration counts where the bytes bear it out: pages are served and saved under wrong ones.
fn without_mark(bytes: &[u8]) -> &'static Encoding {
    let declared = declared(bytes);
    // The one encoding whose text is valid ASCII and means something else.
    let escapes = declared == Some(ISO_2022_JP) && bytes.contains(&0x1B);
    if !escapes && std::str::from_utf8(bytes).is_ok() {
        return UTF_8;
    }
    let fits =
        |encoding: &'static Encoding| encoding.decode_without_bom_handling_and_without_replacement(bytes).is_some();
    declared.filter(|encoding| fits(encoding)).unwrap_or_else(|| detect(bytes))
}

/// What `<meta charset>` or the declaration of XML says, in a text that begins with a tag.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes.get(..DECLARED_WITHIN).unwrap_or(bytes);
    if head.trim_ascii_start().first() != Some(&b'<') {
        return None;
    }
    let head = head.to_ascii_lowercase();
    ["charset", "encoding"].iter().find_map(|key| {
        let at = head.windows(key.len()).position(|window| window == key.as_bytes())?;
        let value = head.get(at + key.len()..)?.trim_ascii_start().strip_prefix(b"=")?;
        let value = value.trim_ascii_start();
        let value = value.strip_prefix(b"\"").or(value.strip_prefix(b"'")).unwrap_or(value);
        let end = value.iter().position(|byte| !byte.is_ascii_alphanumeric() && !b"-_:".contains(byte))?;
        Encoding::for_label(value.get(..end)?)
    })
}

/// Looks at all bytes: a file that is ASCII for its first pages may not be further down.
fn detect(bytes: &[u8]) -> &'static Encoding {
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    detector.guess(None, chardetng::Utf8Detection::Allow)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expected: &str) {
        assert_eq!(decode(bytes).unwrap().text, expected);
    }

    /// Case P13.
    #[test]
    fn encodings_are_told_by_mark_then_utf8_then_the_whole_file() {
        check("\u{FEFF}نام".as_bytes(), "نام");
        check(b"\xFF\xFEh\0i\0", "hi");
        check(b"\xFE\xFF\0h\0i", "hi");
        check(b"w\0i\0d\0e\0 \0\xA9\x06", "wide ک");
        check(b"\0w\0i\0d\0e", "wide");
        check("a\r\nb\rc".as_bytes(), "a\nb\nc");
        let mut late = "id,name\n".repeat(1000).into_bytes();
        let (japanese, _, _) = encoding_rs::SHIFT_JIS.encode("日本語の名前とかな");
        late.extend_from_slice(&japanese);
        assert!(decode(&late).unwrap().text.ends_with("日本語の名前とかな"));
        let (persian, _, _) = encoding_rs::WINDOWS_1256.encode("این یک متن عربي است كه در پنجره نوشته شد");
        assert!(decode(&persian).unwrap().text.contains("متن"));
    }

    #[test]
    fn declared_encodings_count_where_the_bytes_bear_them_out() {
        let page = |declared: &str, text: &[u8]| {
            [b"<html><meta charset=".as_slice(), declared.as_bytes(), b"><p>", text].concat()
        };
        let (persian, _, _) = encoding_rs::WINDOWS_1256.encode("فارسى");
        check(&page("windows-1256", &persian), "<html><meta charset=windows-1256><p>فارسى");
        // What is UTF-8 throughout is that, whatever it says.
        check(&page("iso-8859-1", "فارسی".as_bytes()), "<html><meta charset=iso-8859-1><p>فارسی");
        let (japanese, _, _) = ISO_2022_JP.encode("日本");
        check(&page("iso-2022-jp", &japanese), "<html><meta charset=iso-2022-jp><p>日本");
        let (japanese, _, _) = encoding_rs::SHIFT_JIS.encode("日本語の名前とかな、ひらがなとカタカナ");
        assert!(decode(&page("euc-jp", &japanese)).unwrap().text.contains("日本語の名前"));
        // Elsewhere the word is only a word.
        assert!(decode(b"charset=utf-16 caf\xE9").unwrap().text.contains("caf\u{e9}"));
    }

    #[test]
    fn binary_data_is_no_text() {
        let bytes: Vec<u8> = (0..2000_u32).map(|n| u8::try_from(n * 7 % 251).unwrap()).collect();
        assert!(matches!(decode(&bytes), Err(ParseError::UnsupportedType { .. })));
    }
}
