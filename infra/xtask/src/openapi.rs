use crate::{
    failure::{Doing as _, Failure},
    progress::note,
    project::Project,
    run,
};
use std::fs;

/// Writes the API's description where it is committed, or only compares.
pub fn openapi(project: &Project, check: bool) -> Result<(), Failure> {
    let mut cargo = run::builder("cargo", project.root());
    cargo.args(["run", "--profile", "local", "--package", "acceptance", "--bin", "openapi"]);
    let described = run::read(&mut cargo, &project.log("openapi")?)?;
    let path = project.root().join("docs/openapi.json");
    let shown = project.shown(&path);
    if fs::read_to_string(&path).is_ok_and(|committed| committed == described) {
        note(&format!("{shown} says what the code says"));
        return Ok(());
    }
    if check {
        return Err(Failure::said(format!("{shown} is not what the code says; run `cargo xtask openapi`")));
    }
    fs::write(&path, described).at("writing", &path)?;
    note(&format!("{shown} written"));
    Ok(())
}
