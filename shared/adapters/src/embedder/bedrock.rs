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

#[cfg(test)]
mod tests {
    use super::*;
    use anchorage_domain::VectorName;
    use aws_sdk_bedrockruntime::{
        operation::invoke_model::{InvokeModelInput, InvokeModelOutput},
        types::error::{ThrottlingException, ValidationException},
    };
    use aws_smithy_mocks::{MockResponse, Rule, RuleMode, mock, mock_client};
    use serde_json::{Value, json};

    const SECOND: Duration = Duration::from_secs(1);

    fn spec(max_batch: usize, max_input_chars: usize) -> EmbedderSpec {
        let name = VectorName::new("dense").unwrap();
        EmbedderSpec { name, model: "model".into(), dims: 256, max_batch, max_input_chars }
    }

    type Answer = MockResponse<InvokeModelOutput, InvokeModelError>;

    fn answer(body: &Value) -> Answer {
        let output = InvokeModelOutput::builder().body(Blob::new(body.to_string())).content_type(JSON);
        MockResponse::Output(output.build().unwrap())
    }

    fn refusal() -> Answer {
        let error = ValidationException::builder().message("quotes the document").build();
        MockResponse::Error(InvokeModelError::ValidationException(error))
    }

    fn body(input: &InvokeModelInput) -> Value {
        serde_json::from_slice(input.body().unwrap().as_ref()).unwrap()
    }

    /// Refuses what Titan refuses: anything but one non-empty string of bounded length, and dimensions it has not.
    fn titan(input: &InvokeModelInput) -> Answer {
        let body = body(input);
        let known = body
            .as_object()
            .unwrap()
            .keys()
            .all(|key| ["inputText", "dimensions", "normalize"].contains(&key.as_str()));
        let text = body["inputText"].as_str().filter(|text| !text.is_empty() && text.chars().count() <= 50_000);
        match (known, text, body["dimensions"].as_u64()) {
            (true, Some(text), Some(dims @ (256 | 512 | 1024))) => {
                let vector: Vec<usize> = (0..dims).map(|place| if place == 0 { text.len() } else { 0 }).collect();
                answer(&json!({"embedding": vector, "inputTextTokenCount": 3}))
            }
            _ => refusal(),
        }
    }

    /// Refuses what Cohere refuses: no texts or more than 96, empty ones, ones past 2,048 characters, an unknown purpose.
    fn cohere(input: &InvokeModelInput) -> Answer {
        let body = body(input);
        let texts: Vec<&str> = body["texts"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let fits = texts.iter().all(|text| !text.is_empty() && text.chars().count() <= 2_048);
        let purpose = matches!(body["input_type"].as_str(), Some("search_document" | "search_query"));
        if !fits || !purpose || !(1..=96).contains(&texts.len()) || body["truncate"] != "NONE" {
            return refusal();
        }
        answer(&json!({"embeddings": texts.iter().map(|text| vec![text.len(); 256]).collect::<Vec<_>>()}))
    }

    fn rule(respond: fn(&InvokeModelInput) -> Answer) -> Rule {
        mock!(Client::invoke_model).then_compute_response(respond)
    }

    fn titan_over(rule: &Rule, max_input_chars: usize) -> TitanEmbedder {
        let client = mock_client!(aws_sdk_bedrockruntime, RuleMode::MatchAny, [rule]);
        TitanEmbedder { spec: spec(16, max_input_chars), client }
    }

    fn cohere_over(rule: &Rule) -> CohereEmbedder {
        let client = mock_client!(aws_sdk_bedrockruntime, RuleMode::MatchAny, [rule]);
        CohereEmbedder { spec: spec(96, 2_048), client }
    }

    /// Case B1.
    #[tokio::test]
    async fn titan_batch_is_one_call_a_text_in_the_order_of_the_texts() {
        let rule = rule(titan);
        let texts = ["a", "bb", "ccc", "dddd", "eeeee", "ffffff"];
        let embeddings = titan_over(&rule, 50_000).embed(&texts, InputKind::Passage, SECOND).await.unwrap();
        let lengths: Vec<f32> = embeddings.vectors.iter().map(|vector| vector[0]).collect();
        assert_eq!(lengths, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!((embeddings.tokens, rule.num_calls()), (18, 6));
    }

    #[tokio::test]
    async fn cohere_batch_is_one_call() {
        let rule = rule(cohere);
        let texts = vec!["text"; 96];
        let embeddings = cohere_over(&rule).embed(&texts, InputKind::Query, SECOND).await.unwrap();
        assert_eq!((embeddings.vectors.len(), rule.num_calls()), (96, 1));
    }

    #[tokio::test]
    async fn what_a_vendor_would_refuse_is_refused_before_any_call() {
        let long = "x".repeat(50_001);
        for (texts, index) in
            [(vec![], None), (vec!["x"; 97], None), (vec!["a", " "], Some(1)), (vec![long.as_str()], Some(0))]
        {
            for (kind, rule) in [("titan", rule(titan)), ("cohere", rule(cohere))] {
                let result = match kind {
                    "titan" => titan_over(&rule, 50_000).embed(&texts, InputKind::Query, SECOND).await,
                    _ => cohere_over(&rule).embed(&texts, InputKind::Query, SECOND).await,
                };
                assert!(
                    matches!(result, Err(EmbedError::Rejected { index: at, .. }) if at == index),
                    "{kind}: {result:?}"
                );
                assert_eq!(rule.num_calls(), 0, "{kind}");
            }
        }
    }

    /// Case C55: a validation error is the text's own, and its words, which may quote the text, go nowhere.
    #[tokio::test]
    async fn titan_validation_error_names_the_text_and_quotes_nothing() {
        let rule = rule(titan);
        // The configured bound is wider than the vendor's.
        let long = "x".repeat(50_001);
        let error = titan_over(&rule, 60_000).embed(&["a", &long], InputKind::Passage, SECOND).await.unwrap_err();
        assert_eq!(error, EmbedError::Rejected { index: Some(1), detail: "ValidationException".into() });
    }

    #[test]
    fn titan_array_of_texts_is_refused_by_the_double_as_by_the_vendor() {
        let request = json!({"inputText": ["a", "b"], "dimensions": 256, "normalize": true});
        let input = InvokeModelInput::builder().model_id("model").body(Blob::new(request.to_string())).build().unwrap();
        assert!(matches!(titan(&input), MockResponse::Error(_)));
    }

    #[tokio::test]
    async fn throttling_and_wrong_dimensions_are_outages() {
        let throttled = rule(|_| {
            MockResponse::Error(InvokeModelError::ThrottlingException(ThrottlingException::builder().build()))
        });
        let short = rule(|_| answer(&json!({"embeddings": [[1.0, 2.0]]})));
        for (rule, expected) in [(throttled, OutageKind::Throttled), (short, OutageKind::Refused)] {
            let error = cohere_over(&rule).embed(&["a"], InputKind::Query, SECOND * 30).await.unwrap_err();
            assert!(matches!(&error, EmbedError::Outage(outage) if outage.kind == expected), "{error:?}");
        }
    }
}
