//! Metrics as CloudWatch embedded-metric lines on stdout: no call, nothing to flush before a freeze.

use anchorage_domain::Timestamp;
use serde_json::{Map, Value, json};
use std::io::Write as _;

/// Namespace of every metric.
const NAMESPACE: &str = "Anchorage";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Count,
    Milliseconds,
}

impl Unit {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Count => "Count",
            Self::Milliseconds => "Milliseconds",
        }
    }
}

/// One line in the embedded metric format. Dimensions must come from small closed sets: each combination is billed.
#[must_use]
pub fn line(now: Timestamp, dimensions: &[(&str, &str)], metrics: &[(&str, Unit, f64)]) -> Value {
    let names: Vec<_> = dimensions.iter().map(|(name, _)| *name).collect();
    let definitions: Vec<_> =
        metrics.iter().map(|(name, unit, _)| json!({"Name": name, "Unit": unit.as_str()})).collect();
    let directive = json!({"Namespace": NAMESPACE, "Dimensions": [names], "Metrics": definitions});
    let mut line = Map::new();
    line.insert("_aws".into(), json!({"Timestamp": now.unix_millis(), "CloudWatchMetrics": [directive]}));
    line.extend(dimensions.iter().map(|(name, value)| ((*name).to_owned(), json!(value))));
    line.extend(metrics.iter().map(|(name, _, value)| ((*name).to_owned(), json!(value))));
    Value::Object(line)
}

/// Writes a metric line. A broken stdout loses the metric, never the request.
pub fn emit(now: Timestamp, dimensions: &[(&str, &str)], metrics: &[(&str, Unit, f64)]) {
    let _ = writeln!(std::io::stdout(), "{}", line(now, dimensions, metrics));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metric_line_declares_every_dimension_and_value_it_holds() {
        let line = line(
            Timestamp::from_unix_millis(5),
            &[("function", "domains"), ("status", "2xx")],
            &[("requests", Unit::Count, 1.0)],
        );
        assert_eq!(
            line,
            json!({
                "_aws": {"Timestamp": 5, "CloudWatchMetrics": [{
                    "Namespace": "Anchorage",
                    "Dimensions": [["function", "status"]],
                    "Metrics": [{"Name": "requests", "Unit": "Count"}],
                }]},
                "function": "domains", "status": "2xx", "requests": 1.0,
            })
        );
    }
}
