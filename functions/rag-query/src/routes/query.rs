use super::{deadline, problem};
use crate::{
    asked::Asked,
    view::{AnswerMode, AnswerView},
};
use anchorage_domain::ConversationId;
use anchorage_lambda::{
    correlation::Correlation,
    extract::{Body, RagQuery, Tenant},
    problem::{Invalid, Problem, ProblemBody},
};
use anchorage_service::{Answering, answering::Question};
use axum::{Extension, Json, extract::State};
use serde::Deserialize;
use utoipa::ToSchema;

/// Characters of what a caller claims about its question.
const MAX_CLAIM_CHARS: usize = 128;

/// A question to the tenant's documents.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// 1 to 4 000 characters.
    query: String,
    /// The one domain to ask. With neither this nor `domains`, all active ones are asked.
    domain: Option<String>,
    /// 1 to 32 domains to ask.
    domains: Option<Vec<String>>,
    /// What the caller takes the question to be about. Logged, never trusted.
    subject_scope: Option<String>,
    /// What the caller takes the question to be for. Logged, never trusted.
    intent: Option<String>,
    /// At most 128 bytes.
    conversation_id: Option<String>,
    /// `normal` when left out.
    answer_mode: Option<AnswerMode>,
    /// Chunks to look at: 1 to 50, 10 when left out.
    top_k: Option<u32>,
}

/// Ask a question
///
/// The answer is a verbatim quote with its citation, or the reason why there is none.
#[utoipa::path(
    post, path = "/v1/rag/query", tag = "answers", operation_id = "query", request_body = Ask,
    responses(
        (status = 200, description = "The decision, whatever it is", body = AnswerView),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json"),
    ),
    security(("api_key" = ["rag:query"])),
)]
pub async fn query(
    State(answering): State<Answering>,
    tenant: Tenant<RagQuery>,
    Extension(correlation): Extension<Correlation>,
    Body(ask): Body<Ask>,
) -> Result<Json<AnswerView>, Problem> {
    let deadline = deadline(answering.clock.as_ref());
    let mut invalid = Invalid::default();
    for (pointer, claim) in [("/subject_scope", &ask.subject_scope), ("/intent", &ask.intent)] {
        if claim.as_ref().is_some_and(|claim| claim.chars().count() > MAX_CLAIM_CHARS) {
            invalid.add(pointer, format!("must have at most {MAX_CLAIM_CHARS} characters"));
        }
    }
    let conversation = invalid.check_optional("/conversation_id", ask.conversation_id.map(ConversationId::new));
    let asked = Asked::parse(&mut invalid, ask.query, ask.domain, ask.domains, ask.top_k);
    let Asked { query, domains, top_k } = invalid.finish(Some(asked))?;
    tracing::info!(
        event = "answer.asked",
        claimed_scope = ask.subject_scope,
        claimed_intent = ask.intent,
        conversation_id = conversation.as_ref().map(ConversationId::as_str),
    );
    let question = Question { query, domains, top_k, deadline };
    let answer = answering.answer(&tenant.scope, &question).await.map_err(problem)?;
    Ok(Json(AnswerView::new(answer, correlation, ask.answer_mode.unwrap_or_default())))
}
