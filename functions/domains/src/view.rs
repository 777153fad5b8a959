//! Domains as callers send and see them.

use anchorage_domain::{ChunkingPolicy, DomainKey, DomainPolicy, DomainRecord, Language, Timestamp};
use anchorage_lambda::problem::Invalid;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How the domain's documents are cut.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Chunking {
    /// 64 to 480.
    max_tokens: u32,
    /// Below half of `max_tokens`.
    overlap_tokens: u32,
}

/// What a tenant decides about a domain.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// `fa`, `vi` or `en`: how documents are analysed and messages are written.
    language: String,
    /// Stands in every answer. At most 2 000 bytes.
    disclaimer: Option<String>,
    chunking: Option<Chunking>,
}

impl Policy {
    /// The policy, with everything that is wrong noted under `/policy`.
    pub fn parse(self, invalid: &mut Invalid) -> Option<DomainPolicy> {
        let language = invalid.check("/policy/language", self.language.parse::<Language>());
        let cut = |chunking: Chunking| ChunkingPolicy::new(chunking.max_tokens, chunking.overlap_tokens);
        let chunking = match self.chunking.map(cut) {
            None => Some(ChunkingPolicy::default()),
            Some(Ok(chunking)) => Some(chunking),
            Some(Err(wrong)) => {
                invalid.add(format!("/policy{}", wrong.pointer), wrong.detail);
                None
            }
        };
        let disclaimer = match DomainPolicy::checked_disclaimer(self.disclaimer) {
            Ok(disclaimer) => Some(disclaimer),
            Err(wrong) => {
                invalid.add(format!("/policy{}", wrong.pointer), wrong.detail);
                None
            }
        };
        Some(DomainPolicy { language: language?, disclaimer: disclaimer?, chunking: chunking? })
    }
}

impl From<DomainPolicy> for Policy {
    fn from(policy: DomainPolicy) -> Self {
        Self {
            language: policy.language.to_string(),
            disclaimer: policy.disclaimer,
            chunking: Some(Chunking {
                max_tokens: policy.chunking.max_tokens(),
                overlap_tokens: policy.chunking.overlap_tokens(),
            }),
        }
    }
}

/// One domain of the tenant.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Domain)]
pub struct DomainView {
    #[schema(value_type = String)]
    key: DomainKey,
    /// Nothing is taken in for, or answered from, a domain that is not active.
    active: bool,
    policy: Policy,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

impl From<DomainRecord> for DomainView {
    fn from(domain: DomainRecord) -> Self {
        Self {
            key: domain.key,
            active: domain.active,
            policy: domain.policy.into(),
            created_at: domain.created_at,
            updated_at: domain.updated_at,
        }
    }
}
