use anchorage_domain::Timestamp;
use std::fmt::Debug;
use uuid::Uuid;

/// The time of day. A parameter of everything that writes.
pub trait Clock: Send + Sync + Debug {
    fn now(&self) -> Timestamp;
}

/// Fresh identifiers that sort by the time they were made (UUID version 7), and randomness for secrets.
pub trait Ids: Send + Sync + Debug {
    fn next(&self) -> Uuid;
    /// 32 bytes of a cryptographic random source.
    fn secret(&self) -> [u8; 32];
}
