//! One configuration for every AWS client, and the one place where their errors become outages.

use crate::tls;
use anchorage_ports::{Outage, OutageKind, Service};
use aws_config::{BehaviorVersion, Region, SdkConfig, retry::RetryConfig, timeout::TimeoutConfig};
use aws_sdk_s3::{
    config::http::HttpResponse,
    error::{ProvideErrorMetadata, SdkError},
};
use std::time::Duration;

/// The only retry layer over AWS: a first try and two more.
const MAX_ATTEMPTS: u32 = 3;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
const READ_TIMEOUT: Duration = Duration::from_secs(5);
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(6);
/// All attempts together; an HTTP call has 27 s in all and makes several of these.
const OPERATION_TIMEOUT: Duration = Duration::from_secs(12);

/// Codes with which one of the services asks for fewer calls.
const THROTTLED: [&str; 11] = [
    "BandwidthLimitExceeded",
    "LimitExceededException",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "RequestThrottled",
    "RequestThrottledException",
    "SlowDown",
    "Throttling",
    "ThrottlingException",
    "TooManyRequestsException",
    "TransactionInProgressException",
];

/// What the environment says of AWS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwsSettings {
    pub region: String,
    /// Another endpoint for all services, such as an emulator's; S3 is then addressed path-style. Absent, the SDK's own
    /// `AWS_ENDPOINT_URL` counts.
    pub endpoint_url: Option<String>,
}

/// The configuration that all clients of a process share, and with it credentials and connections.
pub async fn aws_config(settings: &AwsSettings) -> SdkConfig {
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .read_timeout(READ_TIMEOUT)
        .operation_attempt_timeout(ATTEMPT_TIMEOUT)
        .operation_timeout(OPERATION_TIMEOUT)
        .build();
    let client = aws_smithy_http_client::Builder::new().tls_provider(tls::provider()).build_https();
    let loader = aws_config::defaults(BehaviorVersion::v2026_01_12())
        .http_client(client)
        .region(Region::new(settings.region.clone()))
        .retry_config(RetryConfig::standard().with_max_attempts(MAX_ATTEMPTS))
        .timeout_config(timeouts);
    match &settings.endpoint_url {
        Some(url) => loader.endpoint_url(url).load().await,
        None => loader.load().await,
    }
}

/// Why a call got no answer. The detail names the operation and the service's own code, never a message of the service:
/// those repeat keys and values.
pub fn outage<E: ProvideErrorMetadata>(service: Service, operation: &str, error: &SdkError<E, HttpResponse>) -> Outage {
    let (kind, why) = match error {
        SdkError::TimeoutError(_) => (OutageKind::TimedOut, "no answer in time"),
        SdkError::DispatchFailure(failure) if failure.is_timeout() => (OutageKind::TimedOut, "no answer in time"),
        SdkError::DispatchFailure(_) => (OutageKind::Unavailable, "no connection"),
        SdkError::ResponseError(_) => (OutageKind::Unavailable, "unreadable answer"),
        SdkError::ServiceError(failure) => {
            let code = failure.err().code();
            (service_error(code, failure.raw().status().as_u16()), code.unwrap_or("no code"))
        }
        _ => (OutageKind::Refused, "the request could not be made"),
    };
    Outage::new(service, kind, format!("{operation}: {why}"))
}

fn service_error(code: Option<&str>, status: u16) -> OutageKind {
    match (code, status) {
        (Some(code), _) if THROTTLED.contains(&code) => OutageKind::Throttled,
        (_, 429) => OutageKind::Throttled,
        (Some("RequestTimeout" | "RequestTimeoutException"), _) => OutageKind::TimedOut,
        (_, 500..) => OutageKind::Unavailable,
        _ => OutageKind::Refused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_error_kind_follows_code_then_status() {
        for (code, status, expected) in [
            (Some("ThrottlingException"), 400, OutageKind::Throttled),
            (Some("SlowDown"), 503, OutageKind::Throttled),
            (None, 429, OutageKind::Throttled),
            (Some("RequestTimeout"), 400, OutageKind::TimedOut),
            (Some("InternalServerError"), 500, OutageKind::Unavailable),
            (None, 503, OutageKind::Unavailable),
            (Some("AccessDeniedException"), 400, OutageKind::Refused),
            (None, 403, OutageKind::Refused),
        ] {
            assert_eq!(service_error(code, status), expected, "{code:?} {status}");
        }
    }
}
