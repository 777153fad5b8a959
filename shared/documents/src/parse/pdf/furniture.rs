//! Running headers and footers: what stands on many pages in one place says nothing about any of them.

use super::{
    matrix::Box2,
    page::{Line, Piece},
};
use std::{
    collections::{BTreeMap, HashMap},
    ops::Range,
};

/// How far into a page from above and from below it may stand, as a part of its height.
const MARGIN: f32 = 0.14;
/// Most lines above and below the text that may repeat.
const MAX_LINES: usize = 3;
/// Fewest pages that make a line a repeated one.
const MIN_PAGES: usize = 3;
/// Lines repeat when they stand in the same place to this many points.
const SAME_PLACE: f32 = 4.0;
/// Longer lines are text, whatever repeats.
const MAX_CHARS: usize = 160;
/// More numbers than this are a table's row, not a page's number and count.
const MAX_NUMBERS: usize = 3;
/// Headings repeat on slides; what runs along is no larger than the text.
const MAX_SIZE: f32 = 1.1;

/// A repeated line: what it says, as its first page has it, and on how many pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Repeated {
    pub text: String,
    pub pages: usize,
}

/// A page of a document: its pieces, and what can be seen of it.
#[derive(Debug, Clone)]
pub(super) struct Extent {
    pub pieces: Range<usize>,
    pub visible: Box2,
}

/// Which pieces repeat, by their index, and what is to be said of them, in order.
pub(super) fn find(text: &str, pieces: &[Piece], pages: &[Extent], body: f32) -> (Vec<bool>, Vec<Repeated>) {
    let mut repeats = vec![false; pieces.len()];
    // What a line says, digits apart, at the top or the bottom; for every page where, and which piece.
    let mut seen: HashMap<(bool, String), Vec<(i32, usize)>> = HashMap::new();
    // What the document itself marks: for every line how it first reads, and its pages.
    let mut marked: BTreeMap<String, Repeated> = BTreeMap::new();
    let mut marked_on: HashMap<String, usize> = HashMap::new();
    let mut order = Vec::new();
    for (number, page) in pages.iter().enumerate() {
        let own = pieces.get(page.pieces.clone()).unwrap_or_default();
        let mut lines: Vec<(usize, &Line)> = page
            .pieces
            .clone()
            .zip(own)
            .filter_map(|(index, piece)| match piece {
                Piece::Line(line) => Some((index, line)),
                Piece::Table { .. } => None,
            })
            .collect();
        for (index, line) in lines.iter().filter(|(_, line)| line.pagination) {
            if let Some(repeat) = repeats.get_mut(*index) {
                *repeat = true;
            }
            let said = said(text, line);
            let first =
                || Repeated { text: text.get(line.text.clone()).unwrap_or_default().trim().to_owned(), pages: 0 };
            let entry = marked.entry(said.clone()).or_insert_with(first);
            // Once a page, however often the page says it.
            if marked_on.insert(said, number) != Some(number) {
                entry.pages += 1;
            }
        }
        lines.sort_by(|a, b| b.1.place.y0.total_cmp(&a.1.place.y0));
        let height = page.visible.height();
        let top = lines.iter().take(MAX_LINES).filter(|(_, line)| line.place.y0 > page.visible.y1 - MARGIN * height);
        let bottom =
            lines.iter().rev().take(MAX_LINES).filter(|(_, line)| line.place.y1 < page.visible.y0 + MARGIN * height);
        for (at_top, (index, line)) in top.map(|line| (true, line)).chain(bottom.map(|line| (false, line))) {
            let said = said(text, line);
            if line.size > body * MAX_SIZE || is_text(&said) || line.pagination {
                continue;
            }
            #[expect(clippy::cast_possible_truncation, reason = "a place on a page is a small number")]
            let from_edge =
                (if at_top { page.visible.y1 - line.place.y0 } else { line.place.y0 - page.visible.y0 }) as i32;
            let places = seen.entry((at_top, said)).or_insert_with_key(|key| {
                order.push(key.clone());
                Vec::new()
            });
            places.push((from_edge, *index));
        }
    }
    let mut reported: Vec<Repeated> = Vec::new();
    for key in order {
        let Some(places) = seen.get_mut(&key) else { continue };
        places.sort_unstable();
        let mut rest = places.as_slice();
        while let Some((first, _)) = rest.first() {
            #[expect(clippy::cast_possible_truncation, reason = "a few points")]
            let same = rest.partition_point(|(place, _)| *place <= *first + SAME_PLACE as i32);
            let (together, after) = rest.split_at(same.max(1));
            rest = after;
            if together.len() < MIN_PAGES {
                continue;
            }
            let earliest = together.iter().map(|(_, index)| *index).min();
            let line = earliest.and_then(|index| match pieces.get(index) {
                Some(Piece::Line(line)) => text.get(line.text.clone()),
                _ => None,
            });
            reported.push(Repeated { text: line.unwrap_or_default().trim().to_owned(), pages: together.len() });
            for (_, index) in together {
                if let Some(repeat) = repeats.get_mut(*index) {
                    *repeat = true;
                }
            }
        }
    }
    reported.extend(marked.into_values());
    (repeats, reported)
}

fn is_text(said: &str) -> bool {
    said.chars().count() > MAX_CHARS || said.matches('#').count() > MAX_NUMBERS
}

/// A line's text with every number masked: page numbers differ, and are the same footer.
fn said(text: &str, line: &Line) -> String {
    let mut said = String::new();
    let mut in_number = false;
    for c in text.get(line.text.clone()).unwrap_or_default().trim().chars() {
        if c.is_numeric() {
            if !in_number {
                said.push('#');
            }
            in_number = true;
        } else {
            in_number = false;
            said.push(c);
        }
    }
    said
}
