//! Programs that are run and waited for. A signal ends them, and with them the command.

use crate::failure::{Doing as _, Failure};
use std::{
    ffi::OsStr,
    fs::{self, File},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

/// Pause between two looks at a process or a service.
pub const POLL: Duration = Duration::from_millis(50);
/// Lines of a log shown when its program failed.
const TAIL_LINES: usize = 40;
/// Bytes of a log that are looked at for these lines.
const TAIL_BYTES: usize = 16 * 1024;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From here on Ctrl-C and a termination request let the command clean up before it ends.
pub fn catch_signals() -> Result<(), Failure> {
    ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::SeqCst))
        .map_err(|error| Failure::said(format!("signals cannot be handled: {error}")))
}

pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// A pause that a signal ends.
pub fn pause() -> Result<(), Failure> {
    if interrupted() {
        return Err(Failure::Interrupted);
    }
    thread::sleep(POLL);
    Ok(())
}

/// Looks until there is something to see.
pub fn until<T>(
    what: &str,
    patience: Duration,
    mut look: impl FnMut() -> Result<Option<T>, Failure>,
) -> Result<T, Failure> {
    let end = Instant::now() + patience;
    loop {
        if let Some(found) = look()? {
            return Ok(found);
        }
        if Instant::now() >= end {
            return Err(Failure::said(format!("{what}: not within {} s", patience.as_secs())));
        }
        pause()?;
    }
}

/// What `cargo run` tells this program of itself. Build scripts of libraries look at some of it, and with other values
/// everything above those libraries would be compiled anew: once for `cargo xtask` and once for `cargo`.
const OF_CARGO_RUN: [&str; 9] = [
    "CARGO_MANIFEST_DIR",
    "CARGO_MANIFEST_LINKS",
    "CARGO_MANIFEST_PATH",
    "CARGO_PKG_NAME",
    "CARGO_PKG_VERSION",
    "CARGO_PKG_VERSION_MAJOR",
    "CARGO_PKG_VERSION_MINOR",
    "CARGO_PKG_VERSION_PATCH",
    "CARGO_PKG_VERSION_PRE",
];

/// A program that builds: cargo, or one that calls it. It sees what it would see if the user had called it.
pub fn builder(program: impl AsRef<OsStr>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder);
    for name in OF_CARGO_RUN {
        command.env_remove(name);
    }
    command
}

/// Where the user's programs are looked for.
pub fn search_path() -> String {
    #[expect(clippy::disallowed_methods, reason = "the one place that passes the search path on")]
    std::env::var("PATH").unwrap_or_default()
}

fn name(command: &Command) -> String {
    Path::new(command.get_program()).file_name().unwrap_or(command.get_program()).to_string_lossy().into_owned()
}

fn wait(child: &mut Child, program: &str) -> Result<ExitStatus, Failure> {
    loop {
        if let Some(status) = child.try_wait().doing(format!("waiting for {program}"))? {
            return Ok(status);
        }
        if let Err(interrupted) = pause() {
            // It may have had the signal itself; where not, it is not waited for any longer.
            let _ended = child.kill();
            let _reaped = child.wait();
            return Err(interrupted);
        }
    }
}

/// Runs a program that talks to the user itself.
pub fn shown(command: &mut Command) -> Result<ExitStatus, Failure> {
    let program = name(command);
    let mut child = command.stdin(Stdio::null()).spawn().doing(format!("starting {program}"))?;
    wait(&mut child, &program)
}

/// Runs a program that talks to the user itself and must succeed.
pub fn must_show(command: &mut Command) -> Result<(), Failure> {
    let program = name(command);
    let status = shown(command)?;
    let failed = Failure::Program { program, status: status.to_string(), tail: String::new() };
    status.success().then_some(()).ok_or(failed)
}

/// Runs a program whose output goes to a log, of which the end is shown when it fails.
pub fn logged(command: &mut Command, log: &Path) -> Result<(), Failure> {
    let program = name(command);
    let file = File::create(log).at("making", log)?;
    let errors = file.try_clone().at("sharing", log)?;
    let mut child =
        command.stdin(Stdio::null()).stdout(file).stderr(errors).spawn().doing(format!("starting {program}"))?;
    let status = wait(&mut child, &program)?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::Program { program, status: status.to_string(), tail: tail(log) })
}

/// Runs a program for its standard output; its errors go to a log, of which the end is shown when it fails.
pub fn read(command: &mut Command, log: &Path) -> Result<String, Failure> {
    let program = name(command);
    let errors = File::create(log).at("making", log)?;
    let output = log.with_extension("out");
    let file = File::create(&output).at("making", &output)?;
    let mut child =
        command.stdin(Stdio::null()).stdout(file).stderr(errors).spawn().doing(format!("starting {program}"))?;
    let status = wait(&mut child, &program)?;
    let text = fs::read_to_string(&output).at("reading", &output);
    // It may hold a key.
    let _removed = fs::remove_file(&output);
    if status.success() {
        return text;
    }
    Err(Failure::Program { program, status: status.to_string(), tail: tail(log) })
}

/// The last lines of a log.
pub fn tail(log: &Path) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    let end = bytes.get(bytes.len().saturating_sub(TAIL_BYTES)..).unwrap_or_default();
    let text = String::from_utf8_lossy(end);
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.get(lines.len().saturating_sub(TAIL_LINES)..).unwrap_or_default();
    format!("--- the end of {} ---\n{}", log.display(), last.join("\n"))
}
