//! Every key of the table, made nowhere else.

use super::{Item, text};
use anchorage_domain::{DomainKey, FileId, IdentityHash, JobId, KeyId, TenantScope, TraceId};

pub const DOMAINS: &str = "DOMAIN#";
pub const FILES: &str = "FILE#";
pub const JOBS: &str = "JOB#";
pub const KEYS: &str = "KEY#";

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pk: String,
    sk: String,
}

impl Key {
    fn of(scope: &TenantScope, sk: String) -> Self {
        Self { pk: partition(scope), sk }
    }

    pub fn tenant(scope: &TenantScope) -> Self {
        Self::of(scope, "TENANT".to_owned())
    }

    pub fn domain(scope: &TenantScope, domain: &DomainKey) -> Self {
        Self::of(scope, format!("{DOMAINS}{domain}"))
    }

    pub fn file(scope: &TenantScope, file: FileId) -> Self {
        Self::of(scope, format!("{FILES}{file}"))
    }

    pub fn identity(scope: &TenantScope, identity: &IdentityHash) -> Self {
        Self::of(scope, format!("IDENTITY#{identity}"))
    }

    pub fn job(scope: &TenantScope, file: FileId, job: JobId) -> Self {
        Self { pk: file_partition(scope, file), sk: format!("{JOBS}{job}") }
    }

    pub fn trace(scope: &TenantScope, trace: TraceId) -> Self {
        Self::of(scope, format!("TRACE#{trace}"))
    }

    /// The one key without a tenant: it is how a caller's tenant becomes known.
    pub fn api_key(key: &KeyId) -> Self {
        Self { pk: format!("K#{key}"), sk: "KEY".to_owned() }
    }

    /// Says that the tenant has the key; holds nothing.
    pub fn api_key_of(scope: &TenantScope, key: &KeyId) -> Self {
        Self::of(scope, format!("{KEYS}{key}"))
    }

    /// No record has it.
    pub fn of_nothing() -> Self {
        Self { pk: "-".to_owned(), sk: "-".to_owned() }
    }

    pub fn into_item(self) -> Item {
        Item::from([("pk".to_owned(), text(self.pk)), ("sk".to_owned(), text(self.sk))])
    }
}

pub fn partition(scope: &TenantScope) -> String {
    format!("T#{}", scope.tenant())
}

pub fn file_partition(scope: &TenantScope, file: FileId) -> String {
    format!("T#{}#F#{file}", scope.tenant())
}
