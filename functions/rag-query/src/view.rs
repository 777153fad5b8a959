//! Answers and search results as callers see them.

use anchorage_domain::{Decision, DomainKey, FileId, PointId, QuarantineReason, Reason, Source, TraceId};
use anchorage_lambda::correlation::Correlation;
use anchorage_service::{
    answering::{Answer, Citation},
    retrieval::Retrieved,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// How long an answer is to be.
#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerMode {
    Concise,
    #[default]
    Normal,
    Detailed,
}

/// Where an answer stands, to the letter.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Citation)]
pub struct CitationView {
    #[schema(value_type = String, format = Uuid)]
    chunk_id: PointId,
    #[schema(value_type = String, format = Uuid)]
    file_id: FileId,
    /// The document's title, or its file name when it has none.
    source_document: String,
    /// The headings that the evidence stands under, joined; absent when there are none.
    section_key: Option<String>,
    /// The nearest heading.
    section_title: Option<String>,
    /// Where in the document the chunk stands.
    #[schema(value_type = Object)]
    source: Source,
    /// Page, block and picture are known of paged documents alone.
    printed_page_start: Option<String>,
    printed_page_end: Option<String>,
    physical_page: Option<u32>,
    block_id: Option<String>,
    bbox: Option<[f32; 4]>,
    source_crop: Option<String>,
    attachment: Option<String>,
    /// An exact piece of the stored chunk.
    evidence_text: String,
    /// The policy's entity that the evidence is about, when there is one.
    entity_id: Option<String>,
    entity_name: Option<String>,
    /// Orders candidates of one question; no probability.
    score: f32,
}

impl From<&Citation> for CitationView {
    fn from(citation: &Citation) -> Self {
        let headings = &citation.point.heading_path;
        let title = citation.title.as_ref().map(ToString::to_string);
        Self {
            chunk_id: citation.point.point_id,
            file_id: citation.point.file_id,
            source_document: title.unwrap_or_else(|| citation.filename.to_string()),
            section_key: (!headings.is_empty()).then(|| headings.join(" / ")),
            section_title: headings.last().cloned(),
            source: citation.point.source.clone(),
            printed_page_start: None,
            printed_page_end: None,
            physical_page: None,
            block_id: None,
            bbox: None,
            source_crop: None,
            attachment: None,
            evidence_text: citation.evidence().to_owned(),
            entity_id: None,
            entity_name: None,
            score: citation.score,
        }
    }
}

/// One statement and the chunks it rests on.
#[derive(Debug, Serialize, ToSchema)]
pub struct Claim {
    text: String,
    #[schema(value_type = Vec<String>)]
    source_ids: Vec<PointId>,
}

/// One part of an answer.
#[derive(Debug, Serialize, ToSchema)]
pub struct Block {
    title: Option<String>,
    /// `quote`: the claims are pieces of documents.
    kind: &'static str,
    claims: Vec<Claim>,
}

impl From<&Citation> for Block {
    fn from(citation: &Citation) -> Self {
        let claim = Claim { text: citation.evidence().to_owned(), source_ids: vec![citation.point.point_id] };
        Self { title: citation.point.heading_path.last().cloned(), kind: "quote", claims: vec![claim] }
    }
}

/// What an answer took.
#[derive(Debug, Serialize, ToSchema)]
pub struct Usage {
    /// Milliseconds of each stage.
    stage_millis: BTreeMap<String, u64>,
}

/// The decision about a question, with everything it rests on.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Answer)]
pub struct AnswerView {
    #[schema(value_type = String, format = Uuid)]
    trace_id: TraceId,
    correlation_id: String,
    /// 32 hex digits, when the request is traced.
    otel_trace_id: Option<String>,
    /// `answerable` or `abstain`.
    #[schema(value_type = String)]
    decision: Decision,
    /// One of a closed list, such as `quoted`, `no_hits`, `not_in_corpus` or `retrieval_unavailable`.
    #[schema(value_type = String)]
    reason: Reason,
    /// The quote, or what to tell the person who asked.
    answer: String,
    resolved_entity_ids: Vec<String>,
    /// Never empty when `decision` is `answerable`.
    citations: Vec<CitationView>,
    /// Whether a model wrote the answer; a quote is not generated.
    generated: bool,
    quick_replies: Vec<String>,
    blocks: Vec<Block>,
    answer_mode: AnswerMode,
    #[schema(value_type = Option<Object>)]
    answer_plan: Option<Value>,
    #[schema(value_type = Vec<Object>)]
    candidate_assessments: Vec<Value>,
    /// What the domain's policy wants said with every answer.
    disclaimer: Option<String>,
    /// Stages that were left out, as `stage:why`.
    degraded: Vec<String>,
    usage: Usage,
}

impl AnswerView {
    pub fn new(answer: Answer, correlation: Correlation, answer_mode: AnswerMode) -> Self {
        Self {
            trace_id: answer.trace_id,
            correlation_id: correlation.id.to_string(),
            otel_trace_id: correlation.trace_id,
            decision: answer.decision,
            reason: answer.reason,
            answer: answer.text,
            resolved_entity_ids: Vec::new(),
            citations: answer.citations.iter().map(CitationView::from).collect(),
            generated: false,
            quick_replies: Vec::new(),
            blocks: answer.citations.iter().map(Block::from).collect(),
            answer_mode,
            answer_plan: None,
            candidate_assessments: Vec::new(),
            disclaimer: answer.disclaimer,
            degraded: answer.degraded,
            usage: Usage { stage_millis: answer.stage_millis },
        }
    }
}

/// A chunk's place in one stage.
#[derive(Debug, Serialize, ToSchema)]
pub struct Stage {
    /// From 1.
    rank: u32,
    /// Of this stage's own scale.
    score: f32,
}

/// A chunk that was found.
#[derive(Debug, Serialize, ToSchema)]
pub struct Found {
    #[schema(value_type = String, format = Uuid)]
    chunk_id: PointId,
    #[schema(value_type = String, format = Uuid)]
    file_id: FileId,
    #[schema(value_type = String)]
    domain: DomainKey,
    title: Option<String>,
    heading_path: Vec<String>,
    /// The text exactly as it was extracted.
    content: String,
    #[schema(value_type = Object)]
    source: Source,
    /// The text cannot be trusted without a look at the original.
    quarantined: bool,
    /// Why not: `unmapped_glyphs` or `visual_order`.
    #[schema(value_type = Option<String>)]
    quarantine_reason: Option<QuarantineReason>,
    /// By stage: `fused`, which orders the list, then `sparse` and each embedder's name.
    stages: BTreeMap<String, Stage>,
}

/// Chunks, best first.
#[derive(Debug, Serialize, ToSchema)]
pub struct SearchView {
    results: Vec<Found>,
    /// Stages that were left out, as `stage:why`.
    degraded: Vec<String>,
    usage: Usage,
}

impl From<Retrieved> for SearchView {
    fn from(retrieved: Retrieved) -> Self {
        let results = retrieved.hits.into_iter().map(|hit| {
            let stages = hit.stages.into_iter();
            Found {
                chunk_id: hit.point.point_id,
                file_id: hit.point.file_id,
                domain: hit.point.domain,
                title: hit.point.title,
                heading_path: hit.point.heading_path,
                content: hit.point.content,
                source: hit.point.source,
                quarantined: hit.point.quarantined.is_some(),
                quarantine_reason: hit.point.quarantined,
                stages: stages.map(|(name, at)| (name, Stage { rank: at.rank, score: at.score })).collect(),
            }
        });
        Self {
            results: results.collect(),
            degraded: retrieved.degraded,
            usage: Usage { stage_millis: retrieved.stage_millis },
        }
    }
}
