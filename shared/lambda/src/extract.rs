//! What handlers take out of a request: who asks, and values of the right form. Everything refused is a [`Problem`].

use crate::problem::{ErrorCode, FieldError, Problem};
use anchorage_domain::{Identity, KeyId, Scope, TenantScope};
use axum::{
    body::{Bytes, to_bytes},
    extract::{FromRequest, FromRequestParts, Path, Query, Request},
    http::{header, request::Parts},
};
use lambda_http::request::RequestContext;
use serde::de::DeserializeOwned;
use serde_json::{Value, error::Category};
use std::{fmt, marker::PhantomData, str::FromStr};

/// Largest body of an operation that says nothing else, in bytes.
pub const MAX_BODY_BYTES: usize = 256 * 1024;

/// A scope as a type, so that a handler's signature says what its caller needs.
pub trait Permission: Send + Sync + 'static {
    const SCOPE: Scope;
}

macro_rules! permissions {
    ($($name:ident),+) => {$(
        #[derive(Debug, Clone, Copy)]
        pub struct $name;
        impl Permission for $name {
            const SCOPE: Scope = Scope::$name;
        }
    )+};
}
permissions!(FilesRead, FilesWrite, PointsRead, PointsWrite, DomainsRead, DomainsWrite, RagQuery);

/// The caller's tenant, when its key has the scope `P`.
///
/// Identity comes from the authorizer's context alone: no header, query, path or body takes part.
pub struct Tenant<P> {
    pub scope: TenantScope,
    permission: PhantomData<P>,
}

impl<P> fmt::Debug for Tenant<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tenant").field("scope", &self.scope).finish_non_exhaustive()
    }
}

fn identity(parts: &Parts) -> Option<Identity> {
    let Some(RequestContext::ApiGatewayV2(context)) = parts.extensions.get::<RequestContext>() else {
        return None;
    };
    let fields = &context.authorizer.as_ref()?.fields;
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    Some(Identity {
        tenant_id: text("tenant_id")?.parse().ok()?,
        key_id: KeyId::new(text("key_id")?).ok()?,
        scopes: text("scopes")?.parse().ok()?,
    })
}

impl<S: Sync, P: Permission> FromRequestParts<S> for Tenant<P> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let identity = identity(parts)
            .ok_or_else(|| Problem::new(ErrorCode::Unauthenticated, "Send an API key in the header x-api-key."))?;
        tracing::Span::current().record("tenant_id", tracing::field::display(identity.tenant_id));
        #[expect(clippy::disallowed_methods, reason = "the one place that vouches for a caller")]
        let scope = TenantScope::from_authorizer(identity);
        if scope.allows(P::SCOPE) {
            Ok(Self { scope, permission: PhantomData })
        } else {
            Err(Problem::new(ErrorCode::ScopeMissing, format!("The operation needs the scope {}.", P::SCOPE)))
        }
    }
}

/// A JSON body of at most `MAX` bytes. Unknown fields are refused where `T` says so, and every `T` here should.
#[derive(Debug)]
pub struct Body<T, const MAX: usize = MAX_BODY_BYTES>(pub T);

impl<S: Sync, T: DeserializeOwned, const MAX: usize> FromRequest<S> for Body<T, MAX> {
    type Rejection = Problem;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Problem> {
        let declared = request.headers().get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap_or_default());
        if declared.is_some_and(|text| !is_json(text)) {
            return Err(Problem::new(ErrorCode::UnsupportedMediaType, "Send the body as application/json."));
        }
        let bytes = to_bytes(request.into_body(), MAX)
            .await
            .map_err(|_| Problem::new(ErrorCode::BodyTooLarge, format!("The body may have at most {MAX} bytes.")))?;
        parse(&bytes).map(Self)
    }
}

fn is_json(content_type: &str) -> bool {
    content_type.split(';').next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

fn parse<T: DeserializeOwned>(bytes: &Bytes) -> Result<T, Problem> {
    let malformed = |detail: String| Problem::new(ErrorCode::MalformedRequest, detail);
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let (line, column) = (error.inner().line(), error.inner().column());
        match error.inner().classify() {
            Category::Data => Problem::invalid(vec![field_error(&error)]),
            _ => malformed(format!("The body is not valid JSON at line {line}, column {column}.")),
        }
    })?;
    deserializer.end().map_err(|_| malformed("Something follows the JSON value in the body.".into()))?;
    Ok(value)
}

/// Where in the body the error lies; an unknown or missing field is named although it is no value that was read.
fn field_error(error: &serde_path_to_error::Error<serde_json::Error>) -> FieldError {
    use serde_path_to_error::Segment;
    let mut pointer = String::new();
    for segment in error.path() {
        match segment {
            Segment::Seq { index } => pointer.extend(["/", &index.to_string()]),
            Segment::Map { key } | Segment::Enum { variant: key } => pointer.extend(["/", &escape(key)]),
            Segment::Unknown => {}
        }
    }
    let text = error.inner().to_string();
    let detail = text.rsplit_once(" at line ").map_or(text.as_str(), |(detail, _)| detail);
    for prefix in ["unknown field `", "missing field `"] {
        let named = detail.strip_prefix(prefix).and_then(|rest| rest.split_once('`'));
        if let Some((name, _)) = named {
            let last = format!("/{}", escape(name));
            if !pointer.ends_with(&last) {
                pointer.push_str(&last);
            }
        }
    }
    FieldError { pointer, detail: detail.to_owned() }
}

fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// The query string. Parameters are texts here; the handler parses them, and says what is wrong with which.
#[derive(Debug)]
pub struct Parameters<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Parameters<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Query::from_request_parts(parts, state).await {
            Ok(Query(values)) => Ok(Self(values)),
            Err(_) => Err(Problem::new(ErrorCode::MalformedRequest, "The query string cannot be read.")),
        }
    }
}

/// One identifier of the path. One of the wrong form names nothing, so it is answered like a missing object.
#[derive(Debug, Clone, Copy)]
pub struct Id<T>(pub T);

impl<S: Send + Sync, T: FromStr> FromRequestParts<S> for Id<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Ok(Path(text)) = Path::<String>::from_request_parts(parts, state).await else {
            return Err(Problem::not_found());
        };
        text.parse().map(Self).map_err(|_| Problem::not_found())
    }
}

/// Two identifiers of the path, the outer one first. As [`Id`].
#[derive(Debug, Clone, Copy)]
pub struct IdPair<T, U>(pub T, pub U);

impl<S: Send + Sync, T: FromStr, U: FromStr> FromRequestParts<S> for IdPair<T, U> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Ok(Path((outer, inner))) = Path::<(String, String)>::from_request_parts(parts, state).await else {
            return Err(Problem::not_found());
        };
        match (outer.parse(), inner.parse()) {
            (Ok(outer), Ok(inner)) => Ok(Self(outer, inner)),
            _ => Err(Problem::not_found()),
        }
    }
}

/// Most items a listing gives at once.
pub const MAX_PAGE: usize = 100;
/// Items a listing gives when nothing is said.
pub const DEFAULT_PAGE: usize = 20;

/// A listing's `limit`, from its text.
///
/// # Errors
/// What is wrong with it, in words for the caller.
pub fn page_limit(text: Option<&str>) -> Result<usize, String> {
    let wrong = || format!("must be a number from 1 to {MAX_PAGE}");
    text.map_or(Ok(DEFAULT_PAGE), |text| {
        text.parse().ok().filter(|limit| (1..=MAX_PAGE).contains(limit)).ok_or_else(wrong)
    })
}
