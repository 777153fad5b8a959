use crate::lock;
use anchorage_domain::TenantScope;
use anchorage_ports::{IngestMessage, JobQueue, Outage, OutageKind, ReceiptHandle, Service};
use async_trait::async_trait;
use std::{collections::VecDeque, sync::Mutex, time::Duration};

/// Messages in the order they were sent, and the postponements that were asked for.
#[derive(Debug, Default)]
pub struct MemoryQueue {
    messages: Mutex<VecDeque<IngestMessage>>,
    postponed: Mutex<Vec<(ReceiptHandle, Duration)>>,
}

impl MemoryQueue {
    /// Takes the oldest message.
    pub fn receive(&self) -> Option<IngestMessage> {
        lock(&self.messages).pop_front()
    }

    #[must_use]
    pub fn postponed(&self) -> Vec<(ReceiptHandle, Duration)> {
        lock(&self.postponed).clone()
    }
}

#[async_trait]
impl JobQueue for MemoryQueue {
    async fn send(&self, scope: &TenantScope, message: &IngestMessage) -> Result<(), Outage> {
        if !message.is_of(scope) {
            return Err(Outage::new(Service::Queue, OutageKind::Refused, "the message is not of the scope's tenant"));
        }
        lock(&self.messages).push_back(message.clone());
        Ok(())
    }

    async fn postpone(&self, receipt: &ReceiptHandle, delay: Duration) -> Result<(), Outage> {
        lock(&self.postponed).push((receipt.clone(), delay));
        Ok(())
    }
}
