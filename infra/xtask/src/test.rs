use crate::{
    TestArgs,
    binaries::{self, Binaries, With},
    deploy::{Deployment, Timing, deploy, unwatched},
    failure::Failure,
    progress::note,
    project::Project,
    run, setup,
    stack::{Embeddings, Stack},
};
use std::process::ExitCode;

pub fn test(project: &Project, args: &TestArgs) -> Result<ExitCode, Failure> {
    let tools = setup::setup(project)?;
    let binaries = binaries::build(project, With::Tests)?;
    let mut stack = Stack::start(project, &tools, &binaries, ("test", Embeddings::Fake), &args.stack)?;
    let deployment = deploy(project, &tools, &binaries, &stack, Timing::SHORT).inspect_err(|_| stack.explain())?;
    let mut environment = environment(&stack, &deployment, &binaries)?;
    let (bucket, queue) = unwatched(project, &tools, &stack)?;
    environment.extend([
        ("ANCHORAGE_TEST_CONTRACT_BUCKET", bucket),
        ("ANCHORAGE_TEST_CONTRACT_QUEUE_URL", queue),
        ("ANCHORAGE_TEST_MODEL_URL", format!("{}/v1", stack.add_model(project, &tools)?)),
    ]);
    let path = stack.write_environment(&environment)?;
    note(&format!("testing; the tests' environment is in {}", project.shown(&path)));
    // Plain `cargo test`: it is there wherever Rust is.
    let mut cargo = run::builder("cargo", project.root());
    cargo.envs(environment).args(["test", "--profile", "local", "--workspace"]);
    let status = run::shown(cargo.args(&args.arguments));
    stack.stop();
    let status = status?;
    if status.success() {
        return Ok(ExitCode::SUCCESS);
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// What the tests are told of the stack, and the operator's command line with them.
fn environment(
    stack: &Stack,
    deployment: &Deployment,
    binaries: &Binaries,
) -> Result<Vec<(&'static str, String)>, Failure> {
    let mut environment = deployment.settings.clone();
    environment.extend([
        ("ANCHORAGE_TEST_API_URL", deployment.api.clone()),
        ("ANCHORAGE_TEST_ENDPOINT", stack.endpoint()),
        ("ANCHORAGE_TEST_TABLE", deployment.table.clone()),
        ("ANCHORAGE_TEST_BUCKET", deployment.bucket.clone()),
        ("ANCHORAGE_TEST_QUEUE_URL", deployment.queue.clone()),
        ("ANCHORAGE_TEST_DLQ_URL", deployment.dead_letters.clone()),
        ("ANCHORAGE_TEST_QDRANT_URL", stack.qdrant_url.clone()),
        ("ANCHORAGE_TEST_EMBEDDER_URL", format!("{}/v1", stack.embedder_url)),
        ("ANCHORAGE_TEST_EMBEDDER_CONTROL", format!("{}/control", stack.embedder_url)),
        ("ANCHORAGE_TEST_ADMIN", binaries.get("anchorage-admin")?.display().to_string()),
        ("ANCHORAGE_TEST_STACK_DIR", stack.children.folder().display().to_string()),
    ]);
    Ok(environment)
}
