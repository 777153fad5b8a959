use crate::failure::{Doing as _, Failure};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The checkout and the folders in it.
#[derive(Debug)]
pub struct Project {
    root: PathBuf,
}

impl Project {
    pub fn find() -> Result<Self, Failure> {
        // This program is built from the checkout it serves.
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
        match root {
            Some(root) if root.join("samconfig.toml").is_file() => Ok(Self { root: root.to_owned() }),
            _ => Err(Failure::said("the checkout that this program was built from is gone; build it again")),
        }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Everything made here that is not a build; ignored by git.
    pub fn local(&self) -> PathBuf {
        self.root.join(".local")
    }

    /// A function's folder as the template names it.
    pub fn function(&self, name: &str) -> PathBuf {
        self.local().join("lambda").join(name)
    }

    pub fn log(&self, name: &str) -> Result<PathBuf, Failure> {
        let folder = self.local().join("logs");
        fs::create_dir_all(&folder).at("making", &folder)?;
        Ok(folder.join(format!("{name}.log")))
    }

    /// The path as people know it: from the checkout.
    pub fn shown<'a>(&self, path: &'a Path) -> std::path::Display<'a> {
        path.strip_prefix(&self.root).unwrap_or(path).display()
    }
}
