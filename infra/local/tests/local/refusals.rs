//! What is wrong, or not supported here, is refused and changes nothing.

use qdrant_client::qdrant::{
    Condition, CountPointsBuilder, CreateCollectionBuilder, CreateFieldIndexCollectionBuilder, DeletePointsBuilder,
    Distance, FieldType, Filter, Fusion, GetPointsBuilder, IdfParamsBuilder, KeywordIndexParamsBuilder, NamedVectors,
    PointId, PointStruct, PrefetchQueryBuilder, Query, QueryPointGroupsBuilder, QueryPointsBuilder, Range, RrfBuilder,
    ScalarQuantizationBuilder, ScrollPointsBuilder, SearchParamsBuilder, SearchPointsBuilder, ShardKeySelector,
    SparseVector, UpsertPointsBuilder, Vector, VectorParamsBuilder,
};
use serde_json::json;
use tonic::Code;

use crate::support::{Server, assert_refused, embedded_ready, plain, put, terms};

/// A write and its words: refused before anything of it is applied.
async fn refuses_points(server: &Server, points: Vec<PointStruct>, text: &str) {
    let request = UpsertPointsBuilder::new(&server.name, points).wait(true);
    assert_refused(server.client.upsert_points(request).await, Code::InvalidArgument, text);
    let count = server.client.count(CountPointsBuilder::new(&server.name).exact(true)).await.unwrap();
    assert_eq!(count.result.unwrap().count, 0, "{text}: something was written");
}

#[tokio::test]
async fn points_that_do_not_fit_are_refused_as_a_whole() {
    let server = embedded_ready().await;
    let with = |name: &str, vector: Vector| {
        let bad = PointStruct::new(2, NamedVectors::default().add_vector(name, vector), qdrant_client::Payload::new());
        vec![plain(1, json!({})), bad]
    };
    refuses_points(&server, with("dense", vec![1.0; 3].into()), "expected dim: 4, got 3").await;
    refuses_points(&server, with("dense", vec![f32::NAN; 4].into()), "finite").await;
    refuses_points(&server, with("nameless", vec![1.0; 4].into()), "Not existing vector name error").await;
    refuses_points(&server, with("sparse", vec![1.0; 4].into()), "of another kind").await;
    refuses_points(&server, with("late", vec![vec![1.0; 2], vec![1.0; 3]].into()), "expected dim: 2").await;
    let twice = Vector::new_sparse(vec![4, 4], vec![1.0, 2.0]);
    refuses_points(&server, with("sparse", twice), "unique").await;
    let odd = Vector::new_sparse(vec![4, 5], vec![1.0]);
    refuses_points(&server, with("sparse", odd), "as many values").await;
    let nobody = PointStruct { id: None, ..plain(1, json!({})) };
    refuses_points(&server, vec![nobody], "No ID").await;
    let malformed = PointStruct { id: Some(PointId::from("not-a-uuid")), ..plain(1, json!({})) };
    refuses_points(&server, vec![malformed], "UUID").await;
}

#[tokio::test]
async fn unsorted_sparse_indices_are_taken() {
    let server = embedded_ready().await;
    let sparse = Vector::from(SparseVector { indices: vec![9, 2], values: vec![1.0, 3.0] });
    let vectors = NamedVectors::default().add_vector("sparse", sparse);
    put(&server, vec![PointStruct::new(1, vectors, qdrant_client::Payload::new())]).await;
    let query = terms(&[(9, 1.0), (2, 1.0)]);
    let found = server.client.query(QueryPointsBuilder::new(&server.name).query(query).using("sparse")).await.unwrap();
    assert_eq!(found.result.len(), 1);
}

#[tokio::test]
async fn delete_by_a_filter_that_lets_everything_through_is_refused() {
    let server = embedded_ready().await;
    put(&server, vec![plain(1, json!({}))]).await;
    let boundless = [
        Filter::default(),
        Filter::must([Filter::default().into()]),
        Filter::should([Filter::default().into(), Condition::has_id([1])]),
    ];
    for filter in boundless {
        let delete = DeletePointsBuilder::new(&server.name).points(filter).wait(true);
        assert_refused(server.client.delete_points(delete).await, Code::InvalidArgument, "every point");
    }
    let unchosen = DeletePointsBuilder::new(&server.name).wait(true);
    assert_refused(server.client.delete_points(unchosen).await, Code::InvalidArgument, "PointsSelector");
    let count = server.client.count(CountPointsBuilder::new(&server.name).exact(true)).await.unwrap();
    assert_eq!(count.result.unwrap().count, 1);
}

#[tokio::test]
async fn reads_that_ask_for_nonsense_are_refused() {
    let Server { client, name, .. } = &embedded_ready().await;
    let invalid = Code::InvalidArgument;
    assert_refused(client.scroll(ScrollPointsBuilder::new(name).limit(0)).await, invalid, "limit");
    let near = || Query::new_nearest(vec![1.0; 4]);
    assert_refused(
        client.query(QueryPointsBuilder::new(name).query(near()).using("dense").limit(0)).await,
        invalid,
        "limit",
    );
    assert_refused(
        client.query(QueryPointsBuilder::new(name).query(near())).await,
        invalid,
        "Not existing vector name",
    );
    let short = Query::new_nearest(vec![1.0; 3]);
    assert_refused(
        client.query(QueryPointsBuilder::new(name).query(short).using("dense")).await,
        invalid,
        "expected dim",
    );
    let alone = QueryPointsBuilder::new(name).query(Query::new_fusion(Fusion::Rrf));
    assert_refused(client.query(alone).await, invalid, "without prefetches");
    let one = PrefetchQueryBuilder::default().query(near()).using("dense");
    let weights = RrfBuilder::new().weights(vec![1.0, 2.0]);
    let uneven = QueryPointsBuilder::new(name).add_prefetch(one).query(Query::new_rrf(weights));
    assert_refused(client.query(uneven).await, invalid, "one weight");
    let infinite = Range { lt: Some(f64::INFINITY), ..Range::default() };
    let bound = Filter::must([Condition::range("version", infinite)]);
    assert_refused(client.scroll(ScrollPointsBuilder::new(name).filter(bound)).await, invalid, "finite");
    let nothing = Filter::must([Condition::range("version", Range::default())]);
    assert_refused(client.scroll(ScrollPointsBuilder::new(name).filter(nothing)).await, invalid, "bound");
    let empty = Filter::must([Condition { condition_one_of: None }]);
    assert_refused(client.scroll(ScrollPointsBuilder::new(name).filter(empty)).await, invalid, "empty");
    assert_refused(client.scroll(ScrollPointsBuilder::new("not-there")).await, Code::NotFound, "not-there");
}

#[tokio::test]
async fn what_is_not_supported_says_so() {
    let Server { client, name, .. } = &embedded_ready().await;
    let no = Code::Unimplemented;
    assert_refused(client.search_points(SearchPointsBuilder::new(name, vec![1.0; 4], 1)).await, no, "use Query");
    assert_refused(client.query_groups(QueryPointGroupsBuilder::new(name, "tenant_id")).await, no, "QueryGroups");
    let by_id = Query::new_nearest(PointId::from(1));
    assert_refused(client.query(QueryPointsBuilder::new(name).query(by_id).using("dense")).await, no, "point id");
    let corpus = SearchParamsBuilder::default().idf(IdfParamsBuilder::default().corpus(Filter::default()));
    let idf = QueryPointsBuilder::new(name).query(terms(&[(1, 1.0)])).using("sparse");
    assert_refused(client.query(idf.params(corpus)).await, no, "IDF");
    let keys = ShardKeySelector::default();
    let shard = GetPointsBuilder::new(name, vec![PointId::from(1)]).shard_key_selector(keys);
    assert_refused(client.get_points(shard).await, no, "shard keys");

    let create = || {
        let params = VectorParamsBuilder::new(4, Distance::Cosine);
        CreateCollectionBuilder::new("another").vectors_config(params)
    };
    let quantized = create().quantization_config(ScalarQuantizationBuilder::default());
    assert_refused(client.create_collection(quantized).await, no, "quantization");
    assert_refused(client.create_collection(create().replication_factor(2)).await, no, "replica");
    let unindexed = qdrant_client::qdrant::StrictModeConfigBuilder::default().enabled(false);
    assert_refused(client.create_collection(create().strict_mode_config(unindexed)).await, no, "strict mode");
    let outside = CreateCollectionBuilder::new("../outside");
    assert_refused(client.create_collection(outside).await, Code::InvalidArgument, "name");
    assert!(!client.collection_exists("another").await.unwrap());

    let index = CreateFieldIndexCollectionBuilder::new(name, "k", FieldType::Integer);
    let disagreeing = index.field_index_params(KeywordIndexParamsBuilder::default());
    assert_refused(client.create_field_index(disagreeing).await, Code::InvalidArgument, "disagree");
}
