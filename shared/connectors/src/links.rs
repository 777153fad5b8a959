//! Addresses: which are kept, and in which spelling.

use crate::limits::MAX_URL_BYTES;
use url::Url;

pub(crate) const EXPECTED: &str = "an http or https address of at most 2048 bytes";

/// An http or https address in its normal spelling.
pub(crate) fn address(text: &str) -> Option<String> {
    parse(text).map(String::from)
}

/// As [`address`], in parts. A name and a password before the host are no part of what is kept.
pub(crate) fn parse(text: &str) -> Option<Url> {
    if text.len() > MAX_URL_BYTES {
        return None;
    }
    let mut url = Url::parse(text).ok()?;
    url.set_username("").ok()?;
    url.set_password(None).ok()?;
    (matches!(url.scheme(), "http" | "https") && url.has_host() && url.as_str().len() <= MAX_URL_BYTES).then_some(url)
}

/// The target of a link in a text: an address, or a mail address. Scripts, data and what leads nowhere are none.
pub(crate) fn target(text: &str, base: Option<&Url>) -> Option<String> {
    let text = text.trim();
    if text.is_empty() || text.starts_with('#') || text.len() > MAX_URL_BYTES {
        return None;
    }
    let url = match base {
        Some(base) => base.join(text),
        None => Url::parse(text),
    }
    .ok()?;
    if !url.username().is_empty() || url.password().is_some() {
        return None;
    }
    let kept = matches!(url.scheme(), "http" | "https" | "mailto") && url.as_str().len() <= MAX_URL_BYTES;
    kept.then(|| url.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_is_an_address_that_leads_somewhere() {
        let base = Url::parse("https://example.org/a/b").unwrap();
        for (text, expected) in [
            ("https://Example.org/x y", Some("https://example.org/x%20y")),
            ("../c?d=1", Some("https://example.org/c?d=1")),
            ("mailto:a@example.org", Some("mailto:a@example.org")),
            ("https://me:secret@example.org/", None),
            ("javascript:alert(1)", None),
            ("data:text/html,x", None),
            ("#top", None),
            ("", None),
        ] {
            assert_eq!(target(text, Some(&base)).as_deref(), expected, "{text}");
        }
        assert_eq!(target("../c", None), None);
        assert_eq!(address("https://me:secret@example.org/a").as_deref(), Some("https://example.org/a"));
        assert_eq!(address("mailto:a@example.org"), None);
        assert_eq!(address("ftp://example.org/"), None);
        assert_eq!(address(&format!("https://example.org/{}", "a".repeat(MAX_URL_BYTES))), None);
    }
}
