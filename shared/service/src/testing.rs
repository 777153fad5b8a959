//! A tenant with documents, taken through the real pipeline over the ports in memory. The tests of the functions that read
//! what is published include this file as well.

use anchorage_documents::Limits;
use anchorage_domain::{
    DocumentType, DomainKey, DomainPolicy, DomainRecord, FileId, Filename, Language, ObjectKey, Revision, Sha256,
    TenantId, TenantScope, VectorName,
};
use anchorage_memory::{
    ManualClock, MemoryBlobs, MemoryEmbedder, MemoryIndex, MemoryQueue, MemoryStore, SequentialIds,
};
use anchorage_ports::{Change, Clock, DocumentStore, Embedder, VectorIndex, VectorSpec};
use anchorage_service::{
    Files, Ingestion,
    files::{Announcement, ContentType, FileSize, Metadata},
    index_manifest,
    ingestion::{Invocation, ObjectArrival},
};
use std::{sync::Arc, time::Duration};

pub const DISCLAIMER: &str = "For guidance only.";

#[derive(Debug)]
pub struct World {
    pub store: Arc<MemoryStore>,
    pub index: Arc<MemoryIndex>,
    pub embedder: Arc<MemoryEmbedder>,
    pub clock: Arc<ManualClock>,
    pub ids: Arc<SequentialIds>,
    pub blobs: Arc<MemoryBlobs>,
}

pub fn tenant(last: u8) -> TenantId {
    format!("01980000-0000-7000-8000-0000000000{last:02x}").parse().unwrap()
}

#[expect(clippy::disallowed_methods, reason = "a test is its own caller")]
pub fn scope(last: u8) -> TenantScope {
    TenantScope::for_operator(tenant(last))
}

pub fn key(domain: &str) -> DomainKey {
    DomainKey::new(domain).unwrap()
}

impl World {
    /// Two tenants with the domains `en`, `fa` and `vi`, of the language each is named after, and `off`, switched off.
    pub async fn new() -> Self {
        let embedder = Arc::new(MemoryEmbedder::new(VectorName::new("dense_test").unwrap()));
        let spec = embedder.spec();
        let vector = VectorSpec { name: spec.name.clone(), model: spec.model.clone(), dims: spec.dims };
        let index = Arc::new(MemoryIndex::new(Some(index_manifest(vec![vector]))));
        let world = Self {
            store: Arc::default(),
            index,
            embedder,
            clock: Arc::default(),
            ids: Arc::default(),
            blobs: Arc::default(),
        };
        for scope in [scope(1), scope(2)] {
            for (name, language) in
                [("en", Language::En), ("fa", Language::Fa), ("vi", Language::Vi), ("off", Language::En)]
            {
                let mut policy = DomainPolicy::new(language);
                policy.disclaimer = Some(DISCLAIMER.to_owned());
                let domain = DomainRecord {
                    key: key(name),
                    active: name != "off",
                    policy,
                    created_by: scope.actor().clone(),
                    created_at: world.clock.now(),
                    updated_at: world.clock.now(),
                    revision: Revision::NEW,
                };
                world.store.commit(&scope, vec![Change::PutDomain(domain)]).await.unwrap();
            }
        }
        world
    }

    /// Announces, uploads and ingests a document. The same external id again is its next version.
    pub async fn publish(&self, scope: &TenantScope, domain: &str, external_id: &str, text: &str) -> FileId {
        let files = Files {
            store: self.store.clone(),
            blobs: self.blobs.clone(),
            queue: Arc::new(MemoryQueue::default()),
            clock: self.clock.clone(),
            ids: self.ids.clone(),
        };
        let announcement = Announcement {
            domain: key(domain),
            filename: Filename::new(format!("{external_id}.txt")).unwrap(),
            size: FileSize::new(text.len() as u64).unwrap(),
            sha256: Sha256::of(text.as_bytes()),
            content_type: ContentType::default(),
            title: None,
            external_id: Some(external_id.parse().unwrap()),
            metadata: Metadata::default(),
            document_type: DocumentType::file(),
            skipped: Vec::new(),
        };
        let announced = files.announce(scope, &announcement).await.unwrap();
        let version = self.blobs.send(&announced.upload.unwrap().url, text.as_bytes(), self.clock.now());
        let ingestion = Ingestion {
            store: self.store.clone(),
            blobs: self.blobs.clone(),
            index: self.index.clone(),
            queue: Arc::new(MemoryQueue::default()),
            embedders: vec![self.embedder.clone()],
            clock: self.clock.clone(),
            ids: self.ids.clone(),
            manifest: self.index.manifest().await.unwrap().unwrap(),
            limits: Limits::default(),
        };
        let file = announced.file;
        let arrival = ObjectArrival {
            key: ObjectKey { tenant: scope.tenant(), file: file.file_id, version: file.version },
            version,
            sequencer: None,
        };
        let invocation = Invocation { deadline: self.clock.now().plus(Duration::from_mins(5)), trace_id: None };
        ingestion.object_arrived(scope, &arrival, &invocation).await;
        let published = self.store.file(scope, file.file_id).await.unwrap().unwrap().published;
        assert_eq!(published.map(|published| published.version), Some(file.version), "the document is published");
        file.file_id
    }
}
