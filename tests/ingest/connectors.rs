//! Items of a source, through the API and the pipeline that uploads go through.

use acceptance::stack::{Reply, Tenant, eventually, stack};
use serde_json::{Value, json};

async fn send(tenant: &Tenant, items: Value) -> Reply {
    let body = json!({"domain": "kb", "items": items});
    tenant.post("/v1/connectors/obsidian/documents", &body).await.expect_status(202)
}

/// The only file, once it is searchable under the title.
async fn ready(tenant: &Tenant, title: &str) -> Value {
    eventually("the note is searchable", async || {
        let list = tenant.get("/v1/files").await.expect_status(200);
        let file = list.list("/files").first().cloned()?;
        (file["status"] == "ready" && file["title"] == title).then_some(file)
    })
    .await
}

#[tokio::test]
async fn item_of_a_source_becomes_a_document_and_a_new_title_embeds_nothing() {
    let tenant = stack().tenant(&["kb:en"]);
    let note = |title: &str| json!([{"path": "harbour/berths.md", "frontmatter": {"title": title}, "content": "Berth seven is free on Mondays."}]);
    assert_eq!(send(&tenant, note("Berths")).await.body["accepted"], 1);
    let file = ready(&tenant, "Berths").await;
    let answer = tenant.ask("When is berth seven free?", "kb").await;
    assert_eq!(answer.text("/decision"), "answerable", "{}", answer.body);
    assert_eq!(answer.body["citations"][0]["file_id"], file["file_id"]);

    assert_eq!(send(&tenant, note("Berths")).await.body["unchanged"], 1);
    assert_eq!(send(&tenant, note("Free berths")).await.body["title_updated"], 1);
    let renamed = ready(&tenant, "Free berths").await;
    assert_eq!((&renamed["file_id"], &renamed["version"]), (&file["file_id"], &json!(1)));
    let path = format!("/v1/files/{}", file["file_id"].as_str().unwrap());
    let jobs = tenant.get(&path).await.expect_status(200).body["jobs"].clone();
    assert_eq!(jobs[0]["counters"]["embed_calls"], 0, "{jobs}");
    assert_eq!(jobs[0]["counters"]["chunks_reused"], 1, "{jobs}");
    let points = tenant.get(&format!("{path}/points")).await.expect_status(200);
    assert_eq!((points.list("/points").len(), points.text("/points/0/title")), (1, "Free berths"));
}
