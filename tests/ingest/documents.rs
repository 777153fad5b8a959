//! Ten documents of five types, in two tenants and two domains, in three languages.

use acceptance::{
    office::{docx, xlsx},
    stack::{Document, Reply, Tenant, eventually, stack},
};
use serde_json::{Value, json};

const WORD: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const EXCEL: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/// A document, words that occur in it, and a question that it answers.
struct Sample {
    document: Document,
    keywords: &'static str,
    question: &'static str,
    /// Stands in the quoted answer.
    answer: &'static str,
}

fn samples() -> Vec<Sample> {
    let sample = |document, keywords, question, answer| Sample { document, keywords, question, answer };
    vec![
        sample(
            Document::text("support", "باتری.txt", "راهنمای دستگاه.\n\nضمانت باتری این دستگاه دوازده ماه است.\n"),
            "ضمانت باتری",
            "ضمانت باتری دستگاه چند ماه است؟",
            "دوازده ماه",
        ),
        sample(
            Document::new(
                "support",
                "opening.md",
                "text/markdown",
                "# Opening hours\n\nThe Halden branch opens at nine on weekdays.\n",
            ),
            "Halden branch",
            "When does the Halden branch open on weekdays?",
            "opens at nine",
        ),
        sample(
            Document::new("support", "دفاتر.csv", "text/csv", "شهر,تلفن\nشیراز,0713333\nتبریز,0414444\n"),
            "شیراز",
            "تلفن شیراز",
            "0713333",
        ),
        sample(
            Document::new(
                "formulary",
                "thuốc.docx",
                WORD,
                docx(&["Liều dùng", "Thuốc Zelora uống hai viên mỗi ngày sau bữa ăn."]),
            ),
            "Zelora",
            "Thuốc Zelora uống mấy viên mỗi ngày?",
            "hai viên",
        ),
        sample(
            Document::new(
                "formulary",
                "giá.xlsx",
                EXCEL,
                xlsx("Bảng giá", &[&["mã", "tên", "giá"], &["K7", "Mirapil", "52000"], &["K8", "Tanavox", "61000"]]),
            ),
            "Mirapil",
            "giá của Mirapil",
            "52000",
        ),
    ]
}

async fn assert_found(tenant: &Tenant, sample: &Sample, file: &str) {
    let domain = &sample.document.domain;
    let keyword = tenant.get(&format!("/v1/points/search?q={}&domain={domain}", encode(sample.keywords))).await;
    let keyword = keyword.expect_status(200);
    assert!(names(&keyword, "/points", file), "keyword {}: {}", sample.keywords, keyword.body);

    let search = tenant.search(sample.question, domain).await;
    assert_eq!(search.text("/results/0/file_id"), file, "{}: {}", sample.question, search.body);

    let answer = tenant.ask(sample.question, domain).await;
    assert_eq!(answer.text("/decision"), "answerable", "{}: {}", sample.question, answer.body);
    assert!(answer.text("/answer").contains(sample.answer), "{}: {}", sample.question, answer.body);
    let citation = answer.list("/citations").first().expect("an answer cites");
    assert_eq!(citation["file_id"], file);

    // The evidence is the stored text, to the letter.
    let point = tenant.get(&format!("/v1/points/{}", citation["chunk_id"].as_str().unwrap())).await.expect_status(200);
    assert!(point.text("/content").contains(citation["evidence_text"].as_str().unwrap()));
}

fn names(reply: &Reply, list: &str, file: &str) -> bool {
    reply.list(list).iter().any(|item| item["file_id"] == file)
}

/// Percent-encodes everything but letters and digits of ASCII.
fn encode(text: &str) -> String {
    text.bytes()
        .map(|b| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02X}") })
        .collect()
}

#[tokio::test]
async fn documents_of_every_type_and_language_are_found_by_their_tenant_alone() {
    let domains = ["support:fa", "formulary:vi"];
    let tenants = [stack().tenant(&domains), stack().tenant(&domains)];
    for tenant in &tenants {
        for sample in samples() {
            let file = tenant.ingest(&sample.document).await;
            assert_found(tenant, &sample, &file).await;
        }
    }
    // Case C46: the same documents stand in the other tenant, and no result names one of its files.
    let files = async |tenant: &Tenant| -> Vec<Value> {
        let list = tenant.get("/v1/files?limit=100").await.expect_status(200);
        list.list("/files").iter().map(|file| file["file_id"].clone()).collect()
    };
    let theirs = files(&tenants[1]).await;
    assert_eq!(theirs.len(), samples().len());
    for sample in samples() {
        let search = tenants[0].search(sample.question, &sample.document.domain).await;
        assert!(search.list("/results").iter().all(|hit| !theirs.contains(&hit["file_id"])), "{}", search.body);
    }
}

/// Cases C42 and C43: whichever keyboard wrote the words and however they are joined, they meet.
#[tokio::test]
async fn farsi_spellings_meet_and_the_stored_text_keeps_its_own() {
    let tenant = stack().tenant(&["fa:fa"]);
    let stored = "فهرست كتاب هاي ١٢٣ در قفسه است و كارمند می‌رود.";
    let file = tenant.ingest(&Document::text("fa", "fa.txt", stored)).await;
    for query in ["کتاب های 123", "کتاب‌های ۱۲۳", "كتاب هاي 123", "میرود", "می رود", "می‌رود"]
    {
        let found = tenant.get(&format!("/v1/points/search?q={}&domain=fa", encode(query))).await.expect_status(200);
        assert!(names(&found, "/points", &file), "{query}: {}", found.body);
        assert_eq!(found.text("/points/0/content"), stored);
        let search = tenant.search(query, "fa").await;
        assert_eq!(search.text("/results/0/file_id"), file, "{query}");
    }
}

/// A question whose words meet a document that does not answer it.
#[tokio::test]
async fn question_without_an_answer_here_is_declined_with_a_reason() {
    let tenant = stack().tenant(&["en:en"]);
    tenant
        .ingest(&Document::text(
            "en",
            "halcyon.txt",
            "Halcyon Robotics builds warehouse robots. Its R2 robot lifts forty kilograms.",
        ))
        .await;
    let answered = tenant.ask("How many kilograms does the R2 robot lift?", "en").await;
    assert_eq!(answered.text("/decision"), "answerable", "{}", answered.body);
    assert!(answered.text("/answer").contains("forty kilograms"));
    let declined = tenant.ask("Who acquired Halcyon Robotics?", "en").await;
    assert_eq!(
        (declined.text("/decision"), declined.text("/reason")),
        ("abstain", "not_in_corpus"),
        "{}",
        declined.body
    );
    assert!(declined.list("/citations").is_empty());
    let empty = stack().tenant(&["en:en"]).ask("Who acquired Halcyon Robotics?", "en").await;
    assert_eq!((empty.text("/decision"), empty.text("/reason")), ("abstain", "no_hits"));
}

/// Case C05: what waits in the queue names a document and carries nothing of it, however much there is to carry.
#[tokio::test]
async fn document_with_the_most_metadata_leaves_the_queue_both_times() {
    let tenant = stack().tenant(&["en:en"]);
    let document = Document::text("en", "a.txt", "one paragraph");
    let mut body = document.announcement();
    body["metadata"] = json!({"notes": "n".repeat(9_000), "more": "م".repeat(3_400)});
    let ticket = tenant.post("/v1/files", &body).await.expect_status(201);
    let file = ticket.text("/file_id");
    assert_eq!(tenant.send(&ticket.body["upload"], document.bytes, &[]).await, 200);
    tenant.wait_for(file, "ready").await;
    let path = format!("/v1/files/{file}");
    let job = tenant.post(&format!("{path}/reingest"), &json!({})).await.expect_status(202);
    let job = format!("{path}/jobs/{}", job.text("/job_id"));
    eventually("the job has run", async || {
        let reply = tenant.get(&job).await.expect_status(200);
        (reply.text("/status") == "succeeded").then_some(())
    })
    .await;
    assert_eq!(tenant.get(&path).await.body["metadata"], body["metadata"]);
}
