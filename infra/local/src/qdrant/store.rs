//! The data directory: one folder per collection, the aliases, and the lock that keeps a second process out.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::RwLock;
use qdrant_client::qdrant::{AliasOperations, CreateCollection};

use super::aliases::Aliases;
use super::collection::Collection;
use super::convert::collection as convert;
use super::meta;
use super::refusal::Refusal;

const LOCK_FILE: &str = "lock";
const COLLECTIONS: &str = "collections";
/// The longest collection name, in bytes: the server's bound, and a file name's.
const MAX_NAME_BYTES: usize = 255;
/// The most collections kept open.
const MAX_COLLECTIONS: usize = 1_000;

/// Why a data directory was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process holds it.
    #[error("the data directory {0} is in use by another process")]
    InUse(PathBuf),
    /// The file system refused.
    #[error("the data directory {path} cannot be opened: {source}")]
    Io {
        /// Where.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The engine could not read what it wrote.
    #[error("the collection in {path} cannot be opened: {reason}")]
    Engine {
        /// Its folder.
        path: PathBuf,
        /// What the engine said.
        reason: String,
    },
    /// Opening was interrupted by a failure of the process.
    #[error("opening the data directory was interrupted")]
    Interrupted,
}

/// Every collection of one data directory.
#[derive(Debug)]
pub struct Store {
    root: PathBuf,
    state: RwLock<State>,
    // Held, not used: the lock goes with the file handle.
    _lock: File,
}

#[derive(Debug, Default)]
struct State {
    collections: BTreeMap<String, Arc<Collection>>,
    aliases: Aliases,
}

impl Store {
    /// Opens the directory, making it if it is not there.
    ///
    /// # Errors
    /// Another process has it open, or what is in it cannot be read.
    pub fn open(root: &Path) -> Result<Self, OpenError> {
        let failed = |source| OpenError::Io { path: root.to_owned(), source };
        fs::create_dir_all(root.join(COLLECTIONS)).map_err(failed)?;
        let lock = File::create(root.join(LOCK_FILE)).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(OpenError::InUse(root.to_owned())),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        let mut collections = BTreeMap::new();
        for entry in fs::read_dir(root.join(COLLECTIONS)).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let Some(name) = path.file_name().and_then(|name| name.to_str()).map(str::to_owned) else { continue };
            if name.starts_with('.') {
                // Half made or half deleted when the process ended: never acknowledged, or acknowledged as gone.
                fs::remove_dir_all(&path).map_err(failed)?;
            } else {
                collections.insert(name, Arc::new(Collection::open(&path)?));
            }
        }
        let aliases = Aliases::load(root).map_err(failed)?;
        Ok(Self { root: root.to_owned(), state: RwLock::new(State { collections, aliases }), _lock: lock })
    }

    /// Closes every collection; calls that still run are refused from then on.
    pub fn close(&self) {
        for (_, collection) in std::mem::take(&mut self.state.write().collections) {
            collection.close();
        }
    }

    /// The collection of this name or alias.
    pub(super) fn collection(&self, name: &str) -> Result<Arc<Collection>, Refusal> {
        let state = self.state.read();
        state.collections.get(state.aliases.resolve(name)).cloned().ok_or_else(|| Refusal::no_collection(name))
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.state.read().collections.keys().cloned().collect()
    }

    /// Pairs of alias and collection; of `collection` alone where one is named.
    pub(super) fn aliases(&self, collection: Option<&str>) -> Result<Vec<(String, String)>, Refusal> {
        let state = self.state.read();
        if let Some(name) = collection
            && !state.collections.contains_key(name)
        {
            return Err(Refusal::no_collection(name));
        }
        let wanted = state.aliases.iter().filter(|(_, target)| collection.is_none_or(|name| name == *target));
        Ok(wanted.map(|(alias, target)| (alias.clone(), target.clone())).collect())
    }

    pub(super) fn create(&self, request: CreateCollection) -> Result<(), Refusal> {
        let name = folder_name(&request.collection_name)?.to_owned();
        let (config, info) = convert::parse(request)?;
        let mut state = self.state.write();
        if state.collections.contains_key(&name) || state.aliases.contains(&name) {
            return Err(Refusal::Exists(format!("Wrong input: Collection `{name}` already exists!")));
        }
        if state.collections.len() >= MAX_COLLECTIONS {
            return Err(Refusal::invalid(format!("no more than {MAX_COLLECTIONS} collections are kept")));
        }
        let all = self.root.join(COLLECTIONS);
        let (half, whole) = (all.join(format!(".making-{name}")), all.join(&name));
        Collection::lay_out(&half, config, &info)?;
        fs::rename(&half, &whole)
            .and_then(|()| meta::sync_folder(&all))
            .map_err(|e| Refusal::internal("create", &e))?;
        let opened = Collection::open(&whole).map_err(|e| Refusal::internal("create", &e))?;
        state.collections.insert(name, Arc::new(opened));
        Ok(())
    }

    /// Whether there was such a collection. Its aliases go with it.
    pub(super) fn delete(&self, name: &str) -> Result<bool, Refusal> {
        let mut state = self.state.write();
        let Some(collection) = state.collections.remove(name) else { return Ok(false) };
        collection.close();
        let all = self.root.join(COLLECTIONS);
        let gone = all.join(format!(".gone-{name}"));
        state.aliases = state.aliases.without(name);
        let removed = fs::rename(all.join(name), &gone)
            .and_then(|()| meta::sync_folder(&all))
            .and_then(|()| fs::remove_dir_all(&gone))
            .and_then(|()| state.aliases.save(&self.root));
        removed.map_err(|e| Refusal::internal("delete", &e))?;
        Ok(true)
    }

    pub(super) fn change_aliases(&self, actions: Vec<AliasOperations>) -> Result<(), Refusal> {
        let mut state = self.state.write();
        let next = state.aliases.changed(actions, |name| state.collections.contains_key(name))?;
        next.save(&self.root).map_err(|e| Refusal::internal("aliases", &e))?;
        state.aliases = next;
        Ok(())
    }
}

/// The name is the folder's, so whatever could lead out of the directory, or look half made, is refused.
fn folder_name(name: &str) -> Result<&str, Refusal> {
    let misused = |c: char| c.is_control() || r#"<>:"/\|?*"#.contains(c);
    if name.is_empty() || name.len() > MAX_NAME_BYTES - ".making-".len() {
        return Err(Refusal::invalid("a collection name has 1 to 247 bytes"));
    }
    if name.starts_with('.') || name.contains(misused) {
        return Err(Refusal::invalid("a collection name cannot start with `.` or contain any of <>:\"/\\|?*"));
    }
    Ok(name)
}
