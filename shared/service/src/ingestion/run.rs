//! One ingest job, from its claim to the instant of publication and the clean-up after it.

use super::{Attempt, Ingestion, MAX_CONFLICTS, Stop, contended, stage::Document};
use anchorage_documents::{MediaHint, ParseError, ParsedDocument, parse_and_chunk};
use anchorage_domain::{
    DomainRecord, FailureCode, FileRecord, JobCounters, JobEventKind, JobRecord, Publication, Sha256, SkipCause, Stage,
};
use anchorage_ports::{BlobError, Change, CommitError, Generations, Outage};

impl Ingestion {
    /// Everything between the claim and the end of an ingest job.
    pub(super) async fn ingest(
        &self,
        attempt: &Attempt<'_>,
        job: JobRecord,
        spent: &mut JobCounters,
    ) -> Result<(), Stop> {
        let file = self.file_of(attempt).await?;
        if file.current_generation() != Some(job.generation) {
            if !file.accepts(job.generation) {
                return Err(Stop::Skip(SkipCause::Superseded));
            }
            let domain = self.domain_of(attempt, &file).await?;
            self.check_manifest().await?;
            let (parsed, digest) = self.read_and_parse(&job, &file, &domain, attempt, spent).await?;
            let document = Document { job: &job, file: &file, domain: &domain, parsed: &parsed };
            self.stage_all(attempt, document, spent).await?;
            self.publish(attempt, &job, &parsed, digest, spent).await?;
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
        spent: &mut JobCounters,
    ) -> Result<(ParsedDocument, Sha256), Stop> {
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
        spent.bytes_read = blob.bytes.len() as u64;
        let hint =
            MediaHint { filename: Some(file.filename.to_string()), content_type: Some(file.content_type.clone()) };
        let (policy, limits) = (domain.policy.chunking, self.limits.clone());
        // Off the async loop: parsing is all computation, and a parser that panics takes down its own thread only.
        let parsed = tokio::task::spawn_blocking(move || parse_and_chunk(&blob.bytes, &hint, policy, &limits)).await;
        let parsed =
            parsed.map_err(|_| permanent(FailureCode::ParseFailed, Stage::Parse, "the parser gave up".into()))?;
        let mut parsed = parsed.map_err(|error| permanent(failure_code(&error), Stage::Parse, error.to_string()))?;
        // What the source kept back is as absent from the answers as what the parser could not read.
        parsed.coverage.partial |= !file.skipped.is_empty();
        parsed.coverage.skipped.extend(file.skipped.iter().cloned());
        Ok((parsed, digest))
    }

    /// Asked right before points are written: past its deadline an attempt may have been taken over, and what it stages
    /// would make published points inactive again. The lease outlives the deadline by more than such a write takes.
    pub(super) fn in_time(&self, attempt: &Attempt<'_>, stage: Stage) -> Result<(), Stop> {
        if self.clock.now() < attempt.invocation.deadline {
            return Ok(());
        }
        Err(Stop::Transient { code: FailureCode::LeaseExpired, stage, detail: "the time was up".into() })
    }

    /// Activates the new generation, then makes it the file's current one: that commit is the instant of publication.
    async fn publish(
        &self,
        attempt: &Attempt<'_>,
        job: &JobRecord,
        parsed: &ParsedDocument,
        digest: Sha256,
        spent: &mut JobCounters,
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
            job.counters.add(spent);
            // Whatever this job embedded in none of its attempts was there: taken over, or staged by an attempt that
            // died before it could say so.
            job.counters.chunks_reused = publication.chunks.saturating_sub(job.counters.chunks_indexed);
            file.publish(publication, attempt.job, now);
            job.coverage = Some(parsed.coverage.clone());
            job.note(JobEventKind::Published, None, now);
            let changes = vec![Change::PutFile(file), Change::PutJob(job)];
            match self.store.commit(attempt.scope, changes).await {
                Ok(()) => {
                    *spent = JobCounters::default();
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

pub(super) fn count(number: usize) -> u32 {
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
