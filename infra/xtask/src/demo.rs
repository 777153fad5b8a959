//! From a file to a cited answer, over the HTTP API and nothing else.

use crate::{
    DemoArgs,
    binaries::{self, With},
    client::{Client, text},
    deploy::{Timing, deploy},
    failure::{Doing as _, Failure},
    progress::{self, Step},
    project::Project,
    run, setup,
    stack::{Embeddings, Stack},
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::{fs, path::PathBuf, time::Duration};

/// How long a document may take until it is searchable: a core embeds one or two chunks a second.
const INGEST_PATIENCE: Duration = Duration::from_mins(5);
/// The domains documents go to, each with its language.
pub const DOMAINS: [&str; 2] = ["handbook:en", "rahnama:fa"];

#[derive(Debug)]
struct Exercise {
    file: PathBuf,
    domain: &'static str,
    question: String,
}

pub fn demo(project: &Project, args: &DemoArgs) -> Result<(), Failure> {
    let exercises = exercises(project, args);
    let tools = setup::setup(project)?;
    let binaries = binaries::build(project, With::Nothing)?;
    let mut stack = Stack::start(project, &tools, &binaries, ("demo", Embeddings::Model), &args.stack)?;
    let answers = deploy(project, &tools, &binaries, &stack, Timing::USUAL).and_then(|deployment| {
        let key = deployment.tenant(project, &binaries, &DOMAINS)?;
        let api = Api { client: Client::new(), url: deployment.api, key };
        exercises.iter().map(|exercise| exercise.run(project, &api, &mut stack)).collect::<Result<Vec<_>, _>>()
    });
    if answers.as_ref().is_err_and(|failure| !matches!(failure, Failure::Interrupted)) {
        stack.explain();
    }
    stack.stop();
    for (exercise, answer) in exercises.iter().zip(answers?) {
        show(exercise, &answer, args.json).doing("printing the answer")?;
    }
    Ok(())
}

fn exercises(project: &Project, args: &DemoArgs) -> Vec<Exercise> {
    let examples = project.root().join("examples/demo");
    if let Some(question) = &args.ask {
        // The question's script tells the language that the document is read in.
        let farsi = question.chars().any(|letter| ('\u{600}'..='\u{6ff}').contains(&letter));
        let (domain, example) = if farsi { ("rahnama", "rahnama.txt") } else { ("handbook", "handbook.md") };
        let file = args.file.clone().unwrap_or_else(|| examples.join(example));
        return vec![Exercise { file, domain, question: question.clone() }];
    }
    let example = |file: &str, domain, question: &str| Exercise {
        file: examples.join(file),
        domain,
        question: question.to_owned(),
    };
    vec![
        example("handbook.md", "handbook", "How many days in advance must a berth reservation be cancelled?"),
        example("rahnama.txt", "rahnama", "هزینه تمدید کارت کتابخانه چقدر است؟"),
    ]
}

impl Exercise {
    fn run(&self, project: &Project, api: &Api, stack: &mut Stack) -> Result<Value, Failure> {
        let shown = project.shown(&self.file);
        let step = Step::begin(format!("uploading {shown}"));
        let bytes = fs::read(&self.file).at("reading", &self.file)?;
        let filename = self.file.file_name().unwrap_or_default().to_string_lossy();
        let ticket = api.post(
            "/v1/files",
            &json!({
                "filename": filename, "size_bytes": bytes.len(), "sha256": hex::encode(Sha256::digest(&bytes)),
                "domain": self.domain, "content_type": content_type(&filename),
            }),
        )?;
        api.send(&ticket, bytes)?;
        step.done();

        let step = Step::begin(format!("ingesting {shown}"));
        let path = format!("/v1/files/{}", text(&ticket, "/file_id"));
        let file = run::until("the document is searchable", INGEST_PATIENCE, || {
            stack.children.all_alive()?;
            let file = api.get(&path)?;
            let status = text(&file, "/status");
            step.now(status);
            match status {
                "ready" => Ok(Some(file)),
                "failed" => Err(Failure::said(format!("the document was refused: {file}"))),
                _ => Ok(None),
            }
        })?;
        step.done_with(text(&file, "/status"));

        let step = Step::begin("asking");
        let answer = api.post("/v1/rag/query", &json!({"query": self.question, "domain": self.domain}))?;
        step.done();
        Ok(answer)
    }
}

fn content_type(filename: &str) -> &'static str {
    match filename.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).as_deref() {
        Some("md") => "text/markdown",
        Some("csv") => "text/csv",
        Some("docx") => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        Some("xlsx") => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        Some("pptx") => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        Some("xls") => "application/vnd.ms-excel",
        Some("ods") => "application/vnd.oasis.opendocument.spreadsheet",
        Some("html" | "htm") => "text/html",
        Some("json") => "application/json",
        Some("jsonl") => "application/x-ndjson",
        Some("eml") => "message/rfc822",
        _ => "text/plain",
    }
}

/// The deployed API, for one tenant.
#[derive(Debug)]
pub struct Api {
    pub client: Client,
    pub url: String,
    pub key: String,
}

impl Api {
    pub fn get(&self, path: &str) -> Result<Value, Failure> {
        self.call("GET", path, Vec::new())
    }

    pub fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        self.call("POST", path, body.to_string().into_bytes())
    }

    fn call(&self, method: &str, path: &str, body: Vec<u8>) -> Result<Value, Failure> {
        let headers = [("x-api-key", self.key.as_str()), ("content-type", "application/json")];
        match self.client.call(method, &format!("{}{path}", self.url), &headers, body)? {
            (200..300, answer) => Ok(answer),
            (status, answer) => Err(Failure::said(format!("{method} {path}: {status} {answer}"))),
        }
    }

    /// Sends a document where, and how, its ticket says.
    pub fn send(&self, ticket: &Value, bytes: Vec<u8>) -> Result<(), Failure> {
        let Some(headers) = ticket.pointer("/upload/headers").and_then(Value::as_object) else {
            return Err(Failure::said("the API gave no address to upload to"));
        };
        // The client writes the length itself.
        let headers = headers.iter().filter(|(name, _)| *name != "content-length");
        let headers: Vec<_> = headers.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?))).collect();
        match self.client.call("PUT", text(ticket, "/upload/url"), &headers, bytes)? {
            (200, _) => Ok(()),
            (status, _) => Err(Failure::said(format!("the object store refused the document: {status}"))),
        }
    }
}

fn show(exercise: &Exercise, answer: &Value, as_json: bool) -> std::io::Result<()> {
    if as_json {
        return progress::result(&json!({"question": exercise.question, "answer": answer}).to_string());
    }
    progress::result(&format!("\nQ  {}", exercise.question))?;
    let said = text(answer, "/answer");
    if said.is_empty() {
        progress::result(&format!("A  ({}: {})", text(answer, "/decision"), text(answer, "/reason")))?;
    } else {
        progress::result(&format!("A  {said}"))?;
    }
    for (number, citation) in answer.get("citations").and_then(Value::as_array).into_iter().flatten().enumerate() {
        let source = [text(citation, "/source_document"), text(citation, "/section_title")];
        let source: Vec<&str> = source.into_iter().filter(|part| !part.is_empty()).collect();
        progress::result(&format!("   [{}] {}", number + 1, source.join(" · ")))?;
        for line in text(citation, "/evidence_text").lines() {
            progress::result(&format!("       {line}"))?;
        }
    }
    match text(answer, "/disclaimer") {
        "" => Ok(()),
        disclaimer => progress::result(&format!("   {disclaimer}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_type_goes_by_the_ending() {
        for (filename, expected) in [
            ("a.MD", "text/markdown"),
            ("a.b.csv", "text/csv"),
            ("a.txt", "text/plain"),
            ("README", "text/plain"),
            ("a.eml", "message/rfc822"),
        ] {
            assert_eq!(content_type(filename), expected, "{filename}");
        }
    }

    #[test]
    fn exercises_take_the_domain_from_the_script_of_the_question() {
        let project = Project::find().unwrap();
        let asked = |ask: &str| DemoArgs {
            file: None,
            ask: Some(ask.to_owned()),
            json: false,
            stack: crate::StackArgs::default(),
        };
        for (question, domain) in [("Who pays?", "handbook"), ("چه کسی می‌پردازد؟", "rahnama")] {
            assert_eq!(exercises(&project, &asked(question))[0].domain, domain);
        }
    }

    #[test]
    fn exercises_of_our_own_have_their_files() {
        let project = Project::find().unwrap();
        let args = DemoArgs { file: None, ask: None, json: false, stack: crate::StackArgs::default() };
        for exercise in exercises(&project, &args) {
            assert!(exercise.file.is_file(), "{}", exercise.file.display());
        }
    }
}
