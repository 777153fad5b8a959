use crate::Outage;
use anchorage_domain::{Decision, DomainKey, PointId, Reason, TenantScope, Timestamp, TraceId};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt::Debug};

/// How one answer came about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerTrace {
    pub trace_id: TraceId,
    pub query: String,
    pub domains: Vec<DomainKey>,
    pub decision: Decision,
    pub reason: Reason,
    pub cited: Vec<PointId>,
    /// The candidates with the score each stage gave them.
    pub candidates: Vec<TracedCandidate>,
    pub degraded: Vec<String>,
    pub stage_millis: BTreeMap<String, u64>,
    pub created_at: Timestamp,
    /// When the record may vanish.
    pub expires_at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TracedCandidate {
    pub point_id: PointId,
    pub scores: BTreeMap<String, f32>,
}

/// Answers, kept for a while. Callers fail open: an answer is given whether or not its trace is stored.
#[async_trait]
pub trait TraceStore: Send + Sync + Debug {
    async fn put(&self, scope: &TenantScope, trace: &AnswerTrace) -> Result<(), Outage>;
    async fn get(&self, scope: &TenantScope, trace: TraceId) -> Result<Option<AnswerTrace>, Outage>;
}
