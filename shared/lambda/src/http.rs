//! From a gateway's event to a route and back: correlation, problems, metrics, and events that would panic the adapter.

use crate::{
    metrics,
    problem::{ErrorCode, Problem},
};
use anchorage_domain::CorrelationId;
use anchorage_ports::Ids;
use axum::{
    Router,
    body::Body,
    extract::{MatchedPath, Request},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use lambda_http::{Adapter, LambdaEvent, request::LambdaRequest};
use serde_json::Value;
use std::{sync::Arc, time::Instant};
use tower::{Service as _, ServiceExt as _};
use tracing::Instrument as _;
use utoipa_axum::router::OpenApiRouter;

const CORRELATION_ID: HeaderName = HeaderName::from_static("x-correlation-id");
const TRACE_ID: HeaderName = HeaderName::from_static("x-trace-id");

/// The trace a request belongs to: 32 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestTrace(pub String);

/// The id that ties one request's log lines together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestCorrelation(pub String);

/// The routes of one function with everything around them that all functions share.
pub fn app(function: &'static str, routes: OpenApiRouter, ids: Arc<dyn Ids>) -> Router {
    let (router, _) = routes.split_for_parts();
    router
        .fallback(|| async { Problem::not_found() })
        .method_not_allowed_fallback(|| async {
            Problem::new(ErrorCode::MethodNotAllowed, "This path exists, but not with this method.")
        })
        .layer(axum::middleware::from_fn(move |request: Request, next: Next| {
            let ids = Arc::clone(&ids);
            async move { around(function, ids.as_ref(), request, next).await }
        }))
}

async fn around(function: &'static str, ids: &dyn Ids, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let correlation = correlation_id(request.headers(), ids);
    let trace = trace_id(request.headers());
    let method = request.method().clone();
    // The template, never the path itself: an id in a metric's name would make a metric of its own.
    let route = request.extensions().get::<MatchedPath>().map_or("other".to_owned(), |path| path.as_str().to_owned());
    request.extensions_mut().insert(RequestCorrelation(correlation.clone()));
    if let Some(trace) = &trace {
        request.extensions_mut().insert(RequestTrace(trace.clone()));
    }
    let span = tracing::info_span!("request", correlation_id = correlation, trace_id = trace.as_deref(), %method, route);
    let mut response = async {
        let response = next.run(request).await;
        metrics::request(function, &route, response.status().as_u16(), started.elapsed());
        response
    }
    .instrument(span)
    .await;
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        response = rewrite(response, problem.with_correlation_id(correlation.clone()));
    }
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&correlation) {
        headers.insert(CORRELATION_ID, value);
    }
    if let Some(value) = trace.and_then(|trace| HeaderValue::from_str(&trace).ok()) {
        headers.insert(TRACE_ID, value);
    }
    response
}

/// The problem's response with its body written again, now that the correlation id is known.
fn rewrite(response: Response, problem: Problem) -> Response {
    let (mut parts, _) = response.into_parts();
    parts.headers.remove(header::CONTENT_LENGTH);
    serde_json::to_vec(&problem).map_or_else(
        |_| StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        |json| Response::from_parts(parts, Body::from(json)),
    )
}

fn correlation_id(headers: &HeaderMap, ids: &dyn Ids) -> String {
    let own = headers.get(&CORRELATION_ID).and_then(|value| value.to_str().ok());
    own.and_then(|text| CorrelationId::new(text).ok()).map_or_else(|| ids.next().to_string(), String::from)
}

/// The trace of `traceparent` (W3C), else of the platform's own header.
fn trace_id(headers: &HeaderMap) -> Option<String> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let hex = |id: &str| id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit()) && id.bytes().any(|b| b != b'0');
    let w3c = || text("traceparent")?.split('-').nth(1).filter(|id| hex(id)).map(str::to_ascii_lowercase);
    // Root=1-67891233-abcdef012345678912345678
    let xray = || {
        let root = text("x-amzn-trace-id")?.split(';').find_map(|part| part.trim().strip_prefix("Root=1-"))?;
        Some(root.replace('-', "")).filter(|id| hex(id))
    };
    w3c().or_else(xray)
}

/// Serves a function's routes until the platform ends it.
///
/// # Errors
/// When the platform's runtime interface cannot be reached.
pub async fn serve(app: Router) -> Result<(), lambda_runtime::Error> {
    lambda_runtime::run(lambda_runtime::service_fn(move |event: LambdaEvent<Value>| {
        let app = app.clone();
        async move {
            let (mut payload, context) = event.into_parts();
            sanitize(&mut payload);
            let Ok(request) = serde_json::from_value::<LambdaRequest>(payload) else {
                return Err(lambda_runtime::Error::from("the event is no HTTP API request of payload format 2.0"));
            };
            let mut adapter = Adapter::from(app.map_request(|request: lambda_http::Request| request.map(body)));
            let response = adapter.ready().await?.call(LambdaEvent::new(request, context)).await?;
            Ok(response)
        }
    }))
    .await
}

fn body(body: lambda_http::Body) -> Body {
    match body {
        lambda_http::Body::Text(text) => Body::from(text),
        lambda_http::Body::Binary(bytes) => Body::from(bytes),
        _ => Body::empty(),
    }
}

/// Percent-encodes what may not stand in a URI: the adapter panics on it, and a panic answers nobody.
fn sanitize(event: &mut Value) {
    for field in ["rawPath", "rawQueryString"] {
        if let Some(Value::String(text)) = event.get_mut(field) {
            let allowed = |b: u8| b.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=:@/?".contains(&b);
            if text.bytes().any(|b| !allowed(b)) {
                *text = text
                    .bytes()
                    .map(|b| if allowed(b) { char::from(b).to_string() } else { format!("%{b:02X}") })
                    .collect();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anchorage_memory::SequentialIds;
    use axum::body::to_bytes;
    use utoipa_axum::routes;

    #[utoipa::path(get, path = "/v1/things/{id}", responses((status = 200)))]
    async fn thing() -> &'static str {
        "here"
    }

    async fn call(method: &str, path: &str, headers: &[(&str, &str)]) -> (u16, HeaderMap, Value) {
        let app = app("test", OpenApiRouter::new().routes(routes!(thing)), Arc::new(SequentialIds::default()));
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = app.oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, 10_000).await.unwrap();
        (parts.status.as_u16(), parts.headers, serde_json::from_slice(&body).unwrap_or(Value::Null))
    }

    #[tokio::test]
    async fn unknown_path_and_wrong_method_are_problems_with_the_correlation_id() {
        for (method, path, status, code) in
            [("GET", "/v1/nothing", 404, "not_found"), ("DELETE", "/v1/things/1", 405, "method_not_allowed")]
        {
            let (got, headers, body) = call(method, path, &[("x-correlation-id", "mine-1")]).await;
            assert_eq!((got, body["code"].as_str()), (status, Some(code)));
            assert_eq!(body["correlation_id"], "mine-1");
            assert_eq!(headers["x-correlation-id"], "mine-1");
            assert_eq!(headers["content-type"], "application/problem+json");
        }
    }

    #[tokio::test]
    async fn malformed_correlation_id_is_replaced() {
        let (_, headers, _) = call("GET", "/v1/things/1", &[("x-correlation-id", "not this one")]).await;
        assert_eq!(headers["x-correlation-id"].len(), 36);
    }

    #[tokio::test]
    async fn trace_comes_from_the_caller_or_the_platform() {
        let id = "4bf92f3577b34da6a3ce929d0e0e4736";
        let zeros = "0".repeat(32);
        for (header, value, expected) in [
            ("traceparent", format!("00-{id}-00f067aa0ba902b7-01"), Some(id)),
            ("x-amzn-trace-id", format!("Root=1-{}-{};Sampled=1", &id[..8], &id[8..]), Some(id)),
            ("traceparent", format!("00-{zeros}-00f067aa0ba902b7-01"), None),
            ("traceparent", "garbage".to_owned(), None),
        ] {
            let (_, headers, _) = call("GET", "/v1/things/1", &[(header, &value)]).await;
            assert_eq!(headers.get("x-trace-id").map(|value| value.to_str().unwrap()), expected, "{value}");
        }
    }

    #[test]
    fn event_that_would_panic_the_adapter_is_made_harmless() {
        let mut event = serde_json::json!({"rawPath": "/v1/ا b", "rawQueryString": "q=\"x\"&y=ب%20"});
        sanitize(&mut event);
        assert_eq!(event["rawPath"], "/v1/%D8%A7%20b");
        assert_eq!(event["rawQueryString"], "q=%22x%22&y=%D8%A8%20");
    }
}
