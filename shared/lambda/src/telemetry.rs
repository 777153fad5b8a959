//! Logs: JSON lines with stable event names. Pure functions and stores stay silent.

use tracing_subscriber::EnvFilter;

/// Starts logging at `level` (a filter such as `info` or `info,anchorage=debug`); an unusable one means `info`.
pub fn start(level: &str) {
    let filter = EnvFilter::try_new(level).unwrap_or_else(|_| EnvFilter::new("info"));
    // A second start, as in tests, leaves the first in place.
    let _ = tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_current_span(true)
        .with_span_list(false)
        .with_target(false)
        .with_env_filter(filter)
        .try_init();
}
