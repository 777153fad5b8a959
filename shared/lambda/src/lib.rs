//! What every function shares: configuration, telemetry, and for the HTTP ones identity, errors and the way in and out.
//!
//! A new HTTP function: an `OpenApiRouter` with one route per file, wrapped by [`http::app`], run by [`http::serve`].
//! A function of a queue: a [`batch::Handler`], run by [`batch::serve`].
//! A new error: a variant of [`problem::ErrorCode`] with its status and title.

pub mod batch;
pub mod config;
pub mod correlation;
pub mod events;
pub mod extract;
pub mod http;
pub mod metrics;
pub mod problem;
pub mod telemetry;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
