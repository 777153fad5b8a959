//! The ports over real services. SDK types never leave this crate, but for the one configuration that builds the clients.

mod aws;
mod connect;
mod dynamodb;
mod embedder;
mod qdrant;
mod s3;
mod sqs;
mod ssm;
mod time;
mod tls;

pub use aws::{AwsSettings, aws_config};
pub use aws_config::SdkConfig;
pub use connect::{Connect, connect};
pub use dynamodb::DynamoStore;
pub use embedder::{EmbedderSettings, embedder};
pub use qdrant::{BootstrapError, BootstrapReport, QdrantIndex, QdrantSettings};
pub use s3::S3Blobs;
pub use sqs::SqsQueue;
pub use ssm::secret_parameter;
pub use time::{RandomIds, SystemClock};
