//! Bytes to text: byte order mark, then strict UTF-8, then detection over the whole file.

use crate::ParseError;
use encoding_rs::{Encoding, UTF_8};

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
        None if std::str::from_utf8(bytes).is_ok() => (UTF_8, bytes),
        None => (detect(bytes), bytes),
    };
    let (text, _) = encoding.decode_without_bom_handling(body);
    let controls = text.chars().filter(|c| c.is_control() && !c.is_whitespace()).count();
    let replaced = text.chars().filter(|c| *c == '\u{FFFD}').count();
    if (controls + replaced) * 1000 > text.chars().count().max(1) * MAX_CONTROLS_PER_MILLE && controls > 0 {
        return Err(ParseError::UnsupportedType { detected: "binary data" });
    }
    Ok(Decoded { text: super::clean(&text), replaced: replaced as u64 })
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
        check("a\r\nb\rc".as_bytes(), "a\nb\nc");
        let mut late = "id,name\n".repeat(1000).into_bytes();
        let (japanese, _, _) = encoding_rs::SHIFT_JIS.encode("日本語の名前とかな");
        late.extend_from_slice(&japanese);
        assert!(decode(&late).unwrap().text.ends_with("日本語の名前とかな"));
        let (persian, _, _) = encoding_rs::WINDOWS_1256.encode("این یک متن عربي است كه در پنجره نوشته شد");
        assert!(decode(&persian).unwrap().text.contains("متن"));
    }

    #[test]
    fn binary_data_is_no_text() {
        let bytes: Vec<u8> = (0..2000_u32).map(|n| u8::try_from(n * 7 % 251).unwrap()).collect();
        assert!(matches!(decode(&bytes), Err(ParseError::UnsupportedType { .. })));
    }
}
