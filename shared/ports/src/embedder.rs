use crate::Outage;
use anchorage_domain::VectorName;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::{fmt::Debug, time::Duration};

/// What a text is for: models embed questions and passages differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InputKind {
    Query,
    Passage,
}

/// One embedder of the configuration, and the dense vector it fills.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmbedderSpec {
    pub name: VectorName,
    pub model: String,
    pub dims: u32,
    /// Texts a request may hold.
    pub max_batch: usize,
    /// Characters a text may have; a longer one is refused before any call.
    pub max_input_chars: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Embeddings {
    /// One per input, in the order of the inputs, each of the specified dims.
    pub vectors: Vec<Vec<f32>>,
    /// As billed; 0 where the vendor does not say.
    pub tokens: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// The model will not take this input however often it is offered. `index` is its place in the request, when known.
    #[error("the embedder refused {}: {detail}", index.map_or_else(|| "the request".to_owned(), |i| format!("input {i}")))]
    Rejected { index: Option<usize>, detail: String },
    #[error(transparent)]
    Outage(#[from] Outage),
}

#[async_trait]
pub trait Embedder: Send + Sync + Debug {
    fn spec(&self) -> &EmbedderSpec;

    /// Embeds 1 to `max_batch` texts, none blank, in one call to the vendor where it takes batches.
    async fn embed(&self, inputs: &[&str], kind: InputKind, timeout: Duration) -> Result<Embeddings, EmbedError>;

    /// Opens its connection before it is needed, where the vendor answers something for nothing.
    async fn connect(&self) {}
}
