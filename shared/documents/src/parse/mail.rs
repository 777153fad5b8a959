//! Mail: subject, who and when, the body, and what is attached, as far as it is of a kind that is read.

use super::{
    Block, BlockKind, Content, HeadingPath, MediaHint, Parsed, clean, html, label, parse_embedded, plain, push_block,
    words_of,
};
use crate::{
    Limits, ParseError,
    limits::{MAX_MAIL_ATTACHMENTS, MAX_MAIL_WORK},
};
use anchorage_domain::{SkipReason, Skipped};
use mail_parser::{Address, Message, MessageParser, MessagePart, MimeHeaders as _, PartType};
use std::sync::Arc;

/// Headers are looked for within this many bytes.
const HEADER_BYTES: usize = 16 * 1024;
/// Fields that only mail has, and fields that other texts may have too.
const OWN_FIELDS: [&str; 5] = ["from", "received", "mime-version", "message-id", "return-path"];
const KNOWN_FIELDS: [&str; 6] = ["to", "cc", "subject", "date", "content-type", "delivered-to"];
/// Known fields that make a text mail without its being called so.
const MIN_FIELDS: usize = 3;

/// Whether bytes begin like mail: with a block of header fields, some of them those of mail.
pub(super) fn is_mail(bytes: &[u8], hint: &MediaHint) -> bool {
    let called = hint.filename.as_deref().is_some_and(|name| name.to_lowercase().ends_with(".eml"))
        || hint.content_type.as_deref().is_some_and(|kind| kind.to_lowercase().starts_with("message/rfc822"));
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let head = bytes.get(..HEADER_BYTES).unwrap_or(bytes);
    let (mut own, mut known) = (0, 0);
    for (line, number) in head.split(|byte| *byte == b'\n').zip(0..) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            break;
        }
        // Mailboxes in files begin with a line of their own.
        if line.starts_with(b" ") || line.starts_with(b"\t") || number == 0 && line.starts_with(b"From ") {
            continue;
        }
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { return false };
        let name = line.get(..colon).unwrap_or_default();
        if name.is_empty() || !name.iter().all(u8::is_ascii_graphic) {
            return false;
        }
        let name = String::from_utf8_lossy(name).to_ascii_lowercase();
        own += usize::from(OWN_FIELDS.contains(&name.as_str()));
        known += usize::from(KNOWN_FIELDS.contains(&name.as_str()));
    }
    own > 0 && (called || own + known >= MIN_FIELDS)
}

pub(super) fn parse(bytes: &[u8], limits: &Limits) -> Result<Parsed, ParseError> {
    // Every part begins with a field of this name, and may send the parser once through all that follows; parts in parts
    // are also dropped by recursion.
    let parts = bytes.split(|byte| *byte == b'\n').filter(|line| {
        line.trim_ascii_start().get(..12).is_some_and(|start| start.eq_ignore_ascii_case(b"content-type"))
    });
    if parts.count().saturating_mul(bytes.len()) as u64 > MAX_MAIL_WORK {
        return Err(ParseError::failed("the message has too many parts for its size"));
    }
    let message =
        MessageParser::default().parse(bytes).ok_or_else(|| ParseError::failed("the message has no header"))?;
    let mut mail = Mail { limits, parsed: Parsed::default() };
    mail.message(&message)?;
    Ok(mail.parsed)
}

struct Mail<'a> {
    limits: &'a Limits,
    parsed: Parsed,
}

impl Mail<'_> {
    fn message(&mut self, message: &Message<'_>) -> Result<(), ParseError> {
        let subject = message.subject().map(|subject| clean(subject).trim().to_owned()).filter(|text| !text.is_empty());
        let path: HeadingPath = subject.as_deref().map(label).into_iter().collect();
        if let Some(subject) = subject {
            self.parsed.title.get_or_insert_with(|| subject.clone());
            self.block(BlockKind::Heading, subject, &path)?;
        }
        let head = head(message);
        if !head.is_empty() {
            self.block(BlockKind::Paragraph, head, &path)?;
        }
        self.body(message, &path)?;
        let inner = self.limits.embedded(message.attachment_count().min(MAX_MAIL_ATTACHMENTS));
        for (part, number) in message.attachments().zip(1..) {
            let name = part.attachment_name().map_or_else(|| format!("attachment {number}"), label);
            let outcome = match &inner {
                Some(inner) if number <= MAX_MAIL_ATTACHMENTS => attachment(part, &name, inner),
                _ => Err(SkipReason::Unsupported),
            };
            match outcome {
                Ok(parsed) => self.embed(parsed, &name, &path)?,
                Err(reason) => self.parsed.coverage.skipped.push(Skipped { what: name, reason }),
            }
        }
        Ok(())
    }

    /// The text the writer gave for readers of text, else the page.
    fn body(&mut self, message: &Message<'_>, path: &HeadingPath) -> Result<(), ParseError> {
        let plain: Vec<_> = message.text_bodies().filter_map(|part| read_text(part, self.limits).transpose()).collect();
        let plain: Vec<Parsed> = plain.into_iter().collect::<Result<_, _>>()?;
        let bodies = if plain.iter().any(|parsed| !parsed.blocks.is_empty()) {
            plain
        } else {
            let pages = message.html_bodies().filter_map(|part| read_text(part, self.limits).transpose());
            pages.collect::<Result<_, _>>()?
        };
        for body in bodies {
            self.add(body, path)?;
        }
        Ok(())
    }

    fn embed(&mut self, mut parsed: Parsed, name: &str, path: &HeadingPath) -> Result<(), ParseError> {
        let path: HeadingPath = path.iter().cloned().chain([name.to_owned()]).collect();
        for skipped in &mut parsed.coverage.skipped {
            skipped.what = format!("{name}: {}", skipped.what);
        }
        self.add(parsed, &path)
    }

    fn add(&mut self, parsed: Parsed, path: &HeadingPath) -> Result<(), ParseError> {
        self.parsed.coverage.skipped.extend(parsed.coverage.skipped);
        self.parsed.coverage.replaced_chars += parsed.coverage.replaced_chars;
        let mut last: Option<(HeadingPath, HeadingPath)> = None;
        for mut block in parsed.blocks {
            // Blocks of one section share their path, and must go on sharing it.
            let joined = match &last {
                _ if block.heading_path.is_empty() => Arc::clone(path),
                Some((own, joined)) if Arc::ptr_eq(own, &block.heading_path) => Arc::clone(joined),
                _ => path.iter().chain(block.heading_path.iter()).cloned().collect(),
            };
            let own = std::mem::replace(&mut block.heading_path, Arc::clone(&joined));
            last = Some((own, joined));
            push_block(&mut self.parsed.blocks, block, self.limits)?;
        }
        Ok(())
    }

    fn block(&mut self, kind: BlockKind, text: String, heading_path: &HeadingPath) -> Result<(), ParseError> {
        let block = Block { kind, heading_path: Arc::clone(heading_path), content: Content::Text(text) };
        push_block(&mut self.parsed.blocks, block, self.limits)
    }
}

/// From, to and when, one a line.
fn head(message: &Message<'_>) -> String {
    let people = [("From", message.from()), ("To", message.to()), ("Cc", message.cc())];
    let people = people.into_iter().filter_map(|(name, people)| Some((name, show(people?))));
    let date = message.date().filter(|date| date.is_valid()).map(|date| ("Date", date.to_rfc3339()));
    let lines = people.chain(date).filter(|(_, value)| !value.is_empty());
    let lines: Vec<_> = lines.map(|(name, value)| format!("{name}: {value}")).collect();
    clean(&lines.join("\n"))
}

fn show(people: &Address<'_>) -> String {
    let show = |name: Option<&str>, address: Option<&str>| match (name, address) {
        (Some(name), Some(address)) => format!("{} <{}>", words_of(name), words_of(address)),
        (one, other) => words_of(one.or(other).unwrap_or_default()),
    };
    let people: Vec<_> = people.iter().map(|person| show(person.name(), person.address())).collect();
    people.join(", ")
}

/// The blocks of a part of the body; nothing for a picture in it.
fn read_text(part: &MessagePart<'_>, limits: &Limits) -> Result<Option<Parsed>, ParseError> {
    match &part.body {
        PartType::Text(text) => plain::parse(&clean(text), limits).map(Some),
        PartType::Html(text) => html::parse(text, limits).map(Some),
        _ => Ok(None),
    }
}

fn attachment(part: &MessagePart<'_>, name: &str, limits: &Limits) -> Result<Parsed, SkipReason> {
    let hint = MediaHint {
        filename: Some(name.to_owned()),
        content_type: part.content_type().map(|kind| {
            let subtype = kind.subtype().unwrap_or_default();
            format!("{}/{subtype}", kind.ctype())
        }),
    };
    let picture = part.content_type().is_some_and(|kind| kind.ctype().eq_ignore_ascii_case("image"));
    let read = match &part.body {
        // A picture that the body shows, mostly a signature's, is no document.
        PartType::InlineBinary(_) if picture => return Err(SkipReason::Aside),
        PartType::Text(text) | PartType::Html(text) => parse_embedded(text.as_bytes(), &hint, limits),
        PartType::Binary(bytes) | PartType::InlineBinary(bytes) => parse_embedded(bytes, &hint, limits),
        PartType::Message(message) => {
            let mut mail = Mail { limits, parsed: Parsed::default() };
            mail.message(message).map(|()| mail.parsed)
        }
        PartType::Multipart(_) => return Err(SkipReason::NoText),
    };
    read.map_err(|error| match error {
        ParseError::UnsupportedType { .. } => SkipReason::Unsupported,
        ParseError::NoText => SkipReason::NoText,
        _ => SkipReason::Unreadable,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mail_is_told_by_its_header_and_its_name_helps() {
        for (text, name, expected) in [
            ("From: a@b\nTo: c@d\nSubject: x\n\nbody", "a.txt", true),
            ("Received: from a\n by b;\n\tnow\r\nMessage-ID: <1>\r\nDate: x\r\n\r\nbody", "a", true),
            ("From a@b Thu\nFrom: a@b\nTo: c\nDate: x\n\nbody", "a.mbox", true),
            ("From: a@b\n\nbody", "a.txt", false),
            ("From: a@b\n\nbody", "A.EML", true),
            ("Subject: x\nTo: y\nDate: z\n\nnotes", "a.txt", false),
            ("From: here\nTo: there\nDate: today\nwe went", "a.txt", false),
            ("just words", "a.eml", false),
        ] {
            let hint = MediaHint { filename: Some(name.into()), content_type: None };
            assert_eq!(is_mail(text.as_bytes(), &hint), expected, "{name}: {text}");
        }
    }
}
