//! `/healthz` and `/readyz`: whether the function runs, and whether the deployment can answer. Neither asks for a key.

pub mod connect;
mod routes;

use anchorage_ports::Outage;
use anchorage_service::{Lack, Readiness};
use std::{fmt, pin::Pin, sync::Arc};
use tokio::sync::OnceCell;
use utoipa_axum::{router::OpenApiRouter, routes};

/// A connection on its way.
pub type Connecting = Pin<Box<dyn Future<Output = Result<Readiness, Outage>> + Send>>;
/// Connects to what the configuration names.
pub type Connect = Arc<dyn Fn() -> Connecting + Send + Sync>;

/// What readiness is asked of.
#[derive(Clone)]
pub struct Health {
    /// Or what the configuration lacks; then there is nothing to connect to.
    connect: Result<Connect, Vec<Lack>>,
    /// Filled by the first connection that comes about; a failed one is tried again.
    connected: Arc<OnceCell<Readiness>>,
}

impl fmt::Debug for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Health").field("lacks", &self.connect.as_ref().err()).finish_non_exhaustive()
    }
}

impl Health {
    #[must_use]
    pub fn new(connect: Result<Connect, Vec<Lack>>) -> Self {
        Self { connect, connected: Arc::default() }
    }

    async fn lacks(&self) -> Vec<Lack> {
        let connect = match &self.connect {
            Ok(connect) => connect,
            Err(lacks) => return lacks.clone(),
        };
        match self.connected.get_or_try_init(|| connect()).await {
            Ok(readiness) => readiness.lacks().await,
            Err(outage) => {
                tracing::warn!(event = "ready.connect.failed", detail = %outage);
                vec![Lack { part: "configuration", detail: format!("the {} did not answer", outage.service) }]
            }
        }
    }
}

/// The function's routes and their description.
#[must_use]
pub fn router(health: Health) -> OpenApiRouter {
    OpenApiRouter::new()
        .routes(routes!(routes::healthz::healthz))
        .routes(routes!(routes::readyz::readyz))
        .with_state(health)
}

#[cfg(test)]
mod tests;
