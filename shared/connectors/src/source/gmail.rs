//! Gmail: a message with its payload (`format=full`).

use crate::{
    ItemError, Outcome,
    document::{DocumentType, Draft, Identity},
    html,
    item::Item,
    limits::{MAX_DEPTH, MAX_TEXT_BYTES},
    markdown::Markdown,
    when,
};
use anchorage_domain::SkipReason;
use base64::{
    Engine as _,
    alphabet::URL_SAFE,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use encoding_rs::{Encoding, UTF_8};

/// The API pads its base64url; some clients strip that.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

pub(crate) fn read(item: &Item<'_>) -> Result<Outcome, ItemError> {
    let id = item.required_id("id", "the message's id")?;
    let identity = Identity::new(DocumentType::GmailMessage, &[&id], "id")?;
    let labels = item.strings("labelIds")?;
    // Nobody chose to keep what the mailbox took for spam, and it is written to mislead.
    if labels.iter().any(|label| matches!(*label, "TRASH" | "SPAM")) {
        return Ok(identity.removed());
    }
    let payload = item
        .object("payload")?
        .ok_or_else(|| ItemError::missing("payload", "the message's parts: ask for it with `format=full`"))?;
    let header = |name: &str| header(&payload, name);
    let mut draft = Draft::new(identity);
    draft.title = header("Subject")?.map(str::to_owned);
    let sent = header("Date")?.and_then(when::parse_mail_date);
    // A message does not change after it was received.
    draft.updated_at = item.time("internalDate")?.or(sent);
    let facts = &mut draft.facts;
    facts.text("thread_id", item.id("threadId")?.as_deref());
    facts.text("from", header("From")?);
    facts.list("to", header("To")?.map(addresses).unwrap_or_default());
    facts.list("cc", header("Cc")?.map(addresses).unwrap_or_default());
    facts.text("message_id", header("Message-ID")?);
    facts.text("in_reply_to", header("In-Reply-To")?);
    facts.time("sent_at", sent);
    facts.list("labels", labels);
    parts(payload, &mut draft.markdown)?;
    draft.finish("payload")
}

/// The first header of a name, whose case does not count.
fn header<'a>(part: &Item<'a>, name: &str) -> Result<Option<&'a str>, ItemError> {
    for header in part.list("headers")? {
        if header.text("name")?.is_some_and(|known| known.eq_ignore_ascii_case(name)) {
            return header.words("value");
        }
    }
    Ok(None)
}

/// Addresses between commas, but for those in quotes.
fn addresses(text: &str) -> Vec<&str> {
    let mut quoted = false;
    text.split(move |c| {
        quoted ^= c == '"';
        c == ',' && !quoted
    })
    .map(str::trim)
    .collect()
}

/// The parts of a message in order; of alternatives, the richest that is read.
fn parts(payload: Item<'_>, markdown: &mut Markdown) -> Result<(), ItemError> {
    let mut stack = vec![(payload, 1_usize)];
    while let Some((part, depth)) = stack.pop() {
        if depth > MAX_DEPTH {
            return Err(ItemError::too_deep("payload"));
        }
        let kind = kind(&part)?;
        let inner = part.list("parts")?;
        if kind == "multipart/alternative" {
            // The last alternative is the one that its author likes best.
            let mut chosen = None;
            for (index, inner) in inner.iter().enumerate() {
                if holds(inner, "text/html")? || (chosen.is_none() && holds(inner, "text/plain")?) {
                    chosen = Some(index);
                }
            }
            for (index, inner) in inner.into_iter().enumerate().rev() {
                if Some(index) == chosen {
                    stack.push((inner, depth + 1));
                } else if !matches!(self::kind(&inner)?.as_str(), "text/plain" | "text/html") {
                    markdown.omitted.add(&format!("alternative {}", self::kind(&inner)?), SkipReason::Unsupported);
                }
            }
            continue;
        }
        if inner.is_empty() {
            leaf(&part, &kind, markdown)?;
        }
        stack.extend(inner.into_iter().rev().map(|inner| (inner, depth + 1)));
    }
    Ok(())
}

fn kind(part: &Item<'_>) -> Result<String, ItemError> {
    Ok(part.text("mimeType")?.unwrap_or("text/plain").trim().to_ascii_lowercase())
}

/// Whether a part of a kind is in it, as deep as parts are read.
fn holds(part: &Item<'_>, wanted: &str) -> Result<bool, ItemError> {
    let mut stack = vec![(part.clone(), 1_usize)];
    while let Some((part, depth)) = stack.pop() {
        if kind(&part)? == wanted && part.words("filename")?.is_none() {
            return Ok(true);
        }
        if depth < MAX_DEPTH {
            stack.extend(part.list("parts")?.into_iter().map(|inner| (inner, depth + 1)));
        }
    }
    Ok(false)
}

fn leaf(part: &Item<'_>, kind: &str, markdown: &mut Markdown) -> Result<(), ItemError> {
    if let Some(name) = part.words("filename")? {
        markdown.omitted.add(&format!("attachment {name}"), SkipReason::Unsupported);
        return Ok(());
    }
    let place = part.place("body.data");
    let Some(data) = part.words("body.data")? else {
        if part.has("body.attachmentId") {
            markdown.omitted.add(&format!("a body of {kind} that was not sent"), SkipReason::Unsupported);
        }
        return Ok(());
    };
    match kind {
        "text/html" => {
            html::read(&decoded(part, data, &place)?, None, &place, markdown)?;
        }
        "text/markdown" => markdown.native(&decoded(part, data, &place)?),
        "text/plain" => plain(&decoded(part, data, &place)?, markdown),
        other => markdown.omitted.add(&format!("part {other}"), SkipReason::Unsupported),
    }
    Ok(())
}

/// Plain text of a mail, whose lines after `>` are quoted from another.
fn plain(text: &str, markdown: &mut Markdown) {
    let outside = markdown.depth();
    let mut paragraph = String::new();
    let mut level = 0;
    for line in text.lines().chain([""]) {
        let mut rest = line;
        let mut quotes = 0;
        while let Some(inner) = rest.strip_prefix('>') {
            rest = inner.strip_prefix(' ').unwrap_or(inner);
            quotes += 1;
        }
        let blank = rest.trim().is_empty();
        if quotes != level || blank {
            markdown.paragraph(&paragraph);
            paragraph.clear();
        }
        // A blank line inside a quotation does not end it.
        if quotes != level && !(blank && quotes == 0) {
            let open = markdown.depth().saturating_sub(outside);
            if quotes < open {
                markdown.close_to(outside.saturating_add(quotes));
            }
            for _ in open..quotes {
                markdown.open_quote();
            }
            level = quotes;
        }
        if !blank {
            if !paragraph.is_empty() {
                paragraph.push('\n');
            }
            paragraph.push_str(rest.trim_end());
        }
    }
    markdown.paragraph(&paragraph);
    markdown.close_to(outside);
}

fn decoded(part: &Item<'_>, data: &str, place: &str) -> Result<String, ItemError> {
    if data.len() > MAX_TEXT_BYTES {
        return Err(ItemError::TooLarge { field: place.to_owned(), limit: MAX_TEXT_BYTES });
    }
    // Both alphabets are met; they differ in two characters.
    let data: String = data
        .chars()
        .filter(|c| !c.is_ascii_whitespace())
        .map(|c| match c {
            '+' => '-',
            '/' => '_',
            c => c,
        })
        .collect();
    let bytes = LENIENT.decode(data).map_err(|_| ItemError::invalid(place, "base64url"))?;
    let encoding = charset(part)?.and_then(|label| Encoding::for_label(label.as_bytes())).unwrap_or(UTF_8);
    // What is valid UTF-8 is hardly ever anything else, whatever the header says; an encoding by escapes may be.
    if encoding.is_ascii_compatible()
        && let Ok(text) = std::str::from_utf8(&bytes)
    {
        return Ok(text.to_owned());
    }
    let (text, _, _) = encoding.decode(&bytes);
    Ok(text.into_owned())
}

/// The charset that a part's type names.
fn charset(part: &Item<'_>) -> Result<Option<String>, ItemError> {
    let Some(content_type) = header(part, "Content-Type")? else { return Ok(None) };
    Ok(content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"').to_owned())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn addresses_are_cut_at_commas_that_are_not_quoted() {
        assert_eq!(addresses("a@x.org, \"B, C\" <b@x.org>"), ["a@x.org", "\"B, C\" <b@x.org>"]);
    }

    #[test]
    fn body_is_decoded_by_its_charset_unless_it_is_utf8() {
        let (japanese, _, _) = encoding_rs::ISO_2022_JP.encode("日本");
        let (arabic, _, _) = encoding_rs::WINDOWS_1256.encode("سلام");
        for (bytes, charset, expected) in [
            ("سلام".as_bytes(), "windows-1256", "سلام"),
            (&arabic, "\"Windows-1256\"", "سلام"),
            (&japanese, "iso-2022-jp", "日本"),
            (b"caf\xe9", "iso-8859-1", "café"),
            (b"caf\xe9", "unheard-of", "caf\u{fffd}"),
        ] {
            for padded in [true, false] {
                let mut data = base64::engine::general_purpose::URL_SAFE.encode(bytes);
                if !padded {
                    data = data.trim_end_matches('=').to_owned();
                }
                let content_type = format!("text/plain; format=flowed; charset={charset}");
                let part = json!({"headers": [{"name": "content-type", "value": content_type}]});
                assert_eq!(decoded(&Item::new(&part).unwrap(), &data, "data").unwrap(), expected, "{charset}");
            }
        }
    }

    #[test]
    fn quotation_of_any_depth_stays_inside_the_message() {
        for (text, expected) in [
            ("> a\nb", "> a\n\nb"),
            (">> a\n> b\nc", "> > a\n>\n> b\n\nc"),
            ("a\n\n> b\n\n> c\nd", "a\n\n> b\n>\n> c\n\nd"),
        ] {
            let mut markdown = Markdown::default();
            plain(text, &mut markdown);
            assert_eq!(markdown.finish("data").unwrap().0.trim_end(), expected, "{text}");
        }
    }
}
