//! GitHub: issues, pull requests and discussions (REST, GraphQL, webhooks), and files (REST contents).

use super::turn;
use crate::{
    ItemError, Outcome,
    document::{DocumentType, Draft, Identity},
    html,
    item::Item,
    limits::MAX_TEXT_BYTES,
    links,
    markdown::{Markdown, clean},
};
use anchorage_domain::SkipReason;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;
use url::Url;

pub(crate) fn read(item: &Item<'_>) -> Result<Outcome, ItemError> {
    if item.has("path") && (item.has("sha") || item.has("content")) {
        return file(item);
    }
    // A webhook's envelope says what was done to the thing that it holds.
    let mut removed = false;
    let mut inner = None;
    if item.has("action") {
        removed = matches!(item.text("action")?, Some("deleted" | "transferred"));
        for name in ["issue", "pull_request", "discussion"] {
            if inner.is_none() {
                inner = item.object(name)?;
            }
        }
    }
    thread(inner.as_ref().unwrap_or(item), removed)
}

/// A thing with a number in a repository, as its page's address says it: the ids of the APIs differ by version and by
/// whether a pull request was asked for as an issue.
struct Place {
    document_type: DocumentType,
    repository: String,
    number: String,
}

const THREAD_URL: &str = "the page of an issue, pull request or discussion, like https://github.com/o/r/issues/1";

fn place(url: &str) -> Option<Place> {
    let url = links::parse(url)?;
    let mut parts = url.path_segments()?.skip(2);
    let (kind, number) = (parts.next()?, parts.next()?);
    let document_type = match kind {
        "issues" => DocumentType::GitHubIssue,
        "pull" => DocumentType::GitHubPullRequest,
        "discussions" => DocumentType::GitHubDiscussion,
        _ => return None,
    };
    let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    let repository = repository_of(&url)?;
    is_number.then(|| Place { document_type, repository, number: number.to_owned() })
}

/// `owner/name`, in whose names case does not count, after the host where it is not GitHub's own.
fn repository_of(page: &Url) -> Option<String> {
    let mut parts = page.path_segments()?;
    let (owner, name) = (parts.next()?, parts.next()?);
    let host = page.host_str().filter(|host| *host != "github.com").map(|host| format!("{host}/")).unwrap_or_default();
    (!owner.is_empty() && !name.is_empty()).then(|| format!("{host}{owner}/{name}").to_lowercase())
}

fn thread(item: &Item<'_>, removed: bool) -> Result<Outcome, ItemError> {
    // The REST API's `url` is its own; GraphQL's is the page's.
    let field = if item.has("html_url") { "html_url" } else { "url" };
    let url = item.words(field)?.ok_or_else(|| ItemError::missing(item.place("html_url"), THREAD_URL))?;
    let place = place(url).ok_or_else(|| ItemError::invalid(item.place(field), THREAD_URL))?;
    let identity = Identity::new(place.document_type, &[&format!("{}#{}", place.repository, place.number)], field)?;
    if removed {
        return Ok(identity.removed());
    }
    let mut draft = Draft::new(identity);
    draft.title = item.words("title")?.map(str::to_owned);
    draft.url = links::address(url);
    draft.updated_at = item.first_time(&["updated_at", "updatedAt", "created_at", "createdAt"])?;
    let facts = &mut draft.facts;
    facts.text("repository", Some(&place.repository));
    facts.text("number", Some(&place.number));
    facts.text("state", item.text("state")?.map(str::to_lowercase).as_deref());
    facts.text("author", login(item)?);
    facts.text("category", item.text("category.name")?);
    facts.text("milestone", item.text("milestone.title")?);
    facts.list("labels", labels(item)?);
    facts.list("assignees", item.texts("assignees", "login")?);
    facts.flag("draft", item.flag("draft")? || item.flag("isDraft")?);
    let merged = item.has("merged_at") || item.has("mergedAt") || item.has("pull_request.merged_at");
    facts.flag("merged", merged);
    facts.flag("locked", item.flag("locked")?);
    draft.markdown.native(item.text("body")?.unwrap_or_default());

    let mut comments = Vec::new();
    if let Some(Value::Number(count)) = item.value("comments")? {
        if count.as_u64().is_some_and(|count| count > 0) {
            draft.facts.omitted.add("comments that were not sent", SkipReason::Unsupported);
        }
    } else {
        comments = item.list("comments")?;
        let total = item.value("comments")?.and_then(|list| list.get("totalCount")).and_then(Value::as_u64);
        if total.is_some_and(|total| total > comments.len() as u64) {
            draft.facts.omitted.add("comments that were not sent", SkipReason::Unsupported);
        }
    }
    said(&comments, "Comments", &mut draft.markdown)?;
    said(&item.list("reviews")?, "Reviews", &mut draft.markdown)?;
    draft.finish("body")
}

fn said(comments: &[Item<'_>], heading: &str, markdown: &mut Markdown) -> Result<(), ItemError> {
    let mut begun = false;
    for comment in comments {
        let body = comment.text("body")?.unwrap_or_default();
        let replies = comment.list("replies")?;
        if body.trim().is_empty() && replies.is_empty() {
            continue;
        }
        if !begun {
            markdown.heading_of(2, heading);
            begun = true;
        }
        one(comment, body, markdown)?;
        for reply in replies {
            markdown.open_quote();
            one(&reply, reply.text("body")?.unwrap_or_default(), markdown)?;
            markdown.close();
        }
    }
    Ok(())
}

fn one(comment: &Item<'_>, body: &str, markdown: &mut Markdown) -> Result<(), ItemError> {
    let at = comment.first_time(&["created_at", "createdAt", "submitted_at", "submittedAt"])?;
    turn(markdown, login(comment)?, at);
    markdown.native(body);
    Ok(())
}

fn login<'a>(item: &Item<'a>) -> Result<Option<&'a str>, ItemError> {
    item.first_words(&["user.login", "author.login"])
}

/// Labels are objects, or, in old payloads, names.
fn labels<'a>(item: &Item<'a>) -> Result<Vec<&'a str>, ItemError> {
    if item.values("labels")?.iter().any(Value::is_string) {
        item.strings("labels")
    } else {
        item.texts("labels", "name")
    }
}

const FILE_URL: &str = "the file's page, like https://github.com/o/r/blob/main/src/lib.rs";

fn file(item: &Item<'_>) -> Result<Outcome, ItemError> {
    let path = item.required_id("path", "the file's path in its repository")?;
    let page = item.words("html_url")?.ok_or_else(|| ItemError::missing("html_url", FILE_URL))?;
    let repository = links::parse(page)
        .and_then(|page| repository_of(&page))
        .ok_or_else(|| ItemError::invalid("html_url", FILE_URL))?;
    let identity = Identity::new(DocumentType::GitHubFile, &[&repository, &path], "path")?;
    if item.text("status")? == Some("removed") {
        return Ok(identity.removed());
    }
    if item.text("type")?.is_some_and(|kind| kind != "file") {
        return Err(ItemError::invalid("type", "\"file\": folders, links and submodules hold no text"));
    }
    let mut draft = Draft::new(identity);
    draft.title = Some(path.to_string());
    draft.url = item.url("html_url")?;
    draft.facts.text("repository", Some(&repository));
    draft.facts.text("path", Some(&path));
    draft.facts.text("sha", item.text("sha")?);
    let text = content(item)?;
    let name = path.rsplit('/').next().unwrap_or(&path).to_lowercase();
    let extension = match name.as_str() {
        "makefile" | "dockerfile" | "jenkinsfile" | "rakefile" | "gemfile" | "procfile" | "vagrantfile" => {
            Some("program")
        }
        _ => name.rsplit_once('.').map(|(_, extension)| extension),
    };
    match extension {
        Some("md" | "markdown" | "mdx" | "mkd") => draft.markdown.native(&text),
        Some("html" | "htm") => drop(html::read(&text, None, "content", &mut draft.markdown)?),
        Some("txt" | "rst" | "adoc" | "asciidoc" | "org") | None => draft.markdown.paragraph(&text),
        Some(_) => {
            let code = clean(text.trim_start_matches('\u{feff}'));
            if code.trim().is_empty() {
                return Err(ItemError::blank("content"));
            }
            return draft.finish_code(code);
        }
    }
    draft.finish("content")
}

/// The text of a file, which the API wraps in base64; files above 1 MB come without it.
fn content(item: &Item<'_>) -> Result<String, ItemError> {
    let content = item.text("content")?.ok_or_else(|| ItemError::missing("content", "the file's content"))?;
    match item.text("encoding")? {
        Some("base64") => {}
        Some("none") => {
            return Err(ItemError::missing("content", "the file's content: ask for a large file in the raw form"));
        }
        Some("utf-8") | None => return Ok(content.to_owned()),
        Some(_) => return Err(ItemError::invalid("encoding", "base64 or utf-8")),
    }
    if content.len() > MAX_TEXT_BYTES {
        return Err(ItemError::TooLarge { field: "content".to_owned(), limit: MAX_TEXT_BYTES });
    }
    let packed: Vec<u8> = content.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    let bytes = STANDARD.decode(packed).map_err(|_| ItemError::invalid("content", "base64"))?;
    if bytes.contains(&0) {
        return Err(ItemError::invalid("content", "a text: this file is binary"));
    }
    String::from_utf8(bytes).map_err(|_| ItemError::invalid("content", "a text in UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_is_the_same_for_every_spelling_of_a_page() {
        for (url, expected) in [
            ("https://github.com/O/R/issues/1", Some("github_issue o/r 1")),
            ("https://github.com/o/r/issues/1#issuecomment-5", Some("github_issue o/r 1")),
            ("https://github.com/o/r/pull/2/files", Some("github_pull_request o/r 2")),
            ("https://github.com/o/r/discussions/3", Some("github_discussion o/r 3")),
            ("https://git.example.org/o/r/issues/1", Some("github_issue git.example.org/o/r 1")),
            ("https://api.github.com/repos/o/r/issues/1", None),
            ("https://github.com/o/r/issues/new", None),
            ("https://github.com/o/r", None),
        ] {
            let place = place(url);
            let shown =
                place.map(|place| format!("{} {} {}", place.document_type.as_str(), place.repository, place.number));
            assert_eq!(shown.as_deref(), expected, "{url}");
        }
    }
}
