//! What every route has in common: problems, correlation, methods, paths, health.
#![cfg(test)]

use acceptance::stack::{Document, stack};
use serde_json::json;

#[tokio::test]
async fn every_answer_carries_a_correlation_id_the_callers_when_it_is_well_formed() {
    let tenant = stack().tenant(&["d:en"]);
    let own = tenant.call("GET", "/v1/files", &[("x-correlation-id", "order-42.a:b_c")], None).await;
    assert_eq!(own.headers["x-correlation-id"], "order-42.a:b_c");
    for bad in ["-starts-wrong", "has space", &"x".repeat(129)] {
        let reply = tenant.call("GET", "/v1/files", &[("x-correlation-id", bad)], None).await;
        assert_ne!(reply.headers["x-correlation-id"], bad);
        assert!(!reply.headers["x-correlation-id"].is_empty());
    }
}

#[tokio::test]
async fn inbound_trace_is_continued() {
    let tenant = stack().tenant(&["d:en"]);
    let parent = ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    let reply = tenant.call("GET", "/v1/files", &[parent], None).await;
    assert_eq!(reply.headers["x-trace-id"], "4bf92f3577b34da6a3ce929d0e0e4736");
}

#[tokio::test]
async fn malformed_and_invalid_requests_are_told_apart_and_point_at_the_field() {
    let tenant = stack().tenant(&["d:en"]);
    let valid = Document::text("d", "a.txt", "x").announcement();
    let with = |field: &str, value: serde_json::Value| {
        let mut body = valid.clone();
        body[field] = value;
        body
    };
    let missing = tenant.call("POST", "/v1/files", &[("content-type", "application/json")], None).await;
    assert_eq!(missing.status, 400, "{}", missing.body);
    for (body, pointer) in [
        (with("sha256", json!("abc")), "/sha256"),
        (with("filename", json!("a/b")), "/filename"),
        (with("domain", json!("Not A Key")), "/domain"),
        (with("size_bytes", json!(0)), "/size_bytes"),
        (with("surprise", json!(1)), "/surprise"),
    ] {
        let reply = tenant.post("/v1/files", &body).await.expect_status(422);
        assert_eq!(reply.headers["content-type"], "application/problem+json");
        let pointers: Vec<_> = reply.list("/errors").iter().map(|error| error["pointer"].clone()).collect();
        assert!(pointers.contains(&json!(pointer)), "{pointer}: {}", reply.body);
        for field in ["type", "title", "detail", "code", "correlation_id"] {
            assert!(!reply.text(&format!("/{field}")).is_empty(), "{field}: {}", reply.body);
        }
    }
    let large = tenant.post("/v1/files", &with("size_bytes", json!(1_u64 << 40))).await;
    assert_eq!(large.status, 413, "{}", large.body);
}

#[tokio::test]
async fn listing_pages_cover_every_file_once() {
    let tenant = stack().tenant(&["d:en", "e:en"]);
    let mut expected = Vec::new();
    for number in 0..5 {
        let domain = if number % 2 == 0 { "d" } else { "e" };
        let ticket =
            tenant.post("/v1/files", &Document::text(domain, "a.txt", &format!("file {number}")).announcement()).await;
        expected.push(ticket.text("/file_id").to_owned());
    }
    let mut seen = Vec::new();
    let mut path = "/v1/files?limit=2".to_owned();
    loop {
        let page = tenant.get(&path).await.expect_status(200);
        seen.extend(page.list("/files").iter().map(|file| file["file_id"].as_str().unwrap().to_owned()));
        match page.body["next_cursor"].as_str() {
            Some(cursor) => path = format!("/v1/files?limit=2&cursor={cursor}"),
            None => break,
        }
    }
    expected.reverse();
    assert_eq!(seen, expected);
    let of_e = tenant.get("/v1/files?domain=e&status=awaiting_upload").await.expect_status(200);
    assert_eq!(of_e.list("/files").len(), 2);
    let _ = tenant.get("/v1/files?limit=0").await.expect_status(422);
    let _ = tenant.get("/v1/files?limit=101").await.expect_status(422);
}

#[tokio::test]
async fn domains_keep_their_key_and_refuse_a_second_of_it() {
    let tenant = stack().tenant(&[]);
    let body = json!({"key": "faq", "policy": {"language": "fa", "disclaimer": "تنها برای راهنمایی."}});
    let _ = tenant.post("/v1/domains", &body).await.expect_status(201);
    let again = tenant.post("/v1/domains", &body).await.expect_status(409);
    assert_eq!(again.text("/code"), "domain_exists");
    let renamed = tenant.call("PATCH", "/v1/domains/faq", &[], Some(&json!({"key": "other"}))).await;
    assert_eq!(renamed.status, 422, "{}", renamed.body);
    let bad = json!({"policy": {"language": "fa", "chunking": {"max_tokens": 5, "overlap_tokens": 0}}});
    let bad = tenant.call("PATCH", "/v1/domains/faq", &[], Some(&bad)).await.expect_status(422);
    assert_eq!(bad.text("/errors/0/pointer"), "/policy/chunking/max_tokens", "{}", bad.body);
    let answer = tenant.ask("سلام؟", "faq").await;
    assert_eq!(answer.text("/disclaimer"), "تنها برای راهنمایی.");
}

#[tokio::test]
async fn health_needs_no_key_and_readiness_looks_at_the_collection() {
    let nobody = stack().tenant(&[]).with_key("");
    let _ = nobody.get("/healthz").await.expect_status(200);
    let ready = nobody.get("/readyz").await;
    assert_eq!(ready.status, 200, "{}", ready.body);
}
