//! One file per route.

pub mod healthz;
pub mod readyz;
