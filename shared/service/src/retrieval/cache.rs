//! Vectors of the questions asked last, for the life of the instance.

use anchorage_domain::VectorName;
use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

/// Questions remembered. A vector of 1,024 floats is 4 KiB, so all of them together stay below a megabyte.
const MAX_ENTRIES: usize = 200;

#[derive(Debug, Default)]
pub(super) struct QueryCache(Mutex<VecDeque<(VectorName, String, Vec<f32>)>>);

impl QueryCache {
    pub(super) fn get(&self, name: &VectorName, query: &str) -> Option<Vec<f32>> {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = entries.iter().position(|(other, text, _)| other == name && text == query)?;
        // Asked again, so forgotten later.
        let entry = entries.remove(place)?;
        let vector = entry.2.clone();
        entries.push_back(entry);
        Some(vector)
    }

    pub(super) fn put(&self, name: &VectorName, query: &str, vector: &[f32]) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= MAX_ENTRIES {
            entries.pop_front();
        }
        entries.push_back((name.clone(), query.to_owned(), vector.to_vec()));
    }
}
