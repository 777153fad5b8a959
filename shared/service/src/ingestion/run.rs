//! One ingest job, from its claim to the instant of publication and the clean-up after it.

use super::{Attempt, Ingestion, MAX_CONFLICTS, MIN_BATCH_TIME, Stop, contended, embed::embed};
use anchorage_documents::{Chunk, MediaHint, ParseError, ParsedDocument, parse_and_chunk, sparse_document, words};
use anchorage_domain::{
    DomainRecord, FailureCode, FileRecord, JobCounters, JobEventKind, JobRecord, OrderId, Publication, Sha256,
    SkipCause, Stage, Timestamp, VectorName, point_id,
};
use anchorage_ports::{BlobError, Change, CommitError, Generations, Outage, Point, PointDraft};
use std::{collections::BTreeMap, time::Duration};

/// Chunks embedded and staged together: what an interruption costs at most.
const STAGE_BATCH: usize = 64;
/// Longest time one request to an embedder may take.
const MAX_CALL_TIME: Duration = Duration::from_secs(20);
/// Time kept back from it for staging the batch, or for handing the job on.
const STAGE_TIME: Duration = Duration::from_secs(4);
/// What the pipeline calls an uploaded file.
const DOCUMENT_TYPE: &str = "file";

impl Ingestion {
    /// Everything between the claim and the end of an ingest job.
    pub(super) async fn ingest(&self, attempt: &Attempt<'_>, job: JobRecord) -> Result<(), Stop> {
        let file = self.file_of(attempt).await?;
        if file.current_generation() != Some(job.generation) {
            if !file.accepts(job.generation) {
                return Err(Stop::Skip(SkipCause::Superseded));
            }
            let domain = self.domain_of(attempt, &file).await?;
            self.check_manifest().await?;
            let (parsed, digest, mut counters) = self.read_and_parse(&job, &file, &domain, attempt).await?;
            self.stage_all(attempt, &job, &file, &domain, &parsed, &mut counters).await?;
            self.publish(attempt, &job, &parsed, digest, counters).await?;
        }
        self.finish(attempt, &job).await
    }

    async fn file_of(&self, attempt: &Attempt<'_>) -> Result<FileRecord, Stop> {
        let file = self.store.file(attempt.scope, attempt.file).await;
        let file = file.map_err(|outage| Stop::outage(Stage::Claim, &outage))?;
        let lives = |file: &FileRecord| file.status != anchorage_domain::FileStatus::Deleted;
        file.filter(lives).ok_or(Stop::Skip(SkipCause::FileDeleted))
    }

    async fn domain_of(&self, attempt: &Attempt<'_>, file: &FileRecord) -> Result<DomainRecord, Stop> {
        let domain = self.store.domain(attempt.scope, &file.domain).await;
        let domain = domain.map_err(|outage| Stop::outage(Stage::Claim, &outage))?;
        domain.filter(|domain| domain.active).ok_or_else(|| Stop::Permanent {
            code: FailureCode::DomainDisabled,
            stage: Stage::Claim,
            detail: format!("the domain {} is switched off", file.domain),
        })
    }

    /// Refuses to add points to a collection that was built with anything else than this deployment uses.
    async fn check_manifest(&self) -> Result<(), Stop> {
        let found = self.index.manifest().await.map_err(|outage| Stop::outage(Stage::Index, &outage))?;
        if found.as_ref() == Some(&self.manifest) {
            return Ok(());
        }
        let shown = |manifest: Option<&anchorage_ports::IndexManifest>| {
            manifest.and_then(|manifest| serde_json::to_string(manifest).ok()).unwrap_or_else(|| "nothing".into())
        };
        let detail = format!(
            "the collection was built with {}, this deployment writes {}",
            shown(found.as_ref()),
            shown(Some(&self.manifest))
        );
        Err(Stop::Permanent { code: FailureCode::ManifestMismatch, stage: Stage::Index, detail })
    }

    async fn read_and_parse(
        &self,
        job: &JobRecord,
        file: &FileRecord,
        domain: &DomainRecord,
        attempt: &Attempt<'_>,
    ) -> Result<(ParsedDocument, Sha256, JobCounters), Stop> {
        let permanent = |code, stage, detail: String| Stop::Permanent { code, stage, detail };
        let key =
            anchorage_domain::ObjectKey { tenant: attempt.scope.tenant(), file: attempt.file, version: job.version };
        let read = self.blobs.read(attempt.scope, &key, job.object_version.as_ref(), self.limits.max_file_bytes).await;
        let blob = read.map_err(|error| match error {
            BlobError::NotFound => permanent(FailureCode::ObjectMissing, Stage::Read, error.to_string()),
            BlobError::TooLarge { .. } => permanent(FailureCode::TooLarge, Stage::Read, error.to_string()),
            BlobError::Outage(outage) => Stop::outage(Stage::Read, &outage),
        })?;
        // Once a newer version was announced, the record holds that one's digest; the store checked this one's on arrival.
        let digest = Sha256::of(&blob.bytes);
        if job.version == file.version && digest != file.content_sha256 {
            let detail = format!("{} bytes arrived, and their digest is not the announced one", blob.bytes.len());
            return Err(permanent(FailureCode::ChecksumMismatch, Stage::Read, detail));
        }
        let counters = JobCounters { bytes_read: blob.bytes.len() as u64, ..JobCounters::default() };
        let hint =
            MediaHint { filename: Some(file.filename.to_string()), content_type: Some(file.content_type.clone()) };
        let (policy, limits) = (domain.policy.chunking, self.limits.clone());
        // Off the async loop: parsing is all computation, and a parser that panics takes down its own thread only.
        let parsed = tokio::task::spawn_blocking(move || parse_and_chunk(&blob.bytes, &hint, policy, &limits)).await;
        let parsed =
            parsed.map_err(|_| permanent(FailureCode::ParseFailed, Stage::Parse, "the parser gave up".into()))?;
        let parsed = parsed.map_err(|error| permanent(failure_code(&error), Stage::Parse, error.to_string()))?;
        Ok((parsed, digest, counters))
    }

    /// Asked right before points are written: past its deadline an attempt may have been taken over, and what it stages
    /// would make published points inactive again. The lease outlives the deadline by more than such a write takes.
    fn in_time(&self, attempt: &Attempt<'_>, stage: Stage) -> Result<(), Stop> {
        if self.clock.now() < attempt.invocation.deadline {
            return Ok(());
        }
        Err(Stop::Transient { code: FailureCode::LeaseExpired, stage, detail: "the time was up".into() })
    }

    /// Stages what is not staged yet, batch by batch, as long as there is time for another one.
    async fn stage_all(
        &self,
        attempt: &Attempt<'_>,
        job: &JobRecord,
        file: &FileRecord,
        domain: &DomainRecord,
        parsed: &ParsedDocument,
        counters: &mut JobCounters,
    ) -> Result<(), Stop> {
        let staged = self.index.staged(attempt.scope, attempt.file, job.generation).await;
        let staged = staged.map_err(|outage| Stop::outage(Stage::Index, &outage))?;
        let missing: Vec<&Chunk> = parsed.chunks.iter().filter(|chunk| !staged.contains(&chunk.index)).collect();
        counters.chunks_reused = count(parsed.chunks.len() - missing.len());
        for batch in missing.chunks(STAGE_BATCH) {
            let now = self.clock.now();
            let left = attempt.invocation.deadline.since(now);
            if left < MIN_BATCH_TIME {
                let detail = format!(
                    "{} of {} chunks are staged",
                    staged.len() + counters.chunks_indexed as usize,
                    parsed.chunks.len()
                );
                return Err(Stop::Transient { code: FailureCode::LeaseExpired, stage: Stage::Embed, detail });
            }
            let texts: Vec<_> = batch.iter().map(|chunk| (chunk.index, chunk.text.as_str())).collect();
            let timeout = left.saturating_sub(STAGE_TIME).min(MAX_CALL_TIME);
            let mut requests = Vec::new();
            for embedder in &self.embedders {
                requests.push(embed(embedder.as_ref(), &texts, timeout));
            }
            let embedded = futures::future::try_join_all(requests).await?;
            let mut dense: Vec<BTreeMap<VectorName, Vec<f32>>> = vec![BTreeMap::new(); batch.len()];
            for (embedder, done) in self.embedders.iter().zip(embedded) {
                counters.embed_calls += done.calls;
                counters.tokens += done.tokens;
                for (vectors, vector) in dense.iter_mut().zip(done.vectors) {
                    vectors.insert(embedder.spec().name.clone(), vector);
                }
            }
            let drafts: Vec<_> = batch
                .iter()
                .zip(dense)
                .map(|(chunk, dense)| draft(attempt, job, file, domain, parsed, chunk, dense, now))
                .collect();
            self.in_time(attempt, Stage::Index)?;
            let stage = self.index.stage(attempt.scope, &drafts).await;
            stage.map_err(|outage| Stop::outage(Stage::Index, &outage))?;
            counters.chunks_indexed += count(batch.len());
        }
        Ok(())
    }

    /// Activates the new generation, then makes it the file's current one: that commit is the instant of publication.
    async fn publish(
        &self,
        attempt: &Attempt<'_>,
        job: &JobRecord,
        parsed: &ParsedDocument,
        digest: Sha256,
        counters: JobCounters,
    ) -> Result<(), Stop> {
        let outage = |outage: Outage| Stop::outage(Stage::Publish, &outage);
        // Before anything is activated, and once more beside the commit: the domain may have been switched off, or the
        // file deleted, while the document was embedded.
        self.domain_of(attempt, &self.file_of(attempt).await?).await?;
        self.in_time(attempt, Stage::Publish)?;
        self.index.activate(attempt.scope, attempt.file, job.generation).await.map_err(outage)?;
        for _ in 0..MAX_CONFLICTS {
            let mut file = self.file_of(attempt).await?;
            self.domain_of(attempt, &file).await?;
            let read = self.store.job(attempt.scope, attempt.file, attempt.job).await.map_err(outage)?;
            let mut job = read.ok_or(Stop::LostLease)?;
            job.held_by(attempt.id).map_err(|_| Stop::LostLease)?;
            if !file.accepts(job.generation) {
                return Err(Stop::Skip(SkipCause::Superseded));
            }
            let now = self.clock.now();
            let publication = Publication {
                generation: job.generation,
                version: job.version,
                content_sha256: digest,
                chunks: count(parsed.chunks.len()),
                coverage: parsed.coverage.clone(),
                at: now,
            };
            file.publish(publication, attempt.job, now);
            job.counters = counters;
            job.coverage = Some(parsed.coverage.clone());
            job.note(JobEventKind::Published, None, now);
            let changes = vec![Change::PutFile(file), Change::PutJob(job)];
            match self.store.commit(attempt.scope, changes).await {
                Ok(()) => {
                    tracing::info!(event = "ingest.job.published", file_id = %attempt.file, job_id = %attempt.job);
                    return Ok(());
                }
                Err(CommitError::Conflict) => {}
                Err(CommitError::Outage(error)) => return Err(outage(error)),
            }
        }
        Err(outage(contended()))
    }

    /// Removes what the new generation replaced, and ends the job. Repeatable at any point.
    async fn finish(&self, attempt: &Attempt<'_>, job: &JobRecord) -> Result<(), Stop> {
        let outage = |outage: Outage| Stop::outage(Stage::Publish, &outage);
        let older = Generations::OlderThan(job.generation);
        self.index.deactivate(attempt.scope, attempt.file, older).await.map_err(outage)?;
        self.index.remove(attempt.scope, attempt.file, older).await.map_err(outage)?;
        self.change(attempt, |now, job, file| {
            let job = job.clone().succeed(attempt.id, now).map_err(|_| Stop::LostLease)?;
            Ok((job, file, ()))
        })
        .await
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

const fn failure_code(error: &ParseError) -> FailureCode {
    match error {
        ParseError::UnsupportedType { .. } => FailureCode::UnsupportedType,
        ParseError::ParseFailed { .. } => FailureCode::ParseFailed,
        ParseError::Encrypted => FailureCode::Encrypted,
        ParseError::NoText => FailureCode::NoText,
        ParseError::ArchiveTooLarge { .. } => FailureCode::ArchiveTooLarge,
        ParseError::ChunkLimitExceeded { .. } => FailureCode::ChunkLimitExceeded,
        ParseError::TooLarge { .. } => FailureCode::TooLarge,
    }
}

#[expect(clippy::too_many_arguments, reason = "a point is made of all of these, and only here")]
fn draft(
    attempt: &Attempt<'_>,
    job: &JobRecord,
    file: &FileRecord,
    domain: &DomainRecord,
    parsed: &ParsedDocument,
    chunk: &Chunk,
    dense: BTreeMap<VectorName, Vec<f32>>,
    now: Timestamp,
) -> PointDraft {
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
            document_type: DOCUMENT_TYPE.to_owned(),
            metadata: file.metadata.clone(),
            version: 1,
            created_at: now,
            updated_at: now,
        },
        dense,
        sparse: sparse_document(domain.policy.language, &chunk.text),
    }
}
