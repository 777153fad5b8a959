use crate::{CorpusArgs, failure::Failure, progress::note, project::Project, run};
use std::process::ExitCode;

/// Reads every file of a folder as ingestion would, and says what became of each.
pub fn corpus(project: &Project, args: &CorpusArgs) -> Result<ExitCode, Failure> {
    let folder = std::path::absolute(&args.folder).map_err(|error| Failure::said(error.to_string()))?;
    if !folder.is_dir() {
        return Err(Failure::said(format!("{} is no folder", folder.display())));
    }
    note("building the parsers as they are deployed (the first time takes minutes) …");
    let mut cargo = run::builder("cargo", project.root());
    cargo.args(["run", "--release", "--package", "anchorage-documents", "--example", "corpus", "--"]).arg(folder);
    let status = run::shown(&mut cargo)?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
