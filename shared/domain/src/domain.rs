//! The per-tenant allowlist of domains.

use crate::{Actor, DomainKey, DomainPolicy, Revision, Timestamp};
use serde::{Deserialize, Serialize};

/// One domain of a tenant. Its key never changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DomainRecord {
    pub key: DomainKey,
    /// Nothing is taken in for, or answered from, a domain that is not active.
    pub active: bool,
    pub policy: DomainPolicy,
    pub created_by: Actor,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub revision: Revision,
}
