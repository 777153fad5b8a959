use serde::Serialize;
use serde_json::Value;

/// What a command has to say: a text for people, and the same as JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    pub text: String,
    pub json: Value,
}

impl Output {
    pub(crate) fn new(lines: &[String], json: impl Serialize) -> Self {
        Self { text: lines.join("\n"), json: serde_json::to_value(json).unwrap_or(Value::Null) }
    }
}
