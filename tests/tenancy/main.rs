//! One table over every operation of the contract: who may call it, and what a stranger learns.
#![cfg(test)]

use acceptance::stack::{Document, Reply, Tenant, stack};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Operations that need no key. This list may only shrink.
const OPEN: [&str; 2] = ["GET /healthz", "GET /readyz"];

/// The scope each operation asks for, and the body it takes. An operation missing here fails the test.
fn operations() -> BTreeMap<&'static str, (&'static str, Option<Value>)> {
    let upload = Document::text("d", "a.txt", "table").announcement();
    BTreeMap::from([
        ("GET /v1/files", ("files:read", None)),
        ("POST /v1/files", ("files:write", Some(upload))),
        ("GET /v1/files/{file_id}", ("files:read", None)),
        ("DELETE /v1/files/{file_id}", ("files:write", None)),
        ("GET /v1/files/{file_id}/jobs/{job_id}", ("files:read", None)),
        ("GET /v1/files/{file_id}/content", ("files:read", None)),
        ("POST /v1/files/{file_id}/reingest", ("files:write", None)),
        ("GET /v1/files/{file_id}/points", ("points:read", None)),
        ("GET /v1/domains", ("domains:read", None)),
        ("POST /v1/domains", ("domains:write", Some(json!({"key": "fresh", "policy": {"language": "en"}})))),
        ("GET /v1/domains/{key}", ("domains:read", None)),
        ("PATCH /v1/domains/{key}", ("domains:write", Some(json!({"active": true})))),
        (
            "POST /v1/connectors/{connector}/documents",
            ("files:write", Some(json!({"domain": "d", "items": [{"path": "a.md", "content": "One thing."}]}))),
        ),
        ("GET /v1/points", ("points:read", None)),
        ("GET /v1/points/count", ("points:read", None)),
        ("GET /v1/points/search", ("points:read", None)),
        ("GET /v1/points/{id}", ("points:read", None)),
        ("POST /v1/rag/query", ("rag:query", Some(json!({"query": "who", "domain": "d"})))),
        ("POST /v1/rag/search", ("points:read", Some(json!({"query": "who", "domain": "d"})))),
    ])
}

fn contract() -> Value {
    serde_json::from_str(include_str!("../../docs/openapi.json")).expect("the committed contract is JSON")
}

/// Every `METHOD /path` of the contract.
fn contract_operations() -> Vec<String> {
    let document = contract();
    let paths = document["paths"].as_object().expect("paths").clone();
    let methods = |item: &Map<String, Value>| -> Vec<String> {
        let known = ["get", "put", "post", "delete", "patch"];
        item.keys().filter(|key| known.contains(&key.as_str())).map(|key| key.to_uppercase()).collect()
    };
    paths
        .iter()
        .flat_map(|(path, item)| {
            methods(item.as_object().expect("an item")).into_iter().map(move |method| format!("{method} {path}"))
        })
        .collect()
}

/// What a tenant owns, by the parameter names of the contract.
struct Owned {
    tenant: Tenant,
    ids: BTreeMap<&'static str, String>,
}

async fn owned() -> Owned {
    let tenant = stack().tenant(&["d:en"]);
    let file = tenant.ingest(&Document::text("d", "canary.txt", "The canary of this tenant sings.")).await;
    let job = tenant.get(&format!("/v1/files/{file}")).await.text("/jobs/0/job_id").to_owned();
    let point = tenant.get(&format!("/v1/files/{file}/points")).await.text("/points/0/point_id").to_owned();
    let connector = "obsidian".to_owned();
    let ids = BTreeMap::from([
        ("file_id", file),
        ("job_id", job),
        ("id", point),
        ("key", "d".to_owned()),
        ("connector", connector),
    ]);
    Owned { tenant, ids }
}

/// The path of an operation with the given ids, with the query parameters it needs.
fn path(operation: &str, ids: &BTreeMap<&'static str, String>) -> String {
    let (_, template) = operation.split_once(' ').expect("a method and a path");
    let mut path = template.to_owned();
    for (name, id) in ids {
        path = path.replace(&format!("{{{name}}}"), id);
    }
    assert!(!path.contains('{'), "{operation} has a parameter this test does not know");
    match template {
        "/v1/points" => format!("{path}?file_id={}", ids["file_id"]),
        "/v1/points/search" => format!("{path}?q=canary&domain=d"),
        "/v1/points/count" => format!("{path}?domain=d"),
        _ => path,
    }
}

async fn call(tenant: &Tenant, operation: &str, path: &str, body: Option<&Value>) -> Reply {
    let (method, _) = operation.split_once(' ').expect("a method and a path");
    tenant.call(method, path, &[], body).await
}

fn unknown_ids() -> BTreeMap<&'static str, String> {
    let uuid = "00000000-0000-7000-8000-000000000001".to_owned();
    BTreeMap::from([("file_id", uuid.clone()), ("job_id", uuid.clone()), ("id", uuid), ("key", "not-there".to_owned())])
}

/// A body without what differs between any two requests.
fn comparable(mut reply: Reply) -> (u16, Value) {
    if let Some(body) = reply.body.as_object_mut() {
        body.remove("correlation_id");
    }
    (reply.status, reply.body)
}

#[tokio::test]
async fn every_operation_of_the_contract_is_in_the_table() {
    let table = operations();
    for operation in contract_operations() {
        assert!(table.contains_key(operation.as_str()) || OPEN.contains(&operation.as_str()), "{operation}");
    }
    assert_eq!(contract_operations().len(), table.len() + OPEN.len());
}

#[tokio::test]
async fn no_key_is_401_and_a_key_that_opens_nothing_is_403() {
    let owned = owned().await;
    let revoked = stack().admin(&["keys", "create", "--tenant", &owned.tenant.id, "--json"]);
    let text = |field: &str| revoked[field].as_str().expect("a text").to_owned();
    let _ = stack().admin(&["keys", "revoke", "--tenant", &owned.tenant.id, "--key-id", &text("key_id"), "--json"]);
    let wrong_secret = format!("{}x", &owned.tenant.key[..owned.tenant.key.len() - 1]);
    for (operation, (_, body)) in operations() {
        let path = path(operation, &owned.ids);
        let status = |key: &str| {
            let (tenant, path, body) = (owned.tenant.with_key(key), path.clone(), body.clone());
            async move { call(&tenant, operation, &path, body.as_ref()).await.status }
        };
        assert_eq!(status("").await, 401, "{operation} without a key");
        assert_eq!(status("not-a-key").await, 403, "{operation} with nonsense");
        assert_eq!(status(&wrong_secret).await, 403, "{operation} with a wrong secret");
        assert_eq!(status(&text("api_key")).await, 403, "{operation} with a revoked key");
    }
}

#[tokio::test]
async fn key_without_the_scope_is_told_which_one_is_missing() {
    let owned = owned().await;
    for (operation, (scope, body)) in operations() {
        let all =
            ["files:read", "files:write", "points:read", "points:write", "domains:read", "domains:write", "rag:query"];
        let others: Vec<_> = all.into_iter().filter(|other| *other != scope).collect();
        let created =
            stack().admin(&["keys", "create", "--tenant", &owned.tenant.id, "--scopes", &others.join(","), "--json"]);
        let tenant = owned.tenant.with_key(created["api_key"].as_str().expect("a key"));
        let reply = call(&tenant, operation, &path(operation, &owned.ids), body.as_ref()).await;
        assert_eq!((reply.status, reply.text("/code")), (403, "scope_missing"), "{operation}: {}", reply.body);
        assert!(reply.text("/detail").contains(scope), "{operation}: {}", reply.body);
    }
}

/// Cases C46 and V4: the answer about somebody else's object is the answer about no object, to the letter.
#[tokio::test]
async fn other_tenants_object_answers_exactly_like_a_missing_one() {
    let (mine, theirs) = (owned().await, owned().await);
    for (operation, (_, body)) in operations() {
        let (_, template) = operation.split_once(' ').expect("a method and a path");
        // A domain's key is the tenant's own choice and a connector's name is everybody's: neither is theirs alone.
        if !template.contains('{') || template.contains("{key}") || template.contains("{connector}") {
            continue;
        }
        let foreign = call(&mine.tenant, operation, &path(operation, &theirs.ids), body.as_ref()).await;
        let unknown = call(&mine.tenant, operation, &path(operation, &unknown_ids()), body.as_ref()).await;
        assert_eq!(foreign.status, 404, "{operation}: {}", foreign.body);
        let named = |reply: &Reply| reply.headers.keys().cloned().collect::<Vec<_>>();
        assert_eq!(named(&foreign), named(&unknown), "{operation}");
        assert_eq!(comparable(foreign), comparable(unknown), "{operation}");
    }
    // In a query parameter and in a body as well.
    for (path, ids) in
        [("/v1/points?file_id=", ()), ("/v1/points/count?file_id=", ())].map(|(path, ())| (path, &theirs.ids))
    {
        let foreign = mine.tenant.get(&format!("{path}{}", ids["file_id"])).await;
        let unknown = mine.tenant.get(&format!("{path}{}", unknown_ids()["file_id"])).await;
        assert_eq!(comparable(foreign), comparable(unknown), "{path}");
    }
    // Half foreign: a file of mine with a job of theirs.
    let half = format!("/v1/files/{}/jobs/{}", mine.ids["file_id"], theirs.ids["job_id"]);
    assert_eq!(mine.tenant.get(&half).await.status, 404);
    // And nothing happened to it.
    assert_eq!(theirs.tenant.get(&format!("/v1/files/{}", theirs.ids["file_id"])).await.text("/status"), "ready");
}

/// Case C47: a tenant that a caller names counts for nothing.
#[tokio::test]
async fn tenant_named_by_the_caller_is_refused_or_ignored() {
    let (mine, theirs) = (owned().await, owned().await);
    let in_body = json!({"query": "canary", "domain": "d", "tenant_id": theirs.tenant.id});
    for route in ["/v1/rag/search", "/v1/rag/query"] {
        let reply = mine.tenant.post(route, &in_body).await.expect_status(422);
        assert!(reply.body.to_string().contains("tenant_id"), "{}", reply.body);
    }
    let header = [("x-tenant-id", theirs.tenant.id.as_str())];
    let files = mine.tenant.call("GET", "/v1/files", &header, None).await.expect_status(200);
    assert_eq!(files.list("/files").len(), 1);
    assert_eq!(files.text("/files/0/file_id"), mine.ids["file_id"]);
    let query = format!("/v1/files?tenant_id={}", theirs.tenant.id);
    let reply = mine.tenant.get(&query).await;
    assert!(reply.status == 422 || reply.text("/files/0/file_id") == mine.ids["file_id"], "{}", reply.body);
}

#[tokio::test]
async fn own_objects_answer() {
    let owned = owned().await;
    for (operation, (_, body)) in operations() {
        if operation.starts_with("DELETE") || operation.ends_with("/reingest") {
            continue;
        }
        let reply = call(&owned.tenant, operation, &path(operation, &owned.ids), body.as_ref()).await;
        // The download is a redirect that the client follows to the object store.
        assert!((200..300).contains(&reply.status), "{operation}: {} {}", reply.status, reply.body);
    }
}
