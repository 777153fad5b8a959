//! Connections opened while a function starts, when nobody waits yet: the first call of a new instance is otherwise the
//! one that pays for every handshake.

use anchorage_ports::Embedder;
use async_trait::async_trait;
use futures::future::join_all;
use std::{fmt::Debug, sync::Arc, time::Duration};

/// The longest that start-up waits for them together: a part that is slow now is met again by the first call that needs it.
const PATIENCE: Duration = Duration::from_secs(1);

/// A part that can open its connection before it is needed.
#[async_trait]
pub trait Connect: Sync + Debug {
    /// Makes the cheapest call there is. Its outcome is of no consequence: what matters is that it was made.
    async fn connect(&self);
}

#[async_trait]
impl Connect for Vec<Arc<dyn Embedder>> {
    async fn connect(&self) {
        join_all(self.iter().map(|embedder| embedder.connect())).await;
    }
}

/// Opens all of them at once.
pub async fn connect(parts: &[&dyn Connect]) {
    let all = join_all(parts.iter().map(|part| part.connect()));
    let _late = tokio::time::timeout(PATIENCE, all).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        future::pending,
        sync::atomic::{AtomicU32, Ordering},
    };

    #[derive(Debug, Default)]
    struct Counted(AtomicU32);

    #[async_trait]
    impl Connect for Counted {
        async fn connect(&self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[derive(Debug)]
    struct Silent;

    #[async_trait]
    impl Connect for Silent {
        async fn connect(&self) {
            pending::<()>().await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn connect_waits_for_a_silent_part_no_longer_than_its_patience() {
        let (before, after) = (Counted::default(), Counted::default());
        let began = tokio::time::Instant::now();
        connect(&[&before, &Silent, &after]).await;
        assert_eq!(began.elapsed(), PATIENCE);
        assert_eq!([before, after].map(|part| part.0.into_inner()), [1, 1]);
    }
}
