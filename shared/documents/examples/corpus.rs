//! Reads every file under a folder, each in a process of its own, and prints one line for each: outcome, type, blocks, chars,
//! what was left out, peak memory, time.
//!
//! `cargo xtask corpus DIR` runs it.

use anchorage_documents::{Limits, MediaHint, parse_and_chunk};
use anchorage_domain::{ChunkingPolicy, Coverage};
use std::{
    env, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::Instant,
};

/// Says that the process is to read one file and nothing else.
const ONE: &str = "--one";
/// What is shown of what was left out.
const MAX_SHOWN: usize = 3;

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let result = match arguments.as_slice() {
        [one, file] if one.as_os_str() == ONE => read_one(file),
        [folder] => read_all(folder),
        _ => Err(io::Error::other("one argument is needed: the folder whose files are to be read")),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            let _gone = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn read_all(folder: &Path) -> io::Result<ExitCode> {
    let mut files = Vec::new();
    find(folder, &mut files)?;
    files.sort();
    let mut out = io::stdout().lock();
    let (mut crashed, mut refused) = (0, 0);
    for file in &files {
        let output = Command::new(env::current_exe()?).arg(ONE).arg(file).output()?;
        let line = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
        // A typed refusal ends with 1; whatever else is no outcome at all.
        let line = match output.status.code() {
            Some(0) => line,
            Some(1) => {
                refused += 1;
                line
            }
            _ => {
                crashed += 1;
                format!("CRASHED ({})", output.status)
            }
        };
        writeln!(out, "{line}  {}", file.strip_prefix(folder).unwrap_or(file).display())?;
    }
    writeln!(
        out,
        "{} files, {} read, {refused} refused, {crashed} crashed",
        files.len(),
        files.len() - refused - crashed
    )?;
    Ok(if crashed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
        if kind.is_dir() {
            find(&path, files)?;
        } else if kind.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

fn read_one(file: &Path) -> io::Result<ExitCode> {
    let bytes = fs::read(file)?;
    let filename = file.file_name().map(|name| name.to_string_lossy().into_owned());
    let hint = MediaHint { filename, content_type: None };
    let began = Instant::now();
    let read = parse_and_chunk(&bytes, &hint, ChunkingPolicy::default(), &Limits::default());
    let (took, peak) = (began.elapsed().as_millis(), peak_mib()?);
    let (line, code) = match read {
        Ok(document) => {
            let Coverage { blocks, chars, pages, partial, skipped, .. } = &document.coverage;
            let outcome = if *partial { "partial" } else { "ok" };
            let pages = pages.map(|pages| format!(" {pages} pages")).unwrap_or_default();
            let shown: Vec<_> =
                skipped.iter().take(MAX_SHOWN).map(|part| format!("{}: {:?}", part.what, part.reason)).collect();
            let more = if skipped.len() > MAX_SHOWN { ", …" } else { "" };
            let kind = format!("{:?}", document.media_type);
            let counts = format!("{blocks:6} blocks {:6} chunks {chars:8} chars{pages}", document.chunks.len());
            (format!("{outcome:16} {kind:10} {counts} {peak:4} MiB {took:5} ms [{}{more}]", shown.join(", ")), 0)
        }
        Err(error) => (format!("{:16} {error} {peak:4} MiB {took:5} ms", code_of(&error)), 1),
    };
    writeln!(io::stdout(), "{line}")?;
    Ok(ExitCode::from(code))
}

/// The variant's name is the outcome's.
fn code_of(error: &anchorage_documents::ParseError) -> String {
    let name = format!("{error:?}");
    name.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned()
}

/// The most memory this process had, in MiB.
fn peak_mib() -> io::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    Ok(peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0).div_ceil(1024))
}
