//! Nearest, fusion, order, and the query that the product asks.

use qdrant_client::qdrant::{
    Condition, Filter, Fusion, OrderByBuilder, PayloadIncludeSelector, PrefetchQueryBuilder, Query,
    QueryBatchPointsBuilder, QueryPoints, QueryPointsBuilder, RrfBuilder, Sample, ScoredPoint, Vector, VectorInput,
    VectorsSelector,
};
use qdrant_client::qdrant::{NamedVectors, PointStruct};
use serde_json::json;

use crate::support::{Server, json, number, point, put, ready, terms};

const NEAR: [f32; 4] = [1.0, 0.0, 0.0, 0.0];

async fn ask(server: &Server, query: impl Into<QueryPoints>) -> Vec<ScoredPoint> {
    server.client.query(query).await.unwrap().result
}

fn ids(points: &[ScoredPoint]) -> Vec<u64> {
    points.iter().map(|point| number(point.id.clone())).collect()
}

fn only(tenant: &str) -> Filter {
    Filter::must([Condition::matches("tenant_id", tenant.to_owned()), Condition::matches("active", true)])
}

async fn two_tenants() -> Server {
    let server = ready().await;
    put(
        &server,
        vec![
            point(1, "a", [1.0, 0.1, 0.0, 0.0], &[(1, 1.0)], json!({})),
            point(2, "a", [0.5, 0.9, 0.0, 0.0], &[(1, 2.0), (2, 1.0)], json!({})),
            point(3, "a", [0.0, 0.0, 1.0, 0.0], &[(3, 1.0)], json!({})),
            point(4, "a", NEAR, &[(2, 9.0)], json!({"active": false})),
            point(5, "b", NEAR, &[(2, 9.0)], json!({})),
        ],
    )
    .await;
    server
}

fn hybrid(server: &Server, root: bool) -> QueryPointsBuilder {
    let dense = PrefetchQueryBuilder::default().query(Query::new_nearest(NEAR.to_vec())).using("dense");
    let sparse = PrefetchQueryBuilder::default().query(terms(&[(2, 1.0)])).using("sparse");
    let query = QueryPointsBuilder::new(&server.name)
        .add_prefetch(dense.filter(only("a")).limit(10_u64))
        .add_prefetch(sparse.filter(only("a")).limit(10_u64))
        .query(Query::new_rrf(RrfBuilder::new().k(60)))
        .limit(10)
        .with_payload(true);
    if root { query.filter(only("a")) } else { query }
}

#[tokio::test]
async fn query_of_one_tenant_by_prefetch_and_rrf_meets_its_active_points_alone() {
    let server = two_tenants().await;
    for root in [true, false] {
        let answer = ask(&server, hybrid(&server, root)).await;
        // 2 is second by meaning and first by term; 1 is first by meaning alone; 3 last by meaning.
        assert_eq!(ids(&answer), [2, 1, 3], "root filter: {root}");
        assert!(answer.iter().all(|point| json(&point.payload, "tenant_id") == json!("a")));
        let expected = 1.0 / 60.0 + 1.0 / 61.0;
        assert!((answer[0].score - expected).abs() < 1e-6, "{} is not {expected}", answer[0].score);
    }
}

#[tokio::test]
async fn query_with_weights_prefers_the_heavier_prefetch() {
    let server = two_tenants().await;
    let weigh = |dense: f32, sparse: f32| {
        let mut query: QueryPoints = hybrid(&server, true).build();
        query.query = Some(Query::new_rrf(RrfBuilder::new().k(1).weights(vec![dense, sparse])));
        query
    };
    assert_eq!(ids(&ask(&server, weigh(100.0, 0.01)).await)[0], 1);
    assert_eq!(ids(&ask(&server, weigh(0.01, 100.0)).await)[0], 2);
}

#[tokio::test]
async fn query_batch_answers_each_in_its_place() {
    let server = two_tenants().await;
    let nearest = |tenant: &str| {
        QueryPointsBuilder::new(&server.name)
            .query(Query::new_nearest(NEAR.to_vec()))
            .using("dense")
            .filter(only(tenant))
            .build()
    };
    let request = QueryBatchPointsBuilder::new(&server.name, vec![nearest("b"), nearest("a")]);
    let answers = server.client.query_batch(request).await.unwrap().result;
    assert_eq!(answers.iter().map(|answer| ids(&answer.result)).collect::<Vec<_>>(), [vec![5], vec![1, 2, 3]]);
}

#[tokio::test]
async fn query_takes_offset_limit_threshold_and_selectors() {
    let server = two_tenants().await;
    let nearest = || {
        QueryPointsBuilder::new(&server.name).query(Query::new_nearest(NEAR.to_vec())).using("dense").filter(only("a"))
    };
    assert_eq!(ids(&ask(&server, nearest().offset(1).limit(1)).await), [2]);
    assert_eq!(ids(&ask(&server, nearest().score_threshold(0.9)).await), [1]);
    assert!(ask(&server, nearest()).await[0].payload.is_empty());
    let with = nearest()
        .with_payload(PayloadIncludeSelector { fields: vec!["tenant_id".to_owned()] })
        .with_vectors(VectorsSelector { names: vec!["sparse".to_owned()] })
        .limit(1);
    let answer = ask(&server, with).await;
    assert_eq!(answer[0].payload.keys().collect::<Vec<_>>(), ["tenant_id"]);
    let vectors = answer[0].vectors.as_ref().unwrap();
    assert!(vectors.get_vector_by_name("sparse").is_some() && vectors.get_vector_by_name("dense").is_none());
}

#[tokio::test]
async fn query_of_a_multivector_takes_the_best_match_of_each_part() {
    let server = ready().await;
    let late = |rows: Vec<Vec<f32>>| NamedVectors::default().add_vector("late", Vector::from(rows));
    let payload = qdrant_client::Payload::try_from(json!({"tenant_id": "a", "active": true})).unwrap();
    put(
        &server,
        vec![
            PointStruct::new(1, late(vec![vec![1.0, 0.0], vec![0.0, 1.0]]), payload.clone()),
            PointStruct::new(2, late(vec![vec![0.9, 0.0]]), payload),
        ],
    )
    .await;
    let rows = VectorInput::new_multi(vec![vec![1.0, 0.0], vec![0.0, 1.0]]);
    let query = QueryPointsBuilder::new(&server.name).query(Query::new_nearest(rows)).using("late").filter(only("a"));
    let answer = ask(&server, query).await;
    assert_eq!(ids(&answer), [1, 2]);
    assert!((answer[0].score - 2.0).abs() < 1e-6 && (answer[1].score - 0.9).abs() < 1e-6);
}

#[tokio::test]
async fn sparse_terms_weigh_by_how_rare_they_are() {
    let server = ready().await;
    // Term 1 is everywhere, term 2 in one point: with equal weights the rare one decides.
    let mut points: Vec<PointStruct> = (1..=8).map(|id| point(id, "a", NEAR, &[(1, 1.0)], json!({}))).collect();
    points.push(point(9, "a", NEAR, &[(2, 1.0)], json!({})));
    put(&server, points).await;
    let query = QueryPointsBuilder::new(&server.name).query(terms(&[(2, 1.0), (1, 1.0)])).using("sparse").limit(20);
    let answer = ask(&server, query).await;
    assert_eq!(ids(&answer)[0], 9);
    assert_eq!(answer.len(), 9);
    assert!(answer[0].score > 4.0 * answer[1].score, "{} against {}", answer[0].score, answer[1].score);
}

#[tokio::test]
async fn nested_prefetches_and_distribution_fusion_are_answered() {
    let server = two_tenants().await;
    let dense = PrefetchQueryBuilder::default().query(Query::new_nearest(NEAR.to_vec())).using("dense");
    let inner = PrefetchQueryBuilder::default()
        .add_prefetch(dense.filter(only("a")).limit(2_u64))
        .query(terms(&[(2, 1.0)]))
        .using("sparse")
        .filter(only("a"));
    let query = QueryPointsBuilder::new(&server.name).add_prefetch(inner).query(Query::new_fusion(Fusion::Dbsf));
    assert_eq!(ids(&ask(&server, query).await), [2]);
}

#[tokio::test]
async fn query_by_order_and_sample_need_no_vector() {
    let server = two_tenants().await;
    let order = QueryPointsBuilder::new(&server.name)
        .query(Query::new_order_by(OrderByBuilder::new("order_id").direction(1)))
        .filter(only("a"));
    assert_eq!(ids(&ask(&server, order).await), [3, 2, 1]);
    let sample = QueryPointsBuilder::new(&server.name).query(Query::new_sample(Sample::Random)).filter(only("b"));
    assert_eq!(ids(&ask(&server, sample).await), [5]);
}
