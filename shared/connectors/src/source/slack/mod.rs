//! Slack: a message, or a thread as `conversations.replies` gives it.
//!
//! The API names a message's channel beside the list it stands in, not in the message: whoever sends an item adds `channel`
//! (an id, or an object with `id` and `name`). `users`, as `users.list` gives them, turn ids into names.

mod blocks;
mod mrkdwn;

use super::turn;
use crate::{
    ItemError, Outcome,
    document::{DocumentType, Draft, Identity, first_words},
    item::Item,
    markdown::{Markdown, Marks, Style},
};
use anchorage_domain::{SkipReason, Timestamp};
use serde_json::Value;
use std::{borrow::Cow, collections::HashMap};

/// Names by id, of people.
struct Names<'a>(HashMap<Cow<'a, str>, &'a str>);

impl<'a> Names<'a> {
    fn of(item: &Item<'a>) -> Result<Self, ItemError> {
        let mut names = HashMap::new();
        for user in item.list("users")? {
            let name = user.first_words(&["profile.display_name", "profile.real_name", "real_name", "name"])?;
            if let (Some(id), Some(name)) = (user.id("id")?, name) {
                names.insert(id, name);
            }
        }
        Ok(Self(names))
    }

    fn mention(&self, id: &str) -> String {
        format!("@{}", self.0.get(id).copied().unwrap_or(id))
    }
}

pub(crate) fn read(item: &Item<'_>) -> Result<Outcome, ItemError> {
    let names = Names::of(item)?;
    let channel = channel(item)?;
    if item.has("messages") {
        let messages = item.list("messages")?;
        let root = messages.first().ok_or_else(|| ItemError::blank("messages"))?;
        return conversation(item, &channel, root, &messages, &names);
    }
    if item.text("subtype")? == Some("message_deleted") {
        let at = item.required_id("deleted_ts", "when the message was sent, which is its id in its channel")?;
        return Ok(Identity::new(DocumentType::SlackMessage, &[&channel, &at], "deleted_ts")?.removed());
    }
    // An event about a change holds the message as it is now.
    let changed = if item.text("subtype")? == Some("message_changed") { item.object("message")? } else { None };
    let message = changed.unwrap_or_else(|| item.clone());
    conversation(item, &channel, &message, std::slice::from_ref(&message), &names)
}

fn channel<'a>(item: &Item<'a>) -> Result<Cow<'a, str>, ItemError> {
    const EXPECTED: &str = "the id of the message's channel, which the API names beside the message: add it";
    match item.value("channel")? {
        Some(Value::Object(_)) => item.required_id("channel.id", EXPECTED),
        _ => item.required_id("channel", EXPECTED),
    }
}

/// A message with its replies is the same document as the message alone was: it has grown.
fn conversation(
    item: &Item<'_>,
    channel: &str,
    root: &Item<'_>,
    messages: &[Item<'_>],
    names: &Names<'_>,
) -> Result<Outcome, ItemError> {
    let ts = root.required_id("ts", "when the message was sent, which is its id in its channel")?;
    let identity = Identity::new(DocumentType::SlackMessage, &[channel, &ts], "ts")?;
    if root.text("subtype")? == Some("tombstone") && messages.len() == 1 {
        return Ok(identity.removed());
    }
    let mut draft = Draft::new(identity);
    draft.url = item.url("permalink")?;
    let facts = &mut draft.facts;
    facts.text("channel_id", Some(channel));
    let name = if matches!(item.value("channel")?, Some(Value::Object(_))) { item.text("channel.name")? } else { None };
    facts.text("channel", name);
    facts.text("author", author(root, names)?.as_deref());
    facts.time("sent_at", root.time("ts")?);
    facts.text("thread_ts", root.id("thread_ts")?.filter(|thread| *thread != ts).as_deref());
    if messages.len() > 1 {
        // Not who said it, but what was said first.
        let mut first = Markdown::default();
        body(root, names, &mut first)?;
        draft.title = first.finish("text").ok().map(|(text, _)| first_words(&text));
    }
    let mut newest: Option<Timestamp> = None;
    let mut people: Vec<String> = Vec::new();
    for message in messages {
        newest = newest.max(message.time("ts")?).max(message.time("edited.ts")?);
        if message.text("subtype")? == Some("tombstone") {
            continue;
        }
        let author = author(message, names)?;
        if messages.len() > 1 {
            turn(&mut draft.markdown, author.as_deref(), message.time("ts")?);
        }
        people.extend(author);
        body(message, names, &mut draft.markdown)?;
    }
    if messages.len() > 1 {
        draft.facts.list("participants", people);
    }
    let replies = usize::try_from(root.number("reply_count")?.unwrap_or(0)).unwrap_or(0);
    if replies > messages.len().saturating_sub(1) {
        draft.facts.omitted.add("replies that were not sent", SkipReason::Unsupported);
    }
    draft.updated_at = newest;
    draft.finish("text")
}

fn author(message: &Item<'_>, names: &Names<'_>) -> Result<Option<String>, ItemError> {
    let written = message.first_words(&[
        "user_profile.display_name",
        "user_profile.real_name",
        "bot_profile.name",
        "username",
    ])?;
    if let Some(name) = written {
        return Ok(Some(name.to_owned()));
    }
    let id = message.id("user")?.or(message.id("bot_id")?);
    Ok(id.map(|id| names.0.get(&id).map_or_else(|| id.to_string(), |name| (*name).to_owned())))
}

fn body(message: &Item<'_>, names: &Names<'_>, markdown: &mut Markdown) -> Result<(), ItemError> {
    // The text repeats the blocks for readers that know none, except where it is all there is.
    if !blocks::read(&message.list("blocks")?, names, markdown)? {
        mrkdwn::read(message.text("text")?.unwrap_or_default(), names, markdown);
    }
    markdown.flush();
    for attachment in message.list("attachments")? {
        self::attachment(&attachment, names, markdown)?;
    }
    for file in message.list("files")? {
        let name = file.first_words(&["title", "name"])?.unwrap_or("without a name");
        markdown.omitted.add(&format!("file {name}"), SkipReason::Unsupported);
    }
    Ok(())
}

/// What a message shows below its text: a preview of a link, or what an app says.
fn attachment(item: &Item<'_>, names: &Names<'_>, markdown: &mut Markdown) -> Result<(), ItemError> {
    markdown.open_quote();
    mrkdwn::read(item.text("pretext")?.unwrap_or_default(), names, markdown);
    markdown.flush();
    let title = item.words("title")?.unwrap_or_default();
    let link = item.words("title_link")?.and_then(|url| crate::links::target(url, None));
    markdown.text(title, &Style { marks: Marks::STRONG, ..Style::link(link) });
    markdown.flush();
    let text = item.words("text")?;
    let shown = blocks::read(&item.list("blocks")?, names, markdown)?;
    match text {
        Some(text) if !shown => mrkdwn::read(text, names, markdown),
        // The fallback says all of it in one line, for readers that show no more.
        None if !shown && title.is_empty() && !item.has("fields") => {
            mrkdwn::read(item.text("fallback")?.unwrap_or_default(), names, markdown);
        }
        _ => {}
    }
    for field in item.list("fields")? {
        markdown.flush();
        markdown.text(field.words("title")?.unwrap_or_default(), &Style::marked(Marks::STRONG));
        markdown.text(" ", &Style::default());
        mrkdwn::read(field.text("value")?.unwrap_or_default(), names, markdown);
    }
    markdown.close();
    Ok(())
}
