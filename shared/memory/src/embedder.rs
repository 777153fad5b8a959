use crate::lock;
use anchorage_domain::VectorName;
use anchorage_ports::{EmbedError, Embedder, EmbedderSpec, Embeddings, InputKind, Outage, OutageKind, Service};
use async_trait::async_trait;
use std::{sync::Mutex, time::Duration};

/// An embedder by hashed words: texts that share words are near each other. Refuses what a vendor refuses.
#[derive(Debug)]
pub struct MemoryEmbedder {
    spec: EmbedderSpec,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    calls: u32,
    inputs: Vec<String>,
    outage: Option<(OutageKind, u32)>,
    poison: Option<String>,
}

impl MemoryEmbedder {
    #[must_use]
    pub fn new(name: VectorName) -> Self {
        let spec = EmbedderSpec { name, model: "hashed-words".into(), dims: 64, max_batch: 8, max_input_chars: 4_000 };
        Self { spec, state: Mutex::default() }
    }

    /// Fails the next `calls` calls.
    pub fn fail(&self, kind: OutageKind, calls: u32) {
        lock(&self.state).outage = Some((kind, calls));
    }

    /// Refuses every request that holds a text with `word` in it.
    pub fn refuse_texts_with(&self, word: &str) {
        lock(&self.state).poison = Some(word.to_owned());
    }

    #[must_use]
    pub fn calls(&self) -> u32 {
        lock(&self.state).calls
    }

    /// Every text embedded so far, in order.
    #[must_use]
    pub fn inputs(&self) -> Vec<String> {
        lock(&self.state).inputs.clone()
    }
}

fn rejected(index: Option<usize>, detail: &str) -> EmbedError {
    EmbedError::Rejected { index, detail: detail.to_owned() }
}

/// FNV-1a, which is enough to scatter words.
fn hash(word: &str) -> u64 {
    word.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn vector(text: &str, dims: u32) -> Vec<f32> {
    let mut counts = vec![0_f32; dims as usize];
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let place = usize::try_from(hash(&word.to_lowercase()) % u64::from(dims)).unwrap_or(0);
        if let Some(count) = counts.get_mut(place) {
            *count += 1.0;
        }
    }
    let norm = counts.iter().map(|count| count * count).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    counts.iter().map(|count| count / norm).collect()
}

#[async_trait]
impl Embedder for MemoryEmbedder {
    fn spec(&self) -> &EmbedderSpec {
        &self.spec
    }

    async fn embed(&self, inputs: &[&str], _kind: InputKind, _timeout: Duration) -> Result<Embeddings, EmbedError> {
        let mut state = lock(&self.state);
        if inputs.is_empty() || inputs.len() > self.spec.max_batch {
            return Err(rejected(None, "a request takes 1 to 8 texts"));
        }
        for (index, input) in inputs.iter().enumerate() {
            if input.trim().is_empty() {
                return Err(rejected(Some(index), "the text is blank"));
            }
            if input.chars().count() > self.spec.max_input_chars {
                return Err(rejected(Some(index), "the text is too long"));
            }
        }
        state.calls += 1;
        if let Some((kind, left)) = state.outage {
            state.outage = (left > 1).then_some((kind, left.saturating_sub(1)));
            return Err(Outage::new(Service::Embedder, kind, "told to fail").into());
        }
        if let Some(word) = &state.poison
            && inputs.iter().any(|input| input.contains(word.as_str()))
        {
            return Err(rejected(None, "the request holds a text that is not taken"));
        }
        state.inputs.extend(inputs.iter().map(|&input| input.to_owned()));
        Ok(Embeddings {
            vectors: inputs.iter().map(|input| vector(input, self.spec.dims)).collect(),
            tokens: inputs.iter().map(|input| input.split_whitespace().count() as u64).sum(),
        })
    }
}
