//! Instants, as the service stores and shows them.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr, time::Duration};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// A UTC instant in whole milliseconds since 1970. Shown as RFC 3339.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Timestamp(i64);

/// The text is no RFC 3339 instant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an RFC 3339 instant like 2026-01-31T08:00:00Z")]
pub struct InvalidTimestamp;

impl Timestamp {
    #[must_use]
    pub const fn from_unix_millis(millis: i64) -> Self {
        Self(millis)
    }

    #[must_use]
    pub const fn unix_millis(self) -> i64 {
        self.0
    }

    /// Whole seconds, as expiry attributes want them.
    #[must_use]
    pub const fn unix_seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    /// Time from `earlier` to this instant; zero when `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000_000)
            .ok()
            .and_then(|instant| instant.format(&Rfc3339).ok())
            .ok_or(fmt::Error)?;
        f.write_str(&text)
    }
}

impl FromStr for Timestamp {
    type Err = InvalidTimestamp;
    fn from_str(text: &str) -> Result<Self, InvalidTimestamp> {
        let instant = OffsetDateTime::parse(text, &Rfc3339).map_err(|_| InvalidTimestamp)?;
        i64::try_from(instant.unix_timestamp_nanos() / 1_000_000).map(Self).map_err(|_| InvalidTimestamp)
    }
}

impl TryFrom<String> for Timestamp {
    type Error = InvalidTimestamp;
    fn try_from(text: String) -> Result<Self, InvalidTimestamp> {
        text.parse()
    }
}

impl From<Timestamp> for String {
    fn from(instant: Timestamp) -> String {
        // The year 9999 bounds what RFC 3339 can say; only a corrupt record lies past it.
        if OffsetDateTime::from_unix_timestamp_nanos(i128::from(instant.0) * 1_000_000).is_ok() {
            instant.to_string()
        } else {
            "9999-12-31T23:59:59Z".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamp_reads_back_what_it_shows() {
        for millis in [0, 1, 999, 1_790_000_000_123, -1] {
            let instant = Timestamp::from_unix_millis(millis);
            assert_eq!(instant.to_string().parse(), Ok(instant));
        }
    }

    #[test]
    fn timestamp_out_of_range_still_serialises() {
        let text = serde_json::to_string(&Timestamp::from_unix_millis(i64::MAX)).unwrap();
        assert_eq!(text, "\"9999-12-31T23:59:59Z\"");
    }

    #[test]
    fn since_an_instant_in_the_future_is_zero() {
        let now = Timestamp::from_unix_millis(5);
        assert_eq!(now.since(now.plus(Duration::from_secs(1))), Duration::ZERO);
    }
}
