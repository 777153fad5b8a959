//! Items that no API sends: of any shape, of any size, and of any depth. Each ends in a document or in a typed error.
#![cfg(test)]

use anchorage_connectors::{Connector, ItemError, Outcome, read};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::{
    collections::BTreeSet,
    fs,
    mem::ManuallyDrop,
    path::Path,
    time::{Duration, Instant},
};

/// Generous on purpose: what it tells apart is linear from quadratic, not fast from slow.
const PATIENCE: Duration = Duration::from_secs(20);

fn in_time<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    assert!(start.elapsed() < PATIENCE, "{what} took {:?}", start.elapsed());
    result
}

fn fixtures() -> Vec<(Connector, Value)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut found = Vec::new();
    for connector in Connector::ALL {
        for entry in fs::read_dir(root.join(connector.as_str())).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "json") {
                found.push((*connector, serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()));
            }
        }
    }
    found
}

/// Pointers to every value inside a value.
fn pointers(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut stack = vec![(String::new(), value)];
    while let Some((pointer, value)) = stack.pop() {
        match value {
            Value::Object(map) => {
                for (name, inner) in map {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    stack.push((format!("{pointer}/{name}"), inner));
                }
            }
            Value::Array(values) => {
                stack.extend(values.iter().enumerate().map(|(index, inner)| (format!("{pointer}/{index}"), inner)));
            }
            _ => {}
        }
        found.push(pointer);
    }
    found
}

/// An error says where and what, and a document keeps its promises.
fn check(connector: Connector, item: &Value) {
    match read(connector, item) {
        Ok(Outcome::Document(document)) => {
            assert!(!document.markdown.trim().is_empty(), "{connector}: {item}");
            let id = document.external_id.as_str();
            assert!(id.starts_with(document.document_type.as_str()), "{connector}: {id}");
            assert!(serde_json::to_vec(&document.metadata).unwrap().len() <= 16 * 1024);
        }
        Ok(Outcome::Removed { .. }) => {}
        Err(error) => assert!(!error.field().is_empty() && !error.code().is_empty()),
    }
}

#[test]
fn fixture_with_any_value_replaced_or_missing_is_read_or_refused() {
    let odd = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1e300),
        json!(""),
        json!("x\u{0}"),
        json!([]),
        json!([1]),
        json!({}),
    ];
    for (connector, item) in fixtures() {
        check(connector, &item);
        for pointer in pointers(&item) {
            for value in &odd {
                let mut changed = item.clone();
                *changed.pointer_mut(&pointer).unwrap() = value.clone();
                check(connector, &changed);
            }
        }
    }
}

/// Every fixture of every source is read by every adapter.
#[test]
fn item_of_another_source_is_read_or_refused() {
    for (_, item) in fixtures() {
        for connector in Connector::ALL {
            check(*connector, &item);
        }
    }
}

fn names() -> Vec<String> {
    let mut names = BTreeSet::new();
    for (_, item) in fixtures() {
        for pointer in pointers(&item) {
            names.extend(pointer.rsplit('/').next().map(str::to_owned));
        }
    }
    names.into_iter().collect()
}

fn json_of(names: Vec<String>) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
        "[<>/a-c=*_`#|\\[\\]() \n-]{0,30}".prop_map(Value::from),
        proptest::sample::select(names.clone()).prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 8, move |inner| {
        let name = proptest::sample::select(names.clone());
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::btree_map(name, inner, 0..10)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_is_read_or_refused(item in json_of(names())) {
        for connector in Connector::ALL {
            check(*connector, &item);
        }
    }
}

/// One item of every source around a text, and around what it nests.
fn around(connector: Connector, text: &str) -> Value {
    match connector {
        Connector::ClickUp => json!({"id": "1", "name": "n", "text_content": text}),
        Connector::Confluence => json!({"id": "1", "body": {"storage": {"value": text}}}),
        Connector::Discord => json!({"id": "1", "channel_id": "2", "content": text}),
        Connector::GitHub => json!({"html_url": "https://github.com/o/r/issues/1", "body": text}),
        Connector::Gmail => {
            use base64::Engine as _;
            let data = base64::engine::general_purpose::URL_SAFE.encode(text);
            json!({"id": "1", "payload": {"mimeType": "text/plain", "body": {"data": data}}})
        }
        Connector::GoogleDocs => {
            json!({"documentId": "1", "body": {"content": [{"paragraph": {"elements": [{"textRun": {"content": text}}]}}]}})
        }
        Connector::GoogleDrive => json!({"id": "1", "export": {"mimeType": "text/csv", "text": text}}),
        Connector::Jira => json!({"id": "1", "self": "https://a.example/rest/api/3/issue/1", "fields": {"description":
            {"type": "doc", "content": [{"type": "paragraph", "content": [{"type": "text", "text": text}]}]}}}),
        Connector::Linear => json!({"id": "1", "description": text}),
        Connector::Notion => json!({"id": "1", "blocks": [{"type": "paragraph", "paragraph": {"rich_text": [
            {"type": "text", "plain_text": text}]}}]}),
        Connector::Obsidian => json!({"path": "a.md", "content": text}),
        Connector::Slack => json!({"channel": "C", "ts": "1.2", "text": text}),
        Connector::Web => json!({"url": "https://example.org/", "html": text}),
    }
}

/// One version of an API gives its ids as numbers, another as texts; a document stays the same one.
#[test]
fn id_as_a_number_and_as_a_text_is_the_same_document() {
    let mut compared = 0;
    for connector in Connector::ALL {
        let item = around(*connector, "text");
        for pointer in ["/id", "/documentId", "/channel_id"] {
            let mut numbered = item.clone();
            if let Some(id) = numbered.pointer_mut(pointer) {
                *id = id.as_str().unwrap().parse::<u64>().unwrap().into();
                assert_eq!(
                    read(*connector, &numbered).unwrap(),
                    read(*connector, &item).unwrap(),
                    "{connector} {pointer}"
                );
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 10);
}

#[test]
fn body_of_a_megabyte_is_read_whole_and_in_time() {
    let body = "A few plain words, سلام دنیا.\n".repeat(1 << 15);
    assert!(body.len() > 1 << 20);
    for connector in Connector::ALL {
        let outcome = in_time(connector.as_str(), || read(*connector, &around(*connector, &body))).unwrap();
        let Outcome::Document(document) = outcome else { panic!("{connector}") };
        assert_eq!(document.markdown.matches("دنیا").count(), 1 << 15, "{connector}");
        assert!(document.title.as_str().len() <= 500);
    }
}

/// Cases P15 and P17: what opens and does not close, and one mark without end.
#[test]
fn text_of_nothing_but_marks_is_read_in_linear_time() {
    let ladder: Vec<_> = (1..1_000).map(|n| "`".repeat(n) + " ").collect();
    let texts = [
        "[[".repeat(300_000),
        "<".repeat(500_000),
        "<a".repeat(300_000),
        "<@".repeat(300_000),
        "*a ".repeat(200_000),
        "*a_b~c`".repeat(100_000),
        "`".repeat(500_000),
        ladder.concat(),
        "```\n".repeat(100_000),
        "> ".repeat(200_000),
        ">".repeat(200_000),
        ">\n>>\n".repeat(100_000),
        "- ".repeat(200_000),
        "a\n\n".repeat(100_000),
        "|".repeat(300_000),
        ",".repeat(500_000),
        "\"".repeat(300_000),
        "&".repeat(500_000),
        "\\".repeat(500_000),
        " ".repeat(500_000) + "x",
        "a \n".repeat(200_000),
        "---\n".repeat(100_000),
        format!("---\n{}\n---\nx", "a: [".repeat(15_000)),
        format!("---\n{}\n---\nx", "- ".repeat(30_000)),
        format!("e{}", "\u{301}".repeat(300_000)),
    ];
    for text in &texts {
        for connector in Connector::ALL {
            let item = around(*connector, text);
            in_time(&format!("{connector} {:?}", text.get(..12)), || check(*connector, &item));
        }
    }
}

/// A value nested `depth` times. Made by hand, and never dropped: the macro and the end of such a value would recurse.
fn nested(depth: usize, wrap: fn(Value) -> Vec<(&'static str, Value)>, core: Value) -> ManuallyDrop<Value> {
    let mut value = core;
    for _ in 0..depth {
        value =
            Value::Object(wrap(value).into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>());
    }
    ManuallyDrop::new(value)
}

#[test]
fn item_nested_ten_thousand_deep_is_a_typed_error() {
    type Wrap = fn(Value) -> Vec<(&'static str, Value)>;
    let list = |value| Value::Array(vec![value]);
    let object = |entries: Vec<(&str, Value)>| {
        Value::Object(entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    };
    let content: Wrap = |inner| vec![("type", json!("panel")), ("content", Value::Array(vec![inner]))];
    let blocks: Wrap = |inner| {
        vec![("type", json!("quote")), ("quote", json!({"rich_text": []})), ("children", Value::Array(vec![inner]))]
    };
    let pages: Wrap = |inner| vec![("name", json!("p")), ("pages", Value::Array(vec![inner]))];
    let tabs: Wrap = |inner| vec![("childTabs", Value::Array(vec![inner]))];
    let parts: Wrap = |inner| vec![("mimeType", json!("multipart/mixed")), ("parts", Value::Array(vec![inner]))];
    let choices: Wrap =
        |inner| vec![("mimeType", json!("multipart/alternative")), ("parts", Value::Array(vec![inner]))];
    let cells: Wrap = |inner| {
        let cell = Value::Object(Map::from_iter([("content".to_owned(), Value::Array(vec![inner]))]));
        let row = Value::Object(Map::from_iter([("tableCells".to_owned(), Value::Array(vec![cell]))]));
        let table = Value::Object(Map::from_iter([("tableRows".to_owned(), Value::Array(vec![row]))]));
        vec![("table", table)]
    };
    let take = |value: ManuallyDrop<Value>| ManuallyDrop::into_inner(value);
    for depth in [10_000, 100_000] {
        let items = [
            (
                Connector::Jira,
                object(vec![
                    ("id", json!("1")),
                    ("self", json!("https://a.example/rest/api/3/issue/1")),
                    ("fields", object(vec![("description", take(nested(depth, content, json!({}))))])),
                ]),
            ),
            (
                Connector::Notion,
                object(vec![
                    ("id", json!("1")),
                    ("blocks", list(take(nested(depth, blocks, json!({"type": "divider"}))))),
                ]),
            ),
            (
                Connector::ClickUp,
                object(vec![("id", json!("1")), ("pages", list(take(nested(depth, pages, json!({})))))]),
            ),
            (
                Connector::GoogleDocs,
                object(vec![("documentId", json!("1")), ("tabs", list(take(nested(depth, tabs, json!({})))))]),
            ),
            (
                Connector::GoogleDocs,
                object(vec![
                    ("documentId", json!("1")),
                    ("body", object(vec![("content", list(take(nested(depth, cells, json!({})))))])),
                ]),
            ),
            (Connector::Gmail, object(vec![("id", json!("1")), ("payload", take(nested(depth, parts, json!({}))))])),
        ];
        for (connector, item) in items {
            let item = ManuallyDrop::new(item);
            let error = in_time(connector.as_str(), || read(connector, &item)).unwrap_err();
            assert!(matches!(error, ItemError::TooDeep { limit: 64, .. }), "{connector}: {error}");
        }
        // Alternatives that hold no text end there, whatever is below.
        let item = object(vec![("id", json!("1")), ("payload", take(nested(depth, choices, json!({}))))]);
        let item = ManuallyDrop::new(item);
        assert!(in_time("gmail", || read(Connector::Gmail, &item)).is_err());
    }
}

/// The reader of JSON stops at 128 values, before any adapter is asked.
#[test]
fn json_text_nested_too_deep_is_refused_by_its_reader() {
    let text = format!("{}1{}", "[".repeat(129), "]".repeat(129));
    assert!(serde_json::from_str::<Value>(&text).is_err());
}
