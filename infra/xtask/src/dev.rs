use crate::{
    StackArgs,
    binaries::{self, With},
    demo::DOMAINS,
    deploy::{Timing, deploy},
    failure::{Doing as _, Failure},
    progress,
    project::Project,
    run, setup,
    stack::{Embeddings, Stack},
};
use serde_json::{Value, json};
use std::{fmt::Write as _, fs};

/// What the platform tells a function of itself, for those that are started by hand.
const OF_THE_PLATFORM: [(&str, &str); 5] = [
    ("AWS_LAMBDA_FUNCTION_NAME", "by-hand"),
    ("AWS_LAMBDA_FUNCTION_VERSION", "1"),
    ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256"),
    ("AWS_LAMBDA_LOG_GROUP_NAME", "by-hand"),
    ("AWS_LAMBDA_LOG_STREAM_NAME", "by-hand"),
];

pub fn dev(project: &Project, args: &StackArgs) -> Result<(), Failure> {
    let tools = setup::setup(project)?;
    let binaries = binaries::build(project, With::Nothing)?;
    let mut stack = Stack::start(project, &tools, &binaries, ("dev", Embeddings::Model), args)?;
    let deployed = deploy(project, &tools, &binaries, &stack, Timing::USUAL)
        .and_then(|deployment| Ok((deployment.tenant(project, &binaries, &DOMAINS)?, deployment)));
    if let Err(failure) = &deployed
        && !matches!(failure, Failure::Interrupted)
    {
        stack.explain();
    }
    let (key, deployment) = deployed?;
    let description = project.root().join("docs/openapi.json");
    let text = fs::read_to_string(&description).at("reading", &description)?;
    let description: Value = serde_json::from_str(&text).unwrap_or_default();
    let api = &deployment.api;
    progress::result(&format!("\nexport API='{api}'\nexport KEY='{key}'\n\n{}", calls(&description)))
        .doing("printing")?;
    let mut environment = deployment.settings;
    environment.extend(OF_THE_PLATFORM.map(|(name, value)| (name, value.to_owned())));
    let environment = stack.write_environment(&environment)?;
    progress::note(&format!("What the functions are told is in {}.", project.shown(&environment)));
    progress::note("Ctrl-C ends the stack.");
    let ended = loop {
        // A part that dies takes the stack with it, for what is left answers wrongly.
        if let Err(ended) = stack.children.all_alive().and_then(|()| run::pause()) {
            break ended;
        }
    };
    stack.stop();
    if matches!(ended, Failure::Interrupted) { Ok(()) } else { Err(ended) }
}

/// A call of each route of the API's description, in the shell's language.
fn calls(description: &Value) -> String {
    let mut lines = String::new();
    for (path, operations) in description.get("paths").and_then(Value::as_object).into_iter().flatten() {
        for (method, operation) in operations.as_object().into_iter().flatten() {
            let method = method.to_ascii_uppercase();
            let mut line = format!("curl -s -X {method}");
            if operation.get("security").and_then(Value::as_array).is_some_and(|schemes| !schemes.is_empty()) {
                line.push_str(r#" -H "x-api-key: $KEY""#);
            }
            if operation.get("requestBody").is_some() {
                let body = body(&method, path);
                // Writing to a string cannot fail.
                let _written = write!(line, " -H 'content-type: application/json' -d '{body}'");
            }
            let address = path.replace('{', "${").replace("$${", "${");
            let _written = writeln!(lines, r#"{line} "$API{address}{}""#, query(path));
        }
    }
    lines
}

/// A body that the route takes.
fn body(method: &str, path: &str) -> Value {
    match (method, path) {
        ("POST", "/v1/files") => json!({
            "filename": "note.txt", "size_bytes": 5, "domain": "handbook", "content_type": "text/plain",
            "sha256": "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
        }),
        ("POST", "/v1/domains") => json!({"key": "support", "policy": {"language": "en"}}),
        ("POST", "/v1/connectors/{connector}/documents") => {
            json!({"domain": "handbook", "items": [{"path": "note.md", "content": "Berths are free on Monday."}]})
        }
        ("PATCH", "/v1/domains/{key}") => json!({"active": false}),
        ("POST", path) if path.starts_with("/v1/rag/") => json!({"query": "Who pays?", "domain": "handbook"}),
        _ => json!({}),
    }
}

/// What a route cannot do without in its query.
fn query(path: &str) -> &'static str {
    match path {
        "/v1/points" => "?file_id=$file_id",
        "/v1/points/search" => "?q=berth&domain=handbook",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_name_the_method_the_key_and_the_body() {
        let description = json!({"paths": {
            "/v1/domains/{key}": {"patch": {"requestBody": {}, "security": [{"api_key": []}]}},
            "/healthz": {"get": {}},
        }});
        let lines = calls(&description);
        assert!(lines.contains(r#"curl -s -X GET "$API/healthz""#), "{lines}");
        let patch = r#"curl -s -X PATCH -H "x-api-key: $KEY" -H 'content-type: application/json' -d '{"active":false}' "$API/v1/domains/${key}""#;
        assert!(lines.contains(patch), "{lines}");
    }
}
