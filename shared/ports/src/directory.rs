use crate::Outage;
use anchorage_domain::{ApiKeyRecord, KeyId, TenantId, TenantScope, Timestamp};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TenantRecord {
    pub tenant_id: TenantId,
    pub name: String,
    pub created_at: Timestamp,
}

/// Tenants and their keys. Written by the operator; read by the authorizer.
#[async_trait]
pub trait Directory: Send + Sync + Debug {
    /// The one look-up that knows no tenant yet: it is how a caller's tenant becomes known.
    async fn find_key(&self, key: &KeyId) -> Result<Option<ApiKeyRecord>, Outage>;

    /// Writes the tenant; writing the same one again changes its name only.
    async fn put_tenant(&self, scope: &TenantScope, tenant: &TenantRecord) -> Result<(), Outage>;

    async fn tenant(&self, scope: &TenantScope) -> Result<Option<TenantRecord>, Outage>;

    /// Writes a key of the scope's tenant, over an earlier state of the same key.
    async fn put_key(&self, scope: &TenantScope, key: &ApiKeyRecord) -> Result<(), Outage>;

    /// The tenant's keys, oldest first.
    async fn keys(&self, scope: &TenantScope) -> Result<Vec<ApiKeyRecord>, Outage>;

    /// Marks a key of the scope's tenant as revoked. False when the tenant has no such key. Revoking again keeps the
    /// first instant.
    async fn revoke_key(&self, scope: &TenantScope, key: &KeyId, now: Timestamp) -> Result<bool, Outage>;
}
