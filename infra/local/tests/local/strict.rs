//! Filters may only use what an index answers, in every request that takes one.

use qdrant_client::qdrant::{
    Condition, CountPointsBuilder, DeletePointsBuilder, FacetCountsBuilder, Filter, NestedCondition, OrderByBuilder,
    PrefetchQueryBuilder, Query, QueryPointsBuilder, Range, RrfBuilder, ScrollPointsBuilder, SetPayloadPointsBuilder,
    UpsertPointsBuilder,
};
use serde_json::json;
use tonic::Code;

use crate::support::{Server, assert_refused, plain, put, ready};

fn unindexed() -> Filter {
    Filter::must([
        Condition::matches("tenant_id", "a".to_owned()),
        Filter::should([Condition::matches("secret", "x".to_owned())]).into(),
    ])
}

const TEXT: &str = "Index required but not found for \"secret\" of one of the following types: [keyword, uuid]";

#[tokio::test]
async fn unindexed_filter_is_refused_wherever_it_stands() {
    let Server { client, name, .. } = &ready().await;
    let invalid = Code::InvalidArgument;
    assert_refused(client.scroll(ScrollPointsBuilder::new(name).filter(unindexed())).await, invalid, TEXT);
    assert_refused(client.count(CountPointsBuilder::new(name).filter(unindexed())).await, invalid, TEXT);
    let facet = FacetCountsBuilder::new(name, "tenant_id").filter(unindexed());
    assert_refused(client.facet(facet).await, invalid, TEXT);
    let near = || Query::new_nearest(vec![1.0, 0.0, 0.0, 0.0]);
    let root = QueryPointsBuilder::new(name).query(near()).using("dense").filter(unindexed());
    assert_refused(client.query(root).await, invalid, TEXT);
    let prefetch = PrefetchQueryBuilder::default().query(near()).using("dense").filter(unindexed());
    let fused = QueryPointsBuilder::new(name).add_prefetch(prefetch).query(Query::new_rrf(RrfBuilder::new()));
    assert_refused(client.query(fused).await, invalid, TEXT);
    let delete = DeletePointsBuilder::new(name).points(unindexed()).wait(true);
    assert_refused(client.delete_points(delete).await, invalid, TEXT);
    let set = SetPayloadPointsBuilder::new(name, qdrant_client::Payload::new()).points_selector(unindexed());
    assert_refused(client.set_payload(set.wait(true)).await, invalid, TEXT);
}

#[tokio::test]
async fn index_of_another_kind_does_not_do() {
    let server = ready().await;
    put(&server, vec![plain(1, json!({}))]).await;
    let cases = [
        ("integer of a keyword key", Condition::matches("tenant_id", 5), "tenant_id"),
        ("text of a keyword key", Condition::matches_text("tenant_id", "a"), "tenant_id"),
        (
            "range of a keyword key",
            Condition::range("tenant_id", Range { lt: Some(1.0), ..Range::default() }),
            "tenant_id",
        ),
        ("keyword of a text key", Condition::matches("content", "a".to_owned()), "content"),
        ("bool of an integer key", Condition::matches("version", true), "version"),
        ("unindexed emptiness", Condition::is_empty("secret"), "secret"),
    ];
    for (name, condition, key) in cases {
        let page = server.client.scroll(ScrollPointsBuilder::new(&server.name).filter(Filter::must([condition]))).await;
        let (code, text) = crate::support::refused(page);
        assert_eq!(code, Code::InvalidArgument, "{name}");
        assert!(text.contains(&format!("Index required but not found for \"{key}\"")), "{name}: {text}");
    }
}

#[tokio::test]
async fn nested_key_needs_an_index_of_its_full_path() {
    let server = ready().await;
    let nested = NestedCondition {
        key: "entities".to_owned(),
        filter: Some(Filter::must([Condition::matches("kind", "x".to_owned())])),
    };
    let page = server.client.scroll(ScrollPointsBuilder::new(&server.name).filter(Filter::must([nested.into()]))).await;
    assert_refused(page, Code::InvalidArgument, "entities[].kind");
}

#[tokio::test]
async fn order_and_facet_need_an_index_that_can() {
    let Server { client, name, .. } = &ready().await;
    let order = ScrollPointsBuilder::new(name).order_by(OrderByBuilder::new("tenant_id"));
    assert_refused(client.scroll(order).await, Code::InvalidArgument, "order_by");
    let facet = client.facet(FacetCountsBuilder::new(name, "secret")).await;
    assert_refused(facet, Code::InvalidArgument, "secret");
}

#[tokio::test]
async fn upsert_without_a_filter_needs_no_index() {
    let server = ready().await;
    let request = UpsertPointsBuilder::new(&server.name, vec![plain(1, json!({"secret": "x"}))]).wait(true);
    server.client.upsert_points(request).await.unwrap();
}
