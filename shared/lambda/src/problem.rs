//! Failures as callers see them: RFC 9457 problem documents with a closed list of codes.

use crate::correlation::Correlation;
use anchorage_ports::{Outage, OutageKind};
use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use std::{fmt::Display, time::Duration};
use utoipa::ToSchema;

/// How long a caller is asked to stay away from a saturated upstream.
const SATURATED_WAIT: Duration = Duration::from_secs(5);

macro_rules! error_codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $status:ident, $title:literal;)+) => {
        /// Why a request failed, one code per failure.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, ToSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum ErrorCode {
            $($(#[$doc])* $name,)+
        }

        impl ErrorCode {
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            #[must_use]
            pub const fn status(self) -> StatusCode {
                match self { $(Self::$name => StatusCode::$status,)+ }
            }

            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)+ }
            }
        }
    };
}

error_codes! {
    /// The request cannot be read: broken JSON, a broken query string, a broken event.
    MalformedRequest = "malformed_request", BAD_REQUEST, "The request cannot be read";
    /// The tenant has not registered the domain. Nothing was written.
    DomainUnknown = "domain_unknown", BAD_REQUEST, "The domain is not registered";
    /// The domain is switched off. Nothing was written.
    DomainDisabled = "domain_disabled", BAD_REQUEST, "The domain is switched off";
    /// No authorizer has vouched for the caller.
    Unauthenticated = "unauthenticated", UNAUTHORIZED, "The request carries no identity";
    /// The key lacks the scope that the operation needs.
    ScopeMissing = "scope_missing", FORBIDDEN, "The key lacks a scope";
    /// There is no such thing, or it is not the caller's.
    NotFound = "not_found", NOT_FOUND, "Not found";
    /// No operation lies under this path.
    RouteNotFound = "route_not_found", NOT_FOUND, "No such path";
    /// The path has no operation for this method.
    MethodNotAllowed = "method_not_allowed", METHOD_NOT_ALLOWED, "The method is not allowed here";
    /// The document is being ingested; the operation waits for that to end.
    FileBusy = "file_busy", CONFLICT, "The document is being ingested";
    /// The document's bytes have not arrived yet.
    UploadPending = "upload_pending", CONFLICT, "The document has no bytes yet";
    /// The tenant has a domain of this key already.
    DomainExists = "domain_exists", CONFLICT, "The domain exists already";
    /// Others kept changing the same thing. Read it again, then try again.
    WriteConflict = "write_conflict", CONFLICT, "The write met another one";
    /// The announced file is larger than one document may be.
    FileTooLarge = "file_too_large", PAYLOAD_TOO_LARGE, "The file is too large";
    /// The request's body is larger than the operation reads.
    BodyTooLarge = "body_too_large", PAYLOAD_TOO_LARGE, "The body is too large";
    /// The body is not of a type that the operation reads.
    UnsupportedMediaType = "unsupported_media_type", UNSUPPORTED_MEDIA_TYPE, "The type is not supported";
    /// Values are well-formed but not valid; `errors` points at each.
    InvalidValues = "invalid_values", UNPROCESSABLE_ENTITY, "Some values are not valid";
    /// A service that this one depends on failed.
    UpstreamFailed = "upstream_failed", BAD_GATEWAY, "An upstream service failed";
    /// A service that this one depends on is saturated.
    UpstreamSaturated = "upstream_saturated", SERVICE_UNAVAILABLE, "An upstream service is saturated";
    /// The service is not ready for requests.
    NotReady = "not_ready", SERVICE_UNAVAILABLE, "The service is not ready";
    /// A service that this one depends on did not answer in time.
    UpstreamTimedOut = "upstream_timed_out", GATEWAY_TIMEOUT, "An upstream service did not answer in time";
}

/// One value that is not valid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FieldError {
    /// JSON pointer into the body, or `?name` for a query parameter.
    pub pointer: String,
    pub detail: String,
}

/// The document itself, as `application/problem+json`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemBody {
    /// A URN of the code.
    #[schema(example = "urn:anchorage:problem:not_found")]
    pub r#type: String,
    pub title: String,
    pub status: u16,
    pub detail: String,
    pub code: ErrorCode,
    pub correlation_id: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub errors: Vec<FieldError>,
}

/// A failure on its way out. The frame of [`crate::http::app`] gives it its correlation id and its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub code: ErrorCode,
    /// Safe to show to the caller.
    pub detail: String,
    pub errors: Vec<FieldError>,
    pub retry_after: Option<Duration>,
}

impl Problem {
    #[must_use]
    pub fn new(code: ErrorCode, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), errors: Vec::new(), retry_after: None }
    }

    /// One answer for what is missing and what is another tenant's.
    #[must_use]
    pub fn not_found() -> Self {
        Self::new(ErrorCode::NotFound, "There is no such object.")
    }

    /// Values that are well-formed but not valid.
    #[must_use]
    pub fn invalid(errors: Vec<FieldError>) -> Self {
        Self { errors, ..Self::new(ErrorCode::InvalidValues, "Correct the values that `errors` points at.") }
    }

    pub(crate) fn render(&self, correlation: &Correlation) -> Response {
        let body = ProblemBody {
            r#type: format!("urn:anchorage:problem:{}", self.code.as_str()),
            title: self.code.title().to_owned(),
            status: self.code.status().as_u16(),
            detail: self.detail.clone(),
            code: self.code,
            correlation_id: correlation.id.to_string(),
            errors: self.errors.clone(),
        };
        let mut response = (self.code.status(), Json(body)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(wait) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(wait.as_secs()));
        }
        response
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.code.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<Outage> for Problem {
    /// What failed is logged here, once, with its particulars; the caller learns which service and how.
    fn from(outage: Outage) -> Self {
        tracing::error!(event = "upstream.failed", service = outage.service.as_str(), detail = %outage);
        let service = outage.service;
        match outage.kind {
            OutageKind::Throttled => Self {
                retry_after: Some(SATURATED_WAIT),
                ..Self::new(ErrorCode::UpstreamSaturated, format!("The {service} is saturated. Try again later."))
            },
            OutageKind::TimedOut => {
                Self::new(ErrorCode::UpstreamTimedOut, format!("The {service} did not answer in time."))
            }
            OutageKind::Unavailable | OutageKind::Refused => {
                Self::new(ErrorCode::UpstreamFailed, format!("The {service} did not do what it was asked to."))
            }
        }
    }
}

/// Collects what is wrong with a request's values, so that the caller learns all of it at once.
#[derive(Debug, Default)]
pub struct Invalid(Vec<FieldError>);

impl Invalid {
    pub fn add(&mut self, pointer: impl Into<String>, detail: impl Display) {
        self.0.push(FieldError { pointer: pointer.into(), detail: detail.to_string() });
    }

    /// The value, or a note of what is wrong with it.
    pub fn check<T, E: Display>(&mut self, pointer: impl Into<String>, parsed: Result<T, E>) -> Option<T> {
        parsed.map_err(|error| self.add(pointer, error)).ok()
    }

    /// As [`Self::check`], for a value that may be left out.
    pub fn check_optional<T, E: Display>(
        &mut self,
        pointer: impl Into<String>,
        parsed: Option<Result<T, E>>,
    ) -> Option<T> {
        parsed.and_then(|parsed| self.check(pointer, parsed))
    }

    /// The whole value when nothing was wrong.
    ///
    /// # Errors
    /// A 422 with everything that was noted.
    pub fn finish<T>(self, value: Option<T>) -> Result<T, Problem> {
        match value {
            Some(value) if self.0.is_empty() => Ok(value),
            _ => Err(Problem::invalid(self.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anchorage_ports::Service;
    use std::collections::HashSet;

    #[test]
    fn error_codes_are_distinct_and_serialise_to_their_names() {
        let mut seen = HashSet::new();
        for code in ErrorCode::ALL {
            assert!(seen.insert(code.as_str()));
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
            assert!(code.status().is_client_error() || code.status().is_server_error());
        }
    }

    #[test]
    fn outage_detail_stays_inside() {
        for (kind, status) in [
            (OutageKind::Throttled, 503),
            (OutageKind::Unavailable, 502),
            (OutageKind::TimedOut, 504),
            (OutageKind::Refused, 502),
        ] {
            let problem = Problem::from(Outage::new(Service::Queue, kind, "arn:secret"));
            assert_eq!(problem.code.status().as_u16(), status);
            assert!(!problem.detail.contains("arn:secret"));
            assert_eq!(problem.retry_after.is_some(), status == 503);
        }
    }
}
