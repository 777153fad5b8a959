//! Logs: one JSON object a line on stdout, which the platform collects. Event names are dotted and stable.

use tracing_subscriber::EnvFilter;

/// Starts logging. A filter that cannot be read falls back to `info`, and says so.
pub fn init(filter: &str) {
    let parsed = EnvFilter::try_new(filter);
    let refused = parsed.is_err();
    let subscriber = tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_current_span(true)
        .with_span_list(false)
        .with_env_filter(parsed.unwrap_or_else(|_| EnvFilter::new("info")));
    // A second start within one process keeps the first subscriber, which is as good.
    if subscriber.try_init().is_ok() && refused {
        tracing::warn!(event = "telemetry.filter_refused", "ANCHORAGE_LOG is no tracing filter; logging at info");
    }
}
