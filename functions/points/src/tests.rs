use crate::router;
use anchorage_domain::{FileId, ScopeSet};
use anchorage_lambda::{
    http::{Frame, app},
    testing::{Caller, Reply, call},
};
use anchorage_ports::{Change, DocumentStore, VectorIndex};
use anchorage_service::Points;
use axum::Router;
use serde_json::{Value, json};
use testing::{World, scope, tenant};

#[path = "../../../shared/service/src/testing.rs"]
mod testing;

/// Cut into several chunks: each paragraph is longer than half a chunk.
fn long(paragraphs: usize) -> String {
    let paragraph = |number: usize| format!("Paragraph {number}. {}\n\n", "Words that fill a line. ".repeat(60));
    (1..=paragraphs).map(paragraph).collect()
}

fn app_of(world: &World) -> Router {
    let (routes, _) = router(Points { store: world.store.clone(), index: world.index.clone() }).split_for_parts();
    app(Frame { function: "points", clock: world.clock.clone(), ids: world.ids.clone() }, routes)
}

async fn get(app: &Router, caller: u8, target: &str) -> Reply {
    let caller = Caller { tenant: tenant(caller), scopes: ScopeSet::all() };
    call(app, Some(&caller), "GET", target, None).await.unwrap()
}

fn ids(reply: &Reply) -> Vec<String> {
    let points = reply.body["points"].as_array().unwrap();
    points.iter().map(|point| point["point_id"].as_str().unwrap().to_owned()).collect()
}

async fn all(app: &Router, file: FileId) -> Vec<String> {
    ids(&get(app, 1, &format!("/v1/points?file_id={file}&limit=100")).await)
}

/// Case C50, as far as reads go: pages cover every point once, in order.
#[tokio::test]
async fn pages_cover_every_point_once_and_neighbours_follow_the_order() {
    let world = World::new().await;
    let file = world.publish(&scope(1), "en", "long", &long(5)).await;
    let app = app_of(&world);
    let whole = all(&app, file).await;
    assert!(whole.len() >= 5);
    let mut seen = Vec::new();
    let mut target = format!("/v1/files/{file}/points?limit=2");
    loop {
        let page = get(&app, 1, &target).await;
        seen.extend(ids(&page));
        match page.body["next_cursor"].as_str() {
            Some(cursor) => target = format!("/v1/points?file_id={file}&limit=2&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(seen, whole);
    for (place, id) in whole.iter().enumerate() {
        let point = get(&app, 1, &format!("/v1/points/{id}")).await;
        let neighbour = |at: Option<usize>| at.and_then(|at| whole.get(at)).map_or(Value::Null, |id| json!(id));
        assert_eq!(point.body["previous_chunk_id"], neighbour(place.checked_sub(1)));
        assert_eq!(point.body["next_chunk_id"], neighbour(Some(place + 1)));
        assert_eq!(point.header("etag"), Some(point.text("/etag")));
    }
    let count = get(&app, 1, &format!("/v1/points/count?file_id={file}")).await;
    assert_eq!(count.body["count"], whole.len());
    assert_eq!(get(&app, 1, "/v1/points/count?domain=en").await.body["count"], whole.len());
    assert_eq!(get(&app, 1, "/v1/points/count").await.body["count"], whole.len());
}

/// Cases C46 and V4.
#[tokio::test]
async fn foreign_missing_and_malformed_ids_answer_alike() {
    let world = World::new().await;
    let file = world.publish(&scope(1), "en", "a", "The canary sings.").await;
    let app = app_of(&world);
    let point = all(&app, file).await.remove(0);
    let unknown = "01980000-0000-7000-8000-ffffffffffff";
    for (foreign, missing) in [
        (format!("/v1/points/{point}"), format!("/v1/points/{unknown}")),
        (format!("/v1/points/{point}"), "/v1/points/none".to_owned()),
        (format!("/v1/points?file_id={file}"), format!("/v1/points?file_id={unknown}")),
        (format!("/v1/files/{file}/points"), format!("/v1/files/{unknown}/points")),
        (format!("/v1/points/count?file_id={file}"), format!("/v1/points/count?file_id={unknown}")),
    ] {
        let (mut foreign, mut missing) = (get(&app, 2, &foreign).await, get(&app, 2, &missing).await);
        foreign.body["correlation_id"] = Value::Null;
        missing.body["correlation_id"] = Value::Null;
        assert_eq!((foreign.status, foreign.body), (404, missing.body));
    }
    assert_eq!(get(&app, 2, "/v1/points/search?q=canary").await.body, json!({"points": []}));
    assert_eq!(get(&app, 2, "/v1/points/count").await.body["count"], 0);
}

#[tokio::test]
async fn cursor_is_good_for_its_own_listing_alone() {
    let world = World::new().await;
    let file = world.publish(&scope(1), "en", "a", &long(3)).await;
    let other = world.publish(&scope(1), "en", "b", &long(4)).await;
    let app = app_of(&world);
    let cursor = get(&app, 1, &format!("/v1/points?file_id={file}&limit=1")).await.text("/next_cursor").to_owned();
    let (order, seal) = cursor.split_once('.').unwrap();
    for (file, cursor) in [
        (other, cursor.clone()),
        (file, "1".to_owned()),
        (file, "x.y".to_owned()),
        (file, format!("{order}.{}", "0".repeat(seal.len()))),
        (file, format!("0.{seal}")),
    ] {
        let reply = get(&app, 1, &format!("/v1/points?file_id={file}&cursor={cursor}")).await;
        assert_eq!((reply.status, reply.text("/errors/0/pointer")), (422, "?cursor"), "{cursor}");
    }
    world.publish(&scope(1), "en", "a", &long(2)).await;
    let stale = get(&app, 1, &format!("/v1/points?file_id={file}&cursor={cursor}")).await;
    assert_eq!(stale.status, 422, "the file has been published anew");
}

/// Case V2: what the index still holds of an older version is not there.
#[tokio::test]
async fn superseded_points_are_gone_from_every_read() {
    let world = World::new().await;
    let scope = scope(1);
    let file = world.publish(&scope, "en", "a", "The gate fee is nine crowns.").await;
    let app = app_of(&world);
    let old = all(&app, file).await.remove(0);
    let points = world.index.snapshot(scope.tenant());
    world.publish(&scope, "en", "a", "The gate fee is twelve crowns.").await;
    world.index.stage(&scope, &points).await.unwrap();
    assert_eq!(get(&app, 1, &format!("/v1/points/{old}")).await.status, 404);
    assert_eq!(all(&app, file).await.len(), 1);
    let found = get(&app, 1, "/v1/points/search?q=gate%20fee").await;
    assert_eq!(found.text("/points/0/content"), "The gate fee is twelve crowns.");
    assert_eq!(ids(&found).len(), 1);
    assert_eq!(get(&app, 1, &format!("/v1/points/count?file_id={file}")).await.body["count"], 1);
    let mut record = world.store.file(&scope, file).await.unwrap().unwrap();
    record.delete(record.newest_job, record.updated_at);
    world.store.commit(&scope, vec![Change::PutFile(record)]).await.unwrap();
    assert_eq!(get(&app, 1, "/v1/points/search?q=gate").await.body, json!({"points": []}));
    assert_eq!(get(&app, 1, &format!("/v1/points?file_id={file}")).await.status, 404);
}

/// Cases C42 and C43.
#[tokio::test]
async fn keyword_meets_other_spellings_and_highlights_the_original() {
    let world = World::new().await;
    let stored = "فهرست كتاب هاي ١٢٣ در قفسه است و كارمند می‌رود.";
    world.publish(&scope(1), "fa", "fa", stored).await;
    let app = app_of(&world);
    for (query, highlight) in [("کتاب‌های", "كتاب هاي"), ("123", "١٢٣"), ("میرود", "می‌رود"), ("کارمند", "كارمند")]
    {
        let encoded = query.bytes().map(|byte| format!("%{byte:02X}")).collect::<Vec<_>>().concat();
        let found = get(&app, 1, &format!("/v1/points/search?q={encoded}&domain=fa")).await;
        assert_eq!(found.text("/points/0/content"), stored, "{query}");
        let at = |end: &str| usize::try_from(found.body["points"][0]["highlights"][0][end].as_u64().unwrap()).unwrap();
        assert_eq!(&stored[at("start")..at("end")], highlight);
    }
}

#[tokio::test]
async fn invalid_parameters_are_pointed_at() {
    let world = World::new().await;
    let app = app_of(&world);
    let words = (0..33).map(|word| format!("w{word}")).collect::<Vec<_>>().join("+");
    for (target, status, pointer) in [
        ("/v1/points".to_owned(), 422, "?file_id"),
        ("/v1/points?file_id=x".to_owned(), 422, "?file_id"),
        ("/v1/points/count?file_id=x".to_owned(), 422, "?file_id"),
        ("/v1/points/count?domain=A".to_owned(), 422, "?domain"),
        ("/v1/points/count?domain=nowhere".to_owned(), 400, ""),
        ("/v1/points/search".to_owned(), 422, "?q"),
        ("/v1/points/search?q=%3F!".to_owned(), 422, "?q"),
        (format!("/v1/points/search?q={words}"), 422, "?q"),
        ("/v1/points/search?q=a&limit=101".to_owned(), 422, "?limit"),
        ("/v1/points/search?q=a&domain=nowhere".to_owned(), 400, ""),
        ("/v1/points/search?q=a&domain=off".to_owned(), 400, ""),
    ] {
        let reply = get(&app, 1, &target).await;
        assert_eq!((reply.status, reply.text("/errors/0/pointer")), (status, pointer), "{target}: {}", reply.body);
    }
}
