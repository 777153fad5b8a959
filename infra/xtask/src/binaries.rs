//! Building our own programs, once and the same way for every command, so that nothing is compiled twice.

use crate::{
    failure::{Doing as _, Failure},
    progress::{Step, note},
    project::Project,
    run,
};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

/// The functions of the template, each a package and a program of that name.
pub const FUNCTIONS: [&str; 9] =
    ["authorizer", "upload-url", "ingest", "ingest-dlq", "points", "rag-query", "domains", "connectors", "health"];

/// The programs that were built, by name.
#[derive(Debug)]
pub struct Binaries(BTreeMap<String, PathBuf>);

impl Binaries {
    pub fn get(&self, name: &str) -> Result<&Path, Failure> {
        self.0.get(name).map(PathBuf::as_path).ok_or_else(|| Failure::said(format!("the build made no {name}")))
    }
}

/// What is built beside the programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum With {
    Nothing,
    /// Their dependencies have other features than the programs alone, so tests ask for both at once.
    Tests,
}

/// Builds every program of the workspace and puts each function where the template looks for it.
pub fn build(project: &Project, with: With) -> Result<Binaries, Failure> {
    let binaries = compile(project, with)?;
    let step = Step::begin("putting the functions in place");
    for name in FUNCTIONS {
        place(binaries.get(name)?, &project.function(name))?;
    }
    step.done();
    Ok(binaries)
}

/// Builds every program of the workspace.
pub fn compile(project: &Project, with: With) -> Result<Binaries, Failure> {
    note("building (the first time takes minutes) …");
    let messages = project.local().join("build.json");
    let file = fs::File::create(&messages).at("making", &messages)?;
    let mut cargo = run::builder("cargo", project.root());
    cargo.args(["build", "--profile", "local", "--workspace", "--bins"]);
    if with == With::Tests {
        cargo.arg("--tests");
    }
    // Which file is which program's is cargo's to say: the target folder can be anywhere.
    run::must_show(cargo.args(["--message-format", "json-render-diagnostics"]).stdout(file))?;
    let text = fs::read_to_string(&messages).at("reading", &messages)?;
    Ok(Binaries(text.lines().filter_map(program).collect()))
}

fn program(message: &str) -> Option<(String, PathBuf)> {
    let message: Value = serde_json::from_str(message).ok()?;
    let is = |pointer: &str, value: &str| message.pointer(pointer).and_then(Value::as_str) == Some(value);
    let test = message.pointer("/profile/test").and_then(Value::as_bool) == Some(true);
    if test || !is("/reason", "compiler-artifact") || !is("/target/kind/0", "bin") {
        return None;
    }
    let name = message.pointer("/target/name")?.as_str()?.to_owned();
    Some((name, PathBuf::from(message.get("executable")?.as_str()?)))
}

/// Puts a program at `bootstrap`, without its symbols where `strip` is there: what is deployed is copied several times.
fn place(program: &Path, folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).at("making", folder)?;
    let bootstrap = folder.join("bootstrap");
    let written = |path: &Path| fs::metadata(path).and_then(|data| data.modified());
    if written(&bootstrap).is_ok_and(|placed| written(program).is_ok_and(|built| built < placed)) {
        return Ok(());
    }
    let stripped = Command::new("strip").arg("-o").arg(&bootstrap).arg(program).output();
    if !stripped.is_ok_and(|output| output.status.success()) {
        fs::copy(program, &bootstrap).at("copying", program)?;
    }
    fs::set_permissions(&bootstrap, fs::Permissions::from_mode(0o755)).at("marking", &bootstrap)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_of_a_message_is_a_binary_that_is_no_test() {
        let message = |kind: &str, test: bool, path: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","target":{{"kind":["{kind}"],"name":"ingest"}},"profile":{{"test":{test}}},"executable":{path}}}"#
            )
        };
        let found = Some(("ingest".to_owned(), PathBuf::from("/t/ingest")));
        for (message, expected) in [
            (message("bin", false, r#""/t/ingest""#), found),
            (message("bin", true, r#""/t/deps/ingest-1""#), None),
            (message("lib", false, "null"), None),
            (r#"{"reason":"build-finished","success":true}"#.to_owned(), None),
            ("not json".to_owned(), None),
        ] {
            assert_eq!(program(&message), expected, "{message}");
        }
    }
}
