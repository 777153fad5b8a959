use anchorage_domain::Timestamp;
use anchorage_ports::{Clock, Ids};
use std::{
    sync::atomic::{AtomicI64, AtomicU64, Ordering},
    time::Duration,
};
use uuid::Uuid;

/// A clock that moves when it is told to.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    #[must_use]
    pub const fn at(now: Timestamp) -> Self {
        Self(AtomicI64::new(now.unix_millis()))
    }

    pub fn advance(&self, by: Duration) {
        self.0.fetch_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX), Ordering::SeqCst);
    }
}

impl Default for ManualClock {
    /// 2026-01-01T00:00:00Z.
    fn default() -> Self {
        Self::at(Timestamp::from_unix_millis(1_767_225_600_000))
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_millis(self.0.load(Ordering::SeqCst))
    }
}

/// Identifiers that count up, so that a test can name them.
#[derive(Debug, Default)]
pub struct SequentialIds(AtomicU64);

impl Ids for SequentialIds {
    fn next(&self) -> Uuid {
        Uuid::from_u128(0x0198_0000_0000_7000_8000_0000_0000_0000 + u128::from(self.0.fetch_add(1, Ordering::SeqCst)))
    }

    fn secret(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (place, byte) in bytes.iter_mut().zip(self.0.fetch_add(1, Ordering::SeqCst).to_be_bytes()) {
            *place = byte;
        }
        bytes
    }
}
