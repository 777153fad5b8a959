//! The ports with one fault in them: at a chosen call the outside fails, or the process dies, before or after the effect.

use anchorage_domain::{
    DomainKey, DomainRecord, FileId, FileRecord, Filename, Generation, IdentityHash, IdentityRecord, JobId, JobRecord,
    ObjectKey, OrderId, PointId, Sha256, TenantScope, Timestamp, VersionId,
};
use anchorage_ports::{
    Blob, BlobError, BlobStore, Change, CommitError, CountFilter, DenseVectors, DocumentStore, EmbedError, Embedder,
    EmbedderSpec, Embeddings, FileListing, FilePage, Generations, Hit, HybridQuery, IndexManifest, IngestMessage,
    InputKind, JobQueue, KeywordQuery, Neighbours, Outage, OutageKind, Point, PointDraft, PresignedRequest,
    ReceiptHandle, Service, UploadTicket, VectorIndex,
};
use async_trait::async_trait;
use std::{
    collections::{BTreeSet, HashMap, HashSet},
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::sync::Notify;

/// What happens at the chosen call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The call fails and has done nothing.
    Refused,
    /// The call does what it should, and its answer is lost.
    AnswerLost,
    /// The process dies before the call.
    DiesBefore,
    /// The process dies once the call has had its effect.
    DiesAfter,
    /// The process stands still once the call has had its effect, until it is resumed.
    Freezes,
}

impl Fault {
    /// Those after which the attempt never comes back.
    pub const FINAL: [Self; 4] = [Self::Refused, Self::AnswerLost, Self::DiesBefore, Self::DiesAfter];
}

type Check = Box<dyn Fn() + Send + Sync>;

/// Counts the calls to all ports of one world, and strikes at one of them.
#[derive(Default)]
pub struct Faults {
    calls: AtomicUsize,
    planned: Mutex<Option<(Fault, usize)>>,
    struck: AtomicBool,
    died: Notify,
    resumed: Notify,
    check: Mutex<Option<Check>>,
}

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Faults").finish_non_exhaustive()
    }
}

impl Faults {
    /// Strikes at the `call`-th call from now on, counted from 1.
    pub fn plan(&self, fault: Fault, call: usize) {
        self.calls.store(0, Ordering::SeqCst);
        *self.planned.lock().unwrap() = Some((fault, call));
    }

    /// What must hold after every single call.
    pub fn always(&self, check: impl Fn() + Send + Sync + 'static) {
        *self.check.lock().unwrap() = Some(Box::new(check));
    }

    pub fn struck(&self) -> bool {
        self.struck.load(Ordering::SeqCst)
    }

    /// Lets a frozen process go on.
    pub fn resume(&self) {
        self.resumed.notify_one();
    }

    /// Resolves when the process has died or stands still.
    pub async fn death(&self) {
        self.died.notified().await;
    }

    async fn call<T, E: From<Outage>>(
        &self,
        service: Service,
        effect: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let number = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        let fault = self.planned.lock().unwrap().filter(|(_, call)| *call == number).map(|(fault, _)| fault);
        self.struck.fetch_or(fault.is_some(), Ordering::SeqCst);
        let outage = || Err(Outage::new(service, OutageKind::Unavailable, "planned").into());
        match fault {
            Some(Fault::Refused) => return outage(),
            Some(Fault::DiesBefore) => self.die().await,
            Some(Fault::AnswerLost | Fault::DiesAfter | Fault::Freezes) | None => {}
        }
        let result = effect.await;
        if let Some(check) = &*self.check.lock().unwrap() {
            check();
        }
        match fault {
            Some(Fault::AnswerLost) => outage(),
            Some(Fault::DiesAfter) => {
                self.die().await;
                result
            }
            Some(Fault::Freezes) => {
                self.died.notify_one();
                self.resumed.notified().await;
                result
            }
            Some(Fault::Refused | Fault::DiesBefore) | None => result,
        }
    }

    async fn die(&self) {
        self.died.notify_one();
        std::future::pending::<()>().await;
    }
}

/// A port behind the faults.
#[derive(Debug, Clone)]
pub struct Faulty<T> {
    pub inner: Arc<T>,
    pub faults: Arc<Faults>,
}

#[async_trait]
impl<T: DocumentStore> DocumentStore for Faulty<T> {
    async fn domain(&self, scope: &TenantScope, key: &DomainKey) -> Result<Option<DomainRecord>, Outage> {
        self.faults.call(Service::DocumentStore, self.inner.domain(scope, key)).await
    }

    async fn domains(&self, scope: &TenantScope) -> Result<Vec<DomainRecord>, Outage> {
        self.faults.call(Service::DocumentStore, self.inner.domains(scope)).await
    }

    async fn file(&self, scope: &TenantScope, file: FileId) -> Result<Option<FileRecord>, Outage> {
        self.faults.call(Service::DocumentStore, self.inner.file(scope, file)).await
    }

    async fn files(&self, scope: &TenantScope, files: &[FileId]) -> Result<Vec<FileRecord>, Outage> {
        self.faults.call(Service::DocumentStore, self.inner.files(scope, files)).await
    }

    async fn list_files(&self, scope: &TenantScope, listing: &FileListing) -> Result<FilePage, Outage> {
        self.faults.call(Service::DocumentStore, self.inner.list_files(scope, listing)).await
    }

    async fn job(&self, scope: &TenantScope, file: FileId, job: JobId) -> Result<Option<JobRecord>, Outage> {
        self.faults.call(Service::DocumentStore, self.inner.job(scope, file, job)).await
    }

    async fn jobs(&self, scope: &TenantScope, file: FileId, limit: usize) -> Result<Vec<JobRecord>, Outage> {
        self.faults.call(Service::DocumentStore, self.inner.jobs(scope, file, limit)).await
    }

    async fn identity(&self, scope: &TenantScope, identity: &IdentityHash) -> Result<Option<IdentityRecord>, Outage> {
        self.faults.call(Service::DocumentStore, self.inner.identity(scope, identity)).await
    }

    async fn commit(&self, scope: &TenantScope, changes: Vec<Change>) -> Result<(), CommitError> {
        self.faults.call(Service::DocumentStore, self.inner.commit(scope, changes)).await
    }
}

#[async_trait]
impl<T: BlobStore> BlobStore for Faulty<T> {
    async fn presign_upload(
        &self,
        scope: &TenantScope,
        ticket: &UploadTicket,
        now: Timestamp,
    ) -> Result<PresignedRequest, BlobError> {
        self.faults.call(Service::BlobStore, self.inner.presign_upload(scope, ticket, now)).await
    }

    async fn presign_download(
        &self,
        scope: &TenantScope,
        key: &ObjectKey,
        filename: &Filename,
        valid_for: Duration,
        now: Timestamp,
    ) -> Result<PresignedRequest, BlobError> {
        self.faults.call(Service::BlobStore, self.inner.presign_download(scope, key, filename, valid_for, now)).await
    }

    async fn put(
        &self,
        scope: &TenantScope,
        key: &ObjectKey,
        content_type: &str,
        bytes: Vec<u8>,
    ) -> Result<(), BlobError> {
        self.faults.call(Service::BlobStore, self.inner.put(scope, key, content_type, bytes)).await
    }

    async fn read(
        &self,
        scope: &TenantScope,
        key: &ObjectKey,
        version: Option<&VersionId>,
        max_bytes: u64,
    ) -> Result<Blob, BlobError> {
        self.faults.call(Service::BlobStore, self.inner.read(scope, key, version, max_bytes)).await
    }

    async fn remove(&self, scope: &TenantScope, key: &ObjectKey) -> Result<u64, Outage> {
        self.faults.call(Service::BlobStore, self.inner.remove(scope, key)).await
    }

    async fn remove_file(&self, scope: &TenantScope, file: FileId) -> Result<u64, Outage> {
        self.faults.call(Service::BlobStore, self.inner.remove_file(scope, file)).await
    }
}

#[async_trait]
impl<T: JobQueue> JobQueue for Faulty<T> {
    async fn send(&self, scope: &TenantScope, message: &IngestMessage) -> Result<(), Outage> {
        self.faults.call(Service::Queue, self.inner.send(scope, message)).await
    }

    async fn postpone(&self, receipt: &ReceiptHandle, delay: Duration) -> Result<(), Outage> {
        self.faults.call(Service::Queue, self.inner.postpone(receipt, delay)).await
    }
}

#[async_trait]
impl<T: VectorIndex> VectorIndex for Faulty<T> {
    async fn manifest(&self) -> Result<Option<IndexManifest>, Outage> {
        self.faults.call(Service::VectorIndex, self.inner.manifest()).await
    }

    async fn stage(&self, scope: &TenantScope, points: &[PointDraft]) -> Result<(), Outage> {
        self.faults.call(Service::VectorIndex, self.inner.stage(scope, points)).await
    }

    async fn staged(&self, scope: &TenantScope, file: FileId, generation: Generation) -> Result<HashSet<u32>, Outage> {
        self.faults.call(Service::VectorIndex, self.inner.staged(scope, file, generation)).await
    }

    async fn vectors(
        &self,
        scope: &TenantScope,
        file: FileId,
        texts: &BTreeSet<Sha256>,
    ) -> Result<HashMap<Sha256, DenseVectors>, Outage> {
        self.faults.call(Service::VectorIndex, self.inner.vectors(scope, file, texts)).await
    }

    async fn activate(&self, scope: &TenantScope, file: FileId, generation: Generation) -> Result<(), Outage> {
        self.faults.call(Service::VectorIndex, self.inner.activate(scope, file, generation)).await
    }

    async fn deactivate(&self, scope: &TenantScope, file: FileId, generations: Generations) -> Result<(), Outage> {
        self.faults.call(Service::VectorIndex, self.inner.deactivate(scope, file, generations)).await
    }

    async fn remove(&self, scope: &TenantScope, file: FileId, generations: Generations) -> Result<u64, Outage> {
        self.faults.call(Service::VectorIndex, self.inner.remove(scope, file, generations)).await
    }

    async fn point(&self, scope: &TenantScope, point: PointId) -> Result<Option<Point>, Outage> {
        self.faults.call(Service::VectorIndex, self.inner.point(scope, point)).await
    }

    async fn list(
        &self,
        scope: &TenantScope,
        file: FileId,
        generation: Generation,
        after: Option<OrderId>,
        limit: u32,
    ) -> Result<Vec<Point>, Outage> {
        self.faults.call(Service::VectorIndex, self.inner.list(scope, file, generation, after, limit)).await
    }

    async fn neighbours(&self, scope: &TenantScope, points: &[&Point]) -> Result<Vec<Neighbours>, Outage> {
        self.faults.call(Service::VectorIndex, self.inner.neighbours(scope, points)).await
    }

    async fn count(&self, scope: &TenantScope, filter: &CountFilter) -> Result<u64, Outage> {
        self.faults.call(Service::VectorIndex, self.inner.count(scope, filter)).await
    }

    async fn keyword(&self, scope: &TenantScope, query: &KeywordQuery) -> Result<Vec<Point>, Outage> {
        self.faults.call(Service::VectorIndex, self.inner.keyword(scope, query)).await
    }

    async fn search(&self, scope: &TenantScope, query: &HybridQuery) -> Result<Vec<Hit>, Outage> {
        self.faults.call(Service::VectorIndex, self.inner.search(scope, query)).await
    }
}

#[async_trait]
impl<T: Embedder> Embedder for Faulty<T> {
    fn spec(&self) -> &EmbedderSpec {
        self.inner.spec()
    }

    async fn embed(&self, inputs: &[&str], kind: InputKind, timeout: Duration) -> Result<Embeddings, EmbedError> {
        self.faults.call(Service::Embedder, self.inner.embed(inputs, kind, timeout)).await
    }
}
