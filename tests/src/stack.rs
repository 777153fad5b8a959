//! A running local stack as the acceptance tests see it: over HTTP, the queue, and the operator's command line.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::{
    collections::BTreeMap,
    path::PathBuf,
    process::Command,
    time::{Duration, Instant},
};

/// Longest wait for a state that the stack is expected to reach.
pub const PATIENCE: Duration = Duration::from_secs(90);
/// Pause between two looks at a state.
const POLL: Duration = Duration::from_millis(50);

/// What `cargo xtask test` says about the stack it has started.
#[derive(Debug)]
pub struct Stack {
    pub http: reqwest::Client,
}

/// The stack's address book.
///
/// # Panics
/// When the tests were started without a stack.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the tests' one look at the environment")]
pub fn setting(name: &str) -> String {
    std::env::var(name)
        .unwrap_or_else(|_| panic!("{name} is not set: these tests need the local stack; run `cargo xtask test`"))
}

#[must_use]
pub fn stack() -> Stack {
    // The client asks for a TLS library even where it will speak plain HTTP.
    let _installed_before = rustls::crypto::ring::default_provider().install_default();
    Stack { http: reqwest::Client::new() }
}

/// An answer of the API.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    pub headers: BTreeMap<String, String>,
    pub body: Value,
}

impl Reply {
    /// The reply again, or a failed test that shows it.
    ///
    /// # Panics
    /// When the status is another one.
    #[must_use]
    #[track_caller]
    pub fn expect_status(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.body);
        self
    }

    #[must_use]
    pub fn text(&self, pointer: &str) -> &str {
        self.body.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }

    #[must_use]
    pub fn list(&self, pointer: &str) -> &[Value] {
        self.body.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }
}

/// A tenant of its own with a key, so that tests share nothing.
#[derive(Debug, Clone)]
pub struct Tenant {
    pub id: String,
    pub key: String,
    api: String,
    http: reqwest::Client,
}

/// A document to upload.
#[derive(Debug, Clone)]
pub struct Document {
    pub filename: String,
    pub content_type: String,
    pub bytes: Vec<u8>,
    pub domain: String,
    pub external_id: Option<String>,
}

impl Document {
    #[must_use]
    pub fn new(domain: &str, filename: &str, content_type: &str, bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            filename: filename.to_owned(),
            content_type: content_type.to_owned(),
            bytes: bytes.into(),
            domain: domain.to_owned(),
            external_id: None,
        }
    }

    #[must_use]
    pub fn text(domain: &str, filename: &str, text: &str) -> Self {
        Self::new(domain, filename, "text/plain", text)
    }

    #[must_use]
    pub fn with_external_id(mut self, id: &str) -> Self {
        self.external_id = Some(id.to_owned());
        self
    }

    /// The body of `POST /v1/files`.
    #[must_use]
    pub fn announcement(&self) -> Value {
        let mut body = json!({
            "filename": self.filename,
            "size_bytes": self.bytes.len(),
            "sha256": hex::encode(Sha256::digest(&self.bytes)),
            "domain": self.domain,
            "content_type": self.content_type,
        });
        if let (Some(id), Some(fields)) = (&self.external_id, body.as_object_mut()) {
            fields.insert("external_id".into(), json!(id));
        }
        body
    }
}

impl Stack {
    /// Runs the operator's command line and reads its JSON.
    ///
    /// # Panics
    /// When it fails.
    #[must_use]
    pub fn admin(&self, arguments: &[&str]) -> Value {
        let admin = PathBuf::from(setting("ANCHORAGE_TEST_ADMIN"));
        let output = Command::new(&admin).args(arguments).output().expect("the admin binary starts");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("--json prints JSON")
    }

    /// A fresh tenant with all scopes and the given domains (`key:language`).
    #[must_use]
    pub fn tenant(&self, domains: &[&str]) -> Tenant {
        let mut arguments = vec!["provision-tenant", "--name", "acceptance", "--json"];
        for domain in domains {
            arguments.extend(["--domain", domain]);
        }
        let provisioned = self.admin(&arguments);
        let text = |field: &str| provisioned[field].as_str().expect("a text").to_owned();
        let id = text("tenant_id");
        let all = "files:read,files:write,points:read,points:write,domains:read,domains:write,rag:query";
        let key = self.admin(&["keys", "create", "--tenant", &id, "--scopes", all, "--json"]);
        Tenant {
            id,
            key: key["api_key"].as_str().expect("a text").to_owned(),
            api: setting("ANCHORAGE_TEST_API_URL").trim_end_matches('/').to_owned(),
            http: self.http.clone(),
        }
    }
}

impl Tenant {
    /// The same tenant with another key.
    #[must_use]
    pub fn with_key(&self, key: &str) -> Self {
        Self { key: key.to_owned(), ..self.clone() }
    }

    /// # Panics
    /// When the stack does not answer.
    pub async fn call(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&Value>) -> Reply {
        let method = method.parse().expect("a method");
        let mut request = self.http.request(method, format!("{}{path}", self.api)).timeout(PATIENCE);
        if !self.key.is_empty() {
            request = request.header("x-api-key", &self.key);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await.expect("the API answers");
        let headers = response
            .headers()
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap_or_default().to_owned()))
            .collect();
        let status = response.status().as_u16();
        let bytes = response.bytes().await.expect("a whole body");
        Reply { status, headers, body: serde_json::from_slice(&bytes).unwrap_or(Value::Null) }
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.call("GET", path, &[], None).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Reply {
        self.call("POST", path, &[], Some(body)).await
    }

    pub async fn delete(&self, path: &str) -> Reply {
        self.call("DELETE", path, &[], None).await
    }

    /// Announces a document and, when asked to, sends its bytes.
    pub async fn upload(&self, document: &Document) -> Reply {
        let ticket = self.post("/v1/files", &document.announcement()).await;
        assert!([200, 201].contains(&ticket.status), "{}", ticket.body);
        if ticket.body["upload"].is_object() {
            let status = self.send(&ticket.body["upload"], document.bytes.clone(), &[]).await;
            assert_eq!(status, 200, "{}", ticket.body);
        }
        ticket
    }

    /// Makes the presigned request, with some headers replaced, and says how the object store answered.
    ///
    /// # Panics
    /// When the store does not answer.
    pub async fn send(&self, upload: &Value, bytes: Vec<u8>, replaced: &[(&str, &str)]) -> u16 {
        let url = upload["url"].as_str().expect("a URL");
        let mut request = self.http.put(url).timeout(PATIENCE);
        for (name, value) in upload["headers"].as_object().expect("headers") {
            let value = value.as_str().expect("a text");
            let value = replaced.iter().find(|(other, _)| other == name).map_or(value, |(_, value)| *value);
            // The client library sets the length from the body it is given.
            if name != "content-length" {
                request = request.header(name, value);
            }
        }
        request.body(bytes).send().await.expect("the object store answers").status().as_u16()
    }

    /// Uploads and waits until the file is searchable.
    pub async fn ingest(&self, document: &Document) -> String {
        let ticket = self.upload(document).await;
        let file = ticket.text("/file_id").to_owned();
        self.wait_for(&file, "ready").await;
        file
    }

    /// Waits until a file has a status, and returns the file.
    ///
    /// # Panics
    /// When it ends in another state, or never gets there.
    pub async fn wait_for(&self, file: &str, status: &str) -> Reply {
        let until = Instant::now() + PATIENCE;
        loop {
            let reply = self.get(&format!("/v1/files/{file}")).await.expect_status(200);
            let now = reply.text("/status").to_owned();
            if now == status {
                return reply;
            }
            let ended = ["ready", "failed"].contains(&now.as_str());
            assert!(!ended, "the file ended as {now}, not {status}: {}", reply.body);
            assert!(Instant::now() < until, "the file is still {now}, not {status}: {}", reply.body);
            tokio::time::sleep(POLL).await;
        }
    }

    pub async fn search(&self, query: &str, domain: &str) -> Reply {
        self.post("/v1/rag/search", &json!({"query": query, "domain": domain})).await.expect_status(200)
    }

    pub async fn ask(&self, query: &str, domain: &str) -> Reply {
        self.post("/v1/rag/query", &json!({"query": query, "domain": domain})).await.expect_status(200)
    }
}

/// Waits until `look` gives something.
///
/// # Panics
/// When it never does.
pub async fn eventually<T, F: Future<Output = Option<T>>>(what: &str, mut look: impl FnMut() -> F) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < until, "{what} did not happen within {PATIENCE:?}");
        tokio::time::sleep(POLL).await;
    }
}
