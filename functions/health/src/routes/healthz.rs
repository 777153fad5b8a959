use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

/// A state of health.
#[derive(Debug, Serialize, ToSchema)]
pub struct HealthState {
    /// `ok`.
    status: &'static str,
}

impl HealthState {
    pub const OK: Self = Self { status: "ok" };
}

/// Is the function running
#[utoipa::path(
    get, path = "/healthz", tag = "health", operation_id = "healthz",
    responses((status = 200, description = "It runs", body = HealthState)),
)]
pub async fn healthz() -> Json<HealthState> {
    Json(HealthState::OK)
}
