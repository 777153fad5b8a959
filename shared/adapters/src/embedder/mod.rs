//! Embedders: what is checked before any call and after each, whoever the vendor is.

mod bedrock;
mod http;
mod settings;

pub use settings::{EmbedderSettings, embedder};

use anchorage_ports::{EmbedError, EmbedderSpec, Outage, OutageKind, Service};

fn outage(kind: OutageKind, detail: impl Into<String>) -> EmbedError {
    Outage::new(Service::Embedder, kind, detail).into()
}

fn rejected(index: Option<usize>, detail: impl Into<String>) -> EmbedError {
    EmbedError::Rejected { index, detail: detail.into() }
}

/// Refuses, before anything is paid for, what the vendor would refuse.
fn check_inputs(spec: &EmbedderSpec, inputs: &[&str]) -> Result<(), EmbedError> {
    if inputs.is_empty() || inputs.len() > spec.max_batch {
        return Err(rejected(None, format!("a request takes 1 to {} texts, not {}", spec.max_batch, inputs.len())));
    }
    for (index, input) in inputs.iter().enumerate() {
        if input.trim().is_empty() {
            return Err(rejected(Some(index), "the text is blank"));
        }
        let chars = input.chars().count();
        if chars > spec.max_input_chars {
            let max = spec.max_input_chars;
            return Err(rejected(Some(index), format!("the text has {chars} characters, more than {max}")));
        }
    }
    Ok(())
}

/// Takes an answer only when it has one vector for each input, each of the configured size and of real numbers.
fn check_vectors(spec: &EmbedderSpec, inputs: usize, vectors: &[Vec<f32>]) -> Result<(), EmbedError> {
    let unusable = |detail: String| Err(outage(OutageKind::Refused, detail));
    if vectors.len() != inputs {
        return unusable(format!("{} vectors came back for {inputs} texts", vectors.len()));
    }
    for vector in vectors {
        if vector.len() != spec.dims as usize {
            return unusable(format!("model {} gives {} dimensions, not {}", spec.model, vector.len(), spec.dims));
        }
        if !vector.iter().all(|value| value.is_finite()) {
            return unusable(format!("model {} gave a vector that holds no numbers", spec.model));
        }
    }
    Ok(())
}
