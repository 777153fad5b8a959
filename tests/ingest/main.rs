//! What ingestion promises, on the deployed stack.
#![cfg(test)]

mod connectors;
mod documents;
mod idempotency;
mod queue;
mod refusals;
mod versions;
