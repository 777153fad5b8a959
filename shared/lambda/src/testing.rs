//! Requests as the gateway sends them, for the tests of the functions.
#![expect(clippy::indexing_slicing, reason = "test support: an answer without its parts fails the test")]

use crate::http::handler;
use anchorage_domain::{ScopeSet, TenantId};
use axum::Router;
use lambda_http::{Context, LambdaEvent, request::LambdaRequest};
use serde_json::{Value, json};
use tower::ServiceExt as _;

/// Who a request comes from, as the authorizer would have said.
#[derive(Debug, Clone)]
pub struct Caller {
    pub tenant: TenantId,
    pub scopes: ScopeSet,
}

impl Caller {
    /// What the authorizer puts into the request's context.
    #[must_use]
    pub fn context(&self) -> Value {
        json!({
            "tenant_id": self.tenant.to_string(),
            "key_id": "testkey000000000",
            "scopes": self.scopes.to_string(),
        })
    }
}

/// An answer as the gateway gets it.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u64,
    pub headers: Value,
    /// The body's JSON; null when it is none.
    pub body: Value,
}

impl Reply {
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(Value::as_str)
    }

    /// The text at a JSON pointer, empty when there is none.
    #[must_use]
    pub fn text(&self, pointer: &str) -> &str {
        self.body.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }
}

/// An event of the gateway's HTTP API, payload format 2.0.
#[must_use]
pub fn event(method: &str, target: &str, headers: &[(&str, &str)], body: Option<&str>) -> Value {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut all = json!({"host": "api.example", "x-forwarded-proto": "https"});
    if body.is_some() {
        all["content-type"] = json!("application/json");
    }
    for (name, value) in headers {
        all[*name] = json!(value);
    }
    json!({
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": all,
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "api",
            "domainName": "api.example",
            "domainPrefix": "api",
            "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "127.0.0.1", "userAgent": "t"},
            "requestId": "request",
            "routeKey": "$default",
            "stage": "$default",
            "time": "01/Jan/2026:00:00:00 +0000",
            "timeEpoch": 1_767_225_600_000_u64,
        },
        "body": body,
        "isBase64Encoded": false,
    })
}

/// Hands an event to a function.
///
/// # Errors
/// When the event is none, or the answer is no JSON.
pub async fn deliver(app: &Router, event: Value) -> Result<Reply, serde_json::Error> {
    let payload: LambdaRequest = serde_json::from_value(event)?;
    let answer = match handler(app.clone()).oneshot(LambdaEvent::new(payload, Context::default())).await {
        Ok(answer) => serde_json::to_value(answer)?,
        Err(never) => match never {},
    };
    let mut headers = answer["headers"].clone();
    if let (Some(all), Some(multi)) = (headers.as_object_mut(), answer["multiValueHeaders"].as_object()) {
        all.extend(multi.iter().map(|(name, values)| (name.clone(), values[0].clone())));
    }
    let text = answer["body"].as_str().unwrap_or_default();
    let body = if text.is_empty() { Value::Null } else { serde_json::from_str(text)? };
    Ok(Reply { status: answer["statusCode"].as_u64().unwrap_or_default(), headers, body })
}

/// Sends a request of a caller, or of nobody.
///
/// # Errors
/// When the answer is no JSON.
pub async fn call(
    app: &Router,
    caller: Option<&Caller>,
    method: &str,
    target: &str,
    body: Option<&Value>,
) -> Result<Reply, serde_json::Error> {
    let text = body.map(Value::to_string);
    let mut event = event(method, target, &[], text.as_deref());
    if let Some(caller) = caller {
        event["requestContext"]["authorizer"] = json!({"lambda": caller.context()});
    }
    deliver(app, event).await
}
