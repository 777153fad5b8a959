//! The template onto the local stack, as it would go to AWS, and then what an operator does after a deployment.

use crate::{
    binaries::Binaries,
    client::text,
    failure::{Doing as _, Failure},
    progress::Step,
    project::Project,
    run,
    setup::Tools,
    stack::Stack,
};
use serde_json::{Value, json};
use std::{fs, process::Command};

/// Where the deployer puts the functions' code.
const ARTIFACTS: &str = "anchorage-artifacts";
const QDRANT_KEY: &str = "/anchorage/local/qdrant-api-key";
const EMBEDDER_KEY: &str = "/anchorage/local/embedder-api-key";
const COLLECTION: &str = "anchorage";
/// Calls of AWS in Python, for this program is to build without its SDK.
const AWS: &str = include_str!("aws.py");

/// Seconds of the pipeline's two parameters.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    pub timeout: u32,
    pub visibility: u32,
}

impl Timing {
    /// The template's own.
    pub const USUAL: Self = Self { timeout: 120, visibility: 720 };
    /// So short that a test can see what follows when a function is killed, and long enough to begin a batch of chunks.
    pub const SHORT: Self = Self { timeout: 12, visibility: 72 };
}

/// A deployment on the local stack.
#[derive(Debug)]
pub struct Deployment {
    pub api: String,
    pub table: String,
    pub bucket: String,
    pub queue: String,
    pub dead_letters: String,
    /// What the functions, and the operator's command line, need to know of it.
    pub settings: Vec<(&'static str, String)>,
}

/// A bucket and a queue (its URL) that nothing deployed consumes.
pub fn unwatched(project: &Project, tools: &Tools, stack: &Stack) -> Result<(String, String), Failure> {
    let mut python = Command::new(tools.deployer("python"));
    python.envs(stack.aws()).args(["-c", AWS, "unwatched", "anchorage-contract"]);
    let made = run::read(&mut python, &project.log(&format!("{}-unwatched", stack.name))?)?;
    let made: Value =
        serde_json::from_str(&made).map_err(|_| Failure::said("what was made for the tests is no JSON"))?;
    Ok((text(&made, "/bucket").to_owned(), text(&made, "/queue").to_owned()))
}

/// Deploys and prepares the collection.
pub fn deploy(
    project: &Project,
    tools: &Tools,
    binaries: &Binaries,
    stack: &Stack,
    timing: Timing,
) -> Result<Deployment, Failure> {
    let step = Step::begin("deploying infra/template.yaml");
    let log = project.log(&format!("{}-deploy", stack.name))?;
    let python = |arguments: &[&str]| {
        let mut command = Command::new(tools.deployer("python"));
        command.envs(stack.aws()).args(["-c", AWS]).args(arguments);
        command
    };
    run::logged(&mut python(&["prepare", ARTIFACTS, QDRANT_KEY, EMBEDDER_KEY]), &log)?;

    let parameters = stack.children.folder().join("parameters.yaml");
    let values = json!({
        "QdrantUrl": stack.qdrant_url, "QdrantApiKeyParameter": QDRANT_KEY, "Collection": COLLECTION,
        "Embedders": stack.embedders(), "EmbedderApiKeyParameter": EMBEDDER_KEY,
        "IngestTimeout": timing.timeout.to_string(), "IngestVisibility": timing.visibility.to_string(),
    });
    // JSON is YAML, and the deployer takes a file by its ending.
    fs::write(&parameters, values.to_string()).at("writing", &parameters)?;
    // The emulator derives names from the stack's, and two of them may run on one machine.
    let name = format!("anchorage-{}-{}", stack.name, stack.port);
    let mut sam = Command::new(tools.deployer("sam"));
    sam.current_dir(project.root()).envs(stack.aws()).env("SAM_CLI_TELEMETRY", "0");
    sam.args(["deploy", "--config-env", "local", "--stack-name", &name, "--s3-bucket", ARTIFACTS]);
    sam.args(["--parameter-overrides", &format!("file://{}", parameters.display())]);
    run::logged(&mut sam, &log)?;

    let log = project.log(&format!("{}-outputs", stack.name))?;
    let described = run::read(&mut python(&["outputs", &name]), &log)?;
    let described: Value =
        serde_json::from_str(&described).map_err(|_| Failure::said("the deployment's outputs are no JSON"))?;
    let routes = described.get("routes").and_then(Value::as_u64).unwrap_or(0);
    if routes == 0 {
        return Err(Failure::said("the deployed API has no route"));
    }
    step.done_with(&format!("{routes} routes"));
    let deployment = Deployment::from_outputs(stack, &described)?;

    let step = Step::begin("preparing the collection");
    deployment.admin(project, binaries, &["bootstrap"])?;
    step.done();
    Ok(deployment)
}

impl Deployment {
    fn from_outputs(stack: &Stack, described: &Value) -> Result<Self, Failure> {
        let output = |name: &str| {
            let value = text(described, &format!("/outputs/{name}"));
            let missing = || Failure::said(format!("the deployment has no output {name}"));
            Some(value.to_owned()).filter(|value| !value.is_empty()).ok_or_else(missing)
        };
        let [table, bucket, queue] = [output("TableName")?, output("BucketName")?, output("IngestQueueUrl")?];
        let mut settings = stack.aws();
        settings.extend([
            ("ANCHORAGE_TABLE", table.clone()),
            ("ANCHORAGE_BUCKET", bucket.clone()),
            ("ANCHORAGE_QUEUE_URL", queue.clone()),
            ("ANCHORAGE_QDRANT_URL", stack.qdrant_url.clone()),
            ("ANCHORAGE_QDRANT_API_KEY_PARAMETER", QDRANT_KEY.to_owned()),
            ("ANCHORAGE_COLLECTION", COLLECTION.to_owned()),
            ("ANCHORAGE_EMBEDDERS", stack.embedders()),
            ("ANCHORAGE_EMBEDDER_API_KEY_PARAMETER", EMBEDDER_KEY.to_owned()),
        ]);
        Ok(Self {
            // The deployed address is a name that only AWS resolves.
            api: format!("{}/_aws/execute-api/{}/$default", stack.endpoint(), output("ApiId")?),
            bucket,
            queue,
            dead_letters: output("DeadLetterQueueUrl")?,
            table,
            settings,
        })
    }

    /// Runs the operator's command line and reads its JSON.
    pub fn admin(&self, project: &Project, binaries: &Binaries, arguments: &[&str]) -> Result<Value, Failure> {
        let mut admin = Command::new(binaries.get("anchorage-admin")?);
        admin.envs(self.settings.iter().map(|(name, value)| (name, value))).arg("--json").args(arguments);
        let output = run::read(&mut admin, &project.log("admin")?)?;
        serde_json::from_str(&output).map_err(|_| Failure::said("anchorage-admin printed no JSON"))
    }

    /// A tenant with these domains (`key:language`) and a key for everything; returns the key.
    pub fn tenant(&self, project: &Project, binaries: &Binaries, domains: &[&str]) -> Result<String, Failure> {
        let mut arguments = vec!["provision-tenant", "--name", "demo", "--scopes"];
        arguments.push("files:read,files:write,points:read,points:write,domains:read,domains:write,rag:query");
        for domain in domains {
            arguments.extend(["--domain", domain]);
        }
        let provisioned = self.admin(project, binaries, &arguments)?;
        let key = Some(text(&provisioned, "/api_key").to_owned()).filter(|key| !key.is_empty());
        key.ok_or_else(|| Failure::said("anchorage-admin gave no key"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timing_hides_a_message_for_six_timeouts() {
        for timing in [Timing::USUAL, Timing::SHORT] {
            assert!(timing.visibility >= 6 * timing.timeout, "{timing:?}");
        }
    }
}
