//! What the acceptance tests share.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "test support: a broken expectation fails the test that relies on it"
)]

pub mod api;
pub mod office;
pub mod processes;
pub mod stack;
