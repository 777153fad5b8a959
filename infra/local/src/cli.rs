//! What the command line takes.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::embedder;

/// The parts of the local stack that are ours.
#[derive(Debug, Parser)]
#[command(version, about)]
pub struct Cli {
    /// Which part to run.
    #[command(subcommand)]
    pub part: Part,
}

/// One part of the local stack.
#[derive(Debug, Subcommand)]
pub enum Part {
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

/// How the embedder is run.
#[derive(Debug, clap::Args)]
pub struct EmbedderArgs {
    /// A loopback address; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:0", value_parser = loopback)]
    pub listen: SocketAddr,
    /// What it refuses.
    #[command(flatten)]
    pub rules: embedder::Rules,
}

fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr = text.parse().map_err(|_| "not an address and port".to_owned())?;
    if address.ip().is_loopback() { Ok(address) } else { Err("only loopback addresses are listened on".to_owned()) }
}
