//! `anchorage-local`: the parts of the local stack that are ours.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anchorage_local::{embedder, qdrant};
use clap::{Parser, Subcommand};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

#[derive(Debug, Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    part: Part,
}

#[derive(Debug, Subcommand)]
enum Part {
    /// Qdrant's engine behind Qdrant's gRPC API.
    Qdrant {
        /// A loopback address; port 0 takes a free one.
        #[arg(long, default_value = "127.0.0.1:6334", value_parser = loopback)]
        listen: SocketAddr,
        /// Where collections are kept. One process at a time.
        #[arg(long)]
        data: PathBuf,
    },
    /// An OpenAI-compatible embedder for tests: the same text gives the same vector, shared words are near.
    Embedder(EmbedderArgs),
}

#[derive(Debug, clap::Args)]
struct EmbedderArgs {
    /// A loopback address; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:0", value_parser = loopback)]
    listen: SocketAddr,
    #[command(flatten)]
    rules: embedder::Rules,
}

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

fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr = text.parse().map_err(|_| "not an address and port".to_owned())?;
    if address.ip().is_loopback() { Ok(address) } else { Err("only loopback addresses are listened on".to_owned()) }
}
