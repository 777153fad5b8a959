use crate::{failure::Failure, openapi, progress::Step, project::Project, run, setup, stack::REGION};
use std::process::Command;

pub fn check(project: &Project) -> Result<(), Failure> {
    let tools = setup::setup(project)?;
    let in_root = |program: &mut Command, arguments: &[&str]| {
        run::must_show(program.current_dir(project.root()).env("SAM_CLI_TELEMETRY", "0").args(arguments))
    };
    let step = Step::begin("format");
    in_root(&mut Command::new("cargo"), &["fmt", "--all", "--check"])?;
    step.done();
    let step = Step::begin("template");
    let sam = ["validate", "--lint", "--template-file", "infra/template.yaml", "--region", REGION];
    in_root(&mut Command::new(tools.deployer("sam")), &sam)?;
    in_root(&mut Command::new(tools.deployer("cfn-lint")), &["infra/template.yaml"])?;
    step.done();
    let step = Step::begin("lints");
    let clippy = ["clippy", "--quiet", "--workspace", "--all-targets", "--profile", "local", "--", "-D", "warnings"];
    in_root(&mut Command::new("cargo"), &clippy)?;
    step.done();
    openapi::openapi(project, true)
}
