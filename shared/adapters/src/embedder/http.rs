//! An embedder behind HTTP: `POST {url}/embeddings` in the form that `OpenAI` made familiar.

use super::{check_inputs, check_vectors, outage, rejected};
use crate::tls;
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
    tls::install();
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

    async fn connect(&self) {
        if let Ok((client, url)) = &self.endpoint {
            // Answered by nobody, and without the key: only the connection is wanted.
            let _outcome = client.head(url.clone()).send().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anchorage_domain::VectorName;
    use serde_json::{Value, json};
    use wiremock::{
        Mock, MockServer, ResponseTemplate,
        matchers::{header, method, path},
    };

    /// Finds out that the library that encrypts is there when the client is made, not in the cloud.
    #[tokio::test]
    async fn https_endpoint_that_is_closed_is_an_outage() {
        let embedder = embedder("https://127.0.0.1:9");
        let refused = embedder.embed(&["a"], InputKind::Query, SECOND * 10).await.unwrap_err();
        let EmbedError::Outage(outage) = refused else { panic!("{refused}") };
        assert_eq!(outage.kind, OutageKind::Unavailable);
    }

    const SECOND: Duration = Duration::from_secs(1);

    fn embedder(url: &str) -> HttpEmbedder {
        let name = VectorName::new("dense").unwrap();
        let spec = EmbedderSpec { name, model: "m".into(), dims: 2, max_batch: 4, max_input_chars: 10 };
        HttpEmbedder::new(spec, &format!("{url}/v1/"), Some(SecretString::from("secret\n")))
    }

    async fn server(response: ResponseTemplate) -> MockServer {
        let server = MockServer::start().await;
        let mock =
            Mock::given(method("POST")).and(path("/v1/embeddings")).and(header("authorization", "Bearer secret"));
        mock.respond_with(response).mount(&server).await;
        server
    }

    fn vectors(data: &Value) -> ResponseTemplate {
        ResponseTemplate::new(200).set_body_json(json!({"data": data, "usage": {"total_tokens": 7}}))
    }

    async fn calls(server: &MockServer) -> usize {
        server.received_requests().await.unwrap().len()
    }

    #[tokio::test]
    async fn vectors_come_back_in_the_order_of_the_inputs() {
        let data = json!([{"index": 1, "embedding": [0.0, 1.0]}, {"index": 0, "embedding": [1.0, 0.0]}]);
        let server = server(vectors(&data)).await;
        let embeddings = embedder(&server.uri()).embed(&["a", "b"], InputKind::Query, SECOND).await.unwrap();
        assert_eq!(embeddings, Embeddings { vectors: vec![vec![1.0, 0.0], vec![0.0, 1.0]], tokens: 7 });
        let request: Value = server.received_requests().await.unwrap()[0].body_json().unwrap();
        let expected = json!({"model": "m", "input": ["a", "b"], "input_type": "query", "encoding_format": "float"});
        assert_eq!(request, expected);
    }

    #[tokio::test]
    async fn unfit_inputs_are_refused_before_any_call() {
        let server = server(vectors(&json!([]))).await;
        for (inputs, index) in
            [(vec![], None), (vec!["a"; 5], None), (vec!["a", " "], Some(1)), (vec!["12345678901"], Some(0))]
        {
            let error = embedder(&server.uri()).embed(&inputs, InputKind::Passage, SECOND).await.unwrap_err();
            assert!(matches!(error, EmbedError::Rejected { index: at, .. } if at == index), "{inputs:?}: {error}");
        }
        assert_eq!(calls(&server).await, 0);
    }

    /// Cases B4 and C55.
    #[tokio::test]
    async fn failures_say_whether_trying_again_can_help_and_are_retried_only_then() {
        for (status, kind, tries) in [
            (400, None, 1),
            (422, None, 1),
            (401, Some(OutageKind::Refused), 1),
            (404, Some(OutageKind::Refused), 1),
            (429, Some(OutageKind::Throttled), 3),
            (503, Some(OutageKind::Unavailable), 3),
        ] {
            let server = server(ResponseTemplate::new(status).set_body_string("quotes the document")).await;
            let error = embedder(&server.uri()).embed(&["a"], InputKind::Passage, SECOND * 5).await.unwrap_err();
            match (&error, kind) {
                (EmbedError::Rejected { index: None, .. }, None) => {}
                (EmbedError::Outage(outage), Some(kind)) => assert_eq!(outage.kind, kind, "{status}"),
                _ => panic!("{status}: {error:?}"),
            }
            assert!(!format!("{error:?}").contains("quotes"), "{error:?}");
            assert_eq!(calls(&server).await, tries, "{status}");
        }
    }

    #[tokio::test]
    async fn two_refusals_for_being_busy_and_then_an_answer_are_an_answer() {
        let server = server(vectors(&json!([{"index": 0, "embedding": [1.0, 0.0]}]))).await;
        let busy = Mock::given(method("POST")).respond_with(ResponseTemplate::new(429)).up_to_n_times(2);
        busy.with_priority(1).mount(&server).await;
        assert!(embedder(&server.uri()).embed(&["a"], InputKind::Passage, SECOND * 5).await.is_ok());
        assert_eq!(calls(&server).await, 3);
    }

    #[tokio::test]
    async fn a_slow_answer_is_given_up_when_the_time_is_over() {
        let server = server(vectors(&json!([])).set_delay(SECOND * 20)).await;
        let error = embedder(&server.uri()).embed(&["a"], InputKind::Query, SECOND / 5).await.unwrap_err();
        assert!(matches!(error, EmbedError::Outage(outage) if outage.kind == OutageKind::TimedOut));
    }

    #[tokio::test]
    async fn an_answer_that_does_not_fit_the_question_is_refused() {
        for data in [
            json!([]),
            json!([{"index": 0, "embedding": [1.0]}]),
            json!([{"index": 1, "embedding": [1.0, 0.0]}]),
            json!([{"index": 0, "embedding": [1.0, 0.0]}, {"index": 0, "embedding": [1.0, 0.0]}]),
            json!([{"index": 0, "embedding": [1e39, 0.0]}]),
            json!("text"),
        ] {
            let server = server(vectors(&data)).await;
            let error = embedder(&server.uri()).embed(&["a"], InputKind::Query, SECOND).await.unwrap_err();
            assert!(matches!(error, EmbedError::Outage(outage) if outage.kind == OutageKind::Refused), "{data}");
        }
    }

    #[tokio::test]
    async fn a_wrong_address_is_told_by_the_first_call() {
        for (url, kind) in [("file:///etc", OutageKind::Refused), ("http://127.0.0.1:1", OutageKind::Unavailable)] {
            let error = embedder(url).embed(&["a"], InputKind::Query, SECOND * 5).await.unwrap_err();
            assert!(matches!(&error, EmbedError::Outage(outage) if outage.kind == kind), "{url}: {error:?}");
        }
    }
}
