//! One file per route.

pub mod receive;
