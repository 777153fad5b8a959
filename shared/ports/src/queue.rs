use crate::Outage;
use anchorage_domain::{FileId, JobId, TenantId, TenantScope};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::{fmt::Debug, time::Duration};

/// A message of this service to its own pipeline. Carries ids, never content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IngestMessage {
    /// Tells our messages from notifications of the object store on the same queue.
    pub anchorage: MessageBody,
}

impl IngestMessage {
    /// Whether the message is about the scope's tenant; the queue takes no other.
    #[must_use]
    pub fn is_of(&self, scope: &TenantScope) -> bool {
        match self.anchorage {
            MessageBody::RunJob { tenant_id, .. } => tenant_id == scope.tenant(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum MessageBody {
    /// Run a job that waits in the store.
    RunJob { tenant_id: TenantId, file_id: FileId, job_id: JobId },
}

/// Names one delivery of one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptHandle(pub String);

#[async_trait]
pub trait JobQueue: Send + Sync + Debug {
    async fn send(&self, scope: &TenantScope, message: &IngestMessage) -> Result<(), Outage>;

    /// Makes a delivered message visible again after `delay` (at most 12 hours) instead of the queue's own time-out.
    async fn postpone(&self, receipt: &ReceiptHandle, delay: Duration) -> Result<(), Outage>;
}
