//! What is refused: by the object store, before anything is written, or with a code in the end.

use acceptance::{
    office::{docx, encrypted, xlsx},
    stack::{Document, stack},
};
use serde_json::json;

/// Cases C09 and H3: the store itself takes no other bytes than those announced.
#[tokio::test]
async fn object_store_refuses_another_size_type_or_checksum() {
    let tenant = stack().tenant(&["d:en"]);
    let document = Document::text("d", "a.txt", "exactly these bytes");
    let ticket = tenant.post("/v1/files", &document.announcement()).await.expect_status(201);
    let upload = &ticket.body["upload"];
    let bytes = document.bytes.clone();

    let mut longer = bytes.clone();
    longer.extend_from_slice(b" and more");
    let other = b"exactly those bytes".to_vec();
    assert_eq!(other.len(), bytes.len());
    let refused = [
        tenant.send(upload, longer, &[]).await,
        tenant.send(upload, other, &[]).await,
        tenant.send(upload, bytes.clone(), &[("content-type", "text/html")]).await,
    ];
    assert!(refused.iter().all(|status| (400..500).contains(status)), "{refused:?}");
    assert_eq!(tenant.get(&format!("/v1/files/{}", ticket.text("/file_id"))).await.text("/status"), "awaiting_upload");

    assert_eq!(tenant.send(upload, bytes, &[]).await, 200);
    tenant.wait_for(ticket.text("/file_id"), "ready").await;
}

/// Nothing is written for a domain that is not there or is switched off.
#[tokio::test]
async fn unknown_or_disabled_domain_is_refused_and_nothing_is_written() {
    let tenant = stack().tenant(&["off:en"]);
    let _ = tenant.call("PATCH", "/v1/domains/off", &[], Some(&json!({"active": false}))).await.expect_status(200);
    for (domain, code) in [("off", "domain_disabled"), ("nowhere", "domain_unknown")] {
        let reply =
            tenant.post("/v1/files", &Document::text(domain, "a.txt", "x").announcement()).await.expect_status(400);
        assert_eq!(reply.text("/code"), code);
    }
    assert!(tenant.get("/v1/files").await.expect_status(200).list("/files").is_empty());
}

/// Cases C36, E13, P4, P10 and the mislabelled: each ends with the code that says what to do.
#[tokio::test]
async fn files_without_readable_text_fail_with_their_code() {
    let tenant = stack().tenant(&["d:en"]);
    let word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    let mut truncated = docx(&["a paragraph that never arrives whole"]);
    truncated.truncate(truncated.len() / 2);
    let files = [
        ("blank.txt", "text/plain", b" \n\t \n".to_vec(), "no_text"),
        ("blank.docx", word, docx(&[" ", "\t"]), "no_text"),
        ("header-only.csv", "text/csv", b"id,name\n".to_vec(), "no_text"),
        ("locked.docx", word, encrypted(), "encrypted"),
        ("old.xls", "application/vnd.ms-excel", b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\0\0".to_vec(), "parse_failed"),
        ("truncated.docx", word, truncated, "parse_failed"),
        (
            "picture.txt",
            "text/plain",
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01".to_vec(),
            "unsupported_type",
        ),
        ("broken.pdf", "application/pdf", b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\n".to_vec(), "parse_failed"),
    ];
    for (filename, content_type, bytes, code) in files {
        let ticket = tenant.upload(&Document::new("d", filename, content_type, bytes)).await;
        let file = tenant.wait_for(ticket.text("/file_id"), "failed").await;
        assert_eq!(file.text("/failure/code"), code, "{filename}: {}", file.body);
        // Case C67: one call tells the whole story.
        for field in ["stage", "text", "retryable", "attempt"] {
            assert!(!file.body["failure"][field].is_null(), "{filename}: {}", file.body);
        }
    }
    assert_eq!(tenant.get("/v1/points/count?domain=d").await.body["count"], 0);
}

/// A workbook that calls itself text is read as the workbook it is.
#[tokio::test]
async fn mislabelled_workbook_is_read_as_what_it_is() {
    let tenant = stack().tenant(&["d:en"]);
    let bytes = xlsx("Prices", &[&["id", "name"], &["1", "Gadget"]]);
    let file = tenant.ingest(&Document::new("d", "prices.txt", "text/plain", bytes)).await;
    let points = tenant.get(&format!("/v1/files/{file}/points")).await.expect_status(200);
    assert!(points.text("/points/0/content").contains("name: Gadget"), "{}", points.body);
}

/// Case C07: a failure is no success to be remembered; the same bytes may come again.
#[tokio::test]
async fn failed_file_can_be_uploaded_again_and_deleted() {
    let tenant = stack().tenant(&["d:en"]);
    let document = Document::text("d", "blank.txt", " \n ");
    let first = tenant.upload(&document).await.expect_status(201);
    let file = first.text("/file_id").to_owned();
    tenant.wait_for(&file, "failed").await;
    let second = tenant.upload(&document).await.expect_status(200);
    assert_eq!(second.text("/file_id"), file);
    assert_ne!(second.text("/job_id"), first.text("/job_id"));
    assert!(second.body["upload"].is_object());
    let _ = tenant.delete(&format!("/v1/files/{file}")).await.expect_status(202);
}
