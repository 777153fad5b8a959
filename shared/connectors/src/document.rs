//! What an adapter makes of an item.

use crate::{
    ItemError, Metadata,
    limits::{MAX_EXTERNAL_ID_BYTES, MAX_TITLE_BYTES},
    markdown::Markdown,
    metadata::{Facts, plain, shortened},
};
use anchorage_domain::{DocumentTitle, ExternalId, Sha256, Skipped, Timestamp};
use pulldown_cmark::{Event, Parser, TagEnd};
use std::fmt::Write as _;

/// What a document is in its source. Its name begins every external id, so that two kinds never share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DocumentType {
    ClickUpTask,
    ClickUpDoc,
    ConfluencePage,
    DiscordMessage,
    GitHubIssue,
    GitHubPullRequest,
    GitHubDiscussion,
    GitHubFile,
    GmailMessage,
    GoogleDoc,
    GoogleDriveFile,
    JiraIssue,
    LinearIssue,
    NotionPage,
    ObsidianNote,
    SlackMessage,
    WebPage,
}

impl DocumentType {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClickUpTask => "clickup_task",
            Self::ClickUpDoc => "clickup_doc",
            Self::ConfluencePage => "confluence_page",
            Self::DiscordMessage => "discord_message",
            Self::GitHubIssue => "github_issue",
            Self::GitHubPullRequest => "github_pull_request",
            Self::GitHubDiscussion => "github_discussion",
            Self::GitHubFile => "github_file",
            Self::GmailMessage => "gmail_message",
            Self::GoogleDoc => "google_doc",
            Self::GoogleDriveFile => "google_drive_file",
            Self::JiraIssue => "jira_issue",
            Self::LinearIssue => "linear_issue",
            Self::NotionPage => "notion_page",
            Self::ObsidianNote => "obsidian_note",
            Self::SlackMessage => "slack_message",
            Self::WebPage => "web_page",
        }
    }

    /// What people say to each other is worth a summary beside it: its answer is spread over many short turns. A page that
    /// was written to be read is found by its own words.
    #[must_use]
    pub const fn should_summarize(self) -> bool {
        match self {
            Self::ClickUpTask
            | Self::DiscordMessage
            | Self::GitHubIssue
            | Self::GitHubPullRequest
            | Self::GitHubDiscussion
            | Self::GmailMessage
            | Self::JiraIssue
            | Self::LinearIssue
            | Self::SlackMessage => true,
            Self::ClickUpDoc
            | Self::ConfluencePage
            | Self::GitHubFile
            | Self::GoogleDoc
            | Self::GoogleDriveFile
            | Self::NotionPage
            | Self::ObsidianNote
            | Self::WebPage => false,
        }
    }
}

/// How the text of a document is to be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentType {
    /// Markdown.
    Text,
    /// A program, as it stands in its file.
    Code,
}

/// One document of a source, ready to be taken in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectorDocument {
    pub document_type: DocumentType,
    /// The source's own name for it, the same for every version: the document type, a colon, and the source's id.
    pub external_id: ExternalId,
    /// Never part of the text: a new title alone changes no text.
    pub title: DocumentTitle,
    pub content_type: ContentType,
    /// Markdown, never blank; for [`ContentType::Code`] the program itself.
    pub markdown: String,
    /// Where people find it.
    pub url: Option<String>,
    /// When the source says it was last changed.
    pub updated_at: Option<Timestamp>,
    /// Whether a summary of it is worth indexing beside its text.
    pub should_summarize: bool,
    pub metadata: Metadata,
    /// What of the item is not in the text, and why. Empty when everything is.
    pub skipped: Vec<Skipped>,
}

/// What becomes of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Document(Box<ConnectorDocument>),
    /// The item says that it was deleted or thrown away.
    Removed {
        document_type: DocumentType,
        external_id: ExternalId,
    },
}

/// Which document of its source an item is.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    document_type: DocumentType,
    external_id: ExternalId,
}

impl Identity {
    /// `parts` are the source's ids from the outermost to the item's own.
    ///
    /// # Errors
    /// When no part says anything; `field` is where they are from.
    pub(crate) fn new(document_type: DocumentType, parts: &[&str], field: &str) -> Result<Self, ItemError> {
        let mut id = document_type.as_str().to_owned();
        for (index, part) in parts.iter().enumerate() {
            id.push(':');
            let last = index + 1 == parts.len();
            for c in part.chars() {
                // Two lists of parts never read the same: only the last one may hold the separator.
                if c.is_control() || c == '%' || (c == ':' && !last) {
                    // Writing to a String does not fail.
                    let _ = write!(id, "%{:02X}", u32::from(c));
                } else {
                    id.push(c);
                }
            }
        }
        if id.len() > MAX_EXTERNAL_ID_BYTES {
            id = format!("{}:sha256:{}", document_type.as_str(), Sha256::of(id.as_bytes()));
        }
        let blank = parts.iter().all(|part| part.trim().is_empty());
        match ExternalId::new(id) {
            Ok(external_id) if !blank => Ok(Self { document_type, external_id }),
            _ => Err(ItemError::invalid(field, "an identifier that is not blank")),
        }
    }

    pub(crate) fn removed(self) -> Outcome {
        Outcome::Removed { document_type: self.document_type, external_id: self.external_id }
    }
}

/// A document while its item is read.
#[derive(Debug)]
pub(crate) struct Draft {
    identity: Identity,
    pub(crate) title: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) updated_at: Option<Timestamp>,
    pub(crate) facts: Facts,
    pub(crate) markdown: Markdown,
}

impl Draft {
    pub(crate) fn new(identity: Identity) -> Self {
        Self {
            identity,
            title: None,
            url: None,
            updated_at: None,
            facts: Facts::default(),
            markdown: Markdown::default(),
        }
    }

    /// The document, whose text is from `field`.
    pub(crate) fn finish(self, field: &str) -> Result<Outcome, ItemError> {
        let Self { identity, title, url, updated_at, mut facts, markdown } = self;
        let (markdown, omitted) = markdown.finish(field)?;
        facts.omitted.merge(omitted);
        Self { identity, title, url, updated_at, facts, markdown: Markdown::default() }
            .with(ContentType::Text, markdown)
    }

    /// The document of a program.
    pub(crate) fn finish_code(self, code: String) -> Result<Outcome, ItemError> {
        self.with(ContentType::Code, code)
    }

    fn with(self, content_type: ContentType, markdown: String) -> Result<Outcome, ItemError> {
        let title = self.title.as_deref().map(plain).filter(|title| !title.is_empty());
        let title = title.unwrap_or_else(|| first_words(&markdown));
        let title = if title.is_empty() { self.identity.external_id.to_string() } else { title };
        let title = DocumentTitle::new(shortened(&title, MAX_TITLE_BYTES))
            .map_err(|_| ItemError::invalid("title", "a text of at most 500 bytes"))?;
        Ok(Outcome::Document(Box::new(ConnectorDocument {
            document_type: self.identity.document_type,
            external_id: self.identity.external_id,
            title,
            content_type,
            markdown,
            url: self.url,
            updated_at: self.updated_at,
            should_summarize: self.identity.document_type.should_summarize(),
            metadata: self.facts.metadata,
            skipped: self.facts.omitted.into_skipped(),
        })))
    }
}

/// Longest title that is taken from a text, in bytes.
const MAX_FIRST_WORDS_BYTES: usize = 120;
/// How much of a text is looked at for it, in bytes.
const MAX_LEAD_BYTES: usize = 4 * 1024;

/// The first block of a text that says something, as a title for what has none.
pub(crate) fn first_words(markdown: &str) -> String {
    let lead = markdown.get(..markdown.floor_char_boundary(MAX_LEAD_BYTES)).unwrap_or(markdown);
    let mut words = String::new();
    for event in Parser::new(lead) {
        match event {
            Event::Text(text) | Event::Code(text) => words.push_str(&text),
            Event::SoftBreak | Event::HardBreak => words.push(' '),
            Event::End(TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item | TagEnd::CodeBlock)
                if words.chars().any(char::is_alphanumeric) =>
            {
                break;
            }
            _ => {}
        }
    }
    shortened(&plain(&words), MAX_FIRST_WORDS_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(parts: &[&str]) -> String {
        Identity::new(DocumentType::WebPage, parts, "id").unwrap().external_id.to_string()
    }

    #[test]
    fn ids_of_different_parts_differ() {
        assert_eq!(id(&["a", "b"]), "web_page:a:b");
        assert_ne!(id(&["a:b", "c"]), id(&["a", "b:c"]));
        assert_ne!(id(&["a%3Ab", "c"]), id(&["a:b", "c"]));
        assert_eq!(id(&["a\nb"]), "web_page:a%0Ab");
        assert!(Identity::new(DocumentType::WebPage, &[" "], "url").is_err());
    }

    #[test]
    fn id_past_the_bound_is_a_digest_of_all_of_it() {
        let fits = "a".repeat(MAX_EXTERNAL_ID_BYTES - "web_page:".len());
        assert_eq!(id(&[&fits]), format!("web_page:{fits}"));
        let (one, other) = (id(&[&format!("{fits}b")]), id(&[&format!("{fits}c")]));
        assert!(one.starts_with("web_page:sha256:") && one != other);
    }

    #[test]
    fn title_of_what_has_none_is_how_it_begins() {
        for (markdown, expected) in [
            ("## Why\n", "Why"),
            ("> - *said* [\\[x\\]](https://example.org)\n", "said [x]"),
            ("---\n\nخبر\n", "خبر"),
            ("```\na  b\n```\n\nc", "a b"),
            ("***\n", ""),
        ] {
            assert_eq!(first_words(markdown), expected, "{markdown:?}");
        }
    }
}
