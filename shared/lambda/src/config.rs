//! Configuration, read from the environment once. An empty value counts as not set.

use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// Every variable a function may ask for.
const VARIABLES: [&str; 11] = [
    "AWS_REGION",
    "ANCHORAGE_TABLE",
    "ANCHORAGE_BUCKET",
    "ANCHORAGE_QUEUE_URL",
    "ANCHORAGE_QDRANT_URL",
    "ANCHORAGE_QDRANT_API_KEY_PARAMETER",
    "ANCHORAGE_COLLECTION",
    "ANCHORAGE_EMBEDDERS",
    "ANCHORAGE_EMBEDDER_API_KEY_PARAMETER",
    "ANCHORAGE_STAGE",
    "ANCHORAGE_LOG",
];

/// What is wrong with the environment. Names the variable, never shows its value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("{0} is not set")]
    Missing(&'static str),
    #[error("{name} is not valid: {detail}")]
    Invalid { name: &'static str, detail: String },
}

/// The environment as it was at the start. Each function asks only for what it needs.
#[derive(Debug, Clone, Default)]
pub struct Config(BTreeMap<&'static str, String>);

impl Config {
    #[must_use]
    pub fn from_env() -> Self {
        #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
        Self::from_lookup(|name| std::env::var(name).ok())
    }

    /// From any source of values by name, as tests have it.
    #[must_use]
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &'static str| lookup(name).filter(|value| !value.trim().is_empty()).map(|value| (name, value));
        Self(VARIABLES.into_iter().filter_map(set).collect())
    }

    fn optional(&self, name: &'static str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    fn required(&self, name: &'static str) -> Result<&str, ConfigError> {
        self.optional(name).ok_or(ConfigError::Missing(name))
    }

    /// The region of every AWS service; the platform sets it.
    ///
    /// # Errors
    /// When it is not set.
    pub fn region(&self) -> Result<&str, ConfigError> {
        self.required("AWS_REGION")
    }

    /// The table of the document store.
    ///
    /// # Errors
    /// When it is not set.
    pub fn table(&self) -> Result<&str, ConfigError> {
        self.required("ANCHORAGE_TABLE")
    }

    /// The bucket of uploads.
    ///
    /// # Errors
    /// When it is not set.
    pub fn bucket(&self) -> Result<&str, ConfigError> {
        self.required("ANCHORAGE_BUCKET")
    }

    /// The queue of the pipeline.
    ///
    /// # Errors
    /// When it is not set.
    pub fn queue_url(&self) -> Result<&str, ConfigError> {
        self.required("ANCHORAGE_QUEUE_URL")
    }

    /// The vector store.
    ///
    /// # Errors
    /// When it is not set.
    pub fn qdrant_url(&self) -> Result<&str, ConfigError> {
        self.required("ANCHORAGE_QDRANT_URL")
    }

    /// The parameter that holds the vector store's key, when it wants one.
    #[must_use]
    pub fn qdrant_api_key_parameter(&self) -> Option<&str> {
        self.optional("ANCHORAGE_QDRANT_API_KEY_PARAMETER")
    }

    /// The collection of points.
    ///
    /// # Errors
    /// When it is not set.
    pub fn collection(&self) -> Result<&str, ConfigError> {
        self.required("ANCHORAGE_COLLECTION")
    }

    /// The embedders, one entry each, in the form the adapters give their settings.
    ///
    /// # Errors
    /// When none is set, or the JSON is not a list of settings.
    pub fn embedders<T: DeserializeOwned>(&self) -> Result<Vec<T>, ConfigError> {
        let name = "ANCHORAGE_EMBEDDERS";
        let entries: Vec<T> = serde_json::from_str(self.required(name)?)
            .map_err(|error| ConfigError::Invalid { name, detail: error.to_string() })?;
        if entries.is_empty() { Err(ConfigError::Missing(name)) } else { Ok(entries) }
    }

    /// The parameter that holds the embedder's key, when it wants one.
    #[must_use]
    pub fn embedder_api_key_parameter(&self) -> Option<&str> {
        self.optional("ANCHORAGE_EMBEDDER_API_KEY_PARAMETER")
    }

    /// The deployment's stage, `dev` when nothing is said.
    #[must_use]
    pub fn stage(&self) -> &str {
        self.optional("ANCHORAGE_STAGE").unwrap_or("dev")
    }

    /// What to log, as a `tracing` filter; `info` when nothing is said.
    #[must_use]
    pub fn log(&self) -> &str {
        self.optional("ANCHORAGE_LOG").unwrap_or("info")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn config(pairs: &[(&str, &str)]) -> Config {
        Config::from_lookup(|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn config_missing_or_empty_value_names_the_variable() {
        for set in [&[][..], &[("ANCHORAGE_TABLE", "")], &[("ANCHORAGE_TABLE", "  ")]] {
            assert_eq!(config(set).table().unwrap_err().to_string(), "ANCHORAGE_TABLE is not set");
        }
        assert_eq!(config(&[("ANCHORAGE_TABLE", "t")]).table(), Ok("t"));
        assert_eq!(config(&[("ANCHORAGE_QDRANT_API_KEY_PARAMETER", "")]).qdrant_api_key_parameter(), None);
    }

    #[test]
    fn config_embedders_that_are_no_list_are_refused() {
        for text in ["{", "{}", "[]"] {
            assert!(config(&[("ANCHORAGE_EMBEDDERS", text)]).embedders::<Value>().is_err(), "{text}");
        }
        assert_eq!(config(&[("ANCHORAGE_EMBEDDERS", "[1]")]).embedders::<Value>().unwrap().len(), 1);
    }
}
