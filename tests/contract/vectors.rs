//! What every vector index does, whichever engine is behind it.

use crate::{fresh_id, fresh_scope, real::variable};
use anchorage_adapters::{BootstrapError, QdrantIndex, QdrantSettings};
use anchorage_domain::{
    DomainKey, FileId, Generation, OrderId, PointId, Sha256, Source, SparseVector, TenantScope, Timestamp, VectorName,
    point_id,
};
use anchorage_memory::MemoryIndex;
use anchorage_ports::{
    CountFilter, Generations, HybridQuery, IndexManifest, KeywordQuery, OutageKind, Point, PointDraft, VectorIndex,
    VectorSpec,
};
use serde_json::json;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
};

const FIRST: Generation = Generation::new(1);
const SECOND: Generation = Generation::new(2);

fn dense() -> VectorName {
    VectorName::new("dense_test").unwrap()
}

fn manifest() -> IndexManifest {
    let vectors = vec![VectorSpec { name: dense(), model: "test".into(), dims: 4 }];
    IndexManifest { vectors, analyzer: "analyzer-1".into(), chunker: "chunker-1".into() }
}

fn qdrant() -> Option<QdrantIndex> {
    let Some(url) = variable("ANCHORAGE_TEST_QDRANT_URL") else {
        eprintln!("skipped over a real index: ANCHORAGE_TEST_QDRANT_URL is not set");
        return None;
    };
    let collection = format!("contract-{}", fresh_id().simple());
    Some(QdrantIndex::new(QdrantSettings { url, api_key: None, collection, vectors: manifest().vectors }))
}

/// The indexes there are here: the one in memory, and a fresh collection of a real one where its address is given.
async fn indexes() -> Vec<Arc<dyn VectorIndex>> {
    let mut indexes: Vec<Arc<dyn VectorIndex>> = vec![Arc::new(MemoryIndex::new(Some(manifest())))];
    if let Some(qdrant) = qdrant() {
        qdrant.bootstrap(&manifest()).await.unwrap();
        indexes.push(Arc::new(qdrant));
    }
    indexes
}

fn domain(key: &str) -> DomainKey {
    DomainKey::new(key).unwrap()
}

/// A chunk whose vectors point at `place` (of 4) and whose sparse terms are given.
fn draft(scope: &TenantScope, file: FileId, generation: Generation, index: u32, text: &str) -> PointDraft {
    let now = Timestamp::from_unix_millis(1_790_000_000_123);
    let mut vector = vec![0.1; 4];
    vector[index as usize % 4] = 1.0;
    let words = text
        .split_whitespace()
        .map(|word| u32::from_be_bytes(Sha256::of(word.as_bytes()).as_bytes()[..4].try_into().unwrap()) >> 1);
    let indices: Vec<u32> = words.collect::<BTreeSet<_>>().into_iter().collect();
    PointDraft {
        point: Point {
            point_id: point_id(scope.tenant(), file, generation, index),
            file_id: file,
            domain: domain("support"),
            generation,
            chunk_index: index,
            order_id: OrderId::of_index(index),
            content: text.to_owned(),
            content_folded: text.to_lowercase(),
            content_sha256: Sha256::of(text.as_bytes()),
            title: Some("عنوان".into()),
            heading_path: vec!["a".into(), "b".into()],
            source: Source::Bytes { start: 3, end: 9 },
            quarantined: None,
            is_active: false,
            document_type: "file".into(),
            metadata: serde_json::Map::from_iter([("n".to_owned(), json!({"deep": [1, 2.5, null, "x"]}))]),
            version: 1,
            created_at: now,
            updated_at: now,
        },
        dense: BTreeMap::from([(dense(), vector)]),
        sparse: SparseVector { values: vec![1.0; indices.len()], indices },
    }
}

fn sparse_of(text: &str) -> SparseVector {
    let scope = fresh_scope();
    draft(&scope, FileId::new(fresh_id()), FIRST, 0, text).sparse
}

/// Stages `count` chunks of a file in one generation; returns them as they are stored.
async fn stage(
    index: &dyn VectorIndex,
    scope: &TenantScope,
    file: FileId,
    generation: Generation,
    count: u32,
) -> Vec<Point> {
    let drafts: Vec<_> =
        (0..count).map(|place| draft(scope, file, generation, place, &format!("Alpha Word{place} common"))).collect();
    index.stage(scope, &drafts).await.unwrap();
    drafts.into_iter().map(|draft| draft.point).collect()
}

fn all(file: FileId) -> CountFilter {
    CountFilter { file: Some(file), ..CountFilter::default() }
}

fn ids(points: &[Point]) -> Vec<PointId> {
    points.iter().map(|point| point.point_id).collect()
}

fn question(domains: &[&str]) -> HybridQuery {
    HybridQuery {
        domains: domains.iter().map(|key| domain(key)).collect(),
        file: None,
        dense: BTreeMap::from([(dense(), vec![1.0, 0.1, 0.1, 0.1])]),
        sparse: sparse_of("word0"),
        depth: 10,
        limit: 10,
        explain: false,
    }
}

/// Cases V1 and V8: what was acknowledged is there, and again is the same.
#[tokio::test]
async fn staging_reads_back_whole_at_once_and_twice_changes_nothing() {
    for index in indexes().await {
        let (scope, file) = (fresh_scope(), FileId::new(fresh_id()));
        for _ in 0..2 {
            let points = stage(&*index, &scope, file, FIRST, 5).await;
            assert_eq!(index.count(&scope, &all(file)).await.unwrap(), 5);
            for point in points {
                assert_eq!(index.point(&scope, point.point_id).await.unwrap(), Some(point));
            }
        }
        assert_eq!(index.staged(&scope, file, FIRST).await.unwrap(), HashSet::from([0, 1, 2, 3, 4]));
        assert_eq!(index.staged(&scope, file, SECOND).await.unwrap(), HashSet::new());
    }
}

/// An index may scale a vector to length 1 when it stores it; what is taken over is then stored as it was.
#[tokio::test]
async fn vectors_of_texts_are_found_in_their_file_alone_and_are_the_same_when_staged_again() {
    let unit = |vector: &[f32]| {
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        vector.iter().map(|value| value / length).collect::<Vec<_>>()
    };
    for index in indexes().await {
        let (scope, file) = (fresh_scope(), FileId::new(fresh_id()));
        let mut drafts: Vec<_> = (0..3).map(|n| draft(&scope, file, FIRST, n, &format!("text {n}"))).collect();
        // The same text once more, far more often than a page has room for.
        drafts.extend((3..300).map(|n| draft(&scope, file, FIRST, n, "text 2")));
        index.stage(&scope, &drafts).await.unwrap();
        let digest = |text: &str| Sha256::of(text.as_bytes());
        let texts = BTreeSet::from(["text 0", "text 2", "nowhere"].map(digest));
        let found = index.vectors(&scope, file, &texts).await.unwrap();
        let digests: BTreeSet<_> = found.keys().copied().collect();
        assert_eq!(digests, BTreeSet::from(["text 0", "text 2"].map(digest)), "what is inactive counts");
        for (left, right) in unit(&found[&digest("text 0")][&dense()]).iter().zip(unit(&drafts[0].dense[&dense()])) {
            assert!((left - right).abs() < 1e-6, "{left} {right}");
        }
        let mut moved = draft(&scope, FileId::new(fresh_id()), SECOND, 7, "text 0");
        moved.dense = found[&digest("text 0")].clone();
        index.stage(&scope, std::slice::from_ref(&moved)).await.unwrap();
        let again = index.vectors(&scope, moved.point.file_id, &texts).await.unwrap();
        assert_eq!(again, HashMap::from([(digest("text 0"), moved.dense)]));
        assert!(
            index.vectors(&fresh_scope(), file, &texts).await.unwrap().is_empty(),
            "another tenant has none of them"
        );
        assert!(index.vectors(&scope, file, &BTreeSet::new()).await.unwrap().is_empty());
    }
}

/// Case V7.
#[tokio::test]
async fn staging_more_than_a_batch_stages_all_of_it() {
    for index in indexes().await {
        let (scope, file) = (fresh_scope(), FileId::new(fresh_id()));
        stage(&*index, &scope, file, FIRST, 200).await;
        assert_eq!(index.count(&scope, &all(file)).await.unwrap(), 200);
        index.activate(&scope, file, FIRST).await.unwrap();
        let active = CountFilter { active_only: true, ..all(file) };
        assert_eq!(index.count(&scope, &active).await.unwrap(), 200);
    }
}

#[tokio::test]
async fn a_draft_without_its_vector_or_of_other_dimensions_is_refused_and_stages_nothing() {
    for index in indexes().await {
        let (scope, file) = (fresh_scope(), FileId::new(fresh_id()));
        let good = draft(&scope, file, FIRST, 0, "good");
        let missing = PointDraft { dense: BTreeMap::new(), ..draft(&scope, file, FIRST, 1, "bad") };
        let short = PointDraft { dense: BTreeMap::from([(dense(), vec![1.0; 3])]), ..missing.clone() };
        for bad in [missing, short] {
            let error = index.stage(&scope, &[good.clone(), bad]).await.unwrap_err();
            assert_eq!(error.kind, OutageKind::Refused, "{error}");
            assert_eq!(index.count(&scope, &all(file)).await.unwrap(), 0);
        }
    }
}

/// Case V2 and the publication's three steps.
#[tokio::test]
async fn activation_and_deactivation_flip_one_generation_and_no_other() {
    for index in indexes().await {
        let (scope, file, other) = (fresh_scope(), FileId::new(fresh_id()), FileId::new(fresh_id()));
        let old = stage(&*index, &scope, file, FIRST, 3).await;
        let new = stage(&*index, &scope, file, SECOND, 2).await;
        stage(&*index, &scope, other, FIRST, 1).await;
        index.activate(&scope, other, FIRST).await.unwrap();
        for _ in 0..2 {
            index.activate(&scope, file, FIRST).await.unwrap();
            assert_eq!(ids(&index.list(&scope, file, FIRST, None, 10).await.unwrap()), ids(&old));
            assert_eq!(index.list(&scope, file, SECOND, None, 10).await.unwrap(), []);
        }
        index.activate(&scope, file, SECOND).await.unwrap();
        index.deactivate(&scope, file, Generations::OlderThan(SECOND)).await.unwrap();
        assert_eq!(index.list(&scope, file, FIRST, None, 10).await.unwrap(), []);
        assert_eq!(ids(&index.list(&scope, file, SECOND, None, 10).await.unwrap()), ids(&new));
        assert_eq!(index.list(&scope, other, FIRST, None, 10).await.unwrap().len(), 1);
        index.deactivate(&scope, file, Generations::All).await.unwrap();
        assert_eq!(index.list(&scope, file, SECOND, None, 10).await.unwrap(), []);
        assert_eq!(index.count(&scope, &all(file)).await.unwrap(), 5);
    }
}

/// Case C21.
#[tokio::test]
async fn removal_spares_newer_generations_other_files_and_other_tenants() {
    for index in indexes().await {
        let (stranger, scope, file, other) =
            (fresh_scope(), fresh_scope(), FileId::new(fresh_id()), FileId::new(fresh_id()));
        stage(&*index, &scope, file, FIRST, 3).await;
        stage(&*index, &scope, file, SECOND, 2).await;
        stage(&*index, &scope, other, FIRST, 1).await;
        assert_eq!(index.remove(&stranger, file, Generations::All).await.unwrap(), 0);
        assert_eq!(index.remove(&scope, file, Generations::OlderThan(SECOND)).await.unwrap(), 3);
        assert_eq!(index.count(&scope, &all(file)).await.unwrap(), 2);
        assert_eq!(index.remove(&scope, file, Generations::All).await.unwrap(), 2);
        assert_eq!(index.remove(&scope, file, Generations::All).await.unwrap(), 0);
        assert_eq!(index.count(&scope, &CountFilter::default()).await.unwrap(), 1);
    }
}

/// Case C50, as far as the index alone can be asked.
#[tokio::test]
async fn listing_pages_by_order_without_repeating_or_missing() {
    for index in indexes().await {
        let (scope, file) = (fresh_scope(), FileId::new(fresh_id()));
        let points = stage(&*index, &scope, file, FIRST, 5).await;
        index.activate(&scope, file, FIRST).await.unwrap();
        let first = index.list(&scope, file, FIRST, None, 2).await.unwrap();
        // A point comes in before the cursor between the pages.
        let mut early = draft(&scope, file, FIRST, 9, "early");
        (early.point.order_id, early.point.is_active) = (OrderId::new(5), true);
        index.stage(&scope, &[early]).await.unwrap();
        let mut seen = ids(&first);
        let mut after = first.last().map(|point| point.order_id);
        while let Some(cursor) = after {
            let page = index.list(&scope, file, FIRST, Some(cursor), 2).await.unwrap();
            seen.extend(ids(&page));
            after = page.last().map(|point| point.order_id);
        }
        assert_eq!(seen, ids(&points));
    }
}

#[tokio::test]
async fn neighbours_are_the_nearest_active_points_of_the_same_generation() {
    for index in indexes().await {
        let (scope, file) = (fresh_scope(), FileId::new(fresh_id()));
        let points = stage(&*index, &scope, file, FIRST, 4).await;
        stage(&*index, &scope, file, SECOND, 4).await;
        index.activate(&scope, file, FIRST).await.unwrap();
        let mut hidden = draft(&scope, file, FIRST, 1, "hidden");
        hidden.point.is_active = false;
        index.stage(&scope, &[hidden]).await.unwrap();
        let asked: Vec<&Point> = points.iter().collect();
        let found = index.neighbours(&scope, &asked).await.unwrap();
        let id = |place: usize| Some(points[place].point_id);
        let sides: Vec<_> = found.iter().map(|near| (near.previous, near.next)).collect();
        assert_eq!(sides, [(None, id(2)), (id(0), id(2)), (id(0), id(3)), (id(2), None)]);
        assert_eq!(index.neighbours(&scope, &[]).await.unwrap(), []);
    }
}

/// Case C53: counts match exactly.
#[tokio::test]
async fn counting_matches_file_generation_domain_and_state_exactly() {
    for index in indexes().await {
        let (scope, file) = (fresh_scope(), FileId::new(fresh_id()));
        stage(&*index, &scope, file, FIRST, 3).await;
        stage(&*index, &scope, file, SECOND, 2).await;
        index.activate(&scope, file, SECOND).await.unwrap();
        for (filter, expected) in [
            (all(FileId::new(fresh_id())), 0),
            (CountFilter { generation: Some(FIRST), ..all(file) }, 3),
            (CountFilter { active_only: true, ..all(file) }, 2),
            (CountFilter { domain: Some(domain("support")), ..CountFilter::default() }, 5),
            (CountFilter { domain: Some(domain("suppor")), ..CountFilter::default() }, 0),
        ] {
            assert_eq!(index.count(&scope, &filter).await.unwrap(), expected, "{filter:?}");
        }
    }
}

#[tokio::test]
async fn keywords_must_all_occur_as_whole_words_in_active_points_of_the_named_domains() {
    for index in indexes().await {
        let (scope, file) = (fresh_scope(), FileId::new(fresh_id()));
        let texts = ["refund (2024): کتاب‌خانه.", "refund late", "2024 refunds"];
        let drafts: Vec<_> =
            texts.iter().zip(0..).map(|(text, place)| draft(&scope, file, FIRST, place, text)).collect();
        index.stage(&scope, &drafts).await.unwrap();
        let query = |terms: &[&str], key: &str| KeywordQuery {
            terms: terms.iter().map(|&term| term.to_owned()).collect(),
            domains: vec![domain(key)],
            file: None,
            limit: 10,
        };
        assert_eq!(index.keyword(&scope, &query(&["refund"], "support")).await.unwrap(), [], "inactive");
        index.activate(&scope, file, FIRST).await.unwrap();
        for (terms, key, expected) in [
            (&["refund"][..], "support", vec![0, 1]),
            (&["refund", "2024"][..], "support", vec![0]),
            (&["2024"][..], "support", vec![0, 2]),
            (&["کتاب"][..], "support", vec![0]),
            (&["absent"][..], "support", vec![]),
            (&["refund"][..], "other", vec![]),
        ] {
            let found = index.keyword(&scope, &query(terms, key)).await.unwrap();
            let mut places: Vec<u32> = found.iter().map(|point| point.chunk_index).collect();
            places.sort_unstable();
            assert_eq!(places, expected, "{terms:?} in {key}");
        }
        let bounded = KeywordQuery { limit: 1, ..query(&["refund"], "support") };
        assert_eq!(index.keyword(&scope, &bounded).await.unwrap().len(), 1);
        let elsewhere = KeywordQuery { file: Some(FileId::new(fresh_id())), ..query(&["refund"], "support") };
        assert_eq!(index.keyword(&scope, &elsewhere).await.unwrap(), []);
    }
}

#[tokio::test]
async fn search_ranks_what_both_vectors_like_first_and_explains_itself_when_asked() {
    for index in indexes().await {
        let (scope, file) = (fresh_scope(), FileId::new(fresh_id()));
        let points: Vec<_> =
            (0..4).map(|place| draft(&scope, file, FIRST, place, &format!("word{place} common"))).collect();
        index.stage(&scope, &points).await.unwrap();
        assert_eq!(index.search(&scope, &question(&["support"])).await.unwrap(), [], "inactive");
        index.activate(&scope, file, FIRST).await.unwrap();

        let hits = index.search(&scope, &question(&["support"])).await.unwrap();
        assert_eq!(hits[0].point.chunk_index, 0);
        assert_eq!(hits.len(), 4);
        assert!(hits.iter().zip(1..).all(|(hit, rank)| hit.stages["fused"].rank == rank && hit.stages.len() == 1));

        let explained = index.search(&scope, &HybridQuery { explain: true, ..question(&["support"]) }).await.unwrap();
        let first = &explained[0].stages;
        assert_eq!((first["dense_test"].rank, first["sparse"].rank), (1, 1));
        assert!(!explained[1].stages.contains_key("sparse"), "only the first has the word");
        assert_eq!(
            explained.iter().map(|hit| &hit.point).collect::<Vec<_>>(),
            hits.iter().map(|hit| &hit.point).collect::<Vec<_>>()
        );

        let sparse_only = HybridQuery { dense: BTreeMap::new(), sparse: sparse_of("word2"), ..question(&["support"]) };
        let found = index.search(&scope, &sparse_only).await.unwrap();
        assert_eq!(found.iter().map(|hit| hit.point.chunk_index).collect::<Vec<_>>(), [2]);
        let dense_only = HybridQuery { sparse: SparseVector::default(), limit: 2, ..question(&["support"]) };
        assert_eq!(index.search(&scope, &dense_only).await.unwrap().len(), 2);
        let nothing = HybridQuery { dense: BTreeMap::new(), sparse: SparseVector::default(), ..question(&["support"]) };
        assert_eq!(index.search(&scope, &nothing).await.unwrap(), []);
        assert_eq!(index.search(&scope, &question(&["other"])).await.unwrap(), []);
        assert_eq!(index.search(&scope, &question(&[])).await.unwrap(), []);
    }
}

/// Every method, asked by a stranger, answers as if there were nothing.
#[tokio::test]
async fn another_tenant_sees_nothing_and_changes_nothing() {
    for index in indexes().await {
        let (stranger, scope, file) = (fresh_scope(), fresh_scope(), FileId::new(fresh_id()));
        let points = stage(&*index, &scope, file, FIRST, 3).await;
        index.activate(&scope, file, FIRST).await.unwrap();
        let before = index.search(&scope, &question(&["support"])).await.unwrap();

        assert_eq!(index.point(&stranger, points[0].point_id).await.unwrap(), None);
        assert_eq!(index.list(&stranger, file, FIRST, None, 10).await.unwrap(), []);
        assert_eq!(index.count(&stranger, &CountFilter::default()).await.unwrap(), 0);
        assert_eq!(index.staged(&stranger, file, FIRST).await.unwrap(), HashSet::new());
        assert_eq!(index.search(&stranger, &question(&["support"])).await.unwrap(), []);
        let near = index.neighbours(&stranger, &[&points[1]]).await.unwrap();
        assert_eq!((near[0].previous, near[0].next), (None, None));
        let terms = vec!["common".to_owned()];
        let keyword = KeywordQuery { terms, domains: vec![domain("support")], file: None, limit: 10 };
        assert_eq!(index.keyword(&stranger, &keyword).await.unwrap(), []);
        index.deactivate(&stranger, file, Generations::All).await.unwrap();
        index.remove(&stranger, file, Generations::All).await.unwrap();

        assert_eq!(index.search(&scope, &question(&["support"])).await.unwrap(), before);
        assert_eq!(index.keyword(&scope, &keyword).await.unwrap().len(), 3);
    }
}

/// Cases V5 and C49 with the real engine: the manifest is nobody's point.
#[tokio::test]
async fn manifest_reads_back_and_no_tenant_meets_it() {
    for index in indexes().await {
        assert_eq!(index.manifest().await.unwrap(), Some(manifest()));
        assert_eq!(index.count(&fresh_scope(), &CountFilter::default()).await.unwrap(), 0);
    }
}

/// Case C27 with the real engine.
#[tokio::test]
async fn bootstrap_runs_again_without_a_change_and_refuses_another_manifest() {
    let Some(qdrant) = qdrant() else { return };
    assert_eq!(qdrant.manifest().await.unwrap(), None, "never bootstrapped");
    let first = qdrant.bootstrap(&manifest()).await.unwrap();
    assert!(first.collection_created && first.manifest_written && !first.indexes_created.is_empty());
    let again = qdrant.bootstrap(&manifest()).await.unwrap();
    assert!(!again.collection_created && !again.manifest_written && again.indexes_created.is_empty(), "{again:?}");
    let other = IndexManifest { analyzer: "analyzer-2".into(), ..manifest() };
    let error = qdrant.bootstrap(&other).await.unwrap_err();
    assert!(
        matches!(&error, BootstrapError::Mismatch { stored, configured, .. }
        if stored == "analyzer-1" && configured == "analyzer-2"),
        "{error}"
    );
}
