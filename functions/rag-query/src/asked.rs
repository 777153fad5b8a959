//! What both routes are asked: words, where to look for them, and how far.

use anchorage_domain::DomainKey;
use anchorage_lambda::problem::Invalid;

/// Characters of a question.
const MAX_QUERY_CHARS: usize = 4_000;
/// Domains one question names.
const MAX_DOMAINS: usize = 32;
/// Chunks a question looks at, at most and when nothing is said.
const MAX_TOP_K: u32 = 50;
const DEFAULT_TOP_K: u32 = 10;

/// A question that is one.
#[derive(Debug)]
pub struct Asked {
    pub query: String,
    /// Empty means all active domains.
    pub domains: Vec<DomainKey>,
    pub top_k: u32,
}

impl Asked {
    /// The question, with everything that is wrong noted; one only when nothing was.
    pub fn parse(
        invalid: &mut Invalid,
        query: String,
        domain: Option<String>,
        domains: Option<Vec<String>>,
        top_k: Option<u32>,
    ) -> Self {
        if query.trim().is_empty() || query.chars().count() > MAX_QUERY_CHARS {
            invalid.add("/query", format!("must have 1 to {MAX_QUERY_CHARS} characters, not all of them blank"));
        }
        if domain.is_some() && domains.is_some() {
            invalid.add("/domains", "leave out either `domain` or `domains`");
        }
        let many = domains.as_ref().map_or(1, Vec::len);
        if many == 0 || many > MAX_DOMAINS {
            invalid.add("/domains", format!("must name 1 to {MAX_DOMAINS} domains; leave it out for all active ones"));
        }
        let top_k = top_k.unwrap_or(DEFAULT_TOP_K);
        if !(1..=MAX_TOP_K).contains(&top_k) {
            invalid.add("/top_k", format!("must be a number from 1 to {MAX_TOP_K}"));
        }
        let mut keys: Vec<_> =
            domain.into_iter().filter_map(|key| invalid.check("/domain", DomainKey::new(key))).collect();
        for (place, key) in domains.into_iter().flatten().take(MAX_DOMAINS).enumerate() {
            keys.extend(invalid.check(format!("/domains/{place}"), DomainKey::new(key)));
        }
        Self { query, domains: keys, top_k }
    }
}
