use super::{
    DynamoStore, RECORD,
    documents::why_canceled,
    failed, item,
    keys::{KEYS, Key, partition},
    refused, text,
};
use anchorage_domain::{ApiKeyRecord, KeyId, TenantScope, Timestamp};
use anchorage_ports::{CommitError, Directory, Outage, OutageKind, Service, TenantRecord};
use async_trait::async_trait;
use aws_sdk_dynamodb::{
    operation::put_item::PutItemError,
    types::{Put, TransactWriteItem},
};

/// Tries of a write that rests on what was read just before; only another operator's command can come in between.
const MAX_TRIES: usize = 3;

impl DynamoStore {
    /// Writes `new` where `old` still stands (nothing, when there was nothing). False when it does not.
    async fn replace<T: serde::Serialize + Sync>(
        &self,
        key: Key,
        old: Option<&T>,
        new: &T,
        attributes: &[(&str, String)],
    ) -> Result<bool, Outage> {
        let mut item = item(key.clone(), new)?;
        for (name, value) in attributes {
            item.insert((*name).to_owned(), text(value));
        }
        let request = self.client.put_item().table_name(&self.table).set_item(Some(item));
        let request = match old {
            None => request.condition_expression("attribute_not_exists(pk)"),
            Some(old) => {
                let old = super::item(key, old)?.remove(RECORD).ok_or_else(|| refused("a record has no JSON form"))?;
                request
                    .condition_expression("#record = :old")
                    .expression_attribute_names("#record", RECORD)
                    .expression_attribute_values(":old", old)
            }
        };
        match request.send().await {
            Ok(_) => Ok(true),
            Err(error) if error.as_service_error().is_some_and(PutItemError::is_conditional_check_failed_exception) => {
                Ok(false)
            }
            Err(error) => Err(failed("PutItem", &error)),
        }
    }
}

#[async_trait]
impl Directory for DynamoStore {
    async fn find_key(&self, key: &KeyId) -> Result<Option<ApiKeyRecord>, Outage> {
        self.get(Key::api_key(key)).await
    }

    async fn put_tenant(&self, scope: &TenantScope, tenant: &TenantRecord) -> Result<(), Outage> {
        if tenant.tenant_id != scope.tenant() {
            return Err(refused("the tenant is not the scope's"));
        }
        for _ in 0..MAX_TRIES {
            let stored = self.tenant(scope).await?;
            let created_at = stored.as_ref().map_or(tenant.created_at, |stored| stored.created_at);
            let new = TenantRecord { created_at, ..tenant.clone() };
            if self.replace(Key::tenant(scope), stored.as_ref(), &new, &[]).await? {
                return Ok(());
            }
        }
        Err(contended())
    }

    async fn tenant(&self, scope: &TenantScope) -> Result<Option<TenantRecord>, Outage> {
        self.get(Key::tenant(scope)).await
    }

    async fn put_key(&self, scope: &TenantScope, key: &ApiKeyRecord) -> Result<(), Outage> {
        if key.tenant_id != scope.tenant() {
            return Err(refused("the key is not the scope's"));
        }
        let owner = scope.tenant().to_string();
        let mut record = item(Key::api_key(&key.key_id), key)?;
        record.insert("tenant".to_owned(), text(&owner));
        let record = Put::builder()
            .table_name(&self.table)
            .set_item(Some(record))
            .condition_expression("attribute_not_exists(pk) OR #tenant = :owner")
            .expression_attribute_names("#tenant", "tenant")
            .expression_attribute_values(":owner", text(owner))
            .build();
        let listed = Put::builder()
            .table_name(&self.table)
            .set_item(Some(Key::api_key_of(scope, &key.key_id).into_item()))
            .build();
        let mut request = self.client.transact_write_items();
        for put in [record, listed] {
            let put = put.map_err(|_| refused("TransactWriteItems: the request could not be made"))?;
            request = request.transact_items(TransactWriteItem::builder().put(put).build());
        }
        match request.send().await {
            Ok(_) => Ok(()),
            Err(error) => Err(match why_canceled(&error) {
                CommitError::Conflict => refused("the key is not the scope's"),
                CommitError::Outage(outage) => outage,
            }),
        }
    }

    async fn keys(&self, scope: &TenantScope) -> Result<Vec<ApiKeyRecord>, Outage> {
        let listed = self.all(partition(scope), KEYS).await?;
        let ids = listed.iter().filter_map(|item| item.get("sk")?.as_s().ok()?.strip_prefix(KEYS));
        let ids = ids.filter_map(|id| KeyId::new(id).ok()).map(|id| Key::api_key(&id)).collect();
        let mut keys: Vec<ApiKeyRecord> = self.get_all(ids).await?;
        keys.sort_by(|a, b| (a.created_at, &a.key_id).cmp(&(b.created_at, &b.key_id)));
        Ok(keys)
    }

    async fn revoke_key(&self, scope: &TenantScope, key: &KeyId, now: Timestamp) -> Result<bool, Outage> {
        for _ in 0..MAX_TRIES {
            let Some(stored) = self.find_key(key).await?.filter(|stored| stored.tenant_id == scope.tenant()) else {
                return Ok(false);
            };
            if stored.revoked_at.is_some() {
                return Ok(true);
            }
            let revoked = ApiKeyRecord { revoked_at: Some(now), ..stored.clone() };
            let owner = [("tenant", scope.tenant().to_string())];
            if self.replace(Key::api_key(key), Some(&stored), &revoked, &owner).await? {
                return Ok(true);
            }
        }
        Err(contended())
    }
}

fn contended() -> Outage {
    Outage::new(Service::DocumentStore, OutageKind::Unavailable, "the record keeps changing")
}
