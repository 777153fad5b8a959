//! Texts to vectors: batched, bounded in flight, and a refused batch halved until the one text that is refused stands alone.

use super::Stop;
use anchorage_domain::{FailureCode, Stage};
use anchorage_ports::{EmbedError, Embedder, InputKind};
use futures::{StreamExt as _, TryStreamExt as _, future::BoxFuture, stream};
use std::time::Duration;

/// Requests to one embedder in flight at once.
const MAX_IN_FLIGHT: usize = 4;
/// Characters one request carries at most, whatever the number of texts.
const MAX_BATCH_CHARS: usize = 60_000;
/// Vectors in the order of the texts, and what they cost.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Embedded {
    pub vectors: Vec<Vec<f32>>,
    pub calls: u32,
    pub tokens: u64,
}

/// Embeds `texts`, each given with its chunk's index so that a refusal can name it. One request takes `timeout` at most.
pub(super) fn embed<'a>(
    embedder: &'a dyn Embedder,
    texts: &'a [(u32, &'a str)],
    timeout: Duration,
) -> BoxFuture<'a, Result<Embedded, Stop>> {
    let mut requests = Vec::new();
    for batch in batches(texts, embedder.spec().max_batch) {
        requests.push(embed_batch(embedder, batch, timeout));
    }
    Box::pin(async move {
        let parts: Vec<Embedded> = stream::iter(requests).buffered(MAX_IN_FLIGHT).try_collect().await?;
        Ok(parts.into_iter().fold(Embedded::default(), joined))
    })
}

fn joined(mut all: Embedded, part: Embedded) -> Embedded {
    all.vectors.extend(part.vectors);
    all.calls += part.calls;
    all.tokens += part.tokens;
    all
}

/// Consecutive runs within the vendor's count and our own bound on characters.
fn batches<'a, 'b>(texts: &'b [(u32, &'a str)], max_batch: usize) -> Vec<&'b [(u32, &'a str)]> {
    let mut batches = Vec::new();
    let (mut start, mut chars) = (0, 0);
    for (position, (_, text)) in texts.iter().enumerate() {
        if position > start && (position - start >= max_batch || chars + text.len() > MAX_BATCH_CHARS) {
            batches.extend(texts.get(start..position));
            (start, chars) = (position, 0);
        }
        chars += text.len();
    }
    batches.extend(texts.get(start..).filter(|rest| !rest.is_empty()));
    batches
}

fn embed_batch<'a>(
    embedder: &'a dyn Embedder,
    batch: &'a [(u32, &'a str)],
    timeout: Duration,
) -> BoxFuture<'a, Result<Embedded, Stop>> {
    Box::pin(async move {
        let inputs: Vec<_> = batch.iter().map(|(_, text)| *text).collect();
        match embedder.embed(&inputs, InputKind::Passage, timeout).await {
            Ok(done) => Ok(Embedded { vectors: done.vectors, calls: 1, tokens: done.tokens }),
            Err(EmbedError::Outage(outage)) => Err(Stop::outage(Stage::Embed, &outage)),
            Err(EmbedError::Rejected { index, detail }) => {
                let named =
                    index.and_then(|index| batch.get(index)).or(if batch.len() == 1 { batch.first() } else { None });
                if let Some((chunk, _)) = named {
                    let name = &embedder.spec().name;
                    let detail = format!("chunk {chunk} was refused by {name}: {detail}");
                    return Err(Stop::Permanent { code: FailureCode::EmbeddingRejected, stage: Stage::Embed, detail });
                }
                let (left, right) = batch.split_at(batch.len() / 2);
                let left = embed_batch(embedder, left, timeout).await?;
                Ok(joined(left, embed_batch(embedder, right, timeout).await?))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anchorage_domain::VectorName;
    use anchorage_memory::MemoryEmbedder;

    const TIMEOUT: Duration = Duration::from_secs(1);

    fn embedder() -> MemoryEmbedder {
        MemoryEmbedder::new(VectorName::new("dense").unwrap())
    }

    fn numbered(texts: &[String]) -> Vec<(u32, &str)> {
        texts.iter().zip(0..).map(|(text, index)| (index, text.as_str())).collect()
    }

    /// Case C56: a failing batch is bisected, and the message names the text at fault.
    #[tokio::test]
    async fn refused_text_is_found_among_many_and_named() {
        let embedder = embedder();
        embedder.refuse_texts_with("poison");
        let texts: Vec<_> = (0..20).map(|n| if n == 13 { "poison".into() } else { format!("text {n}") }).collect();
        let stop = embed(&embedder, &numbered(&texts), TIMEOUT).await.unwrap_err();
        let Stop::Permanent { code, detail, .. } = stop else { panic!("{stop:?}") };
        assert_eq!(code, FailureCode::EmbeddingRejected);
        assert!(detail.starts_with("chunk 13 "), "{detail}");
    }

    #[tokio::test]
    async fn vectors_come_in_the_order_of_the_texts_whatever_the_batches() {
        let embedder = embedder();
        let texts: Vec<_> = (0..50).map(|n| format!("w{n}")).collect();
        let all = embed(&embedder, &numbered(&texts), TIMEOUT).await.unwrap();
        assert_eq!((all.vectors.len(), all.calls), (50, 7));
        for (text, vector) in texts.iter().zip(&all.vectors) {
            let alone = embed(&embedder, &[(0, text.as_str())], TIMEOUT).await.unwrap();
            assert_eq!(alone.vectors[0], *vector);
        }
    }

    #[test]
    fn batches_are_bounded_by_count_and_by_characters() {
        let long = "x".repeat(MAX_BATCH_CHARS / 2 + 1);
        let texts = [(0, "a"), (1, "b"), (2, "c"), (3, long.as_str()), (4, long.as_str())];
        let sizes: Vec<_> = batches(&texts, 2).iter().map(|batch| batch.len()).collect();
        assert_eq!(sizes, [2, 2, 1]);
        assert!(batches(&[], 2).is_empty());
    }
}
