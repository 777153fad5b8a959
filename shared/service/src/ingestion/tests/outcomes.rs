//! How single jobs end, and what their records say of it.

use super::{faults::Fault, *};
use anchorage_domain::PurgeReceipt;
use anchorage_ports::{MessageBody, OutageKind};
use std::collections::HashMap;

fn refused_with(world: &World, outcome: &Outcome) -> FailureCode {
    assert_eq!(*outcome, Outcome::Ended(JobStatus::Failed));
    let file = world.file();
    assert_eq!(file.status, FileStatus::Failed);
    file.failure.unwrap().code
}

#[tokio::test]
async fn arrival_is_published_whole_and_counted() {
    let world = world().await;
    let content = document("alpha", 5);
    let arrival = world.ingest(&content, "01").await;
    let (file, job) = (world.file(), world.job().await);
    let published = file.published.clone().unwrap();
    let points = world.index.snapshot(world.tenant());
    assert_eq!((file.status, published.generation, published.version), (FileStatus::Ready, Generation::new(1), 1));
    assert_eq!(published.content_sha256, Sha256::of(content.as_bytes()));
    assert_eq!(points.len(), published.chunks as usize);
    assert!(points.len() >= 3);
    assert_eq!((job.status, job.attempts), (JobStatus::Succeeded, 1));
    assert_eq!(job.counters.bytes_read, content.len() as u64);
    assert_eq!((job.counters.chunks_indexed as usize, job.counters.chunks_reused), (points.len(), 0));
    assert_eq!((job.counters.embed_calls, job.object_version), (world.embedder.calls(), arrival.version));
    let history: Vec<_> = job.events.iter().map(|event| event.kind).collect();
    assert_eq!(
        history,
        [
            JobEventKind::Created,
            JobEventKind::Uploaded,
            JobEventKind::Claimed,
            JobEventKind::Published,
            JobEventKind::Succeeded
        ]
    );
    // Case C11: every chunk has a point, a place and an id of its own.
    let distinct =
        |of: fn(&PointDraft) -> String| points.iter().map(of).collect::<std::collections::BTreeSet<_>>().len();
    assert_eq!(distinct(|draft| draft.point.point_id.to_string()), points.len());
    assert_eq!(distinct(|draft| format!("{:?}", draft.point.order_id)), points.len());
}

/// Case C02: the identical event again, and twice at once, changes not even a revision.
#[tokio::test]
async fn identical_events_have_the_effect_of_one() {
    let world = world().await;
    let arrival = world.upload(&document("alpha", 5), "01").await;
    let (first, second) = tokio::join!(world.deliver(&arrival), world.deliver(&arrival));
    assert_eq!(first, Some(Outcome::Ended(JobStatus::Succeeded)));
    assert!(matches!(second, Some(Outcome::Retry { code: FailureCode::LeaseExpired, .. })), "{second:?}");
    let (stored, calls) = (world.store.snapshot(world.tenant()), world.embedder.calls());
    world.wait(second.as_ref());
    for _ in 0..2 {
        assert_eq!(world.deliver(&arrival).await, Some(Outcome::Nothing(Nothing::Duplicate)));
    }
    assert_eq!((world.store.snapshot(world.tenant()), world.embedder.calls()), (stored, calls));
}

/// Cases C14 and V2: of the longer first version nothing remains.
#[tokio::test]
async fn shorter_version_leaves_nothing_of_the_longer_one() {
    let world = world().await;
    world.ingest(&document("beta", 9), "01").await;
    world.ingest(&document("alpha", 1), "02").await;
    let points = world.index.snapshot(world.tenant());
    assert_eq!(points.len(), 1);
    assert!(points.iter().all(|draft| draft.point.is_active && !draft.point.content.contains("beta")));
}

/// Case C15: the same bytes as a new job give the same number of points under a new generation.
#[tokio::test]
async fn ingesting_the_same_bytes_again_changes_no_count() {
    let world = world().await;
    let arrival = world.ingest(&document("alpha", 5), "01").await;
    let before = world.state();
    let job = world.files.reingest(&world.scope, arrival.key.file).await.unwrap();
    let outcome = world.run(arrival.key.file, job.job_id).await;
    assert_eq!(outcome, Some(Outcome::Ended(JobStatus::Succeeded)));
    let texts = |state: &State| state.points.iter().map(|draft| draft.point.content.clone()).collect::<Vec<_>>();
    let after = world.state();
    let (mut before, mut after) = (texts(&before), texts(&after));
    before.sort();
    after.sort();
    assert_eq!(before, after);
    assert_eq!(world.file().current_generation(), Some(Generation::new(2)));
}

/// Case C18: one refused chunk fails its version, is named, and the version before still answers.
#[tokio::test]
async fn refused_chunk_is_named_and_the_version_before_still_answers() {
    let world = world().await;
    world.ingest(&document("old", 5), "01").await;
    world.watch_readers();
    world.embedder.refuse_texts_with("new12 ");
    let arrival = world.upload(&document("new", 40), "02").await;
    let outcome = world.settle(&arrival).await;
    assert_eq!(refused_with(&world, &outcome), FailureCode::EmbeddingRejected);
    let failure = world.job().await.failure.unwrap();
    assert!(failure.detail.starts_with("chunk 12 was refused by dense"), "{}", failure.detail);
    assert_eq!((failure.stage, failure.retryable, failure.attempt), (Stage::Embed, false, 1));
    assert_eq!(failure.trace_id.as_deref(), Some("4bf92f3577b34da6a3ce929d0e0e4736"));
    assert_eq!(world.file().current_generation(), Some(Generation::new(1)));
    let active = world.index.snapshot(world.tenant()).into_iter().filter(|draft| draft.point.is_active);
    assert!(active.into_iter().all(|draft| draft.point.generation == Generation::new(1)));
}

/// Case C55: two refusals for want of capacity are waited out.
#[tokio::test]
async fn throttled_embedder_delays_and_ends_ready() {
    let world = world().await;
    let arrival = world.upload(&document("alpha", 2), "01").await;
    world.embedder.fail(OutageKind::Throttled, 2);
    let first = world.deliver(&arrival).await;
    assert_eq!(first, Some(Outcome::Retry { code: FailureCode::Throttled, after: Duration::ZERO }));
    assert_eq!(world.file().status, FileStatus::Queued);
    assert_eq!(world.job().await.failure.unwrap().code, FailureCode::Throttled);
    assert_eq!(world.settle(&arrival).await, Outcome::Ended(JobStatus::Succeeded));
    let (file, job) = (world.file(), world.job().await);
    assert_eq!((file.status, file.failure, job.attempts, job.failure), (FileStatus::Ready, None, 3, None));
}

/// Cases C06, C55 and E12: a dead letter gives its job an end, but never takes it from a living attempt.
#[tokio::test]
async fn dead_letter_ends_the_job_once_nobody_holds_it() {
    let dead_letters = |world: &World| DeadLetters { store: world.store.clone(), clock: world.clock.clone() };

    let given_up = world().await;
    let arrival = given_up.upload(&document("alpha", 2), "01").await;
    given_up.embedder.fail(OutageKind::Throttled, u32::MAX);
    given_up.deliver(&arrival).await;
    let outcome = dead_letters(&given_up).abandon_arrival(&given_up.scope, &arrival.key).await;
    assert_eq!(refused_with(&given_up, &outcome), FailureCode::RetriesExhausted);
    assert!(given_up.file().failure.unwrap().retryable);

    let killed = world().await;
    let arrival = killed.upload(&document("alpha", 2), "01").await;
    killed.faults.plan(Fault::DiesAfter, 12);
    assert_eq!(killed.deliver(&arrival).await, None);
    let outcome = dead_letters(&killed).abandon_arrival(&killed.scope, &arrival.key).await;
    assert_eq!(outcome, Outcome::Retry { code: FailureCode::LeaseExpired, after: INVOCATION + LEASE_MARGIN });
    killed.wait(Some(&outcome));
    let outcome = dead_letters(&killed).abandon_arrival(&killed.scope, &arrival.key).await;
    assert_eq!(refused_with(&killed, &outcome), FailureCode::LeaseExpired);
    let again = dead_letters(&killed).abandon_arrival(&killed.scope, &arrival.key).await;
    assert_eq!(again, Outcome::Nothing(Nothing::Duplicate));
    assert_eq!(killed.deliver(&arrival).await, Some(Outcome::Nothing(Nothing::Duplicate)));
}

#[tokio::test]
async fn object_that_cannot_be_ingested_fails_with_its_reason() {
    // What is refused depends on the bytes alone.
    for (content, code) in [("\u{0}\u{1}\u{2}", FailureCode::UnsupportedType), ("   \n  ", FailureCode::NoText)] {
        let world = world().await;
        let arrival = world.upload(content, "01").await;
        let outcome = world.settle(&arrival).await;
        assert_eq!(refused_with(&world, &outcome), code, "{content:?}");
    }

    let other_bytes = world().await;
    let arrival = other_bytes.upload("announced", "01").await;
    let version = other_bytes.blobs.place(arrival.key, b"something else");
    let outcome = other_bytes.settle(&ObjectArrival { version, ..arrival }).await;
    assert_eq!(refused_with(&other_bytes, &outcome), FailureCode::ChecksumMismatch);

    let gone = world().await;
    let arrival = gone.upload("announced", "01").await;
    gone.blobs.remove(&gone.scope, &arrival.key).await.unwrap();
    let outcome = gone.settle(&arrival).await;
    assert_eq!(refused_with(&gone, &outcome), FailureCode::ObjectMissing);

    let mut large = world().await;
    large.ingestion.limits.max_file_bytes = 3;
    let arrival = large.upload("announced", "01").await;
    let outcome = large.settle(&arrival).await;
    assert_eq!(refused_with(&large, &outcome), FailureCode::TooLarge);

    let disabled = world().await;
    let arrival = disabled.upload("announced", "01").await;
    let mut domain = disabled.store.domain(&disabled.scope, &disabled.file().domain).await.unwrap().unwrap();
    domain.active = false;
    disabled.store.commit(&disabled.scope, vec![Change::PutDomain(domain)]).await.unwrap();
    let outcome = disabled.settle(&arrival).await;
    assert_eq!(refused_with(&disabled, &outcome), FailureCode::DomainDisabled);
}

#[tokio::test]
async fn collection_built_with_something_else_takes_no_points() {
    let embedder = Arc::new(MemoryEmbedder::new(VectorName::new("dense").unwrap()));
    let other = IndexManifest { chunker: "another".into(), ..manifest(&embedder) };
    for built_with in [None, Some(other)] {
        let world = world_of(embedder.clone(), Arc::new(MemoryIndex::new(built_with))).await;
        let arrival = world.upload("a text", "01").await;
        let outcome = world.settle(&arrival).await;
        assert_eq!(refused_with(&world, &outcome), FailureCode::ManifestMismatch);
        assert_eq!(world.index.snapshot(world.tenant()), []);
    }
    assert_eq!(embedder.calls(), 0);
}

#[tokio::test]
async fn object_that_no_record_expects_is_removed() {
    let world = world().await;
    let arrival = world.upload("a text", "01").await;
    for key in [
        ObjectKey { file: "01980000-0000-7000-8000-0000000000ff".parse().unwrap(), ..arrival.key },
        ObjectKey { version: 9, ..arrival.key },
    ] {
        let version = world.blobs.place(key, b"unasked for");
        let outcome = world.deliver(&ObjectArrival { key, version, sequencer: None }).await;
        assert_eq!(outcome, Some(Outcome::Nothing(Nothing::Unexpected)));
        assert!(!world.blobs.holds(&key), "{key}");
    }
    assert!(world.blobs.holds(&arrival.key));
}

/// Cases C03 and E2, and an upload that a newer version has overtaken.
#[tokio::test]
async fn late_event_changes_nothing() {
    let world = world().await;
    let first = world.upload("the first version", "05").await;
    let second = world.upload("the second version", "02").await;
    assert_eq!(world.deliver(&first).await, Some(Outcome::Nothing(Nothing::Stale)));
    world.embedder.fail(OutageKind::Unavailable, 1);
    world.deliver(&second).await;
    let late = ObjectArrival { version: None, sequencer: Some(Sequencer::new("01").unwrap()), ..second.clone() };
    let before = world.store.snapshot(world.tenant());
    assert_eq!(world.deliver(&late).await, Some(Outcome::Nothing(Nothing::Stale)));
    assert_eq!(world.store.snapshot(world.tenant()), before);
    assert_eq!(world.settle(&second).await, Outcome::Ended(JobStatus::Succeeded));
    assert!(world.index.snapshot(world.tenant())[0].point.content.contains("second"));
}

/// Case C16: the receipt says what was removed, and the second purge finds nothing to do.
#[tokio::test]
async fn purge_counts_what_it_removed_and_runs_once() {
    let world = world().await;
    let arrival = world.ingest(&document("alpha", 4), "01").await;
    let points = world.index.snapshot(world.tenant()).len() as u64;
    let purge = world.files.delete(&world.scope, arrival.key.file).await.unwrap();
    assert!(world.queue.receive().is_some());
    let outcome = world.run(arrival.key.file, purge.job_id).await;
    assert_eq!(outcome, Some(Outcome::Ended(JobStatus::Succeeded)));
    let expected = PurgeReceipt { points_removed: points, objects_removed: 1, points_left: 0 };
    assert_eq!(world.job().await.receipt, Some(expected));
    let again = world.run(arrival.key.file, purge.job_id).await;
    assert_eq!(again, Some(Outcome::Nothing(Nothing::Duplicate)));
    assert_eq!(world.job().await.receipt, Some(expected));
}

/// Case E3: a document goes on in as many invocations as it takes, each under a message of its own, and pays for no chunk
/// twice.
#[tokio::test]
async fn document_too_long_for_one_invocation_goes_on_in_the_next_ones() {
    let world = world().await;
    let arrival = world.upload(&document("alpha", 300), "01").await;
    let clock = world.clock.clone();
    world.faults.always(move || clock.advance(Duration::from_millis(500)));
    let short = || Invocation { deadline: world.clock.now().plus(MIN_BATCH_TIME * 2), trace_id: None };
    let mut outcome = world.ingestion.object_arrived(&world.scope, &arrival, &short()).await;
    let mut invocations = 1;
    while outcome == Outcome::Continued {
        assert!(world.file().published.is_none());
        let MessageBody::RunJob { file_id, job_id, .. } = world.queue.receive().unwrap().anchorage;
        outcome = world.ingestion.run(&world.scope, file_id, job_id, &short()).await;
        invocations += 1;
    }
    assert_eq!(outcome, Outcome::Ended(JobStatus::Succeeded));
    assert!(invocations > 2, "{invocations}");
    assert_eq!(world.queue.receive(), None);
    let (job, points) = (world.job().await, world.index.snapshot(world.tenant()).len());
    assert_eq!((job.counters.chunks_indexed as usize, job.counters.chunks_reused), (points, 0));
    assert_eq!(world.embedder.inputs().len(), points, "no chunk is embedded twice");
    let continued = job.events.iter().filter(|event| event.kind == JobEventKind::Continued).count();
    assert_eq!(continued, invocations - 1);
}

/// Otherwise a job that gets nowhere would send itself round for ever.
#[tokio::test]
async fn invocation_without_time_for_one_batch_is_a_failed_delivery() {
    let world = world().await;
    let arrival = world.upload(&document("alpha", 3), "01").await;
    let none = Invocation { deadline: world.clock.now().plus(Duration::from_secs(1)), trace_id: None };
    let outcome = world.ingestion.object_arrived(&world.scope, &arrival, &none).await;
    assert_eq!(outcome, Outcome::Retry { code: FailureCode::LeaseExpired, after: Duration::ZERO });
    assert_eq!(world.queue.receive(), None);
    assert_eq!(world.file().failure.map(|failure| failure.detail), Some("0 of 3 chunks are staged".to_owned()));
}

/// What changed is paid for, and nothing else, wherever it stands now.
#[tokio::test]
async fn new_version_embeds_the_chunks_that_are_new() {
    let world = world().await;
    let section = |n: usize, text: &str| format!("# Section {n}\n\n{text} {}", "speaks of many things ".repeat(12));
    let first: Vec<_> = (0..80).map(|n| section(n, &format!("word{n}"))).collect();
    world.ingest(&first.join("\n\n"), "01").await;
    let vectors = |world: &World| {
        let points = world.index.snapshot(world.tenant()).into_iter();
        points.map(|draft| (draft.point.content_sha256, draft.dense)).collect::<HashMap<_, _>>()
    };
    let (before, paid) = (vectors(&world), world.embedder.inputs().len());
    let mut second = first;
    second.swap(3, 70);
    second[40] = section(40, "another word");
    world.ingest(&second.join("\n\n"), "02").await;
    assert_eq!(world.embedder.inputs().len() - paid, 1);
    let counters = world.job().await.counters;
    assert_eq!((counters.chunks_indexed, counters.chunks_reused, counters.embed_calls), (1, 79, 1));
    let kept = vectors(&world).into_iter().filter(|(text, vectors)| before.get(text) == Some(vectors)).count();
    assert_eq!(kept, 79);
}

/// A text that stands in a document many times is one text.
#[tokio::test]
async fn text_that_repeats_is_embedded_once() {
    let world = world().await;
    let section = format!("# Section\n\n{}", "says the same again ".repeat(12));
    world.ingest(&vec![section; 50].join("\n\n"), "01").await;
    assert_eq!((world.index.snapshot(world.tenant()).len(), world.embedder.inputs().len()), (50, 1));
}
