//! The ports in memory. The same contract suites run over these and over the real adapters, so that a use case tested
//! here meets the same behaviour deployed.

mod blobs;
mod embedder;
mod index;
mod queue;
mod store;
mod time;

pub use blobs::MemoryBlobs;
pub use embedder::MemoryEmbedder;
pub use index::MemoryIndex;
pub use queue::MemoryQueue;
pub use store::MemoryStore;
pub use time::{ManualClock, SequentialIds};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A test that panicked while it held the lock has failed already; the others go on.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
