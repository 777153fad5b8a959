use crate::{Health, connect, router};
use anchorage_domain::VectorName;
use anchorage_lambda::{
    config::Config,
    http::{Frame, app},
    testing::{Reply, call},
};
use anchorage_memory::{ManualClock, MemoryIndex, SequentialIds};
use anchorage_ports::{IndexManifest, Outage, OutageKind, Service, VectorSpec};
use anchorage_service::{Readiness, index_manifest};
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

fn manifest(dims: u32) -> IndexManifest {
    index_manifest(vec![VectorSpec { name: VectorName::new("dense_e5").unwrap(), model: "m".into(), dims }])
}

fn over(found: Option<IndexManifest>) -> Health {
    Health::new(Ok(Arc::new(move || {
        let readiness = Readiness { index: Arc::new(MemoryIndex::new(found.clone())), manifest: manifest(384) };
        Box::pin(async { Ok(readiness) })
    })))
}

async fn get(health: Health, target: &str) -> Reply {
    let (routes, _) = router(health).split_for_parts();
    let frame =
        Frame { function: "health", clock: Arc::new(ManualClock::default()), ids: Arc::new(SequentialIds::default()) };
    call(&app(frame, routes), None, "GET", target, None).await.unwrap()
}

#[tokio::test]
async fn readyz_is_ok_only_over_the_expected_collection() {
    assert_eq!(get(over(Some(manifest(384))), "/readyz").await.status, 200);
    let missing = get(over(None), "/readyz").await;
    assert_eq!((missing.status, missing.text("/code")), (503, "not_ready"));
    assert_eq!(missing.text("/errors/0/pointer"), "/vector_index");
    let other = get(over(Some(manifest(768))), "/readyz").await;
    let detail = other.text("/errors/0/detail");
    assert!(detail.contains("384") && detail.contains("768"), "{detail}");
}

#[tokio::test]
async fn readyz_names_every_setting_that_is_missing_and_healthz_needs_none() {
    let config = Config::from_lookup(|name| (name == "ANCHORAGE_TABLE").then(|| "t".to_owned()));
    let ready = get(connect::health(&config), "/readyz").await;
    let errors = ready.body["errors"].to_string();
    assert_eq!(ready.status, 503);
    for name in ["AWS_REGION", "ANCHORAGE_BUCKET", "ANCHORAGE_QUEUE_URL", "ANCHORAGE_QDRANT_URL", "ANCHORAGE_EMBEDDERS"]
    {
        assert!(errors.contains(name), "{name}: {errors}");
    }
    assert!(!errors.contains("ANCHORAGE_TABLE"));
    assert_eq!(get(connect::health(&config), "/healthz").await.status, 200);
}

#[tokio::test]
async fn failed_connection_is_told_without_particulars_and_tried_again() {
    let tries = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&tries);
    let health = Health::new(Ok(Arc::new(move || {
        let first = counted.fetch_add(1, Ordering::SeqCst) == 0;
        Box::pin(async move {
            if first {
                return Err(Outage::new(Service::Parameters, OutageKind::Unavailable, "arn:secret"));
            }
            Ok(Readiness { index: Arc::new(MemoryIndex::new(Some(manifest(384)))), manifest: manifest(384) })
        })
    })));
    let failed = get(health.clone(), "/readyz").await;
    assert_eq!(failed.status, 503);
    assert!(!failed.body.to_string().contains("arn:secret"));
    assert_eq!(get(health.clone(), "/readyz").await.status, 200);
    assert_eq!(get(health, "/readyz").await.status, 200);
    assert_eq!(tries.load(Ordering::SeqCst), 2);
}
