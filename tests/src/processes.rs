//! Processes of the stack that a test may break.

use crate::stack::{PATIENCE, setting};
use std::{
    fs,
    net::TcpStream,
    path::PathBuf,
    process::{Command, Stdio},
    time::Instant,
};

/// The embedded vector store, by the files its starter left: its process id and its command line.
#[derive(Debug)]
pub struct VectorStore {
    folder: PathBuf,
    address: String,
}

impl VectorStore {
    #[must_use]
    pub fn of_stack() -> Self {
        let url = setting("ANCHORAGE_TEST_QDRANT_URL");
        let address = url.trim_start_matches("http://").trim_end_matches('/').to_owned();
        Self { folder: PathBuf::from(setting("ANCHORAGE_TEST_STACK_DIR")), address }
    }

    /// Ends it without a word, as a lost machine would.
    pub fn kill(&self) {
        let pid = fs::read_to_string(self.folder.join("qdrant.pid")).expect("the store's process id");
        kill(pid.trim());
        let until = Instant::now() + PATIENCE;
        while TcpStream::connect(&self.address).is_ok() {
            assert!(Instant::now() < until, "the store still answers");
        }
    }

    /// Starts it again on the same address and data, and waits until it takes connections.
    pub async fn start(&self) {
        let command = fs::read_to_string(self.folder.join("qdrant.cmd")).expect("the store's command line");
        let mut words = command.lines();
        #[expect(clippy::zombie_processes, reason = "it goes on after this test; whoever stops the stack ends it")]
        let child = Command::new(words.next().expect("a program"))
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the store starts");
        fs::write(self.folder.join("qdrant.pid"), child.id().to_string()).expect("the store's process id is kept");
        let until = Instant::now() + PATIENCE;
        while TcpStream::connect(&self.address).is_err() {
            assert!(Instant::now() < until, "the store does not answer");
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }
}

/// Kills every running instance of a function; says how many there were.
#[must_use]
pub fn kill_function(name: &str) -> usize {
    let mut killed = 0;
    for entry in fs::read_dir("/proc").expect("the process table").flatten() {
        let pid = entry.file_name().to_string_lossy().into_owned();
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        let environment = String::from_utf8_lossy(&environment);
        // Only functions of this very stack: another one may run on the same machine.
        let function = environment.split('\0').find_map(|pair| pair.strip_prefix("AWS_LAMBDA_FUNCTION_NAME="));
        let of_stack = environment.contains(&setting("ANCHORAGE_TEST_TABLE"));
        if of_stack && function.is_some_and(|function| function.ends_with(name)) && is_bootstrap(&entry.path()) {
            kill(&pid);
            killed += 1;
        }
    }
    killed
}

fn is_bootstrap(process: &std::path::Path) -> bool {
    fs::read_link(process.join("exe")).is_ok_and(|exe| exe.file_name().is_some_and(|name| name == "bootstrap"))
}

fn kill(pid: &str) {
    let status = Command::new("kill").args(["-9", pid]).status().expect("kill runs");
    assert!(status.success(), "process {pid} could not be ended");
}
