//! The use cases, over ports alone: one module each, its errors typed.

pub mod answering;
pub mod connectors;
pub mod domains;
pub mod files;
pub mod ingestion;
mod manifest;
pub mod points;
mod readiness;
pub mod retrieval;

pub use answering::Answering;
pub use connectors::Connectors;
pub use domains::Domains;
pub use files::Files;
pub use ingestion::Ingestion;
pub use manifest::index_manifest;
pub use points::Points;
pub use readiness::{Lack, Readiness};
pub use retrieval::Retrieval;

#[cfg(test)]
extern crate self as anchorage_service;
#[cfg(test)]
mod testing;
