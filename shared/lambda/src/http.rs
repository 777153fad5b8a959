//! The way in and out of an HTTP function: an API Gateway event becomes a request, a problem becomes a document.

use crate::{
    correlation::Correlation,
    metrics::{self, Unit},
    problem::{ErrorCode, Problem},
};
use anchorage_ports::{Clock, Ids};
use axum::{
    Router,
    extract::{MatchedPath, Request, State},
    http::{HeaderValue, StatusCode, Uri, header},
    middleware::{Next, from_fn_with_state},
    response::Response,
    routing::any,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use lambda_http::{Adapter, LambdaEvent, request::LambdaRequest};
use std::{sync::Arc, time::Instant};
use tower::{Service, ServiceExt as _};
use tracing::Instrument as _;

/// Longest path and query of an event; the gateway itself takes 10 KB for the whole request line.
const MAX_PATH_BYTES: usize = 10_240;
/// Where events go that are no requests. The path has a character that no registered path has.
const MALFORMED_PATH: &str = "/!malformed";

/// What the frame around a function's routes needs.
#[derive(Debug, Clone)]
pub struct Frame {
    /// The function's name, as its metrics carry it.
    pub function: &'static str,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
}

/// A function's routes with everything around them: correlation, logs, metrics, and problems for what has no route.
pub fn app(frame: Frame, routes: Router) -> Router {
    let malformed = || async { Problem::new(ErrorCode::MalformedRequest, "The request cannot be read.") };
    routes
        .route(MALFORMED_PATH, any(malformed))
        .fallback(|| async { Problem::new(ErrorCode::RouteNotFound, "No operation lies under this path.") })
        .method_not_allowed_fallback(|| async {
            Problem::new(ErrorCode::MethodNotAllowed, "The path has no operation for this method.")
        })
        .layer(from_fn_with_state(frame, around))
}

async fn around(State(frame): State<Frame>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let Some(correlation) = Correlation::of(request.headers(), frame.ids.as_ref()) else {
        return next.run(request).await;
    };
    let route = request.extensions().get::<MatchedPath>().map_or("other", MatchedPath::as_str).to_owned();
    let method = request.method().clone();
    let span = tracing::info_span!(
        "request",
        correlation_id = correlation.id.as_str(),
        trace_id = correlation.trace_id.as_deref(),
        tenant_id = tracing::field::Empty,
        %method,
        route,
    );
    request.extensions_mut().insert(correlation.clone());
    async {
        let mut response = next.run(request).await;
        let problem = response.extensions_mut().remove::<Problem>();
        if let Some(problem) = &problem {
            // The methods that a path allows hold for the problem as well.
            let allow = response.headers_mut().remove(header::ALLOW);
            response = problem.render(&correlation);
            if let Some(allow) = allow {
                response.headers_mut().insert(header::ALLOW, allow);
            }
        }
        correlation.mark(response.headers_mut());
        response.headers_mut().entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
        let millis = started.elapsed().as_secs_f64() * 1000.0;
        let status = response.status();
        let code = problem.as_ref().map(|problem| problem.code.as_str());
        tracing::info!(event = "http.answered", status = status.as_u16(), code, millis);
        let dimensions = [("function", frame.function), ("route", &route), ("status", status_class(status))];
        let values = [("requests", Unit::Count, 1.0), ("duration", Unit::Milliseconds, millis)];
        metrics::emit(frame.clock.now(), &dimensions, &values);
        response
    }
    .instrument(span)
    .await
}

const fn status_class(status: StatusCode) -> &'static str {
    match status.as_u16() {
        100..=199 => "1xx",
        200..=299 => "2xx",
        300..=399 => "3xx",
        400..=499 => "4xx",
        _ => "5xx",
    }
}

/// Runs the function until the platform ends it.
///
/// # Errors
/// When the platform's runtime API cannot be reached.
pub async fn serve(app: Router) -> Result<(), lambda_runtime::Error> {
    lambda_runtime::run(handler(app)).await
}

/// The function as the runtime calls it, once per event.
pub(crate) fn handler(
    app: Router,
) -> impl Service<
    LambdaEvent<LambdaRequest>,
    Response = impl serde::Serialize + Send + 'static,
    Error = std::convert::Infallible,
    Future: Send,
> {
    Adapter::from(app).map_request(|mut event: LambdaEvent<LambdaRequest>| {
        presentable(&mut event.payload);
        event
    })
}

/// Keeps from the library what it would panic at: hosts, paths, queries and bodies that it cannot turn into a request.
fn presentable(event: &mut LambdaRequest) {
    let LambdaRequest::ApiGatewayV2(event) = event else {
        return;
    };
    // The host takes no part in anything, and a broken one would break the request's URI.
    event.headers.remove(header::HOST);
    event.request_context.domain_name = None;
    let path = event.raw_path.as_deref().unwrap_or("/");
    let query = event.raw_query_string.as_deref().unwrap_or_default();
    let body = event.body.as_deref().unwrap_or_default();
    let readable = path.starts_with('/')
        && path.len() + query.len() <= MAX_PATH_BYTES
        && format!("/?{query}").parse::<Uri>().is_ok()
        && (!event.is_base64_encoded || STANDARD.decode(body).is_ok());
    if !readable {
        event.raw_path = Some(MALFORMED_PATH.to_owned());
        event.raw_query_string = None;
        event.body = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        extract::{Body, FilesRead, FilesWrite, Id, Tenant},
        testing::{Caller, call, deliver, event},
    };
    use anchorage_domain::{FileId, Scope, ScopeSet};
    use anchorage_memory::{ManualClock, SequentialIds};
    use axum::routing::{get, post};
    use serde::Deserialize;
    use serde_json::{Value, json};

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Wish {
        name: String,
        items: Vec<u8>,
    }

    async fn read(tenant: Tenant<FilesRead>, Id(file): Id<FileId>) -> String {
        format!("\"{} {file}\"", tenant.scope.tenant())
    }

    async fn write(_tenant: Tenant<FilesWrite>, Body(wish): Body<Wish, 64>) -> String {
        format!("\"{} {}\"", wish.name, wish.items.len())
    }

    fn tested() -> Router {
        let routes = Router::new().route("/v1/things/{id}", get(read)).route("/v1/things", post(write));
        let frame = Frame {
            function: "tested",
            clock: Arc::new(ManualClock::default()),
            ids: Arc::new(SequentialIds::default()),
        };
        app(frame, routes)
    }

    fn caller(scopes: &[Scope]) -> Caller {
        let tenant = "01980000-0000-7000-8000-0000000000aa".parse().unwrap();
        Caller { tenant, scopes: scopes.iter().copied().collect::<ScopeSet>() }
    }

    const FILE: &str = "/v1/things/01980000-0000-7000-8000-000000000001";

    #[tokio::test]
    async fn request_without_identity_or_scope_is_refused_before_its_body_is_read() {
        let reply = call(&tested(), None, "GET", FILE, None).await.unwrap();
        assert_eq!((reply.status, reply.text("/code")), (401, "unauthenticated"));
        let reader = caller(&[Scope::FilesRead]);
        let reply = call(&tested(), Some(&reader), "POST", "/v1/things", Some(&json!("broken"))).await.unwrap();
        assert_eq!((reply.status, reply.text("/code")), (403, "scope_missing"));
        assert_eq!(call(&tested(), Some(&reader), "GET", FILE, None).await.unwrap().status, 200);
    }

    /// Case C47: a tenant named anywhere but in the authorizer's context changes nothing.
    #[tokio::test]
    async fn tenant_in_a_header_is_ignored() {
        let caller = caller(&[Scope::FilesRead]);
        let mut event = event("GET", FILE, &[("x-tenant-id", "01980000-0000-7000-8000-0000000000bb")], None);
        event["requestContext"]["authorizer"] = json!({"lambda": caller.context()});
        let reply = deliver(&tested(), event).await.unwrap();
        assert!(reply.body.as_str().unwrap().starts_with(&caller.tenant.to_string()));
    }

    #[tokio::test]
    async fn broken_identity_of_the_authorizer_is_no_identity() {
        for context in [json!({}), json!({"tenant_id": "x", "key_id": "testkey000000000", "scopes": ""}), json!(null)] {
            let mut event = event("GET", FILE, &[], None);
            event["requestContext"]["authorizer"] = json!({"lambda": context});
            assert_eq!(deliver(&tested(), event).await.unwrap().status, 401);
        }
    }

    #[tokio::test]
    async fn body_is_refused_with_the_place_of_its_mistake() {
        let writer = caller(&[Scope::FilesWrite]);
        let long = json!({"name": "a".repeat(64), "items": []}).to_string();
        for (body, status, pointer) in [
            ("{", 400, ""),
            ("", 400, ""),
            ("{\"name\":\"a\",\"items\":[]} x", 400, ""),
            ("{\"name\":\"a\",\"items\":[1,300]}", 422, "/items/1"),
            ("{\"name\":\"a\",\"items\":[],\"tenant_id\":\"b\"}", 422, "/tenant_id"),
            ("{\"name\":\"a\"}", 422, "/items"),
            (long.as_str(), 413, ""),
        ] {
            let mut event = event("POST", "/v1/things", &[], Some(body));
            event["requestContext"]["authorizer"] = json!({"lambda": writer.context()});
            let reply = deliver(&tested(), event).await.unwrap();
            assert_eq!((reply.status, reply.text("/errors/0/pointer")), (status, pointer), "{body}: {}", reply.body);
        }
    }

    #[tokio::test]
    async fn what_has_no_route_is_a_problem_with_a_correlation_id() {
        for (method, target, status, code) in [
            ("GET", "/nowhere", 404, "route_not_found"),
            ("DELETE", "/v1/things", 405, "method_not_allowed"),
            ("GET", "/v1/things/not-an-id", 401, "unauthenticated"),
        ] {
            let reply = call(&tested(), None, method, target, None).await.unwrap();
            assert_eq!((reply.status, reply.text("/code")), (status, code));
            assert_eq!(reply.header("content-type"), Some("application/problem+json"));
            assert_eq!(reply.header("x-correlation-id"), Some(reply.text("/correlation_id")));
        }
    }

    /// The library panics at each of these when it is left alone with it.
    #[tokio::test]
    async fn event_that_is_no_request_is_answered_as_malformed() {
        let broken: [(&str, Value); 4] = [
            ("rawQueryString", json!("q=a b\u{7f}")),
            ("rawPath", json!(":99999")),
            ("rawPath", json!("/".repeat(MAX_PATH_BYTES + 1))),
            ("isBase64Encoded", json!(true)),
        ];
        for (field, value) in broken {
            let mut event = event("POST", "/v1/things", &[("host", "not a host")], Some("not base64!"));
            event[field] = value;
            let reply = deliver(&tested(), event).await.unwrap();
            assert_eq!((reply.status, reply.text("/code")), (400, "malformed_request"), "{field}");
        }
    }

    #[tokio::test]
    async fn correlation_and_trace_of_the_caller_come_back() {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        let parent = format!("00-{trace}-00f067aa0ba902b7-01");
        let headers = [("x-correlation-id", "mine-1"), ("traceparent", parent.as_str())];
        let reply = deliver(&tested(), event("GET", "/nowhere", &headers, None)).await.unwrap();
        assert_eq!((reply.header("x-correlation-id"), reply.header("x-trace-id")), (Some("mine-1"), Some(trace)));
    }
}
