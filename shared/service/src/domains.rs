//! The allowlist of domains, as a tenant keeps it.

use anchorage_domain::{DomainKey, DomainPolicy, DomainRecord, Revision, TenantScope};
use anchorage_ports::{Change, Clock, CommitError, DocumentStore, Outage};
use std::sync::Arc;

/// How often a write that met another one is decided anew.
const MAX_DECISIONS: usize = 8;

/// Why a request about domains came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DomainsError {
    #[error("there is no such domain")]
    NotFound,
    #[error("the domain exists already")]
    Exists,
    #[error("other requests keep changing the same domain")]
    Conflict,
    #[error(transparent)]
    Outage(#[from] Outage),
}

/// What to change of a domain; absent parts stay. The key never changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DomainChange {
    pub active: Option<bool>,
    pub policy: Option<DomainPolicy>,
}

/// The domain use cases.
#[derive(Debug, Clone)]
pub struct Domains {
    pub store: Arc<dyn DocumentStore>,
    pub clock: Arc<dyn Clock>,
}

impl Domains {
    /// All of the tenant's domains, by key.
    ///
    /// # Errors
    /// On an outage.
    pub async fn list(&self, scope: &TenantScope) -> Result<Vec<DomainRecord>, DomainsError> {
        Ok(self.store.domains(scope).await?)
    }

    /// # Errors
    /// When there is none, or on an outage.
    pub async fn get(&self, scope: &TenantScope, key: &DomainKey) -> Result<DomainRecord, DomainsError> {
        self.store.domain(scope, key).await?.ok_or(DomainsError::NotFound)
    }

    /// Registers a domain.
    ///
    /// # Errors
    /// When the tenant has it already, or on an outage.
    pub async fn create(
        &self,
        scope: &TenantScope,
        key: DomainKey,
        active: bool,
        policy: DomainPolicy,
    ) -> Result<DomainRecord, DomainsError> {
        let now = self.clock.now();
        let created_by = scope.actor().clone();
        let record =
            DomainRecord { key, active, policy, created_by, created_at: now, updated_at: now, revision: Revision::NEW };
        match self.store.commit(scope, vec![Change::PutDomain(record.clone())]).await {
            Ok(()) => Ok(record),
            Err(CommitError::Conflict) => Err(DomainsError::Exists),
            Err(CommitError::Outage(outage)) => Err(outage.into()),
        }
    }

    /// Changes a domain; two changes at once both take effect.
    ///
    /// # Errors
    /// When there is none, others keep changing it, or on an outage.
    pub async fn change(
        &self,
        scope: &TenantScope,
        key: &DomainKey,
        change: &DomainChange,
    ) -> Result<DomainRecord, DomainsError> {
        for _ in 0..MAX_DECISIONS {
            let mut record = self.get(scope, key).await?;
            record.active = change.active.unwrap_or(record.active);
            if let Some(policy) = &change.policy {
                record.policy = policy.clone();
            }
            record.updated_at = self.clock.now();
            match self.store.commit(scope, vec![Change::PutDomain(record.clone())]).await {
                Ok(()) => return Ok(record),
                Err(CommitError::Conflict) => {}
                Err(CommitError::Outage(outage)) => return Err(outage.into()),
            }
        }
        Err(DomainsError::Conflict)
    }
}
