//! An item that says it is gone removes the document that it was.

#![cfg(test)]

use anchorage_connectors::{Connector, Outcome, read};
use serde_json::{Value, json};

/// Document type and external id, and whether it is there.
fn identity(connector: Connector, item: &Value) -> (&'static str, String, bool) {
    match read(connector, item).unwrap_or_else(|error| panic!("{connector}: {error}")) {
        Outcome::Document(document) => (document.document_type.as_str(), document.external_id.to_string(), true),
        Outcome::Removed { document_type, external_id } => (document_type.as_str(), external_id.to_string(), false),
    }
}

/// A living item, and the fields that say it is gone.
fn gone() -> Vec<(Connector, Value, Vec<Value>)> {
    let jira = json!({"id": "1", "self": "https://a.example/rest/api/3/issue/1", "fields": {"description": "x"}});
    let issue = json!({"html_url": "https://github.com/o/r/issues/1", "body": "x"});
    let file = json!({"path": "a.md", "sha": "1", "html_url": "https://github.com/o/r/blob/main/a.md", "content": "x"});
    let payload = json!({"mimeType": "text/plain", "body": {"data": "eA"}});
    let linear = json!({"id": "1", "description": "x"});
    let discord = json!({"id": "1", "channel_id": "2", "content": "x"});
    vec![
        (
            Connector::ClickUp,
            json!({"id": "1", "text_content": "x"}),
            vec![json!({"id": "1", "deleted": true}), json!({"event": "taskDeleted", "task_id": "1"})],
        ),
        (
            Connector::ClickUp,
            json!({"id": "1", "doc_id": "2", "content": "x"}),
            vec![json!({"id": "1", "doc_id": 2, "deleted": true})],
        ),
        (
            Connector::Confluence,
            json!({"id": "1", "body": {"storage": {"value": "x"}}}),
            vec![json!({"id": "1", "status": "trashed"}), json!({"id": 1, "status": "deleted"})],
        ),
        (
            Connector::Discord,
            discord.clone(),
            vec![json!({"t": "MESSAGE_DELETE", "d": {"id": "1", "channel_id": "2"}})],
        ),
        (
            Connector::GitHub,
            issue.clone(),
            vec![json!({"action": "deleted", "issue": issue}), json!({"action": "transferred", "issue": issue})],
        ),
        (
            Connector::GitHub,
            file.clone(),
            vec![json!({"path": "a.md", "sha": "1", "status": "removed",
            "html_url": "https://github.com/o/r/blob/main/a.md"})],
        ),
        (
            Connector::Gmail,
            json!({"id": "1", "labelIds": ["INBOX"], "payload": payload}),
            vec![
                json!({"id": "1", "labelIds": ["TRASH"]}),
                json!({"id": "1", "labelIds": ["SPAM"], "payload": payload}),
            ],
        ),
        (
            Connector::GoogleDrive,
            json!({"id": "1", "export": {"text": "x"}}),
            vec![
                json!({"id": "1", "trashed": true}),
                json!({"fileId": "1", "removed": true}),
                json!({"fileId": "1", "file": {"id": "1", "trashed": true}}),
            ],
        ),
        (Connector::Jira, jira.clone(), vec![json!({"webhookEvent": "jira:issue_deleted", "issue": jira})]),
        (
            Connector::Linear,
            linear.clone(),
            vec![json!({"id": "1", "trashed": true}), json!({"action": "remove", "data": linear})],
        ),
        (
            Connector::Notion,
            json!({"id": "a-1", "markdown": "x"}),
            vec![json!({"id": "A1", "in_trash": true}), json!({"id": "a1", "archived": true})],
        ),
        (
            Connector::Obsidian,
            json!({"vault": "v", "path": "a.md", "content": "x"}),
            vec![json!({"vault": "v", "path": "a.md", "deleted": true})],
        ),
        (
            Connector::Slack,
            json!({"channel": {"id": "C"}, "messages": [{"ts": "1.2", "text": "x"}, {"ts": "1.3", "text": "y"}]}),
            vec![
                json!({"channel": "C", "subtype": "message_deleted", "ts": "9.9", "deleted_ts": "1.2"}),
                json!({"channel": "C", "subtype": "tombstone", "ts": "1.2", "text": "This message was deleted."}),
            ],
        ),
        (
            Connector::Web,
            json!({"url": "https://me:secret@Example.org/a#b", "html": "x"}),
            vec![
                json!({"url": "https://example.org/a", "status": 404, "html": "Not found"}),
                json!({"url": "https://example.org/a", "status": 410}),
            ],
        ),
    ]
}

#[test]
fn item_that_is_gone_removes_the_document_that_it_was() {
    for (connector, living, gone) in gone() {
        let (kind, id, is_there) = identity(connector, &living);
        assert!(is_there, "{connector}");
        for item in gone {
            assert_eq!(identity(connector, &item), (kind, id.clone(), false), "{item}");
        }
    }
}

/// What is put away, not thrown away, still answers.
#[test]
fn item_that_is_archived_stays_and_says_so() {
    for (connector, item) in [
        (Connector::ClickUp, json!({"id": "1", "text_content": "x", "archived": true})),
        (Connector::Linear, json!({"id": "1", "description": "x", "archivedAt": "2026-01-31T08:00:00Z"})),
    ] {
        let Ok(Outcome::Document(document)) = read(connector, &item) else { panic!("{connector}") };
        assert!(document.metadata.get("archived").is_some(), "{connector}");
    }
}
