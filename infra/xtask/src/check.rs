use crate::{failure::Failure, openapi, progress::Step, project::Project, run, setup, stack::REGION};
use std::path::Path;

pub fn check(project: &Project) -> Result<(), Failure> {
    let tools = setup::setup(project)?;
    let in_root = |program: &Path, arguments: &[&str]| {
        run::must_show(run::builder(program, project.root()).env("SAM_CLI_TELEMETRY", "0").args(arguments))
    };
    let cargo = Path::new("cargo");
    let step = Step::begin("format");
    in_root(cargo, &["fmt", "--all", "--check"])?;
    step.done();
    let step = Step::begin("template");
    let sam = ["validate", "--lint", "--template-file", "infra/template.yaml", "--region", REGION];
    in_root(&tools.deployer("sam"), &sam)?;
    in_root(&tools.deployer("cfn-lint"), &["infra/template.yaml"])?;
    step.done();
    let step = Step::begin("lints");
    let clippy = ["clippy", "--quiet", "--workspace", "--all-targets", "--profile", "local", "--", "-D", "warnings"];
    in_root(cargo, &clippy)?;
    step.done();
    openapi::openapi(project, true)
}
