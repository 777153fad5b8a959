//! Text strings outside of pages: titles, page labels, and what marked glyphs stand for.

/// What the codes from 0x18 and from 0x80 stand for in strings without a mark of their encoding (ISO 32000-2, annex D).
const LOW: [char; 8] = ['˘', 'ˇ', 'ˆ', '˙', '˝', '˛', '˚', '˜'];
const HIGH: [char; 33] = [
    '•', '†', '‡', '…', '—', '–', 'ƒ', '⁄', '‹', '›', '−', '‰', '„', '“', '”', '‘', '’', '‚', '™', 'ﬁ', 'ﬂ', 'Ł', 'Œ',
    'Š', 'Ÿ', 'Ž', 'ı', 'ł', 'œ', 'š', 'ž', '\u{fffd}', '€',
];

pub(super) fn decode(bytes: &[u8]) -> String {
    match bytes {
        [0xfe, 0xff, rest @ ..] => utf_16(rest, u16::from_be_bytes),
        [0xff, 0xfe, rest @ ..] => utf_16(rest, u16::from_le_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => bytes.iter().map(|byte| of_byte(*byte)).collect(),
    }
}

fn utf_16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let mut units: Vec<u16> = bytes.as_chunks::<2>().0.iter().map(|pair| unit(*pair)).collect();
    // A language code may stand in front of a text, between two escapes.
    while let Some(from) = units.iter().position(|unit| *unit == 0x1b) {
        let Some(length) = units.iter().skip(from + 1).position(|unit| *unit == 0x1b) else { break };
        units.drain(from..=from + 1 + length);
    }
    String::from_utf16_lossy(&units)
}

fn of_byte(byte: u8) -> char {
    let from = |table: &[char], first: u8| table.get(usize::from(byte - first)).copied();
    match byte {
        0x18..=0x1f => from(&LOW, 0x18),
        0x80..=0xa0 => from(&HIGH, 0x80),
        _ => None,
    }
    .unwrap_or(char::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decode_knows_an_encoding_by_its_mark_and_takes_the_rest_as_the_documents_own() {
        for (bytes, expected) in [
            (&b"\xfe\xff\x06\xa9\x06\xcc"[..], "کی"),
            (b"\xff\xfeA\0", "A"),
            (b"\xef\xbb\xbf\xda\xa9", "ک"),
            (b"\xfe\xff\0\x1b\0f\0a\0\x1b\x06\xa9", "ک"),
            (b"na\xefve \x90 \xa0", "naïve ’ €"),
            (b"\xfe\xff\0A\0", "A"),
        ] {
            assert_eq!(decode(bytes), expected, "{bytes:?}");
        }
    }
}
