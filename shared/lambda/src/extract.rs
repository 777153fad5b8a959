//! What a route takes out of a request: the tenant, the body, the query, an id.

use crate::problem::{ErrorCode, FieldError, Problem};
use anchorage_domain::{Identity, Scope, TenantScope};
use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, RawPathParams, Request},
    http::request::Parts,
};
use lambda_http::{aws_lambda_events::apigw::ApiGatewayRequestAuthorizer, request::RequestContext};
use serde::de::DeserializeOwned;
use std::str::FromStr;

/// Largest body of a request, in bytes; below the gateway's own 10 MB and the function's 6 MB, with room for Base64.
pub const MAX_BODY_BYTES: usize = 1024 * 1024;

/// The caller's tenant, from the gateway's authorizer and from nowhere else.
#[derive(Debug, Clone)]
pub struct Tenant(TenantScope);

impl Tenant {
    /// The scope for an operation, if the caller's key has the permission for it.
    ///
    /// # Errors
    /// `scope_missing`, which names the permission.
    pub fn with(self, needed: Scope) -> Result<TenantScope, Problem> {
        if self.0.allows(needed) {
            Ok(self.0)
        } else {
            Err(Problem::new(ErrorCode::ScopeMissing, format!("This operation needs a key with the scope {needed}.")))
        }
    }
}

/// Reads what the authorizer put into the request's context.
fn identity(authorizer: &ApiGatewayRequestAuthorizer) -> Option<Identity> {
    let field = |name: &str| authorizer.fields.get(name).and_then(|value| value.as_str());
    Some(Identity {
        tenant_id: field("tenant_id")?.parse().ok()?,
        key_id: field("key_id")?.parse().ok()?,
        scopes: field("scopes")?.parse().ok()?,
    })
}

impl<S: Sync> FromRequestParts<S> for Tenant {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let context = parts.extensions.get::<RequestContext>();
        let identity = context.and_then(RequestContext::authorizer).and_then(identity);
        let identity = identity.ok_or_else(|| {
            tracing::error!(event = "http.identity.missing");
            Problem::new(ErrorCode::Unauthorized, "Send an API key in the header x-api-key.")
        })?;
        #[expect(clippy::disallowed_methods, reason = "the one place that takes a tenant from the authorizer")]
        let scope = TenantScope::from_authorizer(identity);
        Ok(Self(scope))
    }
}

/// A JSON body. Unreadable JSON is 400; a value that does not fit is 422 with a pointer to it.
#[derive(Debug)]
pub struct Body<T>(pub T);

impl<S: Sync + Send, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let malformed = |detail: String| Problem::new(ErrorCode::MalformedRequest, detail);
        let bytes = Bytes::from_request(request, state).await.map_err(|_| malformed("The body cannot be read.".into()))?;
        if bytes.len() > MAX_BODY_BYTES {
            return Err(Problem::new(ErrorCode::TooLarge, format!("The body is over {MAX_BODY_BYTES} bytes.")));
        }
        if bytes.is_empty() {
            return Err(malformed("The body is empty; send JSON.".into()));
        }
        let mut reader = serde_json::Deserializer::from_slice(&bytes);
        let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let pointer = pointer(error.path(), error.inner());
            match error.inner().classify() {
                serde_json::error::Category::Data => {
                    Problem::invalid(vec![FieldError::new(pointer, without_place(error.inner()))])
                }
                _ => malformed(format!("The body is no JSON: {}.", error.inner())),
            }
        })?;
        reader.end().map_err(|_| malformed("The body goes on after its JSON value.".into()))?;
        Ok(Self(value))
    }
}

/// A JSON pointer to what was wrong. Unknown and missing fields are named by the message, not by the path.
fn pointer(path: &serde_path_to_error::Path, error: &serde_json::Error) -> String {
    let mut pointer = String::new();
    for segment in path {
        match segment {
            serde_path_to_error::Segment::Seq { index } => pointer.push_str(&format!("/{index}")),
            serde_path_to_error::Segment::Map { key } => pointer.push_str(&format!("/{}", key.replace('~', "~0").replace('/', "~1"))),
            _ => {}
        }
    }
    let message = error.to_string();
    let named = ["unknown field `", "missing field `"].iter().find_map(|start| message.strip_prefix(start));
    match named.and_then(|rest| rest.split_once('`')) {
        Some((field, _)) if !pointer.ends_with(&format!("/{field}")) => format!("{pointer}/{field}"),
        _ => pointer,
    }
}

/// The message without "at line 1 column 7", which says nothing to whoever did not write the JSON by hand.
fn without_place(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message).to_owned()
}

/// The query string. What cannot be decoded is 400; a value that does not fit is 422.
#[derive(Debug)]
pub struct Query<T>(pub T);

impl<S: Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        axum::extract::Query::<T>::try_from_uri(&parts.uri).map(|axum::extract::Query(value)| Self(value)).map_err(|rejection| {
            let message = rejection.body_text();
            let detail = message.split_once(": ").map_or(message.as_str(), |(_, detail)| detail);
            let pointer = detail.split(['`', ':']).next().unwrap_or_default().trim();
            Problem::invalid(vec![FieldError::new(pointer, detail)])
        })
    }
}

/// The ids in the path, in order. One that is no id at all answers like one that names nothing.
#[derive(Debug)]
pub struct PathId<T>(pub T);

async fn path_texts<S: Sync + Send>(parts: &mut Parts, state: &S) -> Result<Vec<String>, Problem> {
    let params = RawPathParams::from_request_parts(parts, state).await.map_err(|_| Problem::not_found())?;
    Ok(params.iter().map(|(_, value)| value.to_owned()).collect())
}

impl<S: Sync + Send, A: FromStr> FromRequestParts<S> for PathId<A> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let texts = path_texts(parts, state).await?;
        let first = texts.first().and_then(|text| text.parse().ok());
        first.map(Self).ok_or_else(Problem::not_found)
    }
}

/// Two ids in the path.
#[derive(Debug)]
pub struct PathIds<A, B>(pub A, pub B);

impl<S: Sync + Send, A: FromStr, B: FromStr> FromRequestParts<S> for PathIds<A, B> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let texts = path_texts(parts, state).await?;
        match texts.as_slice() {
            [a, b] => match (a.parse(), b.parse()) {
                (Ok(a), Ok(b)) => Ok(Self(a, b)),
                _ => Err(Problem::not_found()),
            },
            _ => Err(Problem::not_found()),
        }
    }
}
