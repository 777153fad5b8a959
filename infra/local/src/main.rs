//! `anchorage-local`: the parts of the local stack that are ours.

use std::process::ExitCode;

use anchorage_local::cli::{Cli, EmbedderArgs, Part};
use anchorage_local::{embedder, qdrant};
use clap::Parser as _;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

#[tokio::main]
async fn main() -> ExitCode {
    tracing_subscriber::fmt().json().with_writer(std::io::stderr).init();
    match run(Cli::parse().part).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(event = "local.failed", %error);
            ExitCode::FAILURE
        }
    }
}

async fn run(part: Part) -> Result<(), Box<dyn std::error::Error>> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let stop = async move {
        tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
    };
    match part {
        Part::Qdrant { listen, data } => {
            let bound = qdrant::Bound::bind(listen, data).await?;
            announce("qdrant.listening", &bound.url())?;
            bound.serve(stop).await?;
        }
        Part::Embedder(EmbedderArgs { listen, rules }) => {
            let bound = embedder::Bound::bind(listen, rules).await?;
            announce("embedder.listening", &bound.url())?;
            bound.serve(stop).await?;
        }
    }
    Ok(())
}

/// The one line on standard output, for whoever started the process and waits until it answers.
fn announce(event: &str, url: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", json!({"event": event, "url": url}))?;
    out.flush()
}
