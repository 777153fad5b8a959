//! Rows to reading order: what stands in columns is read column by column, what stands in a table row by row.
//!
//! A gutter is a gap that goes through consecutive rows. The columns it makes are read one after the other only when they
//! hold running text: lines of several words that fill them. Everything else that aligns is taken for a table, since a
//! table read by columns is lost, while columns read by rows can still be found.

use super::words::{Row, Word};

/// Narrowest gutter, in sizes of the text around it.
const GUTTER: f32 = 0.9;
/// Fewest rows that have text on both sides of a gutter.
const MIN_ROWS: usize = 3;
/// Running text fills its column to this part, on average, with this many glyphs a line.
const PROSE_FILL: f32 = 0.6;
const PROSE_GLYPHS: usize = 16;
/// Fewest lines that tell running text from a table's cells.
const MIN_PROSE_LINES: usize = 4;
/// The part of a table's rows that fill more than one cell.
const FILLED_ROWS: f32 = 0.6;
/// Longest mark of a list in glyphs, and the widest gap after it, in sizes.
const MARKER_GLYPHS: usize = 4;
const MARKER_GAP: f32 = 4.0;
/// After so many rows a gap that goes through all of them is no chance.
const SETTLED_ROWS: usize = 5;
/// A row no further above a column than this, in sizes, may be the beginning of the one beside it.
const BESIDE: f32 = 1.3;
/// Columns in columns in columns.
const MAX_DEPTH: usize = 4;
/// Most gutters of one table or page.
const MAX_GUTTERS: usize = 64;

/// Rows that belong together, in reading order.
#[derive(Debug)]
pub(super) enum Group {
    Lines(Vec<Row>),
    /// For every row its cells, in reading order; an empty cell is an empty row.
    Table(Vec<Vec<Row>>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Gap {
    from: f32,
    to: f32,
}

/// Puts the rows of a page into reading order. `right_to_left` says where columns begin.
pub(super) fn order(rows: Vec<Row>, right_to_left: bool) -> Vec<Group> {
    let mut groups = Vec::new();
    split(rows, right_to_left, 0, &mut groups);
    groups
}

fn split(rows: Vec<Row>, right_to_left: bool, depth: usize, groups: &mut Vec<Group>) {
    if depth >= MAX_DEPTH || rows.len() < MIN_ROWS {
        lines(rows, groups);
        return;
    }
    let size = usual_size(&rows);
    let mut plain: Vec<Row> = Vec::new();
    let mut band: Vec<Row> = Vec::new();
    let mut open: Vec<Gap> = Vec::new();
    let (mut left, mut right) = (f32::INFINITY, f32::NEG_INFINITY);
    for row in rows {
        let gaps = gaps(&row, GUTTER * size);
        let (row_left, row_right) = extent(&row.words);
        let joined = intersect(&open, &gaps, GUTTER * size);
        let inside =
            |gaps: &[Gap], left: f32, right: f32| gaps.iter().filter(|gap| gap.from >= left && gap.to <= right).count();
        let (had, has) = (inside(&open, left, right), inside(&joined, left.min(row_left), right.max(row_right)));
        if !band.is_empty() && has > 0 && !crosses(had, has, band.len()) {
            (left, right) = (left.min(row_left), right.max(row_right));
            open = joined;
            band.push(row);
            continue;
        }
        close(std::mem::take(&mut band), &open, size, right_to_left, depth, &mut plain, groups);
        (left, right) = (row_left, row_right);
        open = gaps;
        if inside(&open, left, right) > 0 {
            // Lines of another column may begin above this one, by less than a line.
            if let Some(above) = plain.pop_if(|above| is_beside(above, &row, &open)) {
                let (above_left, above_right) = extent(&above.words);
                (left, right) = (left.min(above_left), right.max(above_right));
                open = intersect(&open, &self::gaps(&above, GUTTER * size), GUTTER * size);
                band.push(above);
            }
            band.push(row);
        } else {
            plain.push(row);
        }
    }
    close(band, &open, size, right_to_left, depth, &mut plain, groups);
    lines(plain, groups);
}

/// Whether a row runs across what were gutters: chance gaps close after a few rows, gutters stay open.
const fn crosses(had: usize, has: usize, rows: usize) -> bool {
    let lost = had.saturating_sub(has);
    lost * 2 > had || (lost > 0 && rows >= SETTLED_ROWS)
}

/// Whether a row that stands a bit higher belongs to one of the columns that begin below it.
fn is_beside(above: &Row, row: &Row, open: &[Gap]) -> bool {
    let (Some(first), Some(other)) = (row.words.first(), above.words.first()) else { return false };
    let (left, right) = extent(&above.words);
    let on_one_side = |gap: &Gap| gap.from.is_finite() && gap.to.is_finite() && (right <= gap.from || left >= gap.to);
    other.v - first.v < BESIDE * first.size && open.iter().any(on_one_side)
}

fn lines(rows: Vec<Row>, groups: &mut Vec<Group>) {
    if !rows.is_empty() {
        groups.push(Group::Lines(rows));
    }
}

/// Decides what a band of rows with common gutters is.
fn close(
    band: Vec<Row>,
    open: &[Gap],
    size: f32,
    right_to_left: bool,
    depth: usize,
    plain: &mut Vec<Row>,
    groups: &mut Vec<Group>,
) {
    let extents: Vec<_> = band.iter().map(|row| extent(&row.words)).collect();
    let is_between = |gap: &Gap| extents.iter().filter(|(left, right)| *left <= gap.from && *right >= gap.to).count();
    let mut gutters: Vec<Gap> =
        open.iter().copied().filter(|gap| is_between(gap) >= MIN_ROWS).take(MAX_GUTTERS).collect();
    if gutters.first().is_some_and(|gutter| marks_a_list(&band, *gutter, size, right_to_left)) && !right_to_left {
        gutters.remove(0);
    }
    if gutters.last().is_some_and(|gutter| marks_a_list(&band, *gutter, size, right_to_left)) && right_to_left {
        gutters.pop();
    }
    if gutters.is_empty() {
        plain.extend(band);
        return;
    }
    let mut cells: Vec<Vec<Row>> = band.into_iter().map(|row| cut(row, &gutters)).collect();
    if right_to_left {
        for row in &mut cells {
            row.reverse();
        }
    }
    let count = gutters.len() + 1;
    let column = |index: usize| cells.iter().filter_map(move |row| row.get(index)).filter(|row| !row.words.is_empty());
    let long = (0..count).filter(|index| column(*index).count() >= MIN_PROSE_LINES);
    let (mut prose, mut other) = (0, 0);
    for index in long {
        if is_prose(column(index)) {
            prose += 1;
        } else {
            other += 1;
        }
    }
    if prose >= 2 && other == 0 {
        lines(std::mem::take(plain), groups);
        let mut columns: Vec<Vec<Row>> = (0..count).map(|_| Vec::new()).collect();
        for row in cells {
            for (cell, column) in row.into_iter().zip(&mut columns) {
                if !cell.words.is_empty() {
                    column.push(cell);
                }
            }
        }
        for column in columns {
            split(column, right_to_left, depth + 1, groups);
        }
        return;
    }
    table(cells, right_to_left, plain, groups);
}

/// A table is what lies between its first and last row of several cells.
fn table(mut cells: Vec<Vec<Row>>, right_to_left: bool, plain: &mut Vec<Row>, groups: &mut Vec<Group>) {
    let filled = |row: &Vec<Row>| row.iter().filter(|cell| !cell.words.is_empty()).count() > 1;
    let (Some(first), Some(last)) = (cells.iter().position(filled), cells.iter().rposition(filled)) else {
        plain.extend(cells.into_iter().map(|row| whole(row, right_to_left)));
        return;
    };
    let after = cells.split_off(last + 1);
    let inside = cells.split_off(first);
    plain.extend(cells.into_iter().map(|row| whole(row, right_to_left)));
    let count = inside.iter().filter(|row| filled(row)).count();
    #[expect(clippy::cast_precision_loss, reason = "a page has few rows")]
    let is_table = count as f32 >= FILLED_ROWS * inside.len() as f32;
    if is_table {
        lines(std::mem::take(plain), groups);
        groups.push(Group::Table(inside));
    } else {
        plain.extend(inside.into_iter().map(|row| whole(row, right_to_left)));
    }
    plain.extend(after.into_iter().map(|row| whole(row, right_to_left)));
}

/// A row before it was cut.
fn whole(mut cells: Vec<Row>, right_to_left: bool) -> Row {
    if right_to_left {
        cells.reverse();
    }
    Row { words: cells.into_iter().flat_map(|cell| cell.words).collect() }
}

/// Numbers or bullets before the lines of a list are no column.
fn marks_a_list(band: &[Row], gutter: Gap, size: f32, right_to_left: bool) -> bool {
    if gutter.to - gutter.from > MARKER_GAP * size {
        return false;
    }
    band.iter().all(|row| {
        let before = |word: &&Word| if right_to_left { word.u0 >= gutter.to } else { word.u1 <= gutter.from };
        row.words.iter().filter(before).map(|word| word.count).sum::<usize>() <= MARKER_GLYPHS
    })
}

fn is_prose<'r>(column: impl Iterator<Item = &'r Row> + Clone) -> bool {
    let (left, right) = column
        .clone()
        .map(|row| extent(&row.words))
        .fold((f32::INFINITY, f32::NEG_INFINITY), |(left, right), (from, to)| (left.min(from), right.max(to)));
    let (mut filled, mut glyphs, mut count) = (0.0, 0, 0);
    for row in column {
        let (from, to) = extent(&row.words);
        filled += to - from;
        glyphs += row.words.iter().map(|word| word.count).sum::<usize>();
        count += 1;
    }
    #[expect(clippy::cast_precision_loss, reason = "a page has few rows")]
    let fill = filled / ((right - left).max(1.0) * count as f32);
    fill >= PROSE_FILL && glyphs >= PROSE_GLYPHS * count
}

/// Cuts a row at gutters. No word reaches over one.
fn cut(row: Row, gutters: &[Gap]) -> Vec<Row> {
    let mut cells = Vec::with_capacity(gutters.len() + 1);
    let mut words = row.words.into_iter().peekable();
    for gutter in gutters {
        let mut cell = Row::default();
        while let Some(word) = words.next_if(|word| word.u0 < gutter.to) {
            cell.words.push(word);
        }
        cells.push(cell);
    }
    cells.push(Row { words: words.collect() });
    cells
}

pub(super) fn extent(words: &[Word]) -> (f32, f32) {
    words.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(left, right), word| (left.min(word.u0), right.max(word.u1)))
}

/// What is free in a row: before it, after it, and wide gaps inside.
fn gaps(row: &Row, width: f32) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let mut from = f32::NEG_INFINITY;
    for word in &row.words {
        if word.u0 - from >= width {
            gaps.push(Gap { from, to: word.u0 });
        }
        from = from.max(word.u1);
    }
    gaps.push(Gap { from, to: f32::INFINITY });
    gaps
}

fn intersect(a: &[Gap], b: &[Gap], width: f32) -> Vec<Gap> {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    let mut both = Vec::new();
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        let gap = Gap { from: x.from.max(y.from), to: x.to.min(y.to) };
        if gap.to - gap.from >= width {
            both.push(gap);
        }
        if x.to <= y.to {
            a.next();
        } else {
            b.next();
        }
    }
    both
}

/// The size of most text.
fn usual_size(rows: &[Row]) -> f32 {
    let mut sizes: Vec<(f32, usize)> =
        rows.iter().flat_map(|row| &row.words).map(|word| (word.size, word.count)).collect();
    sizes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = sizes.iter().map(|(_, count)| count).sum::<usize>() / 2;
    let mut seen = 0;
    for (size, count) in &sizes {
        seen += count;
        if seen > half {
            return *size;
        }
    }
    1.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::pdf::words::Row;

    fn row(v: f32, words: &[(f32, f32)]) -> Row {
        Row { words: words.iter().map(|(u0, u1)| Word::blank(*u0, *u1, v, 10.0)).collect() }
    }

    /// What groups hold: for lines how many rows, for a table how many cells each row has.
    fn shape(groups: &[Group]) -> Vec<Vec<usize>> {
        let cells = |row: &Vec<Row>| row.iter().filter(|cell| !cell.words.is_empty()).count();
        groups
            .iter()
            .map(|group| match group {
                Group::Lines(rows) => vec![rows.len()],
                Group::Table(rows) => rows.iter().map(cells).collect(),
            })
            .collect()
    }

    #[test]
    fn order_keeps_the_rows_of_a_table_and_all_its_cells() {
        let rows = vec![
            row(120.0, &[(0.0, 30.0), (32.0, 200.0)]),
            row(100.0, &[(0.0, 25.0), (60.0, 90.0), (160.0, 200.0), (240.0, 270.0)]),
            row(88.0, &[(0.0, 12.0), (60.0, 85.0), (88.0, 110.0), (160.0, 180.0), (240.0, 260.0)]),
            row(76.0, &[(0.0, 12.0), (60.0, 85.0), (160.0, 180.0), (240.0, 260.0)]),
            row(64.0, &[(0.0, 12.0), (60.0, 85.0), (160.0, 180.0), (240.0, 260.0)]),
        ];
        assert_eq!(shape(&order(rows, false)), [vec![1], vec![4, 4, 4, 4]]);
    }
}
