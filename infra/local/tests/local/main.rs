//! The embedded Qdrant through an unmodified `qdrant-client`, and the embedder through HTTP.
//!
//! With `QDRANT_URL` set, what holds for a real server (`shape`, `points`, `query`, `strict`) runs against that one.
#![cfg(test)]

mod embedder;
mod persistence;
mod points;
mod query;
mod refusals;
mod shape;
mod strict;
mod support;
