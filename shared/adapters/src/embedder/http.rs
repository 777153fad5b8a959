//! An embedder behind HTTP: `POST {url}/embeddings` in the form that `OpenAI` made familiar.

use super::{check_inputs, check_vectors, outage, rejected};
use anchorage_ports::{EmbedError, Embedder, EmbedderSpec, Embeddings, InputKind, OutageKind};
use async_trait::async_trait;
use backon::{ExponentialBuilder, Retryable as _};
use reqwest::{Client, StatusCode, Url, redirect};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use std::time::Duration;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Largest answer read. A full batch of the largest models is a few megabytes.
const MAX_RESPONSE_BYTES: usize = 32 * 1024 * 1024;
/// Attempts after the first, all within the caller's time.
const RETRIES: usize = 2;
const FIRST_RETRY_AFTER: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(super) struct HttpEmbedder {
    spec: EmbedderSpec,
    /// An address that is none is reported by the first call.
    endpoint: Result<(Client, Url), EmbedError>,
    api_key: Option<SecretString>,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [&'a str],
    input_type: &'static str,
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct Response {
    data: Vec<Item>,
    #[serde(default)]
    usage: Usage,
}

#[derive(Deserialize)]
struct Item {
    index: usize,
    embedding: Vec<f32>,
}

#[derive(Deserialize, Default)]
struct Usage {
    #[serde(default)]
    total_tokens: u64,
}

fn endpoint(url: &str) -> Result<(Client, Url), EmbedError> {
    let wrong = || outage(OutageKind::Refused, "the configured address is not an http or https URL");
    let url = Url::parse(&format!("{}/embeddings", url.trim_end_matches('/'))).map_err(|_| wrong())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong());
    }
    // A redirect would carry documents, and the key, to somebody else.
    let client = Client::builder().connect_timeout(CONNECT_TIMEOUT).no_proxy().redirect(redirect::Policy::none());
    let client = client.build().map_err(|_| outage(OutageKind::Unavailable, "no HTTP client could be made"))?;
    Ok((client, url))
}

/// The vendor's own words are not repeated: they may quote a document.
fn failure(status: StatusCode) -> EmbedError {
    let detail = format!("status {}", status.as_u16());
    match status {
        StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY => {
            rejected(None, detail)
        }
        StatusCode::TOO_MANY_REQUESTS => outage(OutageKind::Throttled, detail),
        StatusCode::REQUEST_TIMEOUT | StatusCode::GATEWAY_TIMEOUT => outage(OutageKind::TimedOut, detail),
        status if status.is_server_error() => outage(OutageKind::Unavailable, detail),
        _ => outage(OutageKind::Refused, detail),
    }
}

fn transport(error: &reqwest::Error) -> EmbedError {
    if error.is_timeout() {
        outage(OutageKind::TimedOut, "the connection timed out")
    } else {
        outage(OutageKind::Unavailable, "the connection failed")
    }
}

fn is_transient(error: &EmbedError) -> bool {
    match error {
        EmbedError::Outage(outage) => matches!(outage.kind, OutageKind::Throttled | OutageKind::Unavailable),
        EmbedError::Rejected { .. } => false,
    }
}

impl HttpEmbedder {
    pub(super) fn new(spec: EmbedderSpec, url: &str, api_key: Option<SecretString>) -> Self {
        Self { spec, endpoint: endpoint(url), api_key }
    }

    async fn attempt(&self, client: &Client, url: &Url, request: &Request<'_>) -> Result<Response, EmbedError> {
        let post = client.post(url.clone()).json(request);
        let post = match &self.api_key {
            Some(key) => post.bearer_auth(key.expose_secret().trim()),
            None => post,
        };
        let mut response = post.send().await.map_err(|error| transport(&error))?;
        if !response.status().is_success() {
            return Err(failure(response.status()));
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| transport(&error))? {
            if body.len().saturating_add(chunk.len()) > MAX_RESPONSE_BYTES {
                return Err(outage(
                    OutageKind::Refused,
                    format!("the answer is larger than {MAX_RESPONSE_BYTES} bytes"),
                ));
            }
            body.extend_from_slice(&chunk);
        }
        serde_json::from_slice(&body).map_err(|_| outage(OutageKind::Refused, "the answer is not of the known form"))
    }
}

#[async_trait]
impl Embedder for HttpEmbedder {
    fn spec(&self) -> &EmbedderSpec {
        &self.spec
    }

    async fn embed(&self, inputs: &[&str], kind: InputKind, timeout: Duration) -> Result<Embeddings, EmbedError> {
        check_inputs(&self.spec, inputs)?;
        let (client, url) = self.endpoint.as_ref().map_err(Clone::clone)?;
        let request = Request {
            model: &self.spec.model,
            input: inputs,
            input_type: match kind {
                InputKind::Query => "query",
                InputKind::Passage => "passage",
            },
            encoding_format: "float",
        };
        let policy =
            ExponentialBuilder::default().with_min_delay(FIRST_RETRY_AFTER).with_max_times(RETRIES).with_jitter();
        let retried = (|| self.attempt(client, url, &request)).retry(policy).when(is_transient);
        let Response { mut data, usage } = match tokio::time::timeout(timeout, retried).await {
            Ok(answer) => answer?,
            Err(_) => return Err(outage(OutageKind::TimedOut, format!("no answer in {} ms", timeout.as_millis()))),
        };
        data.sort_by_key(|item| item.index);
        if data.iter().enumerate().any(|(place, item)| item.index != place) {
            return Err(outage(OutageKind::Refused, "the answer does not name each input once"));
        }
        let vectors: Vec<_> = data.into_iter().map(|item| item.embedding).collect();
        check_vectors(&self.spec, inputs.len(), &vectors)?;
        Ok(Embeddings { vectors, tokens: usage.total_tokens })
    }
}
