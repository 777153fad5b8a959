use super::*;
use anchorage_domain::{
    Coverage, DocumentType, DomainPolicy, DomainRecord, Failure, FailureCode, Filename, Language, Publication, Sha256,
    Stage, TenantId,
};
use anchorage_memory::{ManualClock, MemoryBlobs, MemoryQueue, MemoryStore, SequentialIds};

fn tenant(last: u8) -> TenantId {
    format!("01980000-0000-7000-8000-0000000000{last:02x}").parse().unwrap()
}

struct World {
    files: Files,
    store: Arc<MemoryStore>,
    queue: Arc<MemoryQueue>,
    scope: TenantScope,
}

#[expect(clippy::disallowed_methods, reason = "a test is its own caller")]
fn scope(tenant: TenantId) -> TenantScope {
    TenantScope::for_operator(tenant)
}

async fn world() -> World {
    let (store, queue) = (Arc::new(MemoryStore::default()), Arc::new(MemoryQueue::default()));
    let clock: Arc<dyn Clock> = Arc::new(ManualClock::default());
    let scope = scope(tenant(1));
    for (key, active) in [("d", true), ("off", false)] {
        let domain = DomainRecord {
            key: DomainKey::new(key).unwrap(),
            active,
            policy: DomainPolicy::new(Language::En),
            created_by: scope.actor().clone(),
            created_at: clock.now(),
            updated_at: clock.now(),
            revision: Revision::NEW,
        };
        store.commit(&scope, vec![Change::PutDomain(domain)]).await.unwrap();
    }
    let files = Files {
        store: store.clone(),
        blobs: Arc::new(MemoryBlobs::default()),
        queue: queue.clone(),
        clock,
        ids: Arc::new(SequentialIds::default()),
    };
    World { files, store, queue, scope }
}

fn announcement(domain: &str, content: &str, external_id: Option<&str>) -> Announcement {
    Announcement {
        domain: DomainKey::new(domain).unwrap(),
        filename: Filename::new("a.txt").unwrap(),
        size: FileSize::new(content.len() as u64).unwrap(),
        sha256: Sha256::of(content.as_bytes()),
        content_type: ContentType::default(),
        title: None,
        external_id: external_id.map(|id| id.parse().unwrap()),
        metadata: Metadata::default(),
        document_type: DocumentType::file(),
        skipped: Vec::new(),
    }
}

impl World {
    async fn announce(&self, content: &str, external_id: Option<&str>) -> Announced {
        self.files.announce(&self.scope, &announcement("d", content, external_id)).await.unwrap()
    }

    /// Puts the file into a state as the pipeline would.
    async fn set(&self, file: FileId, status: FileStatus) {
        let mut record = self.store.file(&self.scope, file).await.unwrap().unwrap();
        let now = self.files.clock.now();
        let job = record.newest_job;
        match status {
            FileStatus::Ready => record.publish(
                Publication {
                    generation: record.newest_generation,
                    version: record.version,
                    content_sha256: record.content_sha256,
                    chunks: 1,
                    coverage: Coverage::default(),
                    at: now,
                },
                job,
                now,
            ),
            FileStatus::Failed => {
                let code = FailureCode::EmbeddingFailed;
                let detail = String::new();
                let failure =
                    Failure { code, stage: Stage::Embed, detail, retryable: true, attempt: 1, trace_id: None, at: now };
                record.fail(job, failure, now);
            }
            other => record.status = other,
        }
        self.store.commit(&self.scope, vec![Change::PutFile(record)]).await.unwrap();
    }

    fn sent(&self) -> Option<JobId> {
        self.queue.receive().map(|message| {
            let MessageBody::RunJob { job_id, .. } = message.anchorage;
            job_id
        })
    }
}

#[tokio::test]
async fn unknown_or_disabled_domain_writes_nothing() {
    let world = world().await;
    for (domain, disabled) in [("nowhere", false), ("off", true)] {
        let error = world.files.announce(&world.scope, &announcement(domain, "x", None)).await.unwrap_err();
        assert_eq!(matches!(error, FilesError::DomainDisabled(_)), disabled);
        assert_eq!(matches!(error, FilesError::DomainUnknown(_)), !disabled);
    }
    assert_eq!(world.store.snapshot(world.scope.tenant()), (vec![], vec![], vec![]));
}

/// Case C07: only content that arrived and did not fail is not asked for again.
#[tokio::test]
async fn same_content_again_is_the_same_file_in_every_state() {
    for (status, ticket, new_job, message) in [
        (FileStatus::AwaitingUpload, true, false, false),
        (FileStatus::Queued, false, false, true),
        (FileStatus::Processing, false, false, false),
        (FileStatus::Ready, false, false, false),
        (FileStatus::Failed, true, true, false),
    ] {
        let world = world().await;
        let first = world.announce("x", None).await;
        assert!(first.known == Known::Not && first.upload.is_some());
        world.set(first.file.file_id, status).await;
        let again = world.announce("x", None).await;
        assert_eq!((again.known, again.file.file_id), (Known::Everything, first.file.file_id));
        assert_eq!(again.file.version, 1);
        assert_eq!(again.upload.is_some(), ticket, "{status:?}");
        assert_eq!(again.file.newest_job != first.file.newest_job, new_job, "{status:?}");
        assert_eq!(world.sent().is_some(), message, "{status:?}");
    }
}

#[tokio::test]
async fn other_content_under_an_external_id_is_a_new_version_and_ends_the_job_that_waited() {
    let world = world().await;
    let first = world.announce("x", Some("doc")).await;
    let second = world.announce("y", Some("doc")).await;
    assert_eq!((second.known, second.file.file_id, second.file.version), (Known::Document, first.file.file_id, 2));
    assert!(second.file.newest_generation > first.file.newest_generation);
    let job = world.files.job(&world.scope, first.file.file_id, first.file.newest_job).await.unwrap();
    assert_eq!((job.status, job.skip_cause), (JobStatus::Skipped, Some(SkipCause::Superseded)));
}

#[tokio::test]
async fn deleted_file_is_gone_and_its_identity_is_free() {
    let world = world().await;
    let first = world.announce("x", None).await;
    let file = first.file.file_id;
    let purge = world.files.delete(&world.scope, file).await.unwrap();
    assert_eq!(world.sent(), Some(purge.job_id));
    assert_eq!(world.files.get(&world.scope, file).await, Err(FilesError::NotFound));
    let waited = world.files.job(&world.scope, file, first.file.newest_job).await.unwrap();
    assert_eq!(waited.skip_cause, Some(SkipCause::FileDeleted));
    // The message may have been lost: asking again sends it again.
    assert_eq!(world.files.delete(&world.scope, file).await, Err(FilesError::NotFound));
    assert_eq!(world.sent(), Some(purge.job_id));
    let again = world.announce("x", None).await;
    assert!(again.known == Known::Not && again.file.file_id != file);
}

#[tokio::test]
async fn reingest_begins_a_new_job_only_when_nothing_is_under_way() {
    let world = world().await;
    let file = world.announce("x", None).await.file.file_id;
    assert_eq!(world.files.reingest(&world.scope, file).await, Err(FilesError::UploadPending));
    world.set(file, FileStatus::Processing).await;
    assert_eq!(world.files.reingest(&world.scope, file).await, Err(FilesError::Busy));
    assert_eq!(world.sent(), None);
    world.set(file, FileStatus::Ready).await;
    let job = world.files.reingest(&world.scope, file).await.unwrap();
    assert_eq!(world.sent(), Some(job.job_id));
    assert_eq!(world.files.reingest(&world.scope, file).await, Err(FilesError::Busy));
    assert_eq!(world.sent(), Some(job.job_id));
}

/// Case C46: another tenant's file is one that is not there.
#[tokio::test]
async fn foreign_file_is_like_a_missing_one() {
    let world = world().await;
    let announced = world.announce("x", None).await;
    let (file, job) = (announced.file.file_id, announced.file.newest_job);
    let other = scope(tenant(2));
    assert_eq!(world.files.get(&other, file).await, Err(FilesError::NotFound));
    assert_eq!(world.files.job(&other, file, job).await, Err(FilesError::NotFound));
    assert_eq!(world.files.content(&other, file).await, Err(FilesError::NotFound));
    assert_eq!(world.files.reingest(&other, file).await, Err(FilesError::NotFound));
    assert_eq!(world.files.delete(&other, file).await, Err(FilesError::NotFound));
}

#[tokio::test]
async fn announcements_at_once_make_one_file() {
    let world = world().await;
    let announcement = announcement("d", "x", None);
    let all = futures::future::join_all((0..8).map(|_| world.files.announce(&world.scope, &announcement))).await;
    let made: Vec<_> = all.into_iter().map(Result::unwrap).collect();
    assert_eq!(made.iter().filter(|announced| announced.known == Known::Not).count(), 1);
    assert!(made.iter().all(|announced| announced.file.file_id == made[0].file.file_id));
}
