use super::{DynamoStore, failed, item, keys::Key, number, refused};
use anchorage_domain::{TenantScope, TraceId};
use anchorage_ports::{AnswerTrace, Outage, TraceStore, record_is_too_large};
use async_trait::async_trait;

#[async_trait]
impl TraceStore for DynamoStore {
    async fn put(&self, scope: &TenantScope, trace: &AnswerTrace) -> Result<(), Outage> {
        if record_is_too_large(trace) {
            return Err(refused("a record is larger than the store takes"));
        }
        let mut item = item(Key::trace(scope, trace.trace_id), trace)?;
        item.insert("expires_at".to_owned(), number(trace.expires_at.unix_seconds()));
        let written = self.client.put_item().table_name(&self.table).set_item(Some(item)).send().await;
        written.map(|_| ()).map_err(|error| failed("PutItem", &error))
    }

    async fn get(&self, scope: &TenantScope, trace: TraceId) -> Result<Option<AnswerTrace>, Outage> {
        self.get(Key::trace(scope, trace)).await
    }
}
