//! The API's description is what the code says, and holds to the contract's own rules.
#![cfg(test)]

use acceptance::api::description_text;
use serde_json::Value;
use std::{collections::HashSet, fs};

fn description() -> Value {
    serde_json::from_str(&description_text()).expect("JSON")
}

/// Every operation with its path and method.
fn operations(description: &Value) -> Vec<(String, Value)> {
    let paths = description["paths"].as_object().expect("paths");
    let of_path = |(path, methods): (&String, &Value)| {
        let methods = methods.as_object().expect("methods").clone();
        methods.into_iter().map(|(method, operation)| (format!("{method} {path}"), operation)).collect::<Vec<_>>()
    };
    paths.iter().flat_map(of_path).collect()
}

#[test]
fn committed_description_is_the_one_the_code_gives() {
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/openapi.json");
    let committed = fs::read_to_string(committed).expect("docs/openapi.json");
    let current = description_text();
    assert!(
        committed == current,
        "docs/openapi.json is out of date; write it anew with `cargo run -p acceptance --bin openapi > docs/openapi.json`"
    );
}

#[test]
fn every_operation_needs_a_key_and_describes_its_failures() {
    let mut names = HashSet::new();
    for (place, operation) in operations(&description()) {
        assert!(names.insert(operation["operationId"].as_str().expect(&place).to_owned()), "{place}");
        if !place.ends_with("/healthz") && !place.ends_with("/readyz") {
            assert!(operation["security"][0]["api_key"][0].is_string(), "{place} names no scope");
            let problem = operation.pointer("/responses/default/content/application~1problem+json");
            assert!(problem.is_some(), "{place} describes no problem");
        }
    }
}
