//! The use cases, over ports alone: one module each, its errors typed.

pub mod domains;
pub mod files;
mod manifest;

pub use domains::Domains;
pub use files::Files;
pub use manifest::index_manifest;
