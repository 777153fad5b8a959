//! What was acknowledged is there after a kill, and one process has the directory at a time.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anchorage_local::qdrant::{Bound, OpenError, ServeError, Store};
use qdrant_client::Qdrant;
use qdrant_client::qdrant::{Condition, CountPointsBuilder, CreateAliasBuilder, Filter, UpsertPointsBuilder};
use serde_json::json;

use crate::support::{connect, make, plain};

struct Process {
    child: Child,
    client: Qdrant,
}

impl Process {
    fn start(data: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_anchorage-local"))
            .args(["qdrant", "--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let line: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(line["event"], "qdrant.listening");
        let client = connect(line["url"].as_str().unwrap());
        Self { child, client }
    }

    fn signal(&mut self, name: &str) -> std::process::ExitStatus {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        self.child.wait().unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Ended already in a test that got to its end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn count(client: &Qdrant, name: &str) -> u64 {
    let of_tenant = Filter::must([Condition::matches("tenant_id", "a".to_owned())]);
    let request = CountPointsBuilder::new(name).exact(true).filter(of_tenant);
    client.count(request).await.unwrap().result.unwrap().count
}

#[tokio::test]
async fn acknowledged_writes_survive_a_kill_and_every_start_after_it() {
    let data = tempfile::tempdir().unwrap();
    let mut process = Process::start(data.path());
    make(&process.client, "kept").await;
    process.client.create_alias(CreateAliasBuilder::new("kept", "other-name")).await.unwrap();
    let mut acknowledged = 0;
    for _ in 0..3 {
        for id in acknowledged + 1..=acknowledged + 10 {
            let request = UpsertPointsBuilder::new("kept", vec![plain(id, json!({"version": id}))]);
            process.client.upsert_points(request).await.unwrap();
        }
        acknowledged += 10;
        process.signal("-KILL");
        process = Process::start(data.path());
        assert_eq!(count(&process.client, "other-name").await, acknowledged);
    }
    let info = process.client.collection_info("kept").await.unwrap().result.unwrap();
    assert_eq!(info.payload_schema.len(), 8);
    assert_eq!(info.payload_schema["tenant_id"].points, Some(30));
}

#[tokio::test]
async fn kill_in_the_middle_of_writing_loses_nothing_acknowledged() {
    let data = tempfile::tempdir().unwrap();
    let mut process = Process::start(data.path());
    make(&process.client, "kept").await;
    let client = process.client.clone();
    let (told, acknowledged) = tokio::sync::watch::channel(0_u64);
    let writing = tokio::spawn(async move {
        for id in 1_u64.. {
            let request = UpsertPointsBuilder::new("kept", vec![plain(id, json!({}))]).wait(true);
            if client.upsert_points(request).await.is_err() {
                break;
            }
            told.send(id).unwrap();
        }
    });
    let mut seen = acknowledged.clone();
    seen.wait_for(|count| *count >= 15).await.unwrap();
    process.signal("-KILL");
    writing.await.unwrap();
    let process = Process::start(data.path());
    let kept = count(&process.client, "kept").await;
    let last = *acknowledged.borrow();
    assert!(kept == last || kept == last + 1, "{last} acknowledged, {kept} kept");
}

#[tokio::test]
async fn stop_signal_ends_the_process_in_good_order() {
    for name in ["-TERM", "-INT"] {
        let data = tempfile::tempdir().unwrap();
        let mut process = Process::start(data.path());
        make(&process.client, "kept").await;
        let request = UpsertPointsBuilder::new("kept", vec![plain(1, json!({}))]);
        process.client.upsert_points(request).await.unwrap();
        assert_eq!(process.signal(name).code(), Some(0), "{name}");
        let process = Process::start(data.path());
        assert_eq!(count(&process.client, "kept").await, 1, "{name}");
    }
}

#[tokio::test]
async fn second_process_on_a_directory_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let _held = Store::open(data.path()).unwrap();
    let second = Bound::bind("127.0.0.1:0".parse().unwrap(), data.path().to_owned()).await;
    let error = second.unwrap_err();
    assert!(matches!(&error, ServeError::Open(OpenError::InUse(path)) if path == data.path()));
    assert!(error.to_string().contains("in use by another process"));
}

#[tokio::test]
async fn collection_half_made_or_half_deleted_is_cleared_away() {
    let data = tempfile::tempdir().unwrap();
    let collections = data.path().join("collections");
    std::fs::create_dir_all(collections.join(".making-x")).unwrap();
    std::fs::create_dir_all(collections.join(".gone-y")).unwrap();
    drop(Store::open(data.path()).unwrap());
    assert_eq!(std::fs::read_dir(collections).unwrap().count(), 0);
}

#[test]
fn address_outside_this_machine_is_refused() {
    let output = Command::new(env!("CARGO_BIN_EXE_anchorage-local"))
        .args(["qdrant", "--listen", "0.0.0.0:0", "--data", "unused"])
        .output()
        .unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("only loopback addresses"));
}
