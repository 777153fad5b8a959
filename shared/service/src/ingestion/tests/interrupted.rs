//! One fault at every call there is: whatever is cut off, the end is that of an undisturbed run, and readers never see half.

use super::{faults::Fault, *};

/// The second version of a document that is published already, ready to be delivered.
async fn second_version() -> (World, ObjectArrival) {
    let world = world().await;
    world.ingest(&document("old", 5), "01").await;
    let arrival = world.upload(&document("new", 70), "02").await;
    world.watch_readers();
    (world, arrival)
}

async fn undisturbed() -> State {
    let (world, arrival) = second_version().await;
    assert_eq!(world.settle(&arrival).await, Outcome::Ended(JobStatus::Succeeded));
    let state = world.state();
    assert!(state.points.len() > 64, "more than one batch: {}", state.points.len());
    assert!(state.points.iter().all(|draft| draft.point.is_active && draft.point.generation == Generation::new(2)));
    state
}

/// Cases C02, C04, C06, E4, E5, V1 and V8.
#[tokio::test]
async fn ingest_cut_off_at_any_call_ends_like_an_undisturbed_one() {
    let expected = undisturbed().await;
    for fault in Fault::FINAL {
        for call in 1.. {
            let (world, arrival) = second_version().await;
            world.faults.plan(fault, call);
            world.settle(&arrival).await;
            if !world.faults.struck() {
                assert!(call > 20, "only {call} calls");
                break;
            }
            assert_eq!(world.state(), expected, "{fault:?} at call {call}");
            let again = world.deliver(&arrival).await;
            assert_eq!(again, Some(Outcome::Nothing(Nothing::Duplicate)), "{fault:?} at call {call}");
            assert_eq!(world.state(), expected, "{fault:?} at call {call}");
        }
    }
}

/// A worker that stood still until another one had taken over and finished changes nothing any more.
#[tokio::test]
async fn worker_frozen_at_any_call_changes_nothing_once_it_was_taken_over() {
    let expected = undisturbed().await;
    for call in 1.. {
        let (world, arrival) = second_version().await;
        world.faults.plan(Fault::Freezes, call);
        let invocation = world.invocation();
        let frozen = world.ingestion.object_arrived(&world.scope, &arrival, &invocation);
        tokio::pin!(frozen);
        tokio::select! {
            _ = &mut frozen => {}
            () = world.faults.death() => {}
        }
        if !world.faults.struck() {
            assert!(call > 20, "only {call} calls");
            break;
        }
        world.wait(None);
        world.settle(&arrival).await;
        assert_eq!(world.state(), expected, "frozen at call {call}");
        world.faults.resume();
        let late = frozen.await;
        assert!(!matches!(late, Outcome::Ended(JobStatus::Failed)), "frozen at call {call}: {late:?}");
        assert_eq!(world.state(), expected, "resumed at call {call}: {late:?}");
    }
}

/// A deletion in the middle of an ingest: whichever ends last, nothing is left.
#[tokio::test]
async fn file_deleted_at_any_call_of_its_ingest_leaves_nothing_behind() {
    for call in 1.. {
        let (world, arrival) = second_version().await;
        world.faults.plan(Fault::Freezes, call);
        let invocation = world.invocation();
        let frozen = world.ingestion.object_arrived(&world.scope, &arrival, &invocation);
        tokio::pin!(frozen);
        tokio::select! {
            _ = &mut frozen => {}
            () = world.faults.death() => {}
        }
        if !world.faults.struck() {
            assert!(call > 20, "only {call} calls");
            break;
        }
        let purge = world.files.delete(&world.scope, arrival.key.file).await.unwrap();
        world.faults.always(|| {});
        let outcome = world.run(arrival.key.file, purge.job_id).await;
        assert_eq!(outcome, Some(Outcome::Ended(JobStatus::Succeeded)), "frozen at call {call}");
        world.faults.resume();
        frozen.await;
        world.settle(&arrival).await;
        assert_eq!(world.index.snapshot(world.tenant()), [], "frozen at call {call}");
        assert!(!world.blobs.holds(&arrival.key));
        let (files, jobs, _) = world.store.snapshot(world.tenant());
        assert_eq!(files[0].status, FileStatus::Deleted);
        assert!(jobs.iter().all(|job| job.status.is_terminal()), "frozen at call {call}: {jobs:?}");
    }
}

/// Case C16: a purge that is cut off ends at a verified zero.
#[tokio::test]
async fn purge_cut_off_at_any_call_ends_at_zero() {
    for fault in Fault::FINAL {
        for call in 1.. {
            let world = world().await;
            let arrival = world.ingest(&document("old", 5), "01").await;
            let purge = world.files.delete(&world.scope, arrival.key.file).await.unwrap();
            world.faults.plan(fault, call);
            let mut outcome = world.run(arrival.key.file, purge.job_id).await;
            while world.wait(outcome.as_ref()) {
                outcome = world.run(arrival.key.file, purge.job_id).await;
            }
            if !world.faults.struck() {
                assert!(call > 5, "only {call} calls");
                break;
            }
            let job = world.job().await;
            assert_eq!(
                (job.status, job.receipt.unwrap().points_left),
                (JobStatus::Succeeded, 0),
                "{fault:?} at {call}"
            );
            assert_eq!(world.index.snapshot(world.tenant()), []);
            assert!(!world.blobs.holds(&arrival.key));
        }
    }
}
