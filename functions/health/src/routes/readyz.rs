use super::healthz::HealthState;
use crate::Health;
use anchorage_lambda::problem::{ErrorCode, FieldError, Problem, ProblemBody};
use axum::{Json, extract::State};

/// Can the deployment answer
///
/// The configuration is whole, and the collection exists and was built with what this deployment writes.
#[utoipa::path(
    get, path = "/readyz", tag = "health", operation_id = "readyz",
    responses(
        (status = 200, description = "It can", body = HealthState),
        (status = 503, description = "It cannot; `errors` says what is wrong with which part", body = ProblemBody,
            content_type = "application/problem+json"),
    ),
)]
pub async fn readyz(State(health): State<Health>) -> Result<Json<HealthState>, Problem> {
    let lacks = health.lacks().await;
    if lacks.is_empty() {
        return Ok(Json(HealthState::OK));
    }
    let errors = lacks.into_iter().map(|lack| FieldError { pointer: format!("/{}", lack.part), detail: lack.detail });
    Err(Problem { errors: errors.collect(), ..Problem::new(ErrorCode::NotReady, "`errors` says what is missing.") })
}
