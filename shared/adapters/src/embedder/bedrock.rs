//! Embedders on Bedrock: Titan takes one text a call, Cohere up to 96.
//!
//! Retries are the SDK's own, the one layer there is; the caller's time bounds them all.

use super::{check_inputs, check_vectors, outage, rejected};
use anchorage_ports::{EmbedError, Embedder, EmbedderSpec, Embeddings, InputKind, OutageKind};
use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_sdk_bedrockruntime::{Client, error::SdkError, operation::invoke_model::InvokeModelError, primitives::Blob};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::time::Duration;

/// Titan calls in flight at once: it is throttled by requests a minute.
const TITAN_CONCURRENCY: usize = 4;
const JSON: &str = "application/json";

#[derive(Debug)]
pub(super) struct TitanEmbedder {
    spec: EmbedderSpec,
    client: Client,
}

#[derive(Debug)]
pub(super) struct CohereEmbedder {
    spec: EmbedderSpec,
    client: Client,
}

#[derive(Serialize)]
struct TitanRequest<'a> {
    #[serde(rename = "inputText")]
    input_text: &'a str,
    dimensions: u32,
    normalize: bool,
}

#[derive(Deserialize)]
struct TitanResponse {
    embedding: Vec<f32>,
    #[serde(rename = "inputTextTokenCount", default)]
    tokens: u64,
}

#[derive(Serialize)]
struct CohereRequest<'a> {
    texts: &'a [&'a str],
    input_type: &'static str,
    /// A text that is too long is an error and never cut in silence.
    truncate: &'static str,
}

#[derive(Deserialize)]
struct CohereResponse {
    embeddings: Vec<Vec<f32>>,
}

/// The service's own words are not repeated: they may quote a document.
fn failure(error: &SdkError<InvokeModelError>) -> EmbedError {
    let Some(error) = error.as_service_error() else {
        return match error {
            SdkError::TimeoutError(_) => outage(OutageKind::TimedOut, "the call timed out"),
            SdkError::ConstructionFailure(_) => outage(OutageKind::Refused, "the call could not be built"),
            _ => outage(OutageKind::Unavailable, "the connection failed"),
        };
    };
    match error {
        InvokeModelError::ValidationException(_) => rejected(None, "ValidationException"),
        InvokeModelError::ThrottlingException(_) => outage(OutageKind::Throttled, "ThrottlingException"),
        InvokeModelError::ServiceQuotaExceededException(_) => outage(OutageKind::Throttled, "ServiceQuotaExceeded"),
        InvokeModelError::ModelTimeoutException(_) => outage(OutageKind::TimedOut, "ModelTimeoutException"),
        InvokeModelError::InternalServerException(_)
        | InvokeModelError::ModelErrorException(_)
        | InvokeModelError::ModelNotReadyException(_)
        | InvokeModelError::ServiceUnavailableException(_) => {
            outage(OutageKind::Unavailable, error.meta().code().unwrap_or("the service failed"))
        }
        _ => outage(OutageKind::Refused, error.meta().code().unwrap_or("the call was refused")),
    }
}

async fn invoke<T: DeserializeOwned>(client: &Client, model: &str, request: impl Serialize) -> Result<T, EmbedError> {
    let body = serde_json::to_vec(&request).map_err(|_| rejected(None, "the text cannot be written as JSON"))?;
    let answer = client.invoke_model().model_id(model).content_type(JSON).accept(JSON).body(Blob::new(body)).send();
    let answer = answer.await.map_err(|error| failure(&error))?;
    serde_json::from_slice(answer.body.as_ref())
        .map_err(|_| outage(OutageKind::Refused, "the answer is not of the known form"))
}

async fn within<T>(timeout: Duration, work: impl Future<Output = Result<T, EmbedError>>) -> Result<T, EmbedError> {
    let late = |_| outage(OutageKind::TimedOut, format!("no answer in {} ms", timeout.as_millis()));
    tokio::time::timeout(timeout, work).await.map_err(late)?
}

impl TitanEmbedder {
    pub(super) fn new(spec: EmbedderSpec, aws: &SdkConfig) -> Self {
        Self { spec, client: Client::new(aws) }
    }

    async fn one(&self, index: usize, text: &str) -> Result<TitanResponse, EmbedError> {
        let request = TitanRequest { input_text: text, dimensions: self.spec.dims, normalize: true };
        invoke(&self.client, &self.spec.model, request).await.map_err(|error| match error {
            // One text a call, so it is known which one was refused.
            EmbedError::Rejected { detail, .. } => EmbedError::Rejected { index: Some(index), detail },
            outage @ EmbedError::Outage(_) => outage,
        })
    }
}

#[async_trait]
impl Embedder for TitanEmbedder {
    fn spec(&self) -> &EmbedderSpec {
        &self.spec
    }

    /// Titan tells no questions from passages.
    async fn embed(&self, inputs: &[&str], _kind: InputKind, timeout: Duration) -> Result<Embeddings, EmbedError> {
        check_inputs(&self.spec, inputs)?;
        let calls: Vec<_> = inputs.iter().enumerate().map(|(index, text)| self.one(index, text)).collect();
        let answers: Vec<TitanResponse> =
            within(timeout, stream::iter(calls).buffered(TITAN_CONCURRENCY).try_collect()).await?;
        let tokens = answers.iter().map(|answer| answer.tokens).sum();
        let vectors: Vec<_> = answers.into_iter().map(|answer| answer.embedding).collect();
        check_vectors(&self.spec, inputs.len(), &vectors)?;
        Ok(Embeddings { vectors, tokens })
    }
}

impl CohereEmbedder {
    pub(super) fn new(spec: EmbedderSpec, aws: &SdkConfig) -> Self {
        Self { spec, client: Client::new(aws) }
    }
}

#[async_trait]
impl Embedder for CohereEmbedder {
    fn spec(&self) -> &EmbedderSpec {
        &self.spec
    }

    async fn embed(&self, inputs: &[&str], kind: InputKind, timeout: Duration) -> Result<Embeddings, EmbedError> {
        check_inputs(&self.spec, inputs)?;
        let input_type = match kind {
            InputKind::Query => "search_query",
            InputKind::Passage => "search_document",
        };
        let request = CohereRequest { texts: inputs, input_type, truncate: "NONE" };
        let answer: CohereResponse = within(timeout, invoke(&self.client, &self.spec.model, request)).await?;
        check_vectors(&self.spec, inputs.len(), &answer.embeddings)?;
        // Bedrock does not say what Cohere billed.
        Ok(Embeddings { vectors: answer.embeddings, tokens: 0 })
    }
}
