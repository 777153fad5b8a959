//! Developer commands: `cargo xtask …`. Everything they install, build or keep is under `.local/` and `target/`.

mod bench;
mod binaries;
mod check;
mod children;
mod client;
mod corpus;
mod demo;
mod deploy;
mod dev;
mod failure;
mod openapi;
mod package;
mod progress;
mod project;
mod run;
mod setup;
mod stack;
mod test;

use clap::{Parser, Subcommand};
use failure::Failure;
use project::Project;
use std::{path::PathBuf, process::ExitCode};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "Developer commands of Anchorage")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Install what the local stack needs from the Python package index into `.local/`; nothing is done twice.
    Setup,
    /// Start the local stack, ingest documents, ask about them, print the cited answers, stop everything.
    Demo(DemoArgs),
    /// Keep the local stack up until Ctrl-C; print its address, a key and a call for each route.
    Dev(StackArgs),
    /// Set up and pass every test, those of the deployed stack included.
    Test(TestArgs),
    /// What a change must satisfy short of the tests: format, lints, template, the committed API description.
    Check,
    /// Write docs/openapi.json from the code.
    Openapi {
        /// Change nothing; fail where the file is not what the code says.
        #[arg(long)]
        check: bool,
    },
    /// Build each function for AWS, ready for `sam deploy`, and print the size of its zip.
    Package,
    /// Measure what is promised of speed and memory, beside a peer or a plain call of the same run.
    Bench(BenchArgs),
    /// Read every file under a folder and print what became of each: outcome, type, counts, memory, time.
    Corpus(CorpusArgs),
}

#[derive(Debug, clap::Args)]
struct CorpusArgs {
    folder: PathBuf,
}

#[derive(Debug, clap::Args)]
struct BenchArgs {
    #[command(flatten)]
    stack: StackArgs,
}

#[derive(Debug, Default, clap::Args)]
struct StackArgs {
    /// A running Qdrant's gRPC address, used instead of the embedded engine.
    #[arg(long, env = "QDRANT_URL")]
    qdrant_url: Option<String>,
    /// The emulator's port; another one is taken where it is in use.
    #[arg(long, default_value_t = 4566)]
    port: u16,
}

#[derive(Debug, clap::Args)]
struct DemoArgs {
    /// A document of your own instead of the two examples.
    #[arg(long, requires = "ask")]
    file: Option<PathBuf>,
    /// A question of your own.
    #[arg(long)]
    ask: Option<String>,
    /// Print the answers as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    stack: StackArgs,
}

#[derive(Debug, clap::Args)]
struct TestArgs {
    /// What goes on to `cargo test`, such as a test's name.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
    #[command(flatten)]
    stack: StackArgs,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = run::catch_signals().and_then(|()| Project::find()).and_then(|project| match cli.command {
        Command::Setup => setup::setup(&project).map(|_| ExitCode::SUCCESS),
        Command::Demo(args) => demo::demo(&project, &args).map(|()| ExitCode::SUCCESS),
        Command::Dev(args) => dev::dev(&project, &args).map(|()| ExitCode::SUCCESS),
        Command::Test(args) => test::test(&project, &args),
        Command::Check => check::check(&project).map(|()| ExitCode::SUCCESS),
        Command::Openapi { check } => openapi::openapi(&project, check).map(|()| ExitCode::SUCCESS),
        Command::Bench(args) => bench::bench(&project, &args).map(|()| ExitCode::SUCCESS),
        Command::Corpus(args) => corpus::corpus(&project, &args),
        Command::Package => package::package(&project).map(|()| ExitCode::SUCCESS),
    });
    result.unwrap_or_else(|failure| {
        progress::note(&format!("\nerror: {failure}"));
        match failure {
            Failure::Interrupted => ExitCode::from(130),
            _ => ExitCode::FAILURE,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn command_line_takes_what_the_readme_shows() {
        for (line, valid) in [
            (&["demo"][..], true),
            (&["demo", "--ask", "Who?", "--json"][..], true),
            (&["demo", "--file", "a.txt", "--ask", "Who?"][..], true),
            (&["demo", "--file", "a.txt"][..], false),
            (&["test", "--", "--test", "contract"][..], true),
            (&["openapi", "--check"][..], true),
            (&["bench"][..], true),
            (&["corpus", "documents"][..], true),
            (&["corpus"][..], false),
        ] {
            let parsed = Cli::try_parse_from([&["xtask"], line].concat());
            assert_eq!(parsed.is_ok(), valid, "{line:?}");
        }
    }
}
