//! Whose data an operation may touch, and what its caller may do.

use crate::{Identity, KeyId, TenantId};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, fmt, str::FromStr};

/// One permission of an API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Scope {
    FilesRead,
    FilesWrite,
    PointsRead,
    PointsWrite,
    DomainsRead,
    DomainsWrite,
    RagQuery,
}

impl Scope {
    pub const ALL: [Self; 7] = [
        Self::FilesRead,
        Self::FilesWrite,
        Self::PointsRead,
        Self::PointsWrite,
        Self::DomainsRead,
        Self::DomainsWrite,
        Self::RagQuery,
    ];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FilesRead => "files:read",
            Self::FilesWrite => "files:write",
            Self::PointsRead => "points:read",
            Self::PointsWrite => "points:write",
            Self::DomainsRead => "domains:read",
            Self::DomainsWrite => "domains:write",
            Self::RagQuery => "rag:query",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text names no scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown scope; the scopes are files:read, files:write, points:read, points:write, domains:read, domains:write, rag:query"
)]
pub struct UnknownScope;

impl FromStr for Scope {
    type Err = UnknownScope;
    fn from_str(text: &str) -> Result<Self, UnknownScope> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text).ok_or(UnknownScope)
    }
}

impl TryFrom<String> for Scope {
    type Error = UnknownScope;
    fn try_from(text: String) -> Result<Self, UnknownScope> {
        text.parse()
    }
}

impl From<Scope> for String {
    fn from(scope: Scope) -> String {
        scope.as_str().to_owned()
    }
}

/// The permissions of a key. As text: scopes separated by one space.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ScopeSet(BTreeSet<Scope>);

impl ScopeSet {
    /// What a new key may do when nothing else is said: everything but `domains:*`.
    #[must_use]
    pub fn default_scopes() -> Self {
        Scope::ALL.into_iter().filter(|scope| !matches!(scope, Scope::DomainsRead | Scope::DomainsWrite)).collect()
    }

    #[must_use]
    pub fn all() -> Self {
        Scope::ALL.into_iter().collect()
    }

    #[must_use]
    pub fn contains(&self, scope: Scope) -> bool {
        self.0.contains(&scope)
    }

    pub fn iter(&self) -> impl Iterator<Item = Scope> {
        self.0.iter().copied()
    }
}

impl FromIterator<Scope> for ScopeSet {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().collect())
    }
}

impl fmt::Display for ScopeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, scope) in self.0.iter().enumerate() {
            if position > 0 {
                f.write_str(" ")?;
            }
            scope.fmt(f)?;
        }
        Ok(())
    }
}

impl FromStr for ScopeSet {
    type Err = UnknownScope;
    fn from_str(text: &str) -> Result<Self, UnknownScope> {
        text.split_ascii_whitespace().map(Scope::from_str).collect()
    }
}

/// Who acts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// A caller of the API, by its key.
    Key(KeyId),
    /// A person at the operator's command line.
    Operator,
    /// The service itself, carrying on what a key began.
    Pipeline,
}

/// The tenant an operation is confined to. The first parameter of every store and index method.
///
/// Invariant: the three constructors are banned by `clippy.toml` outside the one place each is meant for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantScope {
    tenant: TenantId,
    actor: Actor,
    scopes: ScopeSet,
}

impl TenantScope {
    /// From what the gateway's authorizer vouched for. Only the tenant extractor calls it.
    #[must_use]
    pub fn from_authorizer(identity: Identity) -> Self {
        Self { tenant: identity.tenant_id, actor: Actor::Key(identity.key_id), scopes: identity.scopes }
    }

    /// For a person with credentials of the deployment itself. Only the operator's command line calls it.
    #[must_use]
    pub fn for_operator(tenant: TenantId) -> Self {
        Self { tenant, actor: Actor::Operator, scopes: ScopeSet::all() }
    }

    /// From an object key or a message that only this service could have written. Only the event decoder calls it.
    #[must_use]
    pub fn for_pipeline(tenant: TenantId) -> Self {
        Self { tenant, actor: Actor::Pipeline, scopes: ScopeSet::default() }
    }

    #[must_use]
    pub const fn tenant(&self) -> TenantId {
        self.tenant
    }

    #[must_use]
    pub const fn actor(&self) -> &Actor {
        &self.actor
    }

    #[must_use]
    pub fn allows(&self, scope: Scope) -> bool {
        self.scopes.contains(scope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_scopes_are_all_but_domains() {
        let text = ScopeSet::default_scopes().to_string();
        assert_eq!(text, "files:read files:write points:read points:write rag:query");
        assert_eq!(text.parse(), Ok(ScopeSet::default_scopes()));
    }

    #[test]
    fn scope_set_with_an_unknown_name_is_refused_whole() {
        assert_eq!("files:read files:all".parse::<ScopeSet>(), Err(UnknownScope));
    }
}
