//! Metrics in CloudWatch's embedded format: one JSON line on standard output, no call, nothing to flush before the freeze.

use serde_json::{Value, json};
use std::{
    io::Write as _,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

const NAMESPACE: &str = "Anchorage";

/// Counts one request and its duration by function, route template and status class.
pub fn request(function: &str, route: &str, status: u16, took: Duration) {
    emit(&line(
        &["function", "route", "status_class"],
        &json!({"function": function, "route": route, "status_class": format!("{}xx", status / 100)}),
        &[("requests", "Count", 1.0), ("duration", "Milliseconds", took.as_secs_f64() * 1000.0)],
    ));
}

/// Counts one thing that happened in the pipeline.
pub fn count(function: &str, event: &str) {
    emit(&line(&["function", "event"], &json!({"function": function, "event": event}), &[("events", "Count", 1.0)]));
}

fn line(dimensions: &[&str], values: &Value, metrics: &[(&str, &str, f64)]) -> Value {
    let definitions: Vec<_> = metrics.iter().map(|(name, unit, _)| json!({"Name": name, "Unit": unit})).collect();
    let mut line = json!({"_aws": {
        "Timestamp": now_millis(),
        "CloudWatchMetrics": [{"Namespace": NAMESPACE, "Dimensions": [dimensions], "Metrics": definitions}],
    }});
    if let (Some(line), Some(values)) = (line.as_object_mut(), values.as_object()) {
        line.extend(values.clone());
        line.extend(metrics.iter().map(|(name, _, value)| ((*name).to_owned(), json!(value))));
    }
    line
}

#[expect(clippy::disallowed_methods, reason = "the timestamp of a log line, which no decision reads")]
fn now_millis() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis()
}

fn emit(line: &Value) {
    // A metric that cannot be written is not worth failing a request for.
    let _ = writeln!(std::io::stdout(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metric_line_names_its_dimensions_and_carries_their_values() {
        let line = line(&["route"], &json!({"route": "/v1/files"}), &[("requests", "Count", 1.0)]);
        assert_eq!(line["_aws"]["CloudWatchMetrics"][0]["Dimensions"], json!([["route"]]));
        assert_eq!(line["_aws"]["CloudWatchMetrics"][0]["Metrics"], json!([{"Name": "requests", "Unit": "Count"}]));
        assert_eq!((&line["route"], &line["requests"]), (&json!("/v1/files"), &json!(1.0)));
    }
}
