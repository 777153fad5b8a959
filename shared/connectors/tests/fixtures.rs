//! Every fixture under `fixtures/<connector>/`: an item in the shape of the source's API (`<name>.json`), what becomes of it
//! (`<name>.expected`), and its text (`<name>.md`, or `<name>.code`).
#![cfg(test)]

use anchorage_connectors::{Connector, ContentType, Outcome, read};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
};

fn fixtures() -> Vec<(Connector, PathBuf, Value)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut found = Vec::new();
    for connector in Connector::ALL {
        let folder = fs::read_dir(root.join(connector.as_str())).expect("a folder for every connector");
        let mut paths: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        paths.sort();
        assert!(paths.len() >= 3, "{connector}");
        for path in paths {
            let item = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            found.push((*connector, path, item));
        }
    }
    found
}

/// What becomes of an item, but for its text; and its text with the ending of its file.
fn shown(connector: Connector, item: &Value) -> (Value, Option<(&'static str, String)>) {
    let mut text = None;
    let facts = match read(connector, item) {
        Ok(Outcome::Document(document)) => {
            let ending = if document.content_type == ContentType::Code { "code" } else { "md" };
            text = Some((ending, document.markdown.clone()));
            json!({
                "document": document.document_type.as_str(),
                "external_id": document.external_id,
                "title": document.title,
                "url": document.url,
                "updated_at": document.updated_at,
                "should_summarize": document.should_summarize,
                "metadata": document.metadata,
                "skipped": document.skipped,
            })
        }
        Ok(Outcome::Removed { document_type, external_id }) => {
            json!({"removed": document_type.as_str(), "external_id": external_id})
        }
        Err(error) => json!({"error": error.code(), "field": error.field(), "detail": error.to_string()}),
    };
    (facts, text)
}

#[test]
fn fixture_gives_what_is_written_beside_it() {
    let mut wrong = Vec::new();
    for (connector, path, item) in fixtures() {
        let (facts, text) = shown(connector, &item);
        let mut differs = |ending: &str, found: Option<&str>| {
            let path = path.with_extension(ending);
            let expected = fs::read_to_string(&path).ok();
            // The order of keys is the reader's, not the document's.
            let values =
                || Some((serde_json::from_str(expected.as_deref()?).ok()?, serde_json::from_str(found?).ok()?));
            let same = ending == "expected" && values().is_some_and(|(left, right): (Value, Value)| left == right);
            if expected.as_deref() != found && !same {
                wrong.push(format!(
                    "{}\n--- expected\n{}\n--- found\n{found:?}",
                    path.display(),
                    expected.unwrap_or_default()
                ));
            }
        };
        differs("expected", Some(&facts.to_string()));
        for ending in ["md", "code"] {
            differs(ending, text.as_ref().filter(|(kind, _)| *kind == ending).map(|(_, text)| text.as_str()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
#[ignore = "writes what the test above compares with: read the difference before it is kept"]
fn write_what_is_expected() {
    for (connector, path, item) in fixtures() {
        let (facts, text) = shown(connector, &item);
        let facts = serde_json::to_string_pretty(&facts).unwrap() + "\n";
        fs::write(path.with_extension("expected"), facts).unwrap();
        if let Some((ending, text)) = text {
            fs::write(path.with_extension(ending), text).unwrap();
        }
    }
}
