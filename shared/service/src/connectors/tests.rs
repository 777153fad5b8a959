use super::*;
use crate::testing::{World, key, scope};
use anchorage_domain::{FileRecord, FileStatus};
use anchorage_memory::MemoryQueue;
use anchorage_ports::{DocumentStore as _, FileListing, MessageBody};
use serde_json::json;
use std::sync::Arc;

fn over(world: &World) -> (Connectors, Arc<MemoryQueue>) {
    let queue = Arc::new(MemoryQueue::default());
    let files = Files {
        store: world.store.clone(),
        blobs: world.blobs.clone(),
        queue: queue.clone(),
        clock: world.clock.clone(),
        ids: world.ids.clone(),
    };
    (Connectors { files }, queue)
}

fn note(path: &str, content: &str) -> Value {
    json!({"path": path, "content": content})
}

async fn receive(connectors: &Connectors, items: &[Value]) -> Received {
    connectors.receive(&scope(1), &key("en"), Connector::Obsidian, items).await.unwrap()
}

async fn files(world: &World) -> Vec<FileRecord> {
    let listing = FileListing { domain: None, status: None, limit: 100, after: None };
    world.store.list_files(&scope(1), &listing).await.unwrap().items
}

/// Cases C11 and C56 in kind: a bad item is named with what would be right, and its neighbours are taken in.
#[tokio::test]
async fn bad_item_is_named_and_stops_no_other() {
    let world = World::new().await;
    let (connectors, _) = over(&world);
    let items =
        [note("a.md", "One thing."), json!({"path": "b.md"}), note("c.md", " \n "), json!(7), note("d.md", "Two.")];
    let received = receive(&connectors, &items).await;
    assert_eq!(received.accepted, 2);
    let rejected: Vec<_> = received.rejected.iter().map(|(index, why)| (*index, why.code())).collect();
    assert_eq!(rejected, [(1, "missing_field"), (2, "blank_content"), (3, "wrong_type")]);
    assert_eq!(files(&world).await.len(), 2);
}

#[tokio::test]
async fn same_items_again_write_and_send_nothing_once_they_are_ingested() {
    let world = World::new().await;
    let (connectors, queue) = over(&world);
    let items = [note("a.md", "One thing."), note("b.md", "Another thing.")];
    assert_eq!(receive(&connectors, &items).await.accepted, 2);
    // Not ingested yet: the bytes may never have been written, so they are written again.
    assert_eq!(receive(&connectors, &items).await.accepted, 2);
    for mut file in files(&world).await {
        file.status = FileStatus::Ready;
        world.store.commit(&scope(1), vec![anchorage_ports::Change::PutFile(file)]).await.unwrap();
    }
    let before = files(&world).await;
    let again = receive(&connectors, &items).await;
    assert_eq!(again, Received { unchanged: 2, ..Received::default() });
    assert_eq!((files(&world).await, queue.receive()), (before, None));
}

#[tokio::test]
async fn new_title_runs_a_job_over_the_bytes_that_are_there() {
    let world = World::new().await;
    let (connectors, queue) = over(&world);
    let page = |title: &str| json!({"path": "a.md", "content": format!("---\ntitle: {title}\n---\nOne thing.")});
    receive(&connectors, &[page("First")]).await;
    let mut file = files(&world).await.pop().unwrap();
    file.status = FileStatus::Ready;
    world.store.commit(&scope(1), vec![anchorage_ports::Change::PutFile(file.clone())]).await.unwrap();
    let again = receive(&connectors, &[page("Second")]).await;
    assert_eq!(again, Received { title_updated: 1, ..Received::default() });
    let now = files(&world).await.pop().unwrap();
    assert_eq!((now.version, now.content_sha256, now.status), (1, file.content_sha256, FileStatus::Queued));
    assert_eq!(now.title.unwrap().as_str(), "Second");
    let MessageBody::RunJob { file_id, job_id, .. } = queue.receive().unwrap().anchorage;
    assert_eq!((file_id, job_id), (now.file_id, now.newest_job));
}

#[tokio::test]
async fn item_that_comes_twice_in_a_request_counts_once_with_what_it_says_last() {
    let world = World::new().await;
    let (use_case, _) = over(&world);
    let received = receive(&use_case, &[note("a.md", "Early."), note("b.md", "Other."), note("a.md", "Late.")]).await;
    assert_eq!((received.accepted, received.duplicates), (2, 1));
    let Ok(connectors::Outcome::Document(late)) = connectors::read(Connector::Obsidian, &note("a.md", "Late.")) else {
        panic!("a note reads");
    };
    let late = Sha256::of(late.markdown.as_bytes());
    assert!(files(&world).await.iter().any(|file| file.content_sha256 == late));
}

#[tokio::test]
async fn item_that_is_gone_at_its_source_is_deleted_here_and_once() {
    let world = World::new().await;
    let (connectors, _) = over(&world);
    let page = |trashed: bool| {
        json!({"object": "page", "id": "59833787-2cf9-4fdf-8782-e53db20768a5", "in_trash": trashed,
            "properties": {"title": {"type": "title", "title": [{"plain_text": "Berths"}]}},
            "blocks": [{"type": "paragraph", "paragraph": {"rich_text": [{"plain_text": "Free on Monday."}]}}]})
    };
    let take = async |item: Value| connectors.receive(&scope(1), &key("en"), Connector::Notion, &[item]).await.unwrap();
    assert_eq!(take(page(false)).await.accepted, 1);
    assert_eq!(take(page(true)).await, Received { removed: 1, ..Received::default() });
    assert_eq!(take(page(true)).await, Received { unchanged: 1, ..Received::default() });
    assert!(files(&world).await.is_empty());
}

#[tokio::test]
async fn domain_that_takes_nothing_in_refuses_the_request() {
    let world = World::new().await;
    let (connectors, _) = over(&world);
    for (domain, expected) in
        [("off", FilesError::DomainDisabled(key("off"))), ("no", FilesError::DomainUnknown(key("no")))]
    {
        let refused = connectors.receive(&scope(1), &key(domain), Connector::Web, &[]).await;
        assert_eq!(refused, Err(expected));
    }
    assert!(files(&world).await.is_empty());
}

#[test]
fn filename_is_the_last_part_of_a_title_and_keeps_its_ending() {
    let long = "ن".repeat(300);
    for (title, expected) in [
        ("src/main.rs", "main.rs".to_owned()),
        ("Berths / Winter", "Winter".to_owned()),
        ("/", "document".to_owned()),
        (long.as_str(), "ن".repeat(100)),
    ] {
        assert_eq!(filename(title), expected);
    }
}
