//! Plain HTTP to the local stack.

use crate::failure::Failure;
use serde_json::Value;
use std::time::Duration;
use ureq::{Agent, http};

/// The longest an answer may take: what the gateway allows, and some.
const PATIENCE: Duration = Duration::from_secs(35);

/// The text at a JSON pointer, or the empty one.
pub fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

#[derive(Debug)]
pub struct Client {
    agent: Agent,
}

impl Client {
    pub fn new() -> Self {
        // No proxy: everything here is on this machine.
        let config =
            Agent::config_builder().http_status_as_error(false).timeout_global(Some(PATIENCE)).proxy(None).build();
        Self { agent: config.into() }
    }

    /// The status and the body, which is null where it is no JSON.
    pub fn call(
        &self,
        method: &str,
        url: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Result<(u16, Value), Failure> {
        let failed = |error: &dyn std::fmt::Display| Failure::said(format!("{method} {url}: {error}"));
        let mut request = http::Request::builder().method(method).uri(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body).map_err(|error| failed(&error))?;
        let mut response = self.agent.run(request).map_err(|error| failed(&error))?;
        let status = response.status().as_u16();
        let text = response.body_mut().read_to_string().map_err(|error| failed(&error))?;
        Ok((status, serde_json::from_str(&text).unwrap_or(Value::Null)))
    }

    /// Whether the address answers with success.
    pub fn answers(&self, url: &str) -> bool {
        self.call("GET", url, &[], Vec::new()).is_ok_and(|(status, _)| status == 200)
    }
}
