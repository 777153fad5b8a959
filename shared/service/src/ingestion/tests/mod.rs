//! Ingestion over the ports in memory, undisturbed and with one fault at every call it makes.

mod faults;
mod interrupted;
mod outcomes;

use super::*;
use crate::{
    Files,
    files::{Announcement, ContentType, FileSize, Metadata},
};
use anchorage_domain::{
    DocumentType, DomainKey, DomainPolicy, DomainRecord, Filename, Generation, IdentityRecord, Language, Revision,
    Sha256, TenantId, VectorName,
};
use anchorage_memory::{
    ManualClock, MemoryBlobs, MemoryEmbedder, MemoryIndex, MemoryQueue, MemoryStore, SequentialIds,
};
use anchorage_ports::{PointDraft, VectorSpec};
use faults::{Faults, Faulty};

/// What one invocation has.
const INVOCATION: Duration = Duration::from_mins(2);

struct World {
    store: Arc<MemoryStore>,
    blobs: Arc<MemoryBlobs>,
    index: Arc<MemoryIndex>,
    embedder: Arc<MemoryEmbedder>,
    queue: Arc<MemoryQueue>,
    clock: Arc<ManualClock>,
    faults: Arc<Faults>,
    files: Files,
    ingestion: Ingestion,
    scope: TenantScope,
}

#[expect(clippy::disallowed_methods, reason = "a test is its own caller")]
fn scope() -> TenantScope {
    TenantScope::for_operator("01980000-0000-7000-8000-0000000000a1".parse().unwrap())
}

fn manifest(embedder: &MemoryEmbedder) -> IndexManifest {
    let spec = embedder.spec();
    let vector = VectorSpec { name: spec.name.clone(), model: spec.model.clone(), dims: spec.dims };
    crate::index_manifest(vec![vector])
}

async fn world() -> World {
    let embedder = Arc::new(MemoryEmbedder::new(VectorName::new("dense").unwrap()));
    let index = Arc::new(MemoryIndex::new(Some(manifest(&embedder))));
    world_of(embedder, index).await
}

async fn world_of(embedder: Arc<MemoryEmbedder>, index: Arc<MemoryIndex>) -> World {
    let (store, blobs) = (Arc::new(MemoryStore::default()), Arc::new(MemoryBlobs::default()));
    let (queue, clock) = (Arc::new(MemoryQueue::default()), Arc::new(ManualClock::default()));
    let (ids, faults, scope) = (Arc::new(SequentialIds::default()), Arc::new(Faults::default()), scope());
    let domain = DomainRecord {
        key: DomainKey::new("d").unwrap(),
        active: true,
        policy: DomainPolicy::new(Language::En),
        created_by: scope.actor().clone(),
        created_at: clock.now(),
        updated_at: clock.now(),
        revision: Revision::NEW,
    };
    store.commit(&scope, vec![Change::PutDomain(domain)]).await.unwrap();
    let files = Files {
        store: store.clone(),
        blobs: blobs.clone(),
        queue: queue.clone(),
        clock: clock.clone(),
        ids: ids.clone(),
    };
    let ingestion = Ingestion {
        store: Arc::new(Faulty { inner: store.clone(), faults: faults.clone() }),
        blobs: Arc::new(Faulty { inner: blobs.clone(), faults: faults.clone() }),
        index: Arc::new(Faulty { inner: index.clone(), faults: faults.clone() }),
        queue: Arc::new(Faulty { inner: queue.clone(), faults: faults.clone() }),
        embedders: vec![Arc::new(Faulty { inner: embedder.clone(), faults: faults.clone() })],
        clock: clock.clone(),
        ids,
        manifest: manifest(&embedder),
        limits: Limits::default(),
    };
    World { store, blobs, index, embedder, queue, clock, faults, files, ingestion, scope }
}

/// A document of so many sections, each a chunk of its own; every one starts with `word`.
fn document(word: &str, sections: usize) -> String {
    let section = |n: usize| format!("# Section {n}\n\n{word}{n} {}", "speaks of many things ".repeat(12));
    (0..sections).map(section).collect::<Vec<_>>().join("\n\n")
}

/// Everything a tenant has, without what depends on when and how often it was written.
#[derive(Debug, PartialEq)]
struct State {
    files: Vec<FileRecord>,
    jobs: Vec<(JobId, JobKind, JobStatus, Generation, Option<anchorage_domain::Coverage>)>,
    identities: Vec<IdentityRecord>,
    points: Vec<PointDraft>,
}

impl World {
    fn tenant(&self) -> TenantId {
        self.scope.tenant()
    }

    /// Announces a version of the document `x` and sends its bytes; what the object store then notifies.
    async fn upload(&self, content: &str, sequencer: &str) -> ObjectArrival {
        let announcement = Announcement {
            domain: DomainKey::new("d").unwrap(),
            filename: Filename::new("a.md").unwrap(),
            size: FileSize::new(content.len() as u64).unwrap(),
            sha256: Sha256::of(content.as_bytes()),
            content_type: ContentType::new("text/markdown").unwrap(),
            title: None,
            external_id: Some("x".parse().unwrap()),
            metadata: Metadata::default(),
            document_type: DocumentType::file(),
            skipped: Vec::new(),
        };
        let announced = self.files.announce(&self.scope, &announcement).await.unwrap();
        let url = announced.upload.unwrap().url;
        let version = self.blobs.send(&url, content.as_bytes(), self.clock.now());
        assert!(version.is_some(), "the store takes the bytes");
        let (file, tenant) = (announced.file, self.tenant());
        let key = ObjectKey { tenant, file: file.file_id, version: file.version };
        ObjectArrival { key, version, sequencer: Some(Sequencer::new(sequencer).unwrap()) }
    }

    fn invocation(&self) -> Invocation {
        Invocation {
            deadline: self.clock.now().plus(INVOCATION),
            trace_id: Some("4bf92f3577b34da6a3ce929d0e0e4736".into()),
        }
    }

    /// One delivery. Nothing when the process died over it.
    async fn deliver(&self, arrival: &ObjectArrival) -> Option<Outcome> {
        let invocation = self.invocation();
        tokio::select! {
            outcome = self.ingestion.object_arrived(&self.scope, arrival, &invocation) => Some(outcome),
            () = self.faults.death() => None,
        }
    }

    async fn run(&self, file: FileId, job: JobId) -> Option<Outcome> {
        let invocation = self.invocation();
        tokio::select! {
            outcome = self.ingestion.run(&self.scope, file, job, &invocation) => Some(outcome),
            () = self.faults.death() => None,
        }
    }

    /// Lets the time pass until the message would be delivered again. False when it would not.
    fn wait(&self, outcome: Option<&Outcome>) -> bool {
        match outcome {
            Some(Outcome::Retry { after, .. }) => self.clock.advance(*after + Duration::from_secs(1)),
            Some(Outcome::Ended(_) | Outcome::Nothing(_) | Outcome::Continued) => return false,
            None => self.clock.advance(INVOCATION + LEASE_MARGIN),
        }
        true
    }

    /// Delivers until the message is acknowledged.
    async fn settle(&self, arrival: &ObjectArrival) -> Outcome {
        for _ in 0..5 {
            let outcome = self.deliver(arrival).await;
            if !self.wait(outcome.as_ref()) {
                return outcome.unwrap();
            }
        }
        panic!("five deliveries did not settle it: {:?}", self.store.snapshot(self.tenant()));
    }

    async fn ingest(&self, content: &str, sequencer: &str) -> ObjectArrival {
        let arrival = self.upload(content, sequencer).await;
        assert_eq!(self.settle(&arrival).await, Outcome::Ended(JobStatus::Succeeded));
        arrival
    }

    fn file(&self) -> FileRecord {
        self.store.snapshot(self.tenant()).0.pop().unwrap()
    }

    /// The file's newest job.
    async fn job(&self) -> JobRecord {
        let file = self.file();
        self.store.job(&self.scope, file.file_id, file.newest_job).await.unwrap().unwrap()
    }

    fn state(&self) -> State {
        let epoch = Timestamp::from_unix_millis(0);
        let (mut files, jobs, mut identities) = self.store.snapshot(self.tenant());
        for file in &mut files {
            (file.created_at, file.updated_at, file.revision) = (epoch, epoch, Revision::NEW);
            if let Some(publication) = &mut file.published {
                publication.at = epoch;
            }
        }
        for identity in &mut identities {
            identity.revision = Revision::NEW;
        }
        let jobs =
            jobs.into_iter().map(|job| (job.job_id, job.kind, job.status, job.generation, job.coverage)).collect();
        let mut points = self.index.snapshot(self.tenant());
        for draft in &mut points {
            (draft.point.created_at, draft.point.updated_at) = (epoch, epoch);
        }
        State { files, jobs, identities, points }
    }

    /// Checks after every call that a reader sees the whole current generation, and never goes back to an older one.
    fn watch_readers(&self) {
        let (store, index, tenant) = (self.store.clone(), self.index.clone(), self.tenant());
        let newest = std::sync::Mutex::new(Generation::new(0));
        self.faults.always(move || {
            for file in store.snapshot(tenant).0 {
                let Some(published) = &file.published else { continue };
                let visible = |draft: &&PointDraft| {
                    draft.point.is_active
                        && (draft.point.file_id, draft.point.generation) == (file.file_id, published.generation)
                };
                let seen = index.snapshot(tenant).iter().filter(visible).count();
                assert_eq!(seen, published.chunks as usize, "the current generation is visible as a whole");
                let mut newest = newest.lock().unwrap();
                assert!(*newest <= published.generation);
                *newest = published.generation;
            }
        });
    }
}
