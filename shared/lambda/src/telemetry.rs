//! Logs: one JSON object a line on stdout, which the platform collects. Event names are dotted and stable.

use tracing_subscriber::{
    Layer as _,
    filter::{LevelFilter, Targets},
    layer::SubscriberExt as _,
    registry,
    util::SubscriberInitExt as _,
};

/// Starts logging. A filter (`info`, or `warn,anchorage_service=debug`) that cannot be read falls back to `info`, and says
/// so.
pub fn init(filter: &str) {
    let parsed = filter.parse::<Targets>();
    let refused = parsed.is_err();
    let lines = tracing_subscriber::fmt::layer()
        .json()
        .flatten_event(true)
        .with_current_span(true)
        .with_span_list(false)
        .with_filter(parsed.unwrap_or_else(|_| Targets::new().with_default(LevelFilter::INFO)));
    // A second start within one process keeps the first subscriber, which is as good.
    if registry().with(lines).try_init().is_ok() && refused {
        tracing::warn!(event = "telemetry.filter_refused", "ANCHORAGE_LOG is no filter; logging at info");
    }
}
