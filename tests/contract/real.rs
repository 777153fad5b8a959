//! The real services, where there are any.

use anchorage_adapters::{AwsSettings, SdkConfig, aws_config};

#[derive(Debug)]
pub struct Real {
    pub config: SdkConfig,
    pub table: String,
    pub bucket: String,
    pub queue_url: String,
}

impl Real {
    /// None, said aloud, when the environment names no endpoint.
    pub async fn find(suite: &str) -> Option<Self> {
        let Some(endpoint) = variable("ANCHORAGE_TEST_ENDPOINT") else {
            eprintln!("SKIPPED: {suite} over the real adapter, for ANCHORAGE_TEST_ENDPOINT is not set");
            return None;
        };
        let required = |name| variable(name).unwrap_or_else(|| panic!("{name} goes with ANCHORAGE_TEST_ENDPOINT"));
        let region = variable("AWS_REGION").unwrap_or_else(|| "eu-central-1".to_owned());
        Some(Self {
            config: aws_config(&AwsSettings { region, endpoint_url: Some(endpoint) }).await,
            table: required("ANCHORAGE_TEST_TABLE"),
            bucket: required("ANCHORAGE_TEST_CONTRACT_BUCKET"),
            queue_url: required("ANCHORAGE_TEST_CONTRACT_QUEUE_URL"),
        })
    }
}

#[expect(clippy::disallowed_methods, reason = "a test's services are named by its environment")]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
