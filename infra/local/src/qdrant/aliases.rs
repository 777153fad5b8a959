//! Other names of collections, changed all at once or not at all.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use qdrant_client::qdrant::AliasOperations;
use qdrant_client::qdrant::alias_operations::Action;

use super::meta;
use super::refusal::Refusal;

const ALIASES_FILE: &str = "aliases.json";

/// Alias → collection.
#[derive(Debug, Clone, Default)]
pub(super) struct Aliases(BTreeMap<String, String>);

impl Aliases {
    pub(super) fn load(root: &Path) -> io::Result<Self> {
        match fs::read(root.join(ALIASES_FILE)) {
            Ok(bytes) => Ok(Self(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    pub(super) fn save(&self, root: &Path) -> io::Result<()> {
        meta::replace(root, ALIASES_FILE, &serde_json::to_vec(&self.0)?)
    }

    pub(super) fn resolve<'a>(&'a self, name: &'a str) -> &'a str {
        self.0.get(name).map_or(name, String::as_str)
    }

    pub(super) fn contains(&self, alias: &str) -> bool {
        self.0.contains_key(alias)
    }

    /// Pairs of alias and collection, in the alias's order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&String, &String)> {
        self.0.iter()
    }

    /// The aliases that are left when `collection` is gone.
    pub(super) fn without(&self, collection: &str) -> Self {
        let kept = self.0.iter().filter(|(_, target)| *target != collection);
        Self(kept.map(|(alias, target)| (alias.clone(), target.clone())).collect())
    }

    /// The aliases after `actions`, in their order; refused as a whole when one of them is.
    pub(super) fn changed(
        &self,
        actions: Vec<AliasOperations>,
        exists: impl Fn(&str) -> bool,
    ) -> Result<Self, Refusal> {
        let mut next = self.clone();
        for action in actions {
            match action.action.ok_or_else(|| Refusal::invalid("an alias action is empty"))? {
                Action::CreateAlias(create) => {
                    if !exists(&create.collection_name) {
                        return Err(Refusal::no_collection(&create.collection_name));
                    }
                    if exists(&create.alias_name) {
                        return Err(Refusal::Exists(format!("Collection `{}` already exists!", create.alias_name)));
                    }
                    if create.alias_name.is_empty() {
                        return Err(Refusal::invalid("an alias needs a name"));
                    }
                    next.0.insert(create.alias_name, create.collection_name);
                }
                Action::RenameAlias(rename) => {
                    if exists(&rename.new_alias_name) {
                        return Err(Refusal::Exists(format!("Collection `{}` already exists!", rename.new_alias_name)));
                    }
                    let target = next.taken(&rename.old_alias_name)?;
                    next.0.insert(rename.new_alias_name, target);
                }
                Action::DeleteAlias(delete) => {
                    // The server takes the deletion of an alias that is not there.
                    next.0.remove(&delete.alias_name);
                }
            }
        }
        Ok(next)
    }

    fn taken(&mut self, alias: &str) -> Result<String, Refusal> {
        self.0.remove(alias).ok_or_else(|| Refusal::NotFound(format!("Not found: Alias {alias} does not exist!")))
    }
}
