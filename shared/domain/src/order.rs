//! Order among the points of one file, and the generations they are published in.

use serde::{Deserialize, Serialize};
use std::fmt;

/// One complete set of a file's points. Readers see exactly one generation of a file at any instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Generation(u64);

impl Generation {
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Distance between the orders of neighbouring chunks as first ingested, so that insertions find room between them.
pub const ORDER_SPACING: i64 = 1024;

/// Where a point stands among its file's points of one generation; unique there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OrderId(i64);

impl OrderId {
    #[must_use]
    pub const fn new(value: i64) -> Self {
        Self(value)
    }

    /// The order of a chunk as first ingested. Starts one spacing above zero, so that a point fits before the first.
    #[must_use]
    pub fn of_index(index: u32) -> Self {
        Self((i64::from(index) + 1) * ORDER_SPACING)
    }

    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_of_consecutive_chunks_leaves_room_on_every_side() {
        assert_eq!(OrderId::of_index(0).get(), 1024);
        assert_eq!(OrderId::of_index(1).get() - OrderId::of_index(0).get(), ORDER_SPACING);
        assert!(OrderId::of_index(u32::MAX).get() > OrderId::of_index(u32::MAX - 1).get());
    }
}
