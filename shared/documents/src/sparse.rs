//! BM25 weights of hashed terms. The index multiplies the inverse document frequency in.
//!
//! A frozen artifact: `tests/golden/` pins every term and weight, and a change of either bumps [`ANALYZER_VERSION`].

use crate::text::terms;
use anchorage_domain::{Language, SparseVector};
use std::collections::{BTreeMap, BTreeSet};

/// Names the fold, the stop words and the weights of all languages together.
pub const ANALYZER_VERSION: &str = "bm25-fa-norm-stop@1";

/// Term frequency saturation.
const K1: f32 = 1.2;
/// How much a document's length counts.
const B: f32 = 0.75;
/// Length, in terms, at which a document is neither long nor short.
const AVERAGE_LENGTH: f32 = 256.0;

/// Weights of a passage's terms.
#[must_use]
pub fn sparse_document(language: Language, text: &str) -> SparseVector {
    let terms = terms(language, text);
    let mut counts: BTreeMap<u32, u16> = BTreeMap::new();
    for term in &terms {
        let count = counts.entry(term_id(&term.text)).or_default();
        *count = count.saturating_add(1);
    }
    let length = f32::from(u16::try_from(terms.len()).unwrap_or(u16::MAX));
    let weight = |count: u16| {
        let n = f32::from(count);
        n * (K1 + 1.0) / (n + K1 * (1.0 - B + B * length / AVERAGE_LENGTH))
    };
    SparseVector {
        indices: counts.keys().copied().collect(),
        values: counts.values().map(|count| weight(*count)).collect(),
    }
}

/// Weight 1 for each different term of a question.
#[must_use]
pub fn sparse_query(language: Language, text: &str) -> SparseVector {
    let ids: BTreeSet<u32> = terms(language, text).iter().map(|term| term_id(&term.text)).collect();
    SparseVector { values: vec![1.0; ids.len()], indices: ids.into_iter().collect() }
}

/// The magnitude of the term's signed 32-bit Murmur3 hash, as sparse vectors of this kind are commonly keyed.
fn term_id(term: &str) -> u32 {
    murmur3_32(term.as_bytes()).cast_signed().unsigned_abs()
}

/// Murmur3, x86 32-bit variant, seed 0.
fn murmur3_32(bytes: &[u8]) -> u32 {
    let scramble = |block: u32| block.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    let (blocks, tail) = bytes.as_chunks::<4>();
    let mut hash = 0_u32;
    for block in blocks {
        hash = (hash ^ scramble(u32::from_le_bytes(*block))).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    if !tail.is_empty() {
        hash ^= scramble(tail.iter().rev().fold(0, |block, byte| (block << 8) | u32::from(*byte)));
    }
    hash ^= u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published vectors of the hash.
    #[test]
    fn murmur3_agrees_with_its_published_values() {
        for (text, expected) in [
            ("", 0),
            ("test", 0xba6b_d213),
            ("Hello, world!", 0xc036_3e43),
            ("The quick brown fox jumps over the lazy dog", 0x2e4f_f723),
        ] {
            assert_eq!(murmur3_32(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn query_and_passage_meet_on_the_same_terms() {
        let passage = sparse_document(Language::Fa, "كتاب هاي تازه رسید. کتاب‌های کهنه رفت.");
        let query = sparse_query(Language::Fa, "کتاب‌های تازه");
        assert_eq!(query.indices.len(), 2);
        assert!(query.indices.iter().all(|id| passage.indices.contains(id)));
        assert!(passage.indices.is_sorted() && passage.values.iter().all(|weight| *weight > 0.0));
    }
}
