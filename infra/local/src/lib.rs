//! The local stack's own parts: Qdrant's engine behind Qdrant's gRPC API, and an embedder for tests.
//!
//! Invariant: no Lambda depends on this crate. The engine takes minutes and gigabytes to compile.

pub mod cli;
pub mod embedder;
pub mod qdrant;
