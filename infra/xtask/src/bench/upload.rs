//! A presigned PUT to a searchable document, on the warm stack.

use super::{median, millis, ratio};
use crate::{
    StackArgs,
    binaries::{self, With},
    client::{Client, text},
    demo::Api,
    deploy::{Timing, deploy},
    failure::{Doing as _, Failure},
    progress::{Step, result},
    project::Project,
    run,
    setup::Tools,
    stack::{Embeddings, Stack},
};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use std::time::{Duration, Instant};

/// Documents that are uploaded before any is counted, so that every function has an instance.
const WARM_UP: usize = 5;
const DOCUMENTS: usize = 30;
/// How long one document may take.
const PATIENCE: Duration = Duration::from_mins(1);
/// The promise for the median document.
const MAX_READY: Duration = Duration::from_millis(500);

pub fn upload(project: &Project, tools: &Tools, args: &StackArgs) -> Result<(), Failure> {
    let binaries = binaries::compile(project, With::Nothing)?;
    let mut stack = Stack::start(project, tools, &binaries, ("bench", Embeddings::Fake), args)?;
    let measured = deploy(project, tools, &binaries, &stack, Timing::USUAL).and_then(|deployment| {
        let key = deployment.tenant(project, &binaries, &["bench:en"])?;
        measure(&Api { client: Client::new(), url: deployment.api, key }, &mut stack)
    });
    if measured.as_ref().is_err_and(|failure| !matches!(failure, Failure::Interrupted)) {
        stack.explain();
    }
    stack.stop();
    let (mut ready, mut call) = measured?;
    let slowest = ready.iter().max().copied().unwrap_or_default();
    let (ready, call) = (median(&mut ready), median(&mut call));
    let verdict = if ready <= MAX_READY { "kept" } else { "NOT kept" };
    let line = format!(
        "\npresigned PUT to ready, one chunk, of {DOCUMENTS}: median {:.0} ms, slowest {:.0} ms; {:.1} times a call of \
         GET /v1/domains through the same gateway ({:.0} ms)\nat most {} ms: {verdict}",
        millis(ready),
        millis(slowest),
        ratio(ready, call),
        millis(call),
        MAX_READY.as_millis(),
    );
    result(&line).doing("printing")
}

/// The times of the documents, and of plain calls between them.
fn measure(api: &Api, stack: &mut Stack) -> Result<(Vec<Duration>, Vec<Duration>), Failure> {
    let step = Step::begin("uploading documents");
    let (mut ready, mut calls) = (Vec::new(), Vec::new());
    for number in 0..WARM_UP + DOCUMENTS {
        step.now(&format!("{number} of {}", WARM_UP + DOCUMENTS));
        let bytes = format!("Berth {number} is free on the first day of the month.").into_bytes();
        let ticket = api.post(
            "/v1/files",
            &json!({
                "filename": format!("{number}.txt"), "size_bytes": bytes.len(), "domain": "bench",
                "sha256": hex::encode(Sha256::digest(&bytes)), "content_type": "text/plain",
            }),
        )?;
        let path = format!("/v1/files/{}", text(&ticket, "/file_id"));
        let began = Instant::now();
        api.send(&ticket, bytes)?;
        run::until("the document is searchable", PATIENCE, || {
            stack.children.all_alive()?;
            let file = api.get(&path)?;
            match text(&file, "/status") {
                "ready" => Ok(Some(())),
                "failed" => Err(Failure::said(format!("the document was refused: {file}"))),
                _ => Ok(None),
            }
        })?;
        let took = began.elapsed();
        let began = Instant::now();
        api.get("/v1/domains")?;
        if number >= WARM_UP {
            ready.push(took);
            calls.push(began.elapsed());
        }
    }
    step.done();
    Ok((ready, calls))
}
