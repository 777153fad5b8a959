//! What a question finds when it shares no word with its answer: the real model, the real engine, the real pipeline.
#![cfg(test)]

use acceptance::stack::setting;
use anchorage_adapters::{EmbedderSettings, QdrantIndex, QdrantSettings, SdkConfig, embedder};
use anchorage_documents::{Limits, sparse_document, sparse_query};
use anchorage_domain::{
    DocumentType, DomainKey, DomainPolicy, DomainRecord, FileId, Filename, JobStatus, Language, ObjectKey, Revision,
    Sequencer, Sha256, TenantId, TenantScope,
};
use anchorage_memory::{ManualClock, MemoryBlobs, MemoryQueue, MemoryStore, SequentialIds};
use anchorage_ports::{Change, Clock as _, DocumentStore as _};
use anchorage_service::{
    Files, Ingestion, Retrieval,
    files::{Announcement, ContentType, FileSize, Metadata},
    index_manifest,
    ingestion::{Invocation, ObjectArrival, Outcome},
    retrieval::SearchRequest,
};
use serde_json::json;
use std::{sync::Arc, time::Duration};
use uuid::Uuid;

/// Of what a call and an ingestion may take; the clock of this test stands still.
const DEADLINE: Duration = Duration::from_mins(2);

/// Texts, each with a question that it answers in other words.
const FARSI: [(&str, &str); 3] = [
    ("مدرسه‌ها فردا به سبب بارش سنگین برف بسته‌اند.", "چرا دانش‌آموزان سر کلاس نمی‌روند؟"),
    ("برای گرفتن گذرنامه باید دو قطعه عکس همراه بیاورید.", "مدارک لازم جهت صدور پاسپورت چیست؟"),
    ("این داروی سرفه را سه بار در روز بخورید.", "شربت سینه هر چند ساعت یک‌بار مصرف می‌شود؟"),
];
const VIETNAMESE: [(&str, &str); 3] = [
    ("Trẻ em dưới sáu tuổi được vào cửa miễn phí.", "Con nhỏ có phải mua vé không?"),
    ("Hàng hỏng sẽ được hoàn tiền trong vòng bảy ngày.", "Món đồ mua về bị lỗi thì bao lâu lấy lại khoản đã trả?"),
    ("Tàu điện ngầm ngừng chạy lúc nửa đêm.", "Chuyến metro cuối cùng khởi hành khi nào?"),
];
const ENGLISH: [(&str, &str); 3] = [
    ("Dogs must be kept on a leash in the garden.", "May my pet run freely outside?"),
    ("The lift is out of order until Friday.", "Why do we have to use the stairs this week?"),
    ("Invoices are settled within thirty days.", "How long does it take you to pay a bill?"),
];

#[expect(clippy::disallowed_methods, reason = "a test vouches for its own fresh tenants, and its collections are new")]
fn fresh() -> (TenantScope, Uuid) {
    (TenantScope::for_operator(TenantId::new(Uuid::now_v7())), Uuid::now_v7())
}

struct World {
    store: Arc<MemoryStore>,
    blobs: Arc<MemoryBlobs>,
    clock: Arc<ManualClock>,
    files: Files,
    ingestion: Ingestion,
    retrieval: Retrieval,
    scope: TenantScope,
}

impl World {
    async fn new() -> Self {
        let (scope, unique) = fresh();
        let settings: EmbedderSettings = serde_json::from_value(json!({
            "kind": "openai", "name": "dense_e5", "url": setting("ANCHORAGE_TEST_MODEL_URL"), "model": "multilingual-e5-small-q4",
            "dims": 384, "max_batch": 4, "max_input_chars": 8000,
        }))
        .unwrap();
        let embedders = vec![embedder(&settings, &SdkConfig::builder().build(), None)];
        let manifest = index_manifest(vec![settings.vector()]);
        let index = QdrantIndex::new(QdrantSettings {
            url: setting("ANCHORAGE_TEST_QDRANT_URL"),
            api_key: None,
            collection: format!("relevance-{}", unique.simple()),
            vectors: manifest.vectors.clone(),
        });
        index.bootstrap(&manifest).await.unwrap();
        let (index, store, blobs) =
            (Arc::new(index), Arc::new(MemoryStore::default()), Arc::new(MemoryBlobs::default()));
        let (clock, ids) = (Arc::new(ManualClock::default()), Arc::new(SequentialIds::default()));
        let files = Files {
            store: store.clone(),
            blobs: blobs.clone(),
            queue: Arc::new(MemoryQueue::default()),
            clock: clock.clone(),
            ids: ids.clone(),
        };
        let ingestion = Ingestion {
            store: store.clone(),
            blobs: blobs.clone(),
            index: index.clone(),
            queue: files.queue.clone(),
            embedders: embedders.clone(),
            clock: clock.clone(),
            ids,
            manifest,
            limits: Limits::default(),
        };
        let retrieval = Retrieval::new(store.clone(), index, embedders, clock.clone());
        Self { store, blobs, clock, files, ingestion, retrieval, scope }
    }

    async fn domain(&self, language: Language) -> DomainRecord {
        let now = self.clock.now();
        let domain = DomainRecord {
            key: DomainKey::new("d").unwrap(),
            active: true,
            policy: DomainPolicy::new(language),
            created_by: self.scope.actor().clone(),
            created_at: now,
            updated_at: now,
            revision: Revision::NEW,
        };
        self.store.commit(&self.scope, vec![Change::PutDomain(domain)]).await.unwrap();
        self.store.domains(&self.scope).await.unwrap().pop().unwrap()
    }

    async fn ingest(&self, domain: &DomainRecord, text: &str) -> FileId {
        let announcement = Announcement {
            domain: domain.key.clone(),
            filename: Filename::new("a.txt").unwrap(),
            size: FileSize::new(text.len() as u64).unwrap(),
            sha256: Sha256::of(text.as_bytes()),
            content_type: ContentType::new("text/plain").unwrap(),
            title: None,
            external_id: None,
            metadata: Metadata::default(),
            document_type: DocumentType::file(),
            skipped: Vec::new(),
        };
        let announced = self.files.announce(&self.scope, &announcement).await.unwrap();
        let version = self.blobs.send(&announced.upload.unwrap().url, text.as_bytes(), self.clock.now());
        let (file, version_number) = (announced.file.file_id, announced.file.version);
        let key = ObjectKey { tenant: self.scope.tenant(), file, version: version_number };
        let arrival = ObjectArrival { key, version, sequencer: Some(Sequencer::new("1").unwrap()) };
        let invocation = Invocation { deadline: self.clock.now().plus(DEADLINE), trace_id: None };
        let outcome = self.ingestion.object_arrived(&self.scope, &arrival, &invocation).await;
        assert_eq!(outcome, Outcome::Ended(JobStatus::Succeeded), "{text}");
        file
    }
}

async fn assert_found_by_meaning(language: Language, samples: &[(&str, &str)]) {
    let world = World::new().await;
    let domain = world.domain(language).await;
    let mut files = Vec::new();
    for (text, _) in samples {
        files.push(world.ingest(&domain, text).await);
    }
    for ((text, question), file) in samples.iter().zip(files) {
        let (stored, asked) = (sparse_document(language, text), sparse_query(language, question));
        let shared = asked.indices.iter().filter(|term| stored.indices.contains(term)).count();
        assert_eq!(shared, 0, "{question}: shares a word with its answer, so it shows nothing");
        let request = SearchRequest {
            query: question,
            domains: std::slice::from_ref(&domain),
            file: None,
            limit: 3,
            explain: false,
            deadline: world.clock.now().plus(DEADLINE),
        };
        let found = world.retrieval.search(&world.scope, &request).await.unwrap();
        assert!(found.degraded.is_empty(), "{:?}", found.degraded);
        assert_eq!(found.hits[0].point.file_id, file, "{question}: {}", found.hits[0].point.content);
    }
}

#[tokio::test]
async fn farsi_question_finds_its_answer_in_other_words() {
    assert_found_by_meaning(Language::Fa, &FARSI).await;
}

#[tokio::test]
async fn vietnamese_question_finds_its_answer_in_other_words() {
    assert_found_by_meaning(Language::Vi, &VIETNAMESE).await;
}

#[tokio::test]
async fn english_question_finds_its_answer_in_other_words() {
    assert_found_by_meaning(Language::En, &ENGLISH).await;
}
