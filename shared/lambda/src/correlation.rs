//! What ties one request's response, log lines and trace together.

use anchorage_domain::CorrelationId;
use anchorage_ports::Ids;
use axum::http::{HeaderMap, HeaderName, HeaderValue};

pub const CORRELATION_HEADER: HeaderName = HeaderName::from_static("x-correlation-id");
pub const TRACE_HEADER: HeaderName = HeaderName::from_static("x-trace-id");
/// Hex digits of a trace id.
const TRACE_DIGITS: usize = 32;

/// Extension of every request that the frame has let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Correlation {
    /// The caller's own when it has the right form, else a new one.
    pub id: CorrelationId,
    /// 32 lower-case hex digits, of the caller's `traceparent` or of the platform's trace.
    pub trace_id: Option<String>,
}

impl Correlation {
    /// Absent only when a fresh identifier is no valid correlation id, which UUIDs always are.
    #[must_use]
    pub fn of(headers: &HeaderMap, ids: &dyn Ids) -> Option<Self> {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let inbound = text(CORRELATION_HEADER.as_str()).and_then(|text| CorrelationId::new(text).ok());
        let id = inbound.or_else(|| CorrelationId::new(ids.next().to_string()).ok())?;
        let trace_id = text("traceparent").and_then(w3c_trace).or_else(|| text("x-amzn-trace-id").and_then(xray_trace));
        Some(Self { id, trace_id })
    }

    /// Puts both identifiers on a response.
    pub fn mark(&self, headers: &mut HeaderMap) {
        let mut set = |name: HeaderName, text: &str| {
            if let Ok(value) = HeaderValue::from_str(text) {
                headers.insert(name, value);
            }
        };
        set(CORRELATION_HEADER, self.id.as_str());
        if let Some(trace_id) = &self.trace_id {
            set(TRACE_HEADER, trace_id);
        }
    }
}

/// Not all zeros, which both formats reserve for "none".
fn trace(text: &str) -> Option<String> {
    let hex = text.len() == TRACE_DIGITS && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    (hex && text.bytes().any(|b| b != b'0')).then(|| text.to_owned())
}

/// `00-<trace>-<span>-<flags>`.
fn w3c_trace(text: &str) -> Option<String> {
    let mut parts = text.trim().split('-');
    let version = parts.next()?;
    (version.len() == 2 && version != "ff").then_some(())?;
    trace(parts.next()?)
}

/// `Root=1-<8 hex>-<24 hex>;Parent=…;Sampled=…`.
pub(crate) fn xray_trace(text: &str) -> Option<String> {
    let root = text.split(';').find_map(|part| part.trim().strip_prefix("Root=1-"))?;
    trace(&root.replace('-', ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anchorage_memory::SequentialIds;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

    fn of(name: &'static str, value: &'static str) -> Correlation {
        let headers = HeaderMap::from_iter([(HeaderName::from_static(name), HeaderValue::from_static(value))]);
        Correlation::of(&headers, &SequentialIds::default()).unwrap()
    }

    #[test]
    fn correlation_id_of_the_caller_is_kept_only_in_its_form() {
        assert_eq!(of("x-correlation-id", "abc-1").id.as_str(), "abc-1");
        assert_ne!(of("x-correlation-id", "not one").id.as_str(), "not one");
    }

    #[test]
    fn trace_id_is_continued_from_either_header() {
        for (name, value, expected) in [
            ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", Some(TRACE)),
            ("traceparent", "00-00000000000000000000000000000000-00f067aa0ba902b7-01", None),
            ("traceparent", "nonsense", None),
            ("x-amzn-trace-id", "Root=1-4bf92f35-77b34da6a3ce929d0e0e4736;Sampled=1", Some(TRACE)),
            ("x-amzn-trace-id", "Root=2-x", None),
        ] {
            assert_eq!(of(name, value).trace_id.as_deref(), expected, "{value}");
        }
    }
}
