//! A question to an answer by quotation: retrieve, grade, quote. No model takes part.
//!
//! Invariant: an answer is an exact piece of a stored chunk and comes with its citation; where the evidence does not
//! contain what was asked for, there is no answer but a reason.

mod grade;

use crate::{
    Retrieval,
    retrieval::{RetrievalError, Retrieved, SearchRequest},
};
use anchorage_domain::{
    Decision, DocumentTitle, DomainKey, DomainRecord, FileId, Filename, Language, Reason, TenantScope, Timestamp,
    TraceId,
};
use anchorage_ports::{AnswerTrace, Clock, Hit, Ids, OutageKind, Point, Service, TraceStore, TracedCandidate};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
    time::Duration,
};

/// How long a trace is kept.
const TRACE_RETENTION: Duration = Duration::from_hours(24 * 30);

/// With less than this left, a question's time is up.
const STILL_TIME: Duration = Duration::from_secs(1);

/// A question as it was put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub query: String,
    /// None means every active domain of the tenant.
    pub domains: Vec<DomainKey>,
    /// Chunks looked at.
    pub top_k: u32,
    pub deadline: Timestamp,
}

/// Where an answer stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Citation {
    pub point: Point,
    pub filename: Filename,
    pub title: Option<DocumentTitle>,
    /// The quoted bytes of the point's content.
    pub span: Range<usize>,
    /// Of the final stage. Orders candidates, and is no probability.
    pub score: f32,
}

impl Citation {
    /// The quoted text, exactly as stored.
    #[must_use]
    pub fn evidence(&self) -> &str {
        self.point.content.get(self.span.clone()).unwrap_or_default()
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub trace_id: TraceId,
    pub decision: Decision,
    pub reason: Reason,
    /// The quote, or why there is none.
    pub text: String,
    pub citations: Vec<Citation>,
    /// Of the domains asked, each once.
    pub disclaimer: Option<String>,
    pub degraded: Vec<String>,
    pub stage_millis: BTreeMap<String, u64>,
}

/// The answering use case.
#[derive(Debug, Clone)]
pub struct Answering {
    pub retrieval: Retrieval,
    pub traces: Arc<dyn TraceStore>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
}

impl Answering {
    /// # Errors
    /// When a named domain is not there or switched off, or the store did not answer. A vector store that fails is an
    /// answer of its own: `retrieval_unavailable`.
    pub async fn answer(&self, scope: &TenantScope, question: &Question) -> Result<Answer, RetrievalError> {
        let domains = self.retrieval.domains(scope, &question.domains, question.deadline).await?;
        let request = SearchRequest {
            query: &question.query,
            domains: &domains,
            file: None,
            limit: question.top_k,
            explain: false,
            deadline: question.deadline,
        };
        let (retrieved, found) = match self.retrieval.search(scope, &request).await {
            Ok(retrieved) => {
                let found = self.grade(scope, question, &domains, &retrieved.hits).await?;
                // With a part of the search missing, not having found anything says nothing about the documents.
                let found =
                    found.map_err(
                        |reason| {
                            if retrieved.degraded.is_empty() { reason } else { Reason::EmbeddingUnavailable }
                        },
                    );
                (retrieved, found)
            }
            Err(RetrievalError::Outage(outage)) => {
                tracing::error!(event = "answer.retrieval.failed", service = %outage.service, detail = outage.detail);
                let late = outage.kind == OutageKind::TimedOut;
                // A store may be slow to fail; the time was up only when the question's own was.
                let over = self.clock.now().plus(STILL_TIME) >= question.deadline;
                let reason = if late && over { Reason::DeadlineExceeded } else { Reason::RetrievalUnavailable };
                let degraded = vec![format!("search:{}", if late { "timeout" } else { "unavailable" })];
                (Retrieved { degraded, ..Retrieved::default() }, Err(reason))
            }
            Err(error) => return Err(error),
        };
        let answer = self.word(&domains, &retrieved, found);
        self.store_trace(scope, question, &domains, &retrieved, &answer).await;
        Ok(answer)
    }

    /// The best citation, or why there is none.
    async fn grade(
        &self,
        scope: &TenantScope,
        question: &Question,
        domains: &[DomainRecord],
        hits: &[Hit],
    ) -> Result<Result<Citation, Reason>, RetrievalError> {
        if hits.is_empty() {
            return Ok(Err(Reason::NoHits));
        }
        let language = |domain: &DomainKey| {
            domains.iter().find(|record| record.key == *domain).map_or(Language::En, |record| record.policy.language)
        };
        let candidates: Vec<_> =
            hits.iter().map(|hit| (language(&hit.point.domain), hit.point.content.as_str())).collect();
        let Some(quote) = grade::best_quote(&question.query, &candidates) else {
            return Ok(Err(Reason::NotInCorpus));
        };
        let Some(hit) = hits.get(quote.candidate) else { return Ok(Err(Reason::NotInCorpus)) };
        // Deleted between the search and now: the tombstone counts.
        let Some((filename, title)) = self.names(scope, hit.point.file_id, question.deadline).await? else {
            return Ok(Err(Reason::NotInCorpus));
        };
        let rank = hit.stages.get("fused").map_or(0.0, |stage| stage.score);
        Ok(Ok(Citation { point: hit.point.clone(), filename, title, span: quote.span, score: rank }))
    }

    async fn names(
        &self,
        scope: &TenantScope,
        file: FileId,
        deadline: Timestamp,
    ) -> Result<Option<(Filename, Option<DocumentTitle>)>, RetrievalError> {
        let file = self.retrieval.store.file(scope, file);
        let file = self.retrieval.within(deadline, Service::DocumentStore, file).await?;
        Ok(file.filter(|file| file.published.is_some()).map(|file| (file.filename, file.title)))
    }

    fn word(&self, domains: &[DomainRecord], retrieved: &Retrieved, found: Result<Citation, Reason>) -> Answer {
        let (reason, citations) = match found {
            Ok(citation) => (Reason::Quoted, vec![citation]),
            Err(reason) => (reason, Vec::new()),
        };
        let language = domains.first().map_or(Language::En, |domain| domain.policy.language);
        let message = reason.message(language).unwrap_or_default();
        let text = citations.first().map_or(message, Citation::evidence).to_owned();
        let disclaimers: BTreeSet<_> =
            domains.iter().filter_map(|domain| domain.policy.disclaimer.as_deref()).collect();
        Answer {
            trace_id: TraceId::new(self.ids.next()),
            decision: reason.decision(),
            reason,
            text,
            citations,
            disclaimer: (!disclaimers.is_empty()).then(|| disclaimers.into_iter().collect::<Vec<_>>().join("\n")),
            degraded: retrieved.degraded.clone(),
            stage_millis: retrieved.stage_millis.clone(),
        }
    }

    /// Fails open: an answer is given whether or not its trace is stored.
    async fn store_trace(
        &self,
        scope: &TenantScope,
        question: &Question,
        domains: &[DomainRecord],
        retrieved: &Retrieved,
        answer: &Answer,
    ) {
        let now = self.clock.now();
        let candidates = retrieved.hits.iter().map(|hit| TracedCandidate {
            point_id: hit.point.point_id,
            scores: hit.stages.iter().map(|(stage, score)| (stage.clone(), score.score)).collect(),
        });
        let trace = AnswerTrace {
            trace_id: answer.trace_id,
            query: question.query.clone(),
            domains: domains.iter().map(|domain| domain.key.clone()).collect(),
            decision: answer.decision,
            reason: answer.reason,
            cited: answer.citations.iter().map(|citation| citation.point.point_id).collect(),
            candidates: candidates.collect(),
            degraded: answer.degraded.clone(),
            stage_millis: answer.stage_millis.clone(),
            created_at: now,
            expires_at: now.plus(TRACE_RETENTION),
        };
        let left = question.deadline.since(now);
        let stored = tokio::time::timeout(left, self.traces.put(scope, &trace)).await;
        if !matches!(stored, Ok(Ok(()))) {
            tracing::warn!(event = "answer.trace.lost", trace_id = %answer.trace_id);
        }
    }
}

#[cfg(test)]
mod tests;
