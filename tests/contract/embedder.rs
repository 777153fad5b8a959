//! What every embedder does, whoever is behind it.

use crate::real::variable;
use anchorage_adapters::{EmbedderSettings, SdkConfig, embedder};
use anchorage_domain::VectorName;
use anchorage_memory::MemoryEmbedder;
use anchorage_ports::{EmbedError, Embedder, InputKind};
use serde_json::json;
use std::{sync::Arc, time::Duration};

const TIMEOUT: Duration = Duration::from_secs(30);

/// The embedders there are here: the one in memory, and a real one where its address is given.
fn embedders() -> Vec<Arc<dyn Embedder>> {
    let memory: Arc<dyn Embedder> = Arc::new(MemoryEmbedder::new(VectorName::new("dense_memory").unwrap()));
    let Some(url) = variable("ANCHORAGE_TEST_EMBEDDER_URL") else {
        eprintln!("skipped over a real embedder: ANCHORAGE_TEST_EMBEDDER_URL is not set");
        return vec![memory];
    };
    let number = |name: &str, default: u64| variable(name).map_or(default, |text| text.parse().unwrap());
    let settings: EmbedderSettings = serde_json::from_value(json!({
        "kind": "openai", "name": "dense_real", "url": url,
        "model": variable("ANCHORAGE_TEST_EMBEDDER_MODEL").unwrap_or_else(|| "test".into()),
        "dims": number("ANCHORAGE_TEST_EMBEDDER_DIMS", 384),
        "max_batch": 32, "max_input_chars": 8000,
    }))
    .unwrap();
    vec![memory, embedder(&settings, &SdkConfig::builder().build(), None)]
}

fn cosine(left: &[f32], right: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    dot(left, right) / (dot(left, left) * dot(right, right)).sqrt()
}

#[tokio::test]
async fn embedding_gives_one_vector_of_the_named_size_for_each_text_and_the_same_one_again() {
    for embedder in embedders() {
        let texts = ["the refund takes five days", "کتاب روی میز است", "the refund takes five days"];
        let first = embedder.embed(&texts, InputKind::Passage, TIMEOUT).await.unwrap();
        assert_eq!(first.vectors.len(), texts.len());
        assert!(first.vectors.iter().all(|vector| vector.len() == embedder.spec().dims as usize));
        assert!(cosine(&first.vectors[0], &first.vectors[2]) > 0.999);
        assert!(cosine(&first.vectors[0], &first.vectors[1]) < 0.99);
        let again = embedder.embed(&texts, InputKind::Passage, TIMEOUT).await.unwrap();
        assert!(cosine(&first.vectors[1], &again.vectors[1]) > 0.999);
    }
}

#[tokio::test]
async fn a_full_batch_is_taken_and_one_text_more_is_refused() {
    for embedder in embedders() {
        let texts = vec!["word"; embedder.spec().max_batch + 1];
        let full = embedder.embed(&texts[1..], InputKind::Query, TIMEOUT).await.unwrap();
        assert_eq!(full.vectors.len(), embedder.spec().max_batch);
        let error = embedder.embed(&texts, InputKind::Query, TIMEOUT).await.unwrap_err();
        assert!(matches!(error, EmbedError::Rejected { index: None, .. }), "{error}");
    }
}

#[tokio::test]
async fn blank_and_overlong_texts_are_refused_by_their_place() {
    for embedder in embedders() {
        let long = "x".repeat(embedder.spec().max_input_chars + 1);
        for text in ["", " \n\t", long.as_str()] {
            let error = embedder.embed(&["fine", text], InputKind::Passage, TIMEOUT).await.unwrap_err();
            assert!(matches!(error, EmbedError::Rejected { index: Some(1), .. }), "{error}");
        }
    }
}
