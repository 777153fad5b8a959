//! New content under one external id: the old generation or the new one is visible, never both and never neither.

use acceptance::stack::{Document, Tenant, eventually, stack};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

async fn contents(tenant: &Tenant, file: &str) -> Vec<String> {
    let list = tenant.get(&format!("/v1/files/{file}/points?limit=100")).await.expect_status(200);
    list.list("/points").iter().map(|point| point["content"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Cases C14, V2 and V8.
#[tokio::test]
async fn new_version_replaces_the_old_one_in_one_instant() {
    let tenant = stack().tenant(&["d:en"]);
    let version = |text: &str| Document::text("d", "a.txt", text).with_external_id("the document");
    let file = tenant.ingest(&version("alpha speaks first")).await;

    let stop = Arc::new(AtomicBool::new(false));
    let watcher = tokio::spawn({
        let (tenant, file, stop) = (tenant.clone(), file.clone(), Arc::clone(&stop));
        async move {
            let mut looks = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                looks.push(contents(&tenant, &file).await);
                let search = tenant.search("speaks", "d").await;
                let hits = search.list("/results").iter();
                looks.push(hits.map(|hit| hit["content"].as_str().unwrap_or_default().to_owned()).collect());
            }
            looks
        }
    });
    let second = tenant.upload(&version("omega speaks second")).await;
    assert_eq!(second.text("/file_id"), file);
    tenant.wait_for(&file, "ready").await;
    eventually("the new text is served", async || {
        (contents(&tenant, &file).await == ["omega speaks second"]).then_some(())
    })
    .await;
    stop.store(true, Ordering::Relaxed);
    let looks = watcher.await.unwrap();

    let (old, new) = (vec!["alpha speaks first".to_owned()], vec!["omega speaks second".to_owned()]);
    let other: Vec<_> = looks.iter().filter(|look| **look != old && **look != new).collect();
    assert!(other.is_empty(), "of {} looks these saw neither or both: {other:?}", looks.len());
    let reply = tenant.get(&format!("/v1/files/{file}")).await.expect_status(200);
    assert_eq!(reply.body["version"], 2);
    let gone = tenant.get("/v1/points/search?q=alpha&domain=d").await.expect_status(200);
    assert!(gone.list("/points").is_empty(), "{}", gone.body);
}

/// Case C16: a deletion is visible at once, everywhere, and its receipt is verified.
#[tokio::test]
async fn deleted_file_is_gone_everywhere_and_its_purge_reports_a_verified_zero() {
    let tenant = stack().tenant(&["d:en"]);
    let file = tenant.ingest(&Document::text("d", "a.txt", "The zanzibarite token is unique.")).await;
    let point = tenant.get(&format!("/v1/files/{file}/points")).await.text("/points/0/point_id").to_owned();

    let receipt = tenant.delete(&format!("/v1/files/{file}")).await.expect_status(202);
    assert!(tenant.search("zanzibarite", "d").await.list("/results").is_empty());
    assert_eq!(tenant.ask("What is the zanzibarite token?", "d").await.text("/decision"), "abstain");
    assert_eq!(tenant.get("/v1/points/count?domain=d").await.body["count"], 0);
    for path in [format!("/v1/files/{file}"), format!("/v1/points/{point}"), format!("/v1/files/{file}/points")] {
        let _ = tenant.get(&path).await.expect_status(404);
    }
    let _ = tenant.delete(&format!("/v1/files/{file}")).await.expect_status(404);

    let job = format!("/v1/files/{file}/jobs/{}", receipt.text("/job_id"));
    let done = eventually("the purge ends", async || {
        let job = tenant.get(&job).await.expect_status(200);
        (job.text("/status") == "succeeded").then_some(job)
    })
    .await;
    assert_eq!(done.body["receipt"]["points_left"], 0, "{}", done.body);
    assert_eq!(done.body["receipt"]["points_removed"], 1);
    assert_eq!(done.body["receipt"]["objects_removed"], 1);

    // The same bytes later are a new document.
    let again = tenant.ingest(&Document::text("d", "a.txt", "The zanzibarite token is unique.")).await;
    assert_ne!(again, file);
    assert_eq!(tenant.search("zanzibarite", "d").await.text("/results/0/file_id"), again);
}

/// Case C20 (ii): a shared name is no shared identity.
#[tokio::test]
async fn two_files_of_one_name_are_two_documents() {
    let tenant = stack().tenant(&["d:en"]);
    let first = tenant.ingest(&Document::text("d", "k.txt", "first body")).await;
    let second = tenant.ingest(&Document::text("d", "k.txt", "second body")).await;
    assert_ne!(first, second);
    assert_eq!(contents(&tenant, &first).await, ["first body"]);
    assert_eq!(contents(&tenant, &second).await, ["second body"]);
}
