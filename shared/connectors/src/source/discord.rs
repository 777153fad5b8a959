//! Discord: a message. Its text is Markdown, with ids for people, roles, channels and custom emoji.

use crate::{
    ItemError, Outcome,
    document::{DocumentType, Draft, Identity},
    item::Item,
    links,
    markdown::{Markdown, Marks, Style, outside_code},
};
use anchorage_domain::SkipReason;
use std::{borrow::Cow, collections::HashMap};

pub(crate) fn read(item: &Item<'_>) -> Result<Outcome, ItemError> {
    // The gateway's envelope says what happened to the message that it holds.
    let removed = item.text("t").unwrap_or(None) == Some("MESSAGE_DELETE");
    let envelope = if item.has("d") { item.object("d")? } else { None };
    let item = envelope.as_ref().unwrap_or(item);

    let id = item.required_id("id", "the message's id")?;
    let channel = item.required_id("channel_id", "the id of the message's channel")?;
    let identity = Identity::new(DocumentType::DiscordMessage, &[&channel, &id], "id")?;
    if removed {
        return Ok(identity.removed());
    }
    let mut draft = Draft::new(identity);
    draft.updated_at = item.first_time(&["edited_timestamp", "timestamp"])?;
    let guild = item.id("guild_id")?;
    let place = guild.as_deref().unwrap_or("@me");
    draft.url = links::address(&format!("https://discord.com/channels/{place}/{channel}/{id}"));
    let facts = &mut draft.facts;
    facts.text("channel_id", Some(&channel));
    facts.text("guild_id", guild.as_deref());
    facts.text("author", item.first_words(&["member.nick", "author.global_name", "author.username"])?);
    facts.text("reply_to", item.id("message_reference.message_id")?.as_deref());
    facts.time("sent_at", item.time("timestamp")?);
    facts.flag("pinned", item.flag("pinned")?);
    let names = names(item)?;
    let markdown = &mut draft.markdown;
    markdown.native(&readable(item.text("content")?.unwrap_or_default(), &names));
    for snapshot in item.list("message_snapshots")? {
        if let Some(forwarded) = snapshot.object("message")? {
            markdown.open_quote();
            markdown.native(&readable(forwarded.text("content")?.unwrap_or_default(), &names));
            embeds(&forwarded, &names, markdown)?;
            markdown.close();
        }
    }
    embeds(item, &names, markdown)?;
    if let Some(question) = item.words("poll.question.text")? {
        markdown.paragraph(question);
        markdown.open_list(None);
        for answer in item.texts("poll.answers", "poll_media.text")? {
            markdown.open_item(None);
            markdown.text(answer, &Style::default());
            markdown.close();
        }
        markdown.close();
    }
    for attachment in item.list("attachments")? {
        let name = attachment.words("filename")?.unwrap_or("without a name");
        markdown.omitted.add(&format!("attachment {name}"), SkipReason::Unsupported);
        if let Some(description) = attachment.words("description")? {
            markdown.paragraph(description);
        }
    }
    draft.finish("content")
}

fn names<'a>(item: &Item<'a>) -> Result<HashMap<Cow<'a, str>, &'a str>, ItemError> {
    let mut names = HashMap::new();
    for list in ["mentions", "mention_channels"] {
        for mentioned in item.list(list)? {
            let name = mentioned.first_words(&["member.nick", "global_name", "username", "name"])?;
            if let (Some(id), Some(name)) = (mentioned.id("id")?, name) {
                names.insert(id, name);
            }
        }
    }
    Ok(names)
}

/// What apps and links show below a message.
fn embeds(item: &Item<'_>, names: &HashMap<Cow<'_, str>, &str>, markdown: &mut Markdown) -> Result<(), ItemError> {
    for embed in item.list("embeds")? {
        markdown.open_quote();
        let link = embed.words("url")?.and_then(|url| links::target(url, None));
        let style = Style { marks: Marks::STRONG, ..Style::link(link) };
        markdown.text(embed.words("title")?.unwrap_or_default(), &style);
        markdown.native(&readable(embed.text("description")?.unwrap_or_default(), names));
        for field in embed.list("fields")? {
            markdown.text(field.words("name")?.unwrap_or_default(), &Style::marked(Marks::STRONG));
            markdown.native(&readable(field.text("value")?.unwrap_or_default(), names));
        }
        markdown.paragraph(embed.words("footer.text")?.unwrap_or_default());
        markdown.close();
    }
    Ok(())
}

/// Names for ids, outside of code.
fn readable(text: &str, names: &HashMap<Cow<'_, str>, &str>) -> String {
    outside_code(text, |piece, out| {
        let mut rest = piece;
        while let Some((before, from)) = rest.split_once('<') {
            out.push_str(before);
            let near = from.get(..from.floor_char_boundary(MAX_MENTION_BYTES)).unwrap_or(from);
            let inside = near.split_once('>').map(|(inside, _)| inside);
            if let Some((shown, end)) = inside.and_then(|inside| Some((shown(inside, names)?, inside.len() + 1))) {
                out.push_str(&shown);
                rest = from.get(end..).unwrap_or_default();
            } else {
                out.push('<');
                rest = from;
            }
        }
        out.push_str(rest);
    })
}

/// Longest thing between angle brackets that is looked at, in bytes.
const MAX_MENTION_BYTES: usize = 128;

fn shown(inside: &str, names: &HashMap<Cow<'_, str>, &str>) -> Option<String> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let name = |id: &str| names.get(id).copied().unwrap_or(id).to_owned();
    if let Some(id) = inside.strip_prefix('@') {
        let id = id.trim_start_matches(['!', '&']);
        return digits(id).then(|| format!("@{}", name(id)));
    }
    if let Some(id) = inside.strip_prefix('#') {
        return digits(id).then(|| format!("#{}", name(id)));
    }
    let mut parts = inside.split(':');
    match (parts.next()?, parts.next()?, parts.next()) {
        ("" | "a", emoji, Some(id)) if digits(id) => Some(format!(":{emoji}:")),
        ("t", time, _) => crate::when::parse(time).map(|time| time.to_string()),
        _ => None,
    }
}
