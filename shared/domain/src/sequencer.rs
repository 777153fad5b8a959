//! The order of events on one object.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// Longest sequencer taken; S3 sends 16 to 18 digits.
const MAX_DIGITS: usize = 64;

/// S3's order of events on one key. Says nothing between keys.
///
/// Sequencers of one key compare as text once the shorter is padded on the right with zeros (S3 event message structure).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Sequencer(String);

/// The text is no sequencer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a sequencer is 1 to {MAX_DIGITS} hexadecimal digits")]
pub struct InvalidSequencer;

impl Sequencer {
    /// # Errors
    /// When the text is empty, too long or not hexadecimal.
    pub fn new(text: &str) -> Result<Self, InvalidSequencer> {
        let valid = (1..=MAX_DIGITS).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit());
        valid.then(|| Self(text.to_ascii_uppercase())).ok_or(InvalidSequencer)
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn padded(&self, width: usize) -> impl Iterator<Item = u8> {
        self.0.bytes().chain(std::iter::repeat(b'0')).take(width)
    }
}

impl Ord for Sequencer {
    fn cmp(&self, other: &Self) -> Ordering {
        let width = self.0.len().max(other.0.len());
        self.padded(width).cmp(other.padded(width))
    }
}

impl PartialOrd for Sequencer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Sequencer {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Sequencer {}

impl TryFrom<String> for Sequencer {
    type Error = InvalidSequencer;
    fn try_from(text: String) -> Result<Self, InvalidSequencer> {
        Self::new(&text)
    }
}

impl From<Sequencer> for String {
    fn from(sequencer: Sequencer) -> String {
        sequencer.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cases C03 and E2.
    #[test]
    fn sequencer_order_pads_the_shorter_on_the_right() {
        for (left, right, expected) in [
            ("0055AED6DCD90281E6", "0055AED6DCD90281E5", Ordering::Greater),
            ("0055AED6DCD90281E5", "0055aed6dcd90281e5", Ordering::Equal),
            ("0A", "0A00", Ordering::Equal),
            ("0B", "0A99", Ordering::Greater),
            ("0A", "0A01", Ordering::Less),
        ] {
            let (left, right) = (Sequencer::new(left).unwrap(), Sequencer::new(right).unwrap());
            assert_eq!(left.cmp(&right), expected, "{left:?} {right:?}");
            assert_eq!(right.cmp(&left), expected.reverse());
        }
    }

    #[test]
    fn sequencer_rejects_what_is_not_hexadecimal() {
        for text in ["", "xyz", "0A 0B", &"0".repeat(65)] {
            assert_eq!(Sequencer::new(text), Err(InvalidSequencer));
        }
    }
}
