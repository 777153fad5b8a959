//! Which embedder fills which vector.

use super::{bedrock, http};
use anchorage_domain::VectorName;
use anchorage_ports::{Embedder, EmbedderSpec, VectorSpec};
use aws_config::SdkConfig;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Texts that a Titan request is made of; each is a call of its own, so this bounds what one batch may cost in time.
const TITAN_MAX_BATCH: usize = 16;
/// Characters Titan takes (Bedrock, Amazon Titan Text Embeddings V2).
const TITAN_MAX_CHARS: usize = 50_000;
/// Texts Cohere takes in one call (Bedrock, Cohere Embed v3).
const COHERE_MAX_BATCH: usize = 96;
/// Characters Cohere takes of one text.
const COHERE_MAX_CHARS: usize = 2_048;

/// One entry of the configured list of embedders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum EmbedderSettings {
    /// Any endpoint that speaks `POST {url}/embeddings` as `OpenAI` defined it.
    Openai {
        name: VectorName,
        url: String,
        model: String,
        dims: u32,
        max_batch: usize,
        max_input_chars: usize,
    },
    BedrockTitan {
        name: VectorName,
        model: String,
        dims: u32,
    },
    BedrockCohere {
        name: VectorName,
        model: String,
        dims: u32,
    },
}

impl EmbedderSettings {
    #[must_use]
    pub fn spec(&self) -> EmbedderSpec {
        match self {
            Self::Openai { name, model, dims, max_batch, max_input_chars, .. } => EmbedderSpec {
                name: name.clone(),
                model: model.clone(),
                dims: *dims,
                max_batch: *max_batch,
                max_input_chars: *max_input_chars,
            },
            Self::BedrockTitan { name, model, dims } => EmbedderSpec {
                name: name.clone(),
                model: model.clone(),
                dims: *dims,
                max_batch: TITAN_MAX_BATCH,
                max_input_chars: TITAN_MAX_CHARS,
            },
            Self::BedrockCohere { name, model, dims } => EmbedderSpec {
                name: name.clone(),
                model: model.clone(),
                dims: *dims,
                max_batch: COHERE_MAX_BATCH,
                max_input_chars: COHERE_MAX_CHARS,
            },
        }
    }

    /// The vector this embedder fills, as the collection's manifest names it.
    #[must_use]
    pub fn vector(&self) -> VectorSpec {
        let EmbedderSpec { name, model, dims, .. } = self.spec();
        VectorSpec { name, model, dims }
    }
}

/// The embedder of one entry. Makes no call. `api_key` is for those that are not reached through AWS.
#[must_use]
pub fn embedder(settings: &EmbedderSettings, aws: &SdkConfig, api_key: Option<SecretString>) -> Arc<dyn Embedder> {
    let spec = settings.spec();
    match settings {
        EmbedderSettings::Openai { url, .. } => Arc::new(http::HttpEmbedder::new(spec, url, api_key)),
        EmbedderSettings::BedrockTitan { .. } => Arc::new(bedrock::TitanEmbedder::new(spec, aws)),
        EmbedderSettings::BedrockCohere { .. } => Arc::new(bedrock::CohereEmbedder::new(spec, aws)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn settings_read_every_kind_and_refuse_what_they_do_not_know() {
        let parse = |value| serde_json::from_value::<EmbedderSettings>(value);
        let openai = json!({"name": "dense_e5", "kind": "openai", "url": "http://127.0.0.1:1/v1", "model": "e5",
            "dims": 384, "max_batch": 32, "max_input_chars": 8000});
        assert_eq!(parse(openai).unwrap().spec().max_batch, 32);
        let titan = json!({"name": "dense_titan", "kind": "bedrock_titan", "model": "amazon.titan", "dims": 512});
        assert_eq!(parse(titan).unwrap().vector().dims, 512);
        let cohere = json!({"name": "dense_cohere", "kind": "bedrock_cohere", "model": "cohere", "dims": 1024});
        assert_eq!(parse(cohere).unwrap().spec().max_batch, 96);
        for wrong in [
            json!({"name": "a", "kind": "other", "model": "m", "dims": 1}),
            json!({"name": "a", "kind": "bedrock_titan", "model": "m", "dims": 1, "colour": 1}),
            json!({"name": "A b", "kind": "bedrock_titan", "model": "m", "dims": 1}),
        ] {
            assert!(parse(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
