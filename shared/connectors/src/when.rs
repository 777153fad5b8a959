//! Instants in the spellings that the sources use.

use anchorage_domain::Timestamp;
use time::{OffsetDateTime, format_description::well_known::Rfc2822};

pub(crate) const EXPECTED: &str = "an RFC 3339 instant, or a time since 1970 in seconds or milliseconds";

/// Seconds and milliseconds since 1970 are told apart by size: this many seconds is the year 5138, this many
/// milliseconds is March 1973.
const FIRST_MILLISECONDS: i64 = 100_000_000_000;

/// RFC 3339, the same with an offset like `+0000`, a date, or a number since 1970 (seconds, with a fraction or without,
/// or milliseconds).
pub(crate) fn parse(text: &str) -> Option<Timestamp> {
    if let Ok(instant) = text.parse() {
        return Some(instant);
    }
    if let Some(instant) = with_compact_offset(text) {
        return instant.parse().ok();
    }
    if text.len() == 10 && text.bytes().filter(|b| *b == b'-').count() == 2 {
        return format!("{text}T00:00:00Z").parse().ok();
    }
    since_epoch(text)
}

/// `2026-01-31T08:00:00.000+0330` with the colon that RFC 3339 wants.
fn with_compact_offset(text: &str) -> Option<String> {
    let (start, offset) = text.split_at_checked(text.len().checked_sub(5)?)?;
    let digits = offset.strip_prefix(['+', '-'])?;
    (digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_digit()) && start.contains('T')).then(|| {
        let (sign_and_hours, minutes) = offset.split_at(3);
        format!("{start}{sign_and_hours}:{minutes}")
    })
}

fn since_epoch(text: &str) -> Option<Timestamp> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) {
        return None;
    }
    let whole: i64 = whole.parse().ok()?;
    let millis = if whole >= FIRST_MILLISECONDS {
        whole
    } else {
        let thousandths: String = fraction.chars().chain("000".chars()).take(3).collect();
        whole.checked_mul(1_000)?.checked_add(thousandths.parse().ok()?)?
    };
    let instant = Timestamp::from_unix_millis(millis);
    // A number past the year 9999 is no instant that could be shown.
    OffsetDateTime::from_unix_timestamp(instant.unix_seconds()).ok().map(|_| instant)
}

/// The date of an e-mail header.
pub(crate) fn parse_mail_date(text: &str) -> Option<Timestamp> {
    let instant = OffsetDateTime::parse(text.trim(), &Rfc2822).ok()?;
    i64::try_from(instant.unix_timestamp_nanos() / 1_000_000).ok().map(Timestamp::from_unix_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instant_of_every_spelling_is_the_same() {
        for (text, expected) in [
            ("2026-01-31T08:00:00Z", Some("2026-01-31T08:00:00Z")),
            ("2026-01-31T11:30:00+03:30", Some("2026-01-31T08:00:00Z")),
            ("2026-01-31T11:30:00.000+0330", Some("2026-01-31T08:00:00Z")),
            ("2026-01-31T08:00:00.250Z", Some("2026-01-31T08:00:00.25Z")),
            ("1769846400000", Some("2026-01-31T08:00:00Z")),
            ("1769846400", Some("2026-01-31T08:00:00Z")),
            ("1769846400.123456", Some("2026-01-31T08:00:00.123Z")),
            ("2026-01-31", Some("2026-01-31T00:00:00Z")),
            ("yesterday", None),
            ("2026-31-01", None),
            ("-5", None),
            ("99999999999999999999", None),
            ("999999999999999999", None),
            ("ünicode+0000", None),
            ("", None),
        ] {
            assert_eq!(parse(text).map(|instant| instant.to_string()).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn mail_date_is_read_with_its_zone() {
        let instant = parse_mail_date("Sat, 31 Jan 2026 11:30:00 +0330").map(|instant| instant.to_string());
        assert_eq!(instant.as_deref(), Some("2026-01-31T08:00:00Z"));
        assert_eq!(parse_mail_date("31/01/2026"), None);
    }
}
