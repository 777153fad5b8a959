//! Qdrant's engine (`qdrant-edge`) behind the gRPC services that an unmodified `qdrant-client` calls.
//!
//! Invariant: what the engine or this server does not do is refused with a status that says so, never ignored.
//! Deliberately absent: authentication, replicas, sharding, snapshots, background optimisation.

mod aliases;
mod collection;
mod collections;
mod convert;
mod meta;
mod points;
mod refusal;
mod store;
mod strict;

use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use qdrant_client::qdrant::collections_server::CollectionsServer;
use qdrant_client::qdrant::points_server::PointsServer;
use qdrant_client::qdrant::qdrant_server::{Qdrant, QdrantServer};
use qdrant_client::qdrant::{HealthCheckReply, HealthCheckRequest};
use tokio::net::TcpListener;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};

pub use store::{OpenError, Store};

/// The largest message taken or sent, in bytes: what Qdrant's own server takes.
const MAX_MESSAGE_BYTES: usize = 64 * 1024 * 1024;
/// How long open calls may take after the stop signal. Nothing acknowledged depends on it.
const DRAIN: Duration = Duration::from_secs(5);
/// The server release whose behaviour the engine has. Clients compare it before they use newer features.
const ENGINE_VERSION: &str = "1.18.0";

/// Why the server ended.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The data directory could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The address could not be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// What was asked for.
        address: SocketAddr,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The transport failed while serving.
    #[error("the gRPC transport failed: {0}")]
    Transport(#[from] tonic::transport::Error),
}

/// A server that listens and has not begun to answer.
#[derive(Debug)]
pub struct Bound {
    listener: TcpListener,
    address: SocketAddr,
    store: Arc<Store>,
}

impl Bound {
    /// Opens `data` and listens on `address`; port 0 takes a free one.
    ///
    /// # Errors
    /// The directory is in use by another process or unreadable, or the address is taken.
    pub async fn bind(address: SocketAddr, data: PathBuf) -> Result<Self, ServeError> {
        let opening = tokio::task::spawn_blocking(move || Store::open(&data)).await;
        let store = Arc::new(opening.unwrap_or(Err(OpenError::Interrupted))?);
        let listen = |source| ServeError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        Ok(Self { listener, address, store })
    }

    /// The address that is listened on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base URL a client connects to.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers until `stop` resolves, then lets open calls finish for a bounded time and closes the store.
    ///
    /// # Errors
    /// The transport failed.
    pub async fn serve(self, stop: impl Future<Output = ()> + Send) -> Result<(), ServeError> {
        let points = PointsServer::new(points::PointsService::new(Arc::clone(&self.store)))
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES);
        let collections = CollectionsServer::new(collections::CollectionsService::new(Arc::clone(&self.store)))
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES);
        let (stopped, told) = tokio::sync::oneshot::channel::<()>();
        let server = Server::builder()
            .add_service(QdrantServer::new(Health))
            .add_service(collections)
            .add_service(points)
            .serve_with_incoming_shutdown(TcpIncoming::from(self.listener).with_nodelay(Some(true)), async move {
                stop.await;
                // The receiver is gone only when the server is, and then nobody waits.
                let _ = stopped.send(());
            });
        let overdue = async {
            match told.await {
                Ok(()) => tokio::time::sleep(DRAIN).await,
                Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            ended = server => ended?,
            () = overdue => tracing::warn!(event = "qdrant.drain_overdue"),
        }
        self.store.close();
        Ok(())
    }
}

struct Health;

#[tonic::async_trait]
impl Qdrant for Health {
    async fn health_check(&self, _: Request<HealthCheckRequest>) -> Result<Response<HealthCheckReply>, Status> {
        Ok(Response::new(HealthCheckReply {
            title: "qdrant-edge behind the gRPC API".to_owned(),
            version: ENGINE_VERSION.to_owned(),
            commit: None,
        }))
    }
}
