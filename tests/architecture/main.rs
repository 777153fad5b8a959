//! The shape of the house: which package may know what. Read from cargo's own resolution, not from the sources.
#![cfg(test)]

use serde_json::Value;
use std::{collections::BTreeSet, fs, path::Path, process::Command};

/// What a pure crate has nothing of in its tree: an executor, a network, a clock's or a random source's crate.
const IMPURE: [&str; 14] = [
    "tokio",
    "async-std",
    "hyper",
    "http",
    "reqwest",
    "tonic",
    "aws-config",
    "aws-smithy-runtime",
    "qdrant-client",
    "rand",
    "getrandom",
    "chrono",
    "tracing",
    "mio",
];

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn cargo(arguments: &[&str]) -> String {
    let output =
        Command::new(env!("CARGO")).args(arguments).args(["--offline", "--locked"]).current_dir(root()).output();
    let output = output.expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Names of everything a package is built with, features resolved for it alone.
fn tree(package: &str, more: &[&str]) -> BTreeSet<String> {
    let arguments = ["tree", "--package", package, "--edges", "normal", "--prefix", "none", "--format", "{p}"];
    cargo(&[&arguments, more].concat())
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

/// `(package, its direct normal dependencies)` of the workspace.
fn members() -> Vec<(String, BTreeSet<String>)> {
    let metadata: Value =
        serde_json::from_str(&cargo(&["metadata", "--no-deps", "--format-version", "1"])).expect("JSON");
    let name = |value: &Value| value["name"].as_str().expect("a name").to_owned();
    let direct = |package: &Value| {
        let all = package["dependencies"].as_array().expect("a list");
        all.iter().filter(|dependency| dependency["kind"].is_null()).map(name).collect()
    };
    metadata["packages"].as_array().expect("a list").iter().map(|package| (name(package), direct(package))).collect()
}

#[test]
fn pure_crates_know_no_executor_network_clock_or_randomness() {
    for package in ["anchorage-domain", "anchorage-connectors", "anchorage-documents"] {
        let mut names = tree(package, &[]);
        // `zip` brings a random source for the archives it encrypts; here it only reads. Nothing else may bring one.
        if names.contains("zip") && !tree(package, &["--prune", "zip"]).contains("getrandom") {
            names.remove("getrandom");
        }
        let impure =
            |name: &String| IMPURE.contains(&name.as_str()) || name.starts_with("aws-") || name.starts_with("lambda");
        let found: Vec<_> = names.into_iter().filter(impure).collect();
        assert_eq!(found, Vec::<String>::new(), "{package}");
    }
}

#[test]
fn dependencies_point_one_way() {
    let allowed: &[(&str, &[&str])] = &[
        ("anchorage-domain", &[]),
        ("anchorage-connectors", &["anchorage-domain"]),
        ("anchorage-documents", &["anchorage-domain"]),
        ("anchorage-ports", &["anchorage-domain"]),
        ("anchorage-service", &["anchorage-domain", "anchorage-connectors", "anchorage-documents", "anchorage-ports"]),
        ("anchorage-memory", &["anchorage-domain", "anchorage-ports"]),
        ("anchorage-adapters", &["anchorage-domain", "anchorage-ports"]),
        ("anchorage-lambda", &["anchorage-domain", "anchorage-ports", "anchorage-service", "anchorage-adapters"]),
        ("xtask", &[]),
    ];
    let members = members();
    for (package, may) in allowed {
        let (_, direct) = members.iter().find(|(name, _)| name == package).expect(package);
        let ours: Vec<_> = direct.iter().filter(|name| name.starts_with("anchorage-")).collect();
        assert!(ours.iter().all(|name| may.contains(&name.as_str())), "{package} depends on {ours:?}");
    }
}

#[test]
fn sdk_crates_are_named_by_the_adapters_alone() {
    let sdk = |name: &String| name.starts_with("aws-sdk-") || name == "aws-config" || name == "qdrant-client";
    for (package, direct) in members() {
        // The embedded engine speaks the vendor's protocol by way of the vendor's crate; it is no part of a deployment.
        let may = ["anchorage-adapters", "anchorage-local"].contains(&package.as_str());
        assert!(may || !direct.iter().any(sdk), "{package} names a vendor's SDK");
    }
}

#[test]
fn xtask_builds_without_an_sdk() {
    let found: Vec<_> =
        tree("xtask", &[]).into_iter().filter(|name| name.starts_with("aws-") || name == "tokio").collect();
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn a_function_begins_in_at_most_forty_lines() {
    let functions = fs::read_dir(root().join("functions")).expect("the functions");
    for function in functions {
        let main = function.expect("an entry").path().join("src/main.rs");
        let lines = fs::read_to_string(&main).expect("a main.rs").lines().count();
        assert!(lines <= 40, "{} has {lines} lines", main.display());
    }
}
