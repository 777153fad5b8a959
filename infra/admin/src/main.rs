//! The operator's command line over the real services.

use anchorage_adapters::{
    AwsSettings, BootstrapReport, DynamoStore, EmbedderSettings, QdrantIndex, QdrantSettings, RandomIds, SystemClock,
    aws_config, secret_parameter,
};
use anchorage_admin::{
    Admin, AdminError, Output,
    cli::{Cli, Command, Settings},
};
use anchorage_service::{Domains, index_manifest};
use clap::Parser as _;
use serde_json::json;
use std::{io::Write as _, process::ExitCode, sync::Arc};

fn set<'a>(name: &str, value: Option<&'a String>) -> Result<&'a str, AdminError> {
    let value = value.map(|value| value.trim()).filter(|value| !value.is_empty());
    value.ok_or_else(|| AdminError::Usage(format!("{name} is not set")))
}

fn aws(settings: &Settings) -> Result<AwsSettings, AdminError> {
    let region = set("AWS_REGION", settings.region.as_ref())?.to_owned();
    Ok(AwsSettings { region, endpoint_url: None })
}

async fn bootstrap(settings: &Settings) -> Result<Output, AdminError> {
    let embedders = set("ANCHORAGE_EMBEDDERS", settings.embedders.as_ref())?;
    let embedders: Vec<EmbedderSettings> = serde_json::from_str(embedders)
        .map_err(|error| AdminError::Usage(format!("ANCHORAGE_EMBEDDERS is not valid: {error}")))?;
    let manifest = index_manifest(embedders.iter().map(EmbedderSettings::vector).collect());
    let api_key = match settings.qdrant_api_key_parameter.as_deref().map(str::trim).filter(|name| !name.is_empty()) {
        name @ Some(_) => secret_parameter(&aws_config(&aws(settings)?).await, name).await?,
        None => None,
    };
    let index = QdrantIndex::new(QdrantSettings {
        url: set("ANCHORAGE_QDRANT_URL", settings.qdrant_url.as_ref())?.to_owned(),
        api_key,
        collection: set("ANCHORAGE_COLLECTION", settings.collection.as_ref())?.to_owned(),
        vectors: manifest.vectors.clone(),
    });
    let BootstrapReport { collection_created, indexes_created, manifest_written } = index.bootstrap(&manifest).await?;
    let text = if collection_created || manifest_written || !indexes_created.is_empty() {
        format!(
            "collection {}; indexes added: {}; manifest {}",
            if collection_created { "created" } else { "was there" },
            if indexes_created.is_empty() { "none".to_owned() } else { indexes_created.join(", ") },
            if manifest_written { "written" } else { "was there" },
        )
    } else {
        "everything was there".to_owned()
    };
    let json = json!({"collection_created": collection_created, "indexes_created": indexes_created,
        "manifest_written": manifest_written, "manifest": manifest});
    Ok(Output { text, json })
}

async fn run(cli: &Cli) -> Result<Output, AdminError> {
    match &cli.command {
        Command::Bootstrap => bootstrap(&cli.settings).await,
        Command::Tenant(command) => {
            let table = set("ANCHORAGE_TABLE", cli.settings.table.as_ref())?;
            let store = Arc::new(DynamoStore::new(&aws_config(&aws(&cli.settings)?).await, table));
            let clock = Arc::new(SystemClock);
            let domains = Domains { store: store.clone(), clock: clock.clone() };
            let admin = Admin { directory: store, domains, clock, ids: Arc::new(RandomIds) };
            admin.run(command).await
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    let (written, code) = match run(&cli).await {
        Ok(output) => {
            let text = if cli.json { output.json.to_string() } else { output.text };
            (writeln!(std::io::stdout(), "{text}"), ExitCode::SUCCESS)
        }
        Err(error) => (writeln!(std::io::stderr(), "error: {error}"), ExitCode::from(error.exit_code())),
    };
    // A key that could not be shown is lost: that is a failure too.
    if written.is_ok() { code } else { ExitCode::FAILURE }
}
