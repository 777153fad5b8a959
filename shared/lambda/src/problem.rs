//! Errors as callers see them: `application/problem+json` (RFC 9457), one closed list of codes.

use anchorage_ports::{Outage, OutageKind, Service};
use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;

/// What went wrong, as a program reads it. One status each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The body, a parameter or the query string cannot be read at all.
    MalformedRequest,
    /// The tenant has no domain of that key.
    DomainUnknown,
    /// The domain is switched off.
    DomainDisabled,
    /// The request reached a function without an authorized caller.
    Unauthorized,
    /// The key lacks the scope that the operation asks for.
    ScopeMissing,
    /// There is no such object, or it is not the caller's.
    NotFound,
    /// The path exists, but not with this method.
    MethodNotAllowed,
    /// The tenant has a domain of that key already.
    DomainExists,
    /// The file is being ingested; wait until it is ready or failed.
    FileBusy,
    /// Others changed the same object at the same time; try again.
    Conflict,
    /// The declared size, or the body, is over its ceiling.
    TooLarge,
    /// Well-formed, but with invalid values: `errors` points at each.
    InvalidRequest,
    /// An upstream service refused or failed the call.
    UpstreamFailed,
    /// An upstream service is saturated.
    UpstreamSaturated,
    /// An upstream service cannot be reached.
    UpstreamUnavailable,
    /// An upstream service did not answer in time.
    UpstreamTimeout,
    /// The service is not ready to answer; the body says what is missing.
    NotReady,
    /// A fault of this service.
    Internal,
}

impl ErrorCode {
    #[must_use]
    pub const fn status(self) -> StatusCode {
        match self {
            Self::MalformedRequest | Self::DomainUnknown | Self::DomainDisabled => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::ScopeMissing => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::DomainExists | Self::FileBusy | Self::Conflict => StatusCode::CONFLICT,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::InvalidRequest => StatusCode::UNPROCESSABLE_ENTITY,
            Self::UpstreamFailed => StatusCode::BAD_GATEWAY,
            Self::UpstreamSaturated | Self::UpstreamUnavailable | Self::NotReady => StatusCode::SERVICE_UNAVAILABLE,
            Self::UpstreamTimeout => StatusCode::GATEWAY_TIMEOUT,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::MalformedRequest => "The request cannot be read",
            Self::DomainUnknown => "The domain is not registered",
            Self::DomainDisabled => "The domain is switched off",
            Self::Unauthorized => "The caller is not authorized",
            Self::ScopeMissing => "The key lacks a scope",
            Self::NotFound => "Not found",
            Self::MethodNotAllowed => "The method is not allowed here",
            Self::DomainExists => "The domain exists already",
            Self::FileBusy => "The file is being ingested",
            Self::Conflict => "Changed by somebody else at the same time",
            Self::TooLarge => "Too large",
            Self::InvalidRequest => "The request has invalid values",
            Self::UpstreamFailed => "An upstream service failed",
            Self::UpstreamSaturated => "An upstream service is saturated",
            Self::UpstreamUnavailable => "An upstream service is unavailable",
            Self::UpstreamTimeout => "An upstream service did not answer in time",
            Self::NotReady => "The service is not ready",
            Self::Internal => "A fault of the service",
        }
    }

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MalformedRequest => "malformed_request",
            Self::DomainUnknown => "domain_unknown",
            Self::DomainDisabled => "domain_disabled",
            Self::Unauthorized => "unauthorized",
            Self::ScopeMissing => "scope_missing",
            Self::NotFound => "not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::DomainExists => "domain_exists",
            Self::FileBusy => "file_busy",
            Self::Conflict => "conflict",
            Self::TooLarge => "too_large",
            Self::InvalidRequest => "invalid_request",
            Self::UpstreamFailed => "upstream_failed",
            Self::UpstreamSaturated => "upstream_saturated",
            Self::UpstreamUnavailable => "upstream_unavailable",
            Self::UpstreamTimeout => "upstream_timeout",
            Self::NotReady => "not_ready",
            Self::Internal => "internal",
        }
    }
}

/// One invalid value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FieldError {
    /// JSON pointer into the body, or the parameter's name.
    pub pointer: String,
    pub detail: String,
}

impl FieldError {
    #[must_use]
    pub fn new(pointer: impl Into<String>, detail: impl ToString) -> Self {
        Self { pointer: pointer.into(), detail: detail.to_string() }
    }
}

/// The body of every error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Problem {
    #[serde(rename = "type")]
    kind: String,
    title: &'static str,
    status: u16,
    detail: String,
    code: ErrorCode,
    correlation_id: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<FieldError>,
    #[serde(skip)]
    #[schema(ignore)]
    retry_after: Option<Duration>,
}

/// How long a caller is asked to stay away from a saturated upstream.
const RETRY_AFTER: Duration = Duration::from_secs(5);

impl Problem {
    #[must_use]
    pub fn new(code: ErrorCode, detail: impl Into<String>) -> Self {
        Self {
            kind: format!("urn:anchorage:problem:{}", code.as_str()),
            title: code.title(),
            status: code.status().as_u16(),
            detail: detail.into(),
            code,
            // Filled in on the way out, where the request's id is known.
            correlation_id: String::new(),
            errors: Vec::new(),
            retry_after: None,
        }
    }

    /// The one body for what is not there and what is not the caller's.
    #[must_use]
    pub fn not_found() -> Self {
        Self::new(ErrorCode::NotFound, "There is no such object.")
    }

    #[must_use]
    pub fn invalid(errors: Vec<FieldError>) -> Self {
        let mut problem = Self::new(ErrorCode::InvalidRequest, "Some values are not valid; `errors` names each.");
        problem.errors = errors;
        problem
    }

    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        self.code
    }

    pub(crate) fn with_correlation_id(mut self, id: String) -> Self {
        self.correlation_id = id;
        self
    }
}

impl From<Outage> for Problem {
    /// What failed is logged here, once, with its particulars; the caller learns which service and how.
    fn from(outage: Outage) -> Self {
        tracing::error!(event = "http.upstream.failed", service = %outage.service, kind = ?outage.kind, detail = outage.detail);
        // Whether it is the store of bytes or of records is no caller's business.
        let name = match outage.service {
            Service::DocumentStore | Service::BlobStore => "storage",
            Service::Queue => "ingest queue",
            Service::VectorIndex => "vector store",
            Service::Embedder => "embedding service",
        };
        let (code, detail) = match outage.kind {
            OutageKind::Throttled => (ErrorCode::UpstreamSaturated, format!("The {name} is saturated. Try again shortly.")),
            OutageKind::Unavailable => {
                (ErrorCode::UpstreamUnavailable, format!("The {name} cannot be reached. Try again shortly."))
            }
            OutageKind::TimedOut => {
                (ErrorCode::UpstreamTimeout, format!("The {name} did not answer in time. Try again shortly."))
            }
            OutageKind::Refused => (ErrorCode::UpstreamFailed, format!("The {name} refused the call.")),
        };
        let retry_after = matches!(outage.kind, OutageKind::Throttled | OutageKind::Unavailable).then_some(RETRY_AFTER);
        Self { retry_after, ..Self::new(code, detail) }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let retry_after = self.retry_after;
        let mut response = (self.code.status(), Json(&self)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds.as_secs()));
        }
        // The outermost layer writes the correlation id into the body.
        response.extensions_mut().insert(self);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outage_never_shows_its_particulars_to_the_caller() {
        let outage = Outage::new(Service::DocumentStore, OutageKind::Throttled, "table anchorage-prod, request 7");
        let problem = Problem::from(outage);
        assert_eq!(problem.code().status(), StatusCode::SERVICE_UNAVAILABLE);
        let body = serde_json::to_string(&problem).unwrap();
        assert!(!body.contains("anchorage-prod") && body.contains("saturated"), "{body}");
        assert_eq!(problem.into_response().headers()[header::RETRY_AFTER], "5");
    }

    #[test]
    fn code_serialises_to_its_published_name() {
        for code in [ErrorCode::ScopeMissing, ErrorCode::FileBusy, ErrorCode::Internal] {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }
}
