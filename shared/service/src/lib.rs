//! The use cases, over ports alone: one module each, its errors typed.

pub mod domains;
pub mod files;
pub mod ingestion;
mod manifest;

pub use domains::Domains;
pub use files::Files;
pub use ingestion::Ingestion;
pub use manifest::index_manifest;
