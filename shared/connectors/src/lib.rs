//! One item of a source's own JSON to one document. One entry point: [`read`].
//!
//! Invariant: nothing here, nor anything it depends on, knows tokio, AWS, HTTP, a clock or randomness; nothing here panics,
//! recurses with its input or logs. An item is a `serde_json::Value`, which its reader nests at most 128 deep; a deeper one,
//! built otherwise, is refused where its depth is followed ([`ItemError::TooDeep`]).
//!
//! A new connector is a file under `source/` and a line of the table in this file.

mod adf;
mod document;
mod error;
mod html;
mod item;
mod limits;
mod links;
mod markdown;
mod metadata;
mod source;
mod when;

pub use document::{ConnectorDocument, ContentType, DocumentType, Outcome};
pub use error::ItemError;
pub use metadata::{Metadata, MetadataValue};

use serde_json::Value;
use std::{fmt, str::FromStr};

macro_rules! connectors {
    ($($(#[$doc:meta])* $variant:ident = $name:literal => $module:ident,)+) => {
        /// A source that documents come from.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Connector {
            $($(#[$doc])* $variant,)+
        }

        impl Connector {
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Its name in the path of the API.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        /// Reads one item as the source's own API gives it. Unknown fields are not looked at, and optional ones may be missing.
        ///
        /// # Errors
        /// Says which field is missing or wrong, and what would be right. One item's error says nothing of others.
        pub fn read(connector: Connector, item: &Value) -> Result<Outcome, ItemError> {
            let item = item::Item::new(item)?;
            match connector {
                $(Connector::$variant => source::$module::read(&item),)+
            }
        }
    };
}

connectors! {
    /// A task, a Doc with its pages, or one page of a Doc.
    ClickUp = "clickup" => clickup,
    /// A page or blog post, its body in storage format or as an Atlassian document.
    Confluence = "confluence" => confluence,
    /// A message.
    Discord = "discord" => discord,
    /// An issue, a pull request, a discussion, or a file.
    GitHub = "github" => github,
    /// A message with its payload (`format=full`).
    Gmail = "gmail" => gmail,
    /// A document, as the Docs API gives it.
    GoogleDocs = "google-docs" => google_docs,
    /// A file's metadata, with what it was exported to under `export: {mimeType, text}`.
    GoogleDrive = "google-drive" => google_drive,
    /// An issue.
    Jira = "jira" => jira,
    /// An issue.
    Linear = "linear" => linear,
    /// A page, with its blocks under `blocks`.
    Notion = "notion" => notion,
    /// A note.
    Obsidian = "obsidian" => obsidian,
    /// A message, or a thread (`messages`), with its `channel`.
    Slack = "slack" => slack,
    /// A page: its `url` and its `html`.
    Web = "web" => web,
}

impl fmt::Display for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text names no connector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be one of clickup, confluence, discord, github, gmail, google-docs, google-drive, jira, linear, notion, obsidian, \
     slack, web"
)]
pub struct UnknownConnector;

impl FromStr for Connector {
    type Err = UnknownConnector;

    fn from_str(text: &str) -> Result<Self, UnknownConnector> {
        Self::ALL.iter().copied().find(|connector| connector.as_str() == text).ok_or(UnknownConnector)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connector_reads_back_its_name_and_the_error_lists_all() {
        for connector in Connector::ALL {
            assert_eq!(connector.as_str().parse(), Ok(*connector));
            assert!(UnknownConnector.to_string().contains(connector.as_str()), "{connector}");
        }
        assert_eq!("ClickUp".parse::<Connector>(), Err(UnknownConnector));
    }
}
