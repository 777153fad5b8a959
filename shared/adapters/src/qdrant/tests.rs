use super::{filter::Conditions, schema::Field, *};
use anchorage_domain::{DomainKey, Sha256, Source, SparseVector, TenantId, Timestamp, VectorName};
use qdrant_client::qdrant::{
    Condition, FieldType, condition::ConditionOneOf, r#match::MatchValue, payload_index_params::IndexParams,
};
use std::collections::BTreeMap;

fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

#[expect(clippy::disallowed_methods, reason = "a test acts for the pipeline")]
fn scope() -> TenantScope {
    TenantScope::for_pipeline(TenantId::new(id(1)))
}

fn vectors() -> Vec<VectorSpec> {
    vec![VectorSpec { name: VectorName::new("dense").unwrap(), model: "m".into(), dims: 2 }]
}

/// Nothing listens there: whatever is refused is refused before a call.
fn index() -> QdrantIndex {
    let url = "http://127.0.0.1:1".to_owned();
    QdrantIndex::new(QdrantSettings { url, api_key: None, collection: "c".into(), vectors: vectors() })
}

fn sample(content: String) -> PointDraft {
    let now = Timestamp::from_unix_millis(0);
    PointDraft {
        point: Point {
            point_id: PointId::new(id(2)),
            file_id: FileId::new(id(3)),
            domain: DomainKey::new("d").unwrap(),
            generation: Generation::new(1),
            chunk_index: 0,
            order_id: OrderId::of_index(0),
            content_folded: String::new(),
            content_sha256: Sha256::of(content.as_bytes()),
            content,
            title: None,
            heading_path: Vec::new(),
            source: Source::Sheet { name: "s".into(), rows_start: 1, rows_end: 2 },
            quarantined: None,
            is_active: true,
            document_type: "file".into(),
            metadata: serde_json::Map::new(),
            version: 1,
            created_at: now,
            updated_at: now,
        },
        dense: BTreeMap::from([(VectorName::new("dense").unwrap(), vec![1.0, 0.0])]),
        sparse: SparseVector { indices: vec![7], values: vec![1.0] },
    }
}

fn is_tenant(condition: &Condition) -> bool {
    let Some(ConditionOneOf::Field(field)) = &condition.condition_one_of else { return false };
    let matched = field.r#match.as_ref().and_then(|matched| matched.match_value.as_ref());
    field.key == "tenant_id" && matched == Some(&MatchValue::Keyword(scope().tenant().to_string()))
}

/// Case C49: every condition there is names an indexed field, by a match or range that its index serves.
#[test]
fn every_filter_key_is_indexed_with_the_type_the_filter_needs() {
    let domain = DomainKey::new("d").unwrap();
    let filter = Conditions::of(&scope())
        .file(FileId::new(id(3)))
        .generation(Generation::new(1))
        .generations(Generations::OlderThan(Generation::new(2)))
        .active(true)
        .domains(&[domain])
        .after(OrderId::new(1))
        .before(OrderId::new(2))
        .words(&["a".into(), "b".into()])
        .point(PointId::new(id(2)))
        .filter();
    assert!(is_tenant(&filter.must[0]), "the tenant comes first");
    assert!(filter.should.is_empty() && filter.must_not.is_empty());
    for condition in &filter.must {
        let field = match condition.condition_one_of.as_ref().unwrap() {
            ConditionOneOf::Field(field) => field,
            ConditionOneOf::HasId(_) => continue,
            other => panic!("a condition of another kind: {other:?}"),
        };
        let indexed = Field::ALL.into_iter().find(|known| known.key() == field.key).unwrap();
        let value = field.r#match.as_ref().and_then(|matched| matched.match_value.clone());
        let served = match indexed.field_type() {
            FieldType::Keyword => matches!(value, Some(MatchValue::Keyword(_) | MatchValue::Keywords(_))),
            FieldType::Integer => matches!(value, Some(MatchValue::Integer(_))) || field.range.is_some(),
            FieldType::Bool => matches!(value, Some(MatchValue::Boolean(_))),
            FieldType::Text => matches!(value, Some(MatchValue::Text(_))),
            _ => false,
        };
        assert!(served, "{}: {value:?}", field.key);
    }
}

#[test]
fn every_indexed_key_is_in_the_payload_and_the_tenant_index_is_one_for_tenants() {
    let (point, _) = draft(&scope(), &sample("x".into()), &vectors()).unwrap();
    for field in Field::ALL {
        assert!(point.payload.contains_key(field.key()), "{field:?}");
    }
    let Some(IndexParams::KeywordIndexParams(params)) = Field::Tenant.index_params() else { panic!("no parameters") };
    assert_eq!(params.is_tenant, Some(true));
}

#[test]
fn point_reads_back_from_its_payload_without_the_tenant() {
    let given = sample("متن «نمونه»\n\t2".into());
    let (stored, _) = draft(&scope(), &given, &vectors()).unwrap();
    assert_eq!(point(stored.id, stored.payload).unwrap(), given.point);
}

#[tokio::test]
async fn drafts_that_cannot_be_stored_are_refused_before_any_call() {
    let unfit = |change: fn(&mut PointDraft)| {
        let mut draft = sample("x".into());
        change(&mut draft);
        draft
    };
    for (draft, says) in [
        (sample("x".repeat(MAX_BATCH_BYTES)), "more than 4000000"),
        (unfit(|draft| draft.dense.clear()), "vector dense has 0 dimensions, not 2"),
        (unfit(|draft| draft.dense.values_mut().for_each(|vector| vector.push(0.0))), "3 dimensions, not 2"),
        (unfit(|draft| draft.dense.values_mut().for_each(|vector| vector[0] = f32::NAN)), "no number"),
        (unfit(|draft| drop(draft.dense.insert(VectorName::new("other").unwrap(), vec![]))), "vector other"),
        (unfit(|draft| draft.sparse.values.clear()), "one weight for each term"),
    ] {
        let error = index().stage(&scope(), &[sample("x".into()), draft]).await.unwrap_err();
        assert_eq!(error.kind, anchorage_ports::OutageKind::Refused);
        assert!(error.detail.contains(says), "{error}");
    }
}

#[tokio::test]
async fn unreachable_store_is_an_outage_of_every_kind_of_call() {
    let index = index();
    assert!(index.manifest().await.is_err());
    assert!(index.stage(&scope(), &[sample("x".into())]).await.is_err());
    assert!(index.count(&scope(), &CountFilter::default()).await.is_err());
}

/// Finds out that the library that encrypts is there when the channel is made, not in the cloud.
#[tokio::test]
async fn encrypted_address_that_is_closed_is_an_outage() {
    let settings = QdrantSettings {
        url: "https://127.0.0.1:9".to_owned(),
        api_key: Some("key".into()),
        collection: "c".into(),
        vectors: vectors(),
    };
    let refused = QdrantIndex::new(settings).point(&scope(), PointId::new(id(2))).await.unwrap_err();
    assert_eq!(refused.kind, anchorage_ports::OutageKind::Unavailable, "{refused}");
}
