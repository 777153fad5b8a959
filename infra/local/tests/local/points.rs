//! Writes, reads by id, pages, counts, facets.

use qdrant_client::qdrant::points_update_operation::{DeletePoints, Operation, PointStructList, SetPayload};
use qdrant_client::qdrant::vector_output::Vector as Output;
use qdrant_client::qdrant::{
    ClearPayloadPointsBuilder, Condition, CountPointsBuilder, DatetimeRange, DeletePayloadPointsBuilder,
    DeletePointVectorsBuilder, DeletePointsBuilder, Direction, FacetCountsBuilder, Filter, GetPointsBuilder,
    NamedVectors, OrderByBuilder, PointId, PointVectors, PointsIdsList, PointsSelector, PointsUpdateOperation, Range,
    ScrollPointsBuilder, SetPayloadPointsBuilder, Timestamp, UpdateBatchPointsBuilder, UpdatePointVectorsBuilder,
    UpdateStatus, UpsertPointsBuilder, VectorsSelector, start_from,
};
use serde_json::json;
use tonic::Code;

use crate::support::{Server, assert_refused, json, number, plain, point, put, ready};

fn ids(list: &[u64]) -> PointsIdsList {
    PointsIdsList { ids: list.iter().map(|id| PointId::from(*id)).collect() }
}

async fn found(server: &Server, filter: Filter) -> Vec<u64> {
    let page = server.client.scroll(ScrollPointsBuilder::new(&server.name).filter(filter).limit(100)).await.unwrap();
    page.result.into_iter().map(|point| number(point.id)).collect()
}

async fn one(server: &Server, id: u64) -> Option<qdrant_client::qdrant::RetrievedPoint> {
    let request = GetPointsBuilder::new(&server.name, vec![PointId::from(id)]).with_payload(true).with_vectors(true);
    server.client.get_points(request).await.unwrap().result.pop()
}

async fn count(server: &Server, filter: Option<Filter>) -> u64 {
    let mut request = CountPointsBuilder::new(&server.name).exact(true);
    if let Some(filter) = filter {
        request = request.filter(filter);
    }
    server.client.count(request).await.unwrap().result.unwrap().count
}

#[tokio::test]
async fn upsert_stores_payload_and_vectors_as_given() {
    let server = ready().await;
    let payload = json!({"deep": {"list": [1, 2.5, null, "گ"]}, "content": "سلام دنیا"});
    let given = point(1, "a", [0.0, 3.0, 4.0, 0.0], &[(9, 0.5), (2, 1.5)], payload);
    let answer = server.client.upsert_points(UpsertPointsBuilder::new(&server.name, vec![given]).wait(true)).await;
    assert_eq!(answer.unwrap().result.unwrap().status(), UpdateStatus::Completed);
    let stored = one(&server, 1).await.unwrap();
    assert_eq!(json(&stored.payload, "deep"), json!({"list": [1, 2.5, null, "گ"]}));
    let vectors = stored.vectors.unwrap();
    let Some(Output::Dense(dense)) = vectors.get_vector_by_name("dense") else { panic!("no dense vector") };
    assert_eq!(dense.data, [0.0, 0.6, 0.8, 0.0], "cosine vectors are kept at length one");
    let Some(Output::Sparse(sparse)) = vectors.get_vector_by_name("sparse") else { panic!("no sparse vector") };
    assert_eq!((sparse.indices, sparse.values), (vec![2, 9], vec![1.5, 0.5]));
    assert!(one(&server, 2).await.is_none());
}

#[tokio::test]
async fn upsert_of_the_same_id_replaces_the_whole_point() {
    let server = ready().await;
    put(&server, vec![plain(1, json!({"content": "old", "score": 1.0}))]).await;
    put(&server, vec![plain(1, json!({"content": "new"}))]).await;
    let stored = one(&server, 1).await.unwrap();
    assert_eq!((json(&stored.payload, "content"), json(&stored.payload, "score")), (json!("new"), json!(null)));
    assert_eq!(count(&server, None).await, 1);
}

#[tokio::test]
async fn upsert_fenced_by_version_leaves_newer_points_and_inserts_new_ones() {
    let server = ready().await;
    put(&server, vec![plain(1, json!({"version": 5})), plain(2, json!({"version": 1}))]).await;
    let points = [1, 2, 3].map(|id| plain(id, json!({"version": 3}))).to_vec();
    let older = Filter::must([Condition::range("version", Range { lt: Some(3.0), ..Range::default() })]);
    let request = UpsertPointsBuilder::new(&server.name, points).wait(true).update_filter(older);
    server.client.upsert_points(request).await.unwrap();
    let mut versions = Vec::new();
    for id in 1..=3 {
        versions.push(json(&one(&server, id).await.unwrap().payload, "version"));
    }
    assert_eq!(versions, [json!(5), json!(3), json!(3)]);
}

#[tokio::test]
async fn writes_of_two_at_once_all_count() {
    let server = ready().await;
    let write = async |from: u64| {
        for id in from..from + 20 {
            put(&server, vec![plain(id, json!({}))]).await;
        }
    };
    tokio::join!(write(0), write(100));
    assert_eq!(count(&server, None).await, 40);
}

#[tokio::test]
async fn fenced_writes_of_two_at_once_leave_the_newest() {
    let server = ready().await;
    put(&server, vec![plain(1, json!({"version": 0}))]).await;
    let write = async |parity: u32| {
        for version in (1..=20_u32).filter(|version| version % 2 == parity) {
            let older =
                Filter::must([Condition::range("version", Range { lt: Some(version.into()), ..Range::default() })]);
            let points = vec![plain(1, json!({"version": version}))];
            let request = UpsertPointsBuilder::new(&server.name, points).wait(true).update_filter(older);
            server.client.upsert_points(request).await.unwrap();
        }
    };
    tokio::join!(write(0), write(1));
    assert_eq!(json(&one(&server, 1).await.unwrap().payload, "version"), json!(20));
}

#[tokio::test]
async fn delete_by_ids_and_by_filter_removes_those_alone() {
    let server = ready().await;
    put(&server, (1..=4).map(|id| plain(id, json!({"active": id != 3}))).collect()).await;
    let delete = DeletePointsBuilder::new(&server.name).points(ids(&[1, 99])).wait(true);
    server.client.delete_points(delete).await.unwrap();
    let inactive = Filter::must([Condition::matches("active", false)]);
    let delete = DeletePointsBuilder::new(&server.name).points(inactive).wait(true);
    server.client.delete_points(delete).await.unwrap();
    assert_eq!(found(&server, Filter::default()).await, [2, 4]);
}

#[tokio::test]
async fn payload_is_set_overwritten_deleted_and_cleared() {
    let server = ready().await;
    put(&server, vec![plain(1, json!({"title": "t"})), plain(2, json!({"title": "t"}))]).await;
    let payload = |value: serde_json::Value| qdrant_client::Payload::try_from(value).unwrap();
    let set = SetPayloadPointsBuilder::new(&server.name, payload(json!({"active": false})));
    server.client.set_payload(set.points_selector(ids(&[1])).wait(true)).await.unwrap();
    let stored = one(&server, 1).await.unwrap().payload;
    assert_eq!((json(&stored, "active"), json(&stored, "title")), (json!(false), json!("t")));
    assert_eq!(found(&server, Filter::must([Condition::matches("active", false)])).await, [1], "the index follows");

    let below = SetPayloadPointsBuilder::new(&server.name, payload(json!({"page": 3}))).key("source");
    server.client.set_payload(below.points_selector(ids(&[1])).wait(true)).await.unwrap();
    assert_eq!(json(&one(&server, 1).await.unwrap().payload, "source"), json!({"page": 3}));

    let delete = DeletePayloadPointsBuilder::new(&server.name, vec!["title".to_owned()]);
    server.client.delete_payload(delete.points_selector(ids(&[1])).wait(true)).await.unwrap();
    assert_eq!(json(&one(&server, 1).await.unwrap().payload, "title"), json!(null));

    let only = Filter::must([Condition::matches("tenant_id", "a".to_owned()), Condition::has_id([2])]);
    let over = SetPayloadPointsBuilder::new(&server.name, payload(json!({"tenant_id": "b"})));
    server.client.overwrite_payload(over.points_selector(only).wait(true)).await.unwrap();
    let stored = one(&server, 2).await.unwrap().payload;
    assert_eq!((stored.len(), json(&stored, "tenant_id")), (1, json!("b")));

    let clear = ClearPayloadPointsBuilder::new(&server.name).points(ids(&[2])).wait(true);
    server.client.clear_payload(clear).await.unwrap();
    assert!(one(&server, 2).await.unwrap().payload.is_empty());
}

#[tokio::test]
async fn payload_of_a_point_that_is_not_there_is_not_found() {
    let server = ready().await;
    let payload = qdrant_client::Payload::try_from(json!({"active": false})).unwrap();
    let set = SetPayloadPointsBuilder::new(&server.name, payload).points_selector(ids(&[404])).wait(true);
    assert_refused(server.client.set_payload(set).await, Code::NotFound, "404");
}

#[tokio::test]
async fn vectors_are_updated_and_deleted_beside_the_payload() {
    let server = ready().await;
    put(&server, vec![plain(1, json!({"title": "kept"}))]).await;
    let change = PointVectors {
        id: Some(1.into()),
        vectors: Some(NamedVectors::default().add_vector("dense", vec![0.0, 0.0, 0.0, 2.0]).into()),
    };
    let request = UpdatePointVectorsBuilder::new(&server.name, vec![change]).wait(true);
    server.client.update_vectors(request).await.unwrap();
    let names = VectorsSelector { names: vec!["sparse".to_owned()] };
    let request = DeletePointVectorsBuilder::new(&server.name).points_selector(ids(&[1])).vectors(names).wait(true);
    server.client.delete_vectors(request).await.unwrap();
    let stored = one(&server, 1).await.unwrap();
    assert_eq!(json(&stored.payload, "title"), json!("kept"));
    let vectors = stored.vectors.unwrap();
    assert!(matches!(vectors.get_vector_by_name("dense"), Some(Output::Dense(d)) if d.data == [0.0, 0.0, 0.0, 1.0]));
    assert!(vectors.get_vector_by_name("sparse").is_none());
}

#[tokio::test]
async fn batch_applies_its_operations_in_order() {
    let server = ready().await;
    let step = |operation| PointsUpdateOperation { operation: Some(operation) };
    let upsert = PointStructList {
        points: vec![plain(1, json!({"version": 1})), plain(2, json!({"version": 1}))],
        ..PointStructList::default()
    };
    let payload = qdrant_client::Payload::try_from(json!({"version": 2})).unwrap();
    let set = SetPayload {
        payload: payload.into(),
        points_selector: Some(PointsSelector::from(ids(&[1]).ids)),
        ..SetPayload::default()
    };
    let delete = DeletePoints { points: Some(PointsSelector::from(ids(&[2]).ids)), shard_key_selector: None };
    let operations =
        vec![step(Operation::Upsert(upsert)), step(Operation::SetPayload(set)), step(Operation::DeletePoints(delete))];
    let request = UpdateBatchPointsBuilder::new(&server.name, operations).wait(true);
    let results = server.client.update_points_batch(request).await.unwrap().result;
    assert_eq!(results.len(), 3);
    assert!(results.iter().all(|result| result.status() == UpdateStatus::Completed));
    assert_eq!(found(&server, Filter::default()).await, [1]);
    assert_eq!(json(&one(&server, 1).await.unwrap().payload, "version"), json!(2));
}

#[tokio::test]
async fn scroll_pages_by_id_without_gaps_or_repeats() {
    let server = ready().await;
    put(&server, (1..=7).map(|id| plain(id, json!({}))).collect()).await;
    let (mut seen, mut offset) = (Vec::new(), None::<PointId>);
    loop {
        let mut request = ScrollPointsBuilder::new(&server.name).limit(3);
        if let Some(from) = offset {
            request = request.offset(from);
        }
        let page = server.client.scroll(request).await.unwrap();
        assert!(page.result.len() <= 3);
        seen.extend(page.result.into_iter().map(|point| number(point.id)));
        offset = page.next_page_offset;
        if offset.is_none() {
            break;
        }
    }
    assert_eq!(seen, [1, 2, 3, 4, 5, 6, 7]);
}

#[tokio::test]
async fn scroll_by_order_starts_where_asked_in_both_directions() {
    let server = ready().await;
    put(&server, (1..=5).map(|id| plain(id, json!({"order_id": 1000 - id * 10}))).collect()).await;
    let cases: [(Direction, Option<i64>, &[u64]); 4] = [
        (Direction::Asc, None, &[5, 4, 3]),
        (Direction::Desc, None, &[1, 2, 3]),
        (Direction::Asc, Some(970), &[3, 2, 1]),
        (Direction::Desc, Some(970), &[3, 4, 5]),
    ];
    for (direction, start, expected) in cases {
        let mut order = OrderByBuilder::new("order_id").direction(direction.into());
        if let Some(start) = start {
            order = order.start_from(start_from::Value::Integer(start));
        }
        let request = ScrollPointsBuilder::new(&server.name).order_by(order).limit(3);
        let page = server.client.scroll(request).await.unwrap();
        let got: Vec<u64> = page.result.into_iter().map(|point| number(point.id)).collect();
        assert_eq!(got, expected, "{direction:?} from {start:?}");
    }
}

#[tokio::test]
async fn filters_of_every_index_kind_find_their_points() {
    let server = ready().await;
    let file = "7b1c9c5e-3f39-4e0a-9a52-5a4f0d8f6f11";
    put(
        &server,
        vec![
            plain(1, json!({"score": 0.5, "created_at": "2026-01-01T00:00:00Z", "content": "The Quick brown fox"})),
            plain(2, json!({"score": 1.5, "created_at": "2026-06-01T00:00:00Z", "content": "brown quick hare"})),
            point(3, "b", [0.0, 1.0, 0.0, 0.0], &[], json!({"file_id": file, "active": false})),
        ],
    )
    .await;
    let time = Timestamp { seconds: 1_775_000_000, nanos: 0 };
    let cases: Vec<(&str, Condition, &[u64])> = vec![
        ("keyword", Condition::matches("tenant_id", "b".to_owned()), &[3]),
        ("any keyword", Condition::matches("tenant_id", vec!["a".to_owned(), "b".to_owned()]), &[1, 2, 3]),
        ("bool", Condition::matches("active", true), &[1, 2]),
        ("integer", Condition::matches("order_id", 2048), &[2]),
        ("any integer", Condition::matches("order_id", vec![1024, 3072]), &[1, 3]),
        ("float range", Condition::range("score", Range { gte: Some(1.0), ..Range::default() }), &[2]),
        (
            "datetime range",
            Condition::datetime_range("created_at", DatetimeRange { gt: Some(time), ..DatetimeRange::default() }),
            &[2],
        ),
        ("uuid", Condition::matches("file_id", file.to_owned()), &[3]),
        ("every word", Condition::matches_text("content", "QUICK brown"), &[1, 2]),
        ("word not there", Condition::matches_text("content", "quick wolf"), &[]),
        ("phrase", Condition::matches_phrase("content", "quick brown"), &[1]),
        ("has id", Condition::has_id([2, 3, 77]), &[2, 3]),
        ("is empty", Condition::is_empty("file_id"), &[1, 2]),
        (
            "nested filter",
            Filter::should([Condition::has_id([1]), Condition::matches("active", false)]).into(),
            &[1, 3],
        ),
    ];
    for (name, condition, expected) in cases {
        assert_eq!(found(&server, Filter::must([condition.clone()])).await, expected, "{name}");
        let others: Vec<u64> = (1..=3).filter(|id| !expected.contains(id)).collect();
        assert_eq!(found(&server, Filter::must_not([condition])).await, others, "not {name}");
    }
}

#[tokio::test]
async fn count_and_facet_keep_to_their_filter() {
    let server = ready().await;
    let points = (1..=6).map(|id| {
        let tenant = if id <= 4 { "a" } else { "b" };
        point(id, tenant, [1.0, 0.0, 0.0, 0.0], &[], json!({"active": id % 2 == 0}))
    });
    put(&server, points.collect()).await;
    let active = Filter::must([Condition::matches("active", true)]);
    assert_eq!(count(&server, None).await, 6);
    assert_eq!(count(&server, Some(active.clone())).await, 3);
    let request = FacetCountsBuilder::new(&server.name, "tenant_id").exact(true).filter(active);
    let hits = server.client.facet(request).await.unwrap().hits;
    let hits: Vec<(String, u64)> = hits
        .into_iter()
        .map(|hit| match hit.value.unwrap().variant.unwrap() {
            qdrant_client::qdrant::facet_value::Variant::StringValue(text) => (text, hit.count),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(hits, [("a".to_owned(), 2), ("b".to_owned(), 1)]);
}
