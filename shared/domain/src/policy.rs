//! A domain's policy: what makes one deployment three products.

use crate::Language;
use serde::{Deserialize, Serialize};

/// Longest disclaimer, in bytes.
pub const MAX_DISCLAIMER_BYTES: usize = 2_000;
/// Fewest tokens a chunk may be bounded to: below it headings and rows no longer fit.
pub const MIN_CHUNK_TOKENS: u32 = 64;
/// Most tokens a chunk may be bounded to: the smallest embedder in use reads 512, and adds its own marks.
pub const MAX_CHUNK_TOKENS: u32 = 480;

/// How a domain's documents are cut. Bounds: [`MIN_CHUNK_TOKENS`] to [`MAX_CHUNK_TOKENS`], overlap below half of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RawChunking")]
pub struct ChunkingPolicy {
    max_tokens: u32,
    overlap_tokens: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawChunking {
    max_tokens: u32,
    overlap_tokens: u32,
}

/// The field of a policy that is wrong, as a JSON pointer into it, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{pointer}: {detail}")]
pub struct InvalidPolicy {
    pub pointer: &'static str,
    pub detail: String,
}

impl ChunkingPolicy {
    /// # Errors
    /// When a bound is passed; the pointer is relative to the whole policy.
    pub fn new(max_tokens: u32, overlap_tokens: u32) -> Result<Self, InvalidPolicy> {
        if !(MIN_CHUNK_TOKENS..=MAX_CHUNK_TOKENS).contains(&max_tokens) {
            return Err(InvalidPolicy {
                pointer: "/chunking/max_tokens",
                detail: format!("must be from {MIN_CHUNK_TOKENS} to {MAX_CHUNK_TOKENS}, is {max_tokens}"),
            });
        }
        if overlap_tokens >= max_tokens / 2 {
            return Err(InvalidPolicy {
                pointer: "/chunking/overlap_tokens",
                detail: format!("must be below half of max_tokens ({}), is {overlap_tokens}", max_tokens / 2),
            });
        }
        Ok(Self { max_tokens, overlap_tokens })
    }

    #[must_use]
    pub const fn max_tokens(&self) -> u32 {
        self.max_tokens
    }

    #[must_use]
    pub const fn overlap_tokens(&self) -> u32 {
        self.overlap_tokens
    }
}

impl Default for ChunkingPolicy {
    fn default() -> Self {
        Self { max_tokens: 320, overlap_tokens: 40 }
    }
}

impl TryFrom<RawChunking> for ChunkingPolicy {
    type Error = InvalidPolicy;
    fn try_from(raw: RawChunking) -> Result<Self, InvalidPolicy> {
        Self::new(raw.max_tokens, raw.overlap_tokens)
    }
}

/// What a tenant decides about one of its domains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RawPolicy")]
pub struct DomainPolicy {
    /// The language its documents are analysed in and its messages are written in.
    pub language: Language,
    /// Stands in every answer; nothing can leave it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disclaimer: Option<String>,
    pub chunking: ChunkingPolicy,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPolicy {
    language: Language,
    #[serde(default)]
    disclaimer: Option<String>,
    #[serde(default)]
    chunking: ChunkingPolicy,
}

impl DomainPolicy {
    /// A policy with nothing but its language decided.
    #[must_use]
    pub fn new(language: Language) -> Self {
        Self { language, disclaimer: None, chunking: ChunkingPolicy::default() }
    }

    /// The disclaimer, when it may be one.
    ///
    /// # Errors
    /// When it is blank or longer than [`MAX_DISCLAIMER_BYTES`]; the pointer is relative to the whole policy.
    pub fn checked_disclaimer(disclaimer: Option<String>) -> Result<Option<String>, InvalidPolicy> {
        let wrong = |detail: String| InvalidPolicy { pointer: "/disclaimer", detail };
        match &disclaimer {
            Some(text) if text.trim().is_empty() => {
                Err(wrong("must not be blank; leave the field out for none".into()))
            }
            Some(text) if text.len() > MAX_DISCLAIMER_BYTES => {
                Err(wrong(format!("must be at most {MAX_DISCLAIMER_BYTES} bytes, is {}", text.len())))
            }
            _ => Ok(disclaimer),
        }
    }
}

impl TryFrom<RawPolicy> for DomainPolicy {
    type Error = InvalidPolicy;
    fn try_from(raw: RawPolicy) -> Result<Self, InvalidPolicy> {
        let disclaimer = Self::checked_disclaimer(raw.disclaimer)?;
        Ok(Self { language: raw.language, disclaimer, chunking: raw.chunking })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(policy: &serde_json::Value, problem: Option<&str>) {
        let parsed = serde_json::from_value::<DomainPolicy>(policy.clone());
        match (parsed, problem) {
            (Ok(_), None) => {}
            (Err(error), Some(expected)) => assert!(error.to_string().contains(expected), "{policy}: {error}"),
            (parsed, _) => panic!("{policy}: {parsed:?}"),
        }
    }

    #[test]
    fn policy_bounds_hold_at_the_limit_and_past_it() {
        check(&json!({"language": "fa"}), None);
        check(&json!({"language": "de"}), Some("unknown variant"));
        check(&json!({"language": "fa", "colour": 1}), Some("unknown field"));
        for (max, overlap, problem) in [
            (64, 0, None),
            (480, 239, None),
            (63, 0, Some("/chunking/max_tokens")),
            (481, 0, Some("/chunking/max_tokens")),
            (480, 240, Some("/chunking/overlap_tokens")),
        ] {
            check(&json!({"language": "en", "chunking": {"max_tokens": max, "overlap_tokens": overlap}}), problem);
        }
        check(&json!({"language": "en", "disclaimer": "x".repeat(MAX_DISCLAIMER_BYTES)}), None);
        check(&json!({"language": "en", "disclaimer": "x".repeat(MAX_DISCLAIMER_BYTES + 1)}), Some("/disclaimer"));
        check(&json!({"language": "en", "disclaimer": " "}), Some("/disclaimer"));
    }

    #[test]
    fn policy_reads_back_what_it_writes() {
        let policy = DomainPolicy { disclaimer: Some("Ask a doctor.".into()), ..DomainPolicy::new(Language::Vi) };
        assert_eq!(serde_json::from_value::<DomainPolicy>(serde_json::to_value(&policy).unwrap()).unwrap(), policy);
    }
}
