//! The one place where the time of day and randomness enter.

use anchorage_domain::Timestamp;
use anchorage_ports::{Clock, Ids};
use std::time::{SystemTime, UNIX_EPOCH};
use uuid::Uuid;

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        #[expect(clippy::disallowed_methods, reason = "this is the clock that everything else is given")]
        let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_unix_millis(i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX))
    }
}

/// Identifiers from the clock and the system's random source.
#[derive(Debug, Clone, Copy, Default)]
pub struct RandomIds;

impl Ids for RandomIds {
    fn next(&self) -> Uuid {
        #[expect(clippy::disallowed_methods, reason = "this is the source that everything else is given")]
        Uuid::now_v7()
    }

    fn secret(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        #[expect(clippy::expect_used, reason = "without a random source no secret may be handed out at all")]
        getrandom::fill(&mut bytes).expect("the system has a random source");
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_ids_ascend_and_secrets_differ() {
        let ids: Vec<_> = std::iter::repeat_with(|| RandomIds.next()).take(100).collect();
        assert!(ids.is_sorted());
        assert_ne!(RandomIds.secret(), RandomIds.secret());
    }
}
