//! What every port promises, asserted over its memory and over its real adapter alike.
//!
//! The real half runs where `ANCHORAGE_TEST_ENDPOINT` names an AWS endpoint, with `ANCHORAGE_TEST_TABLE`,
//! `ANCHORAGE_TEST_CONTRACT_BUCKET` (versioned) and `ANCHORAGE_TEST_CONTRACT_QUEUE_URL` on it. Every run works in fresh tenants, so suites
//! may share a table and a bucket.
//! `ANCHORAGE_TEST_QDRANT_URL` names a Qdrant, in which each test makes a collection; `ANCHORAGE_TEST_EMBEDDER_URL` an
//! OpenAI-compatible endpoint, with `ANCHORAGE_TEST_EMBEDDER_MODEL` and `ANCHORAGE_TEST_EMBEDDER_DIMS`.
#![cfg(test)]

mod blobs;
mod embedder;
mod queue;
mod real;
mod store;
mod vectors;

use anchorage_domain::{TenantId, TenantScope};
use uuid::Uuid;

/// A tenant that no other test and no earlier run knows.
#[expect(clippy::disallowed_methods, reason = "a test vouches for its own fresh tenants")]
fn fresh_scope() -> TenantScope {
    TenantScope::for_operator(TenantId::new(Uuid::now_v7()))
}

#[expect(clippy::disallowed_methods, reason = "records of a run must not meet those of an earlier one")]
fn fresh_id() -> Uuid {
    Uuid::now_v7()
}
