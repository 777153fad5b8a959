//! One way to call Qdrant: with a time limit, one retry layer, and errors that say what to do about them.

use anchorage_ports::{Outage, OutageKind, Service};
use backon::{ExponentialBuilder, Retryable as _};
use qdrant_client::{Qdrant, QdrantError, config::QdrantConfig, qdrant::UpdateResult, qdrant::UpdateStatus};
use secrecy::{ExposeSecret as _, SecretString};
use std::{fmt, time::Duration};
use tonic::Code;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// One attempt of a read. A connection that was dropped in silence costs this once, then it is opened anew.
const READ_TIMEOUT: Duration = Duration::from_secs(3);
/// A read with its retries.
const READ_DEADLINE: Duration = Duration::from_secs(8);
/// One attempt of a write, which waits until the store has applied it.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// A write with its retries.
const WRITE_DEADLINE: Duration = Duration::from_secs(25);
/// Attempts after the first.
const RETRIES: usize = 2;
const FIRST_RETRY_AFTER: Duration = Duration::from_millis(50);
/// What is kept of the store's own words.
const MAX_DETAIL_CHARS: usize = 200;

/// What a call is for: it decides how long it may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    Read,
    Write,
}

/// Two channels, because a channel has one timeout; each connects when it is first used.
pub(super) struct Client {
    channels: Result<(Qdrant, Qdrant), Outage>,
    api_key: Option<SecretString>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Client")
    }
}

fn outage(kind: OutageKind, detail: impl Into<String>) -> Outage {
    Outage::new(Service::VectorIndex, kind, detail)
}

const fn kind(code: Code) -> OutageKind {
    match code {
        Code::ResourceExhausted => OutageKind::Throttled,
        // The client turns its own time-out into `Cancelled`.
        Code::DeadlineExceeded | Code::Cancelled => OutageKind::TimedOut,
        // The client reports a connection that it cannot open as `Internal`.
        Code::Unavailable | Code::Internal | Code::Unknown | Code::Aborted | Code::DataLoss => OutageKind::Unavailable,
        _ => OutageKind::Refused,
    }
}

impl Client {
    /// Connects to nothing yet: an address that is none is reported by the first call.
    pub(super) fn new(url: &str, api_key: Option<SecretString>) -> Self {
        let channel = |timeout| {
            let mut config = QdrantConfig::from_url(url);
            config.timeout = timeout;
            config.connect_timeout = CONNECT_TIMEOUT;
            // With more, a silent drop costs a full time-out for each.
            config.pool_size = 1;
            config.check_compatibility = false;
            // A stray newline would come back inside an error's text.
            config.api_key = api_key.as_ref().map(|key| key.expose_secret().trim().to_owned());
            Qdrant::new(config).map_err(|_| outage(OutageKind::Refused, "the configured address is not a URL"))
        };
        Self { channels: channel(READ_TIMEOUT).and_then(|reads| Ok((reads, channel(WRITE_TIMEOUT)?))), api_key }
    }

    /// Calls, and calls again when the store was out of reach: everything here may be done twice.
    pub(super) async fn call<T, F>(&self, call: Call, operation: impl Fn(Qdrant) -> F) -> Result<T, CallError>
    where
        F: Future<Output = Result<T, QdrantError>>,
    {
        let (reads, writes) = self.channels.as_ref().map_err(Clone::clone)?;
        let (channel, deadline) = match call {
            Call::Read => (reads, READ_DEADLINE),
            Call::Write => (writes, WRITE_DEADLINE),
        };
        let attempt = || async { operation(channel.clone()).await.map_err(|error| self.explain(&error)) };
        let policy =
            ExponentialBuilder::default().with_min_delay(FIRST_RETRY_AFTER).with_max_times(RETRIES).with_jitter();
        let retried = attempt.retry(policy).when(CallError::is_transient);
        match tokio::time::timeout(deadline, retried).await {
            Ok(result) => result,
            Err(_) => Err(outage(OutageKind::TimedOut, format!("no answer in {} s", deadline.as_secs())).into()),
        }
    }

    fn explain(&self, error: &QdrantError) -> CallError {
        match error {
            QdrantError::ResponseError { status } | QdrantError::ResourceExhaustedError { status, .. } => {
                if status.code() == Code::NotFound {
                    return CallError::NotFound;
                }
                let detail = format!("{:?}: {}", status.code(), self.redact(status.message()));
                outage(kind(status.code()), detail).into()
            }
            _ => outage(OutageKind::Unavailable, "the client failed before the call").into(),
        }
    }

    /// A malformed key comes back in the error's text.
    fn redact(&self, message: &str) -> String {
        let key = self.api_key.as_ref().map(|key| key.expose_secret().trim()).filter(|key| !key.is_empty());
        let message = key.map_or_else(|| message.to_owned(), |key| message.replace(key, "…"));
        message.chars().take(MAX_DETAIL_CHARS).collect()
    }
}

/// What came of a call that was not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CallError {
    /// There is no such collection.
    NotFound,
    Outage(Outage),
}

impl CallError {
    fn is_transient(&self) -> bool {
        matches!(self, Self::Outage(outage) if outage.kind == OutageKind::Unavailable)
    }
}

impl From<Outage> for CallError {
    fn from(outage: Outage) -> Self {
        Self::Outage(outage)
    }
}

impl From<CallError> for Outage {
    fn from(error: CallError) -> Self {
        match error {
            CallError::NotFound => {
                outage(OutageKind::Refused, "there is no such collection; it has to be bootstrapped")
            }
            CallError::Outage(outage) => outage,
        }
    }
}

/// A write counts only once the store says that it has been applied: an `Ok` may carry less.
pub(super) fn completed(result: Option<UpdateResult>) -> Result<(), Outage> {
    match result.map(|result| result.status()) {
        Some(UpdateStatus::Completed) => Ok(()),
        Some(UpdateStatus::WaitTimeout | UpdateStatus::Acknowledged) => {
            Err(outage(OutageKind::TimedOut, "the write was taken but not applied in time"))
        }
        Some(UpdateStatus::UnknownUpdateStatus | UpdateStatus::ClockRejected) | None => {
            Err(outage(OutageKind::Unavailable, "the write was not applied"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_codes_map_to_what_the_caller_should_do() {
        for (code, expected) in [
            (Code::Unavailable, OutageKind::Unavailable),
            (Code::Internal, OutageKind::Unavailable),
            (Code::ResourceExhausted, OutageKind::Throttled),
            (Code::Cancelled, OutageKind::TimedOut),
            (Code::DeadlineExceeded, OutageKind::TimedOut),
            (Code::InvalidArgument, OutageKind::Refused),
            (Code::Unauthenticated, OutageKind::Refused),
            (Code::PermissionDenied, OutageKind::Refused),
        ] {
            assert_eq!(kind(code), expected, "{code:?}");
        }
    }

    #[test]
    fn a_write_is_done_only_when_it_is_applied() {
        let result = |status: UpdateStatus| Some(UpdateResult { operation_id: None, status: status as i32 });
        assert_eq!(completed(result(UpdateStatus::Completed)), Ok(()));
        for status in [UpdateStatus::Acknowledged, UpdateStatus::WaitTimeout] {
            assert_eq!(completed(result(status)).unwrap_err().kind, OutageKind::TimedOut);
        }
        assert!(completed(result(UpdateStatus::ClockRejected)).is_err());
        assert!(completed(None).is_err());
    }

    /// Case V9: building succeeds whatever the address; the first call tells.
    #[tokio::test]
    async fn a_wrong_address_is_told_by_the_first_call_and_the_key_never() {
        let secret = "s3cret\u{7f}key";
        for (url, expected) in [("not a url", OutageKind::Refused), ("http://127.0.0.1:1", OutageKind::Unavailable)] {
            let client = Client::new(url, Some(SecretString::from(format!("{secret}\n"))));
            let error = client.call(Call::Read, |qdrant| async move { qdrant.health_check().await }).await.unwrap_err();
            let outage = Outage::from(error);
            assert_eq!(outage.kind, expected, "{outage}");
            assert!(!format!("{outage:?} {client:?}").contains(secret));
        }
        assert_eq!(Client::new("http://a", Some(secret.into())).redact(&format!("bad {secret}")), "bad …");
    }
}
