//! The stack's processes. Each has a process id and a command line on disk, so that the next run finds what this one could
//! not end, and so that a test may end and restart one.

use crate::{
    failure::{Doing as _, Failure},
    run,
};
use rustix::process::{Pid, Signal, getpgid, kill_process, kill_process_group};
use std::{
    fs::{self, File},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// How long a process may take to end when it is asked to.
const GRACE: Duration = Duration::from_secs(5);

#[derive(Debug)]
struct Running {
    name: &'static str,
    child: Child,
    log: PathBuf,
}

/// Processes that end with their owner.
#[derive(Debug)]
pub struct Children {
    folder: PathBuf,
    running: Vec<Running>,
}

impl Children {
    /// Ends what an earlier run left in `folder`, and starts over with an empty one.
    pub fn in_empty(folder: PathBuf) -> Result<Self, Failure> {
        end_leftovers(&folder);
        if folder.exists() {
            fs::remove_dir_all(&folder).at("emptying", &folder)?;
        }
        fs::create_dir_all(&folder).at("making", &folder)?;
        Ok(Self { folder, running: Vec::new() })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts a process whose output goes to `log`.
    pub fn start(&mut self, name: &'static str, command: &mut Command, log: PathBuf) -> Result<(), Failure> {
        let output = File::create(&log).at("making", &log)?;
        let errors = output.try_clone().at("sharing", &log)?;
        let words: Vec<String> = std::iter::once(command.get_program())
            .chain(command.get_args())
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        self.write(name, "cmd", &words.join("\n"))?;
        // A group of its own: a Ctrl-C on the terminal reaches this program alone, which ends the stack in order.
        let child = command
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .process_group(0)
            .spawn()
            .doing(format!("starting {name}"))?;
        let pid = child.id();
        self.running.push(Running { name, child, log });
        self.write(name, "pid", &pid.to_string())
    }

    fn write(&self, name: &str, kind: &str, text: &str) -> Result<(), Failure> {
        let path = self.folder.join(name).with_extension(kind);
        fs::write(&path, text).at("writing", &path)
    }

    /// Waits until `look` is satisfied, or a process has ended, or time is up.
    pub fn until(&mut self, what: &str, patience: Duration, mut look: impl FnMut() -> bool) -> Result<(), Failure> {
        let found = run::until(what, patience, || {
            self.all_alive()?;
            Ok(look().then_some(()))
        });
        match found {
            Err(Failure::Said(text)) => Err(Failure::said(format!("{text}\n{}", self.tails()))),
            other => other,
        }
    }

    /// Fails with the log of a process that ended by itself.
    pub fn all_alive(&mut self) -> Result<(), Failure> {
        for Running { name, child, log } in &mut self.running {
            if let Some(status) = child.try_wait().doing(format!("looking after {name}"))? {
                return Err(Failure::Program {
                    program: (*name).to_owned(),
                    status: status.to_string(),
                    tail: run::tail(log),
                });
            }
        }
        Ok(())
    }

    /// The ends of all logs.
    pub fn tails(&self) -> String {
        self.running.iter().map(|running| run::tail(&running.log)).collect::<Vec<_>>().join("\n")
    }

    /// Ends everything; says what was ended.
    pub fn stop(&mut self) -> Vec<&'static str> {
        let mut stopped = Vec::new();
        while let Some(Running { name, mut child, .. }) = self.running.pop() {
            end(&mut child);
            stopped.push(name);
        }
        // A test may have started one anew, and the emulator's own children outlive a hard end.
        end_leftovers(&self.folder);
        stopped
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        self.stop();
    }
}

fn pid_of(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// Asks a process and its group to end, and then makes them.
fn end(child: &mut Child) {
    if let Some(pid) = pid_of(child) {
        let _gone = kill_process_group(pid, Signal::TERM);
        let until = Instant::now() + GRACE;
        while Instant::now() < until && matches!(child.try_wait(), Ok(None)) {
            thread::sleep(run::POLL);
        }
        let _gone = kill_process_group(pid, Signal::KILL);
    }
    let _reaped = child.wait();
}

/// Ends processes that files in `folder` name, and programs that run from it.
///
/// Invariant: a process id alone ends nothing, for it may be another's by now; the command line must be the one written down.
fn end_leftovers(folder: &Path) {
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    for file in names.filter(|path| path.extension().is_some_and(|kind| kind == "pid")) {
        let pid = fs::read_to_string(&file).ok().and_then(|text| text.trim().parse().ok()).and_then(Pid::from_raw);
        let command = fs::read_to_string(file.with_extension("cmd")).unwrap_or_default();
        if let Some(pid) = pid.filter(|pid| runs(*pid, &command)) {
            let leads = getpgid(Some(pid)).is_ok_and(|group| group == pid);
            let _gone = if leads { kill_process_group(pid, Signal::KILL) } else { kill_process(pid, Signal::KILL) };
        }
    }
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw);
        let inside = fs::read_link(entry.path().join("exe")).is_ok_and(|program| program.starts_with(folder));
        if let Some(pid) = pid.filter(|_| inside) {
            let _gone = kill_process(pid, Signal::KILL);
        }
    }
}

/// Whether a process runs the command. A script's command line begins with its interpreter.
fn runs(pid: Pid, command: &str) -> bool {
    let line = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
    is_command(&String::from_utf8_lossy(&line), command)
}

fn is_command(line: &str, command: &str) -> bool {
    let line: Vec<&str> = line.trim_end_matches('\0').split('\0').collect();
    let command: Vec<&str> = command.lines().collect();
    !command.is_empty() && line.ends_with(&command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_command_knows_a_program_with_and_without_its_interpreter() {
        for (line, command, expected) in [
            ("/v/bin/serve\0--port\0one\0", "/v/bin/serve\n--port\none", true),
            ("/usr/bin/python\0/v/bin/serve\0--port\0one\0", "/v/bin/serve\n--port\none", true),
            ("/v/bin/serve\0--port\0two\0", "/v/bin/serve\n--port\none", false),
            ("vim\0notes\0", "", false),
            ("", "/v/bin/serve", false),
        ] {
            assert_eq!(is_command(line, command), expected, "{line:?} {command:?}");
        }
    }

    #[test]
    fn children_end_with_their_owner_and_leave_no_process() {
        let folder = std::env::temp_dir().join(format!("anchorage-children-{}", std::process::id()));
        let mut children = Children::in_empty(folder.clone()).unwrap();
        children.start("sleeper", Command::new("sleep").arg("600"), folder.join("log")).unwrap();
        children.all_alive().unwrap();
        let pid = fs::read_to_string(folder.join("sleeper.pid")).unwrap();
        assert_eq!(fs::read_to_string(folder.join("sleeper.cmd")).unwrap(), "sleep\n600");
        assert_eq!(children.stop(), ["sleeper"]);
        assert!(!Path::new("/proc").join(pid).exists());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn children_that_a_former_run_left_are_ended_by_the_next() {
        let folder = std::env::temp_dir().join(format!("anchorage-leftovers-{}", std::process::id()));
        let mut former = Children::in_empty(folder.clone()).unwrap();
        former.start("sleeper", Command::new("sleep").arg("30"), folder.join("log")).unwrap();
        let mut left = former.running.pop().unwrap().child;
        // A process that was started this instant may not have its command line yet.
        let pid = pid_of(&left).unwrap();
        let begun = || Ok(runs(pid, "sleep\n30").then_some(()));
        run::until("the sleeper's command line", Duration::from_secs(10), begun).unwrap();
        let next = Children::in_empty(folder.clone()).unwrap();
        assert!(!left.wait().unwrap().success());
        drop(next);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_child_that_ends_by_itself_is_reported_with_the_end_of_its_log() {
        let folder = std::env::temp_dir().join(format!("anchorage-ended-{}", std::process::id()));
        let mut children = Children::in_empty(folder.clone()).unwrap();
        let mut command = Command::new("sh");
        children.start("failing", command.args(["-c", "echo the reason; exit 3"]), folder.join("log")).unwrap();
        let failure = children.until("never", Duration::from_secs(10), || false).unwrap_err();
        assert!(failure.to_string().contains("the reason"), "{failure}");
        fs::remove_dir_all(folder).unwrap();
    }
}
