//! Chunks to staged points, paying for no vector that is there already.

use super::{Attempt, Ingestion, MIN_BATCH_TIME, Stop, embed::embed, run::count};
use anchorage_documents::{Chunk, ParsedDocument, sparse_document, words};
use anchorage_domain::{DomainRecord, FileRecord, JobCounters, JobRecord, OrderId, Sha256, Stage, Timestamp, point_id};
use anchorage_ports::{DenseVectors, Outage, Point, PointDraft};
use std::{
    collections::{BTreeSet, HashMap},
    time::Duration,
};

/// Chunks embedded and staged together: what an interruption costs at most.
const STAGE_BATCH: usize = 64;
/// Longest time one request to an embedder may take.
const MAX_CALL_TIME: Duration = Duration::from_secs(20);
/// Time kept back from it for staging the batch, or for handing the job on.
const STAGE_TIME: Duration = Duration::from_secs(4);

/// A parsed document with the records that say what becomes of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Document<'a> {
    pub job: &'a JobRecord,
    pub file: &'a FileRecord,
    pub domain: &'a DomainRecord,
    pub parsed: &'a ParsedDocument,
}

impl Ingestion {
    /// Stages what is not staged yet, batch by batch, as long as there is time for another one.
    pub(super) async fn stage_all(
        &self,
        attempt: &Attempt<'_>,
        document: Document<'_>,
        spent: &mut JobCounters,
    ) -> Result<(), Stop> {
        let outage = |outage: Outage| Stop::outage(Stage::Index, &outage);
        let staged = self.index.staged(attempt.scope, attempt.file, document.job.generation).await.map_err(outage)?;
        let missing = document.parsed.chunks.iter().filter(|chunk| !staged.contains(&chunk.index));
        let missing: Vec<&Chunk> = missing.collect();
        let mut done = document.parsed.chunks.len() - missing.len();
        for batch in missing.chunks(STAGE_BATCH) {
            let now = self.clock.now();
            let left = attempt.invocation.deadline.since(now);
            if left < MIN_BATCH_TIME {
                let progress = spent.chunks_indexed + spent.chunks_reused > 0;
                return Err(Stop::OutOfTime { progress, done, of: document.parsed.chunks.len() });
            }
            let timeout = left.saturating_sub(STAGE_TIME).min(MAX_CALL_TIME);
            let vectors = self.vectors(attempt, batch, timeout, spent).await?;
            let drafts: Vec<_> = batch
                .iter()
                .map(|chunk| {
                    let dense = vectors.get(&chunk.content_sha256).cloned().unwrap_or_default();
                    draft(attempt, document, chunk, dense, now)
                })
                .collect();
            self.in_time(attempt, Stage::Index)?;
            self.index.stage(attempt.scope, &drafts).await.map_err(outage)?;
            done += batch.len();
        }
        Ok(())
    }

    /// Every dense vector of each text of a batch: taken from the file's own points, else embedded, each text once.
    async fn vectors(
        &self,
        attempt: &Attempt<'_>,
        batch: &[&Chunk],
        timeout: Duration,
        spent: &mut JobCounters,
    ) -> Result<HashMap<Sha256, DenseVectors>, Stop> {
        let texts: BTreeSet<Sha256> = batch.iter().map(|chunk| chunk.content_sha256).collect();
        let known = self.index.vectors(attempt.scope, attempt.file, &texts).await;
        let mut vectors = known.map_err(|outage| Stop::outage(Stage::Index, &outage))?;
        let mut met = BTreeSet::new();
        let new: Vec<&Chunk> = batch
            .iter()
            .copied()
            .filter(|chunk| !vectors.contains_key(&chunk.content_sha256) && met.insert(chunk.content_sha256))
            .collect();
        let texts: Vec<_> = new.iter().map(|chunk| (chunk.index, chunk.text.as_str())).collect();
        let mut requests = Vec::new();
        if !texts.is_empty() {
            requests.extend(self.embedders.iter().map(|embedder| embed(embedder.as_ref(), &texts, timeout)));
        }
        let embedded = futures::future::try_join_all(requests).await?;
        for (embedder, done) in self.embedders.iter().zip(embedded) {
            spent.embed_calls += done.calls;
            spent.tokens += done.tokens;
            for (chunk, vector) in new.iter().zip(done.vectors) {
                vectors.entry(chunk.content_sha256).or_default().insert(embedder.spec().name.clone(), vector);
            }
        }
        spent.chunks_indexed += count(new.len());
        spent.chunks_reused += count(batch.len() - new.len());
        Ok(vectors)
    }
}

fn draft(
    attempt: &Attempt<'_>,
    document: Document<'_>,
    chunk: &Chunk,
    dense: DenseVectors,
    now: Timestamp,
) -> PointDraft {
    let Document { job, file, domain, parsed } = document;
    let folded: Vec<_> = words(&chunk.text).into_iter().map(|word| word.text).collect();
    let title = file.title.as_ref().map(ToString::to_string).or_else(|| parsed.title.clone());
    PointDraft {
        point: Point {
            point_id: point_id(attempt.scope.tenant(), attempt.file, job.generation, chunk.index),
            file_id: attempt.file,
            domain: file.domain.clone(),
            generation: job.generation,
            chunk_index: chunk.index,
            order_id: OrderId::of_index(chunk.index),
            content: chunk.text.clone(),
            content_folded: folded.join(" "),
            content_sha256: chunk.content_sha256,
            title,
            heading_path: chunk.heading_path.clone(),
            source: chunk.source.clone(),
            quarantined: chunk.quarantined,
            is_active: false,
            document_type: file.document_type.to_string(),
            metadata: file.metadata.clone(),
            version: 1,
            created_at: now,
            updated_at: now,
        },
        dense,
        sparse: sparse_document(domain.policy.language, &chunk.text),
    }
}
