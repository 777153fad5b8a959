//! Glyphs to words, and words to rows.
//!
//! Works along the direction in which a text runs, so that turned text is no special case: `u` grows along the line, `v`
//! towards the line above.

use super::{
    drawn::{Glyph, direction},
    fonts::{Kind, Span},
    matrix::Box2,
};

/// A gap between glyphs is a space when it is wider than this part of the font's size. Where a page draws its spaces,
/// a gap without one must be wider to be a space all the same.
const SPACE: f32 = 0.14;
const SPACE_BESIDE_DRAWN: f32 = 0.28;
/// A drawn space is none when nothing is left between the glyphs around it.
const DRAWN_SPACE: f32 = 0.04;
/// From this part of all glyphs on, spaces are taken to be drawn.
const DRAWN_PART: f32 = 0.06;
/// Glyphs of one word stand on one line, to this part of their size.
const BASELINE: f32 = 0.12;
/// Words of one row overlap by this part of the lower one's height.
const ROW_OVERLAP: f32 = 0.5;
/// How far a text reaches below and above its line, in sizes of its font.
pub(super) const BELOW: f32 = 0.22;
pub(super) const ABOVE: f32 = 0.74;
/// A glyph that begins further back than this before the last one, in sizes, and is wider than an accent, goes on with
/// nothing.
const STEP_BACK: f32 = 0.3;
const ACCENT: f32 = 0.1;
/// The same glyph this close to itself, in sizes, is one glyph.
const SAME_PLACE: f32 = 0.1;
/// A mark sits on a letter when it is no further from it than this, across the line and along it, in sizes.
const MARK_ACROSS: f32 = 0.9;
const MARK_ALONG: f32 = 0.3;
/// Spaced-out words have at least this many pieces, of no more than so many glyphs.
const MIN_SPACED_PIECES: usize = 4;
const MAX_SPACED_GLYPHS: usize = 2;
/// Letters of a spaced-out word stand apart alike; a gap this much wider than the usual ends the word.
const SPACED_WORD_GAP: f32 = 1.6;
/// Longest word in glyphs; what goes on is another.
const MAX_GLYPHS: usize = 1_024;
/// Letters further apart than this, in sizes, are not one word; and how much of the spacing may be taken back by kerning.
const MAX_LETTER_SPACING: f32 = 1.0;
const LETTER_SPACING_KEPT: f32 = 0.1;

/// A glyph on its line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item {
    pub u0: f32,
    pub u1: f32,
    pub text: Span,
    pub kind: Kind,
}

/// Glyphs with nothing between them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word {
    pub u0: f32,
    pub u1: f32,
    /// Where its line is.
    pub v: f32,
    pub size: f32,
    /// Its glyphs among the items.
    pub first: usize,
    pub count: usize,
    pub right_to_left: bool,
    pub look: Look,
    /// A space stands between it and the word to its left in its row.
    pub apart: bool,
    drawn: DrawnSpaces,
    /// Where its last glyph begins.
    last: f32,
}

/// What a word looks like, and what it is marked as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Look {
    pub bold: bool,
    /// Repeated on its pages, as the document says.
    pub pagination: bool,
}

/// On which sides of a word a space is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct DrawnSpaces {
    left: bool,
    right: bool,
}

impl Word {
    pub(super) fn bottom(&self) -> f32 {
        self.v - BELOW * self.size
    }

    pub(super) fn top(&self) -> f32 {
        self.v + ABOVE * self.size
    }
}

/// Words that stand side by side, from left to right.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    pub words: Vec<Word>,
}

/// All text of a page that runs in one direction.
#[derive(Debug, Default)]
pub(super) struct Directed {
    pub angle: i16,
    pub items: Vec<Item>,
    pub rows: Vec<Row>,
}

/// The directions on a page, the one with the most text first.
pub(super) fn angles(glyphs: &[Glyph]) -> Vec<i16> {
    let mut counts: Vec<(i16, usize)> = Vec::new();
    for glyph in glyphs {
        match counts.last_mut() {
            Some((angle, count)) if *angle == glyph.angle => *count += 1,
            _ => match counts.iter_mut().find(|(angle, _)| *angle == glyph.angle) {
                Some((_, count)) => *count += 1,
                None => counts.push((glyph.angle, 1)),
            },
        }
    }
    counts.sort_by_key(|(angle, count)| (usize::MAX - count, *angle));
    counts.into_iter().map(|(angle, _)| angle).collect()
}

/// Puts the text of one direction into rows, from the top.
pub(super) fn rows(glyphs: &[Glyph], angle: i16, directed: &mut Directed) {
    directed.angle = angle;
    directed.items.clear();
    let spaces = Spaces::of(glyphs, angle);
    let words = gather(glyphs, angle, &mut directed.items);
    directed.rows = into_rows(words);
    for row in &mut directed.rows {
        finish(row, &mut directed.items, &spaces);
    }
}

/// The spaces that a page draws, wherever in its instructions: some writers draw all of a line's spaces before its words.
#[derive(Debug, Default)]
struct Spaces {
    /// Where across the lines, in half points, and from where to where along them; sorted.
    places: Vec<(i32, f32, f32)>,
    /// The page draws its spaces, as far as can be told.
    are_usual: bool,
}

impl Spaces {
    fn of(glyphs: &[Glyph], angle: i16) -> Self {
        let (cos, sin) = direction(angle);
        let own = || glyphs.iter().filter(|glyph| glyph.angle == angle);
        let mut places: Vec<_> = own()
            .filter(|glyph| glyph.kind == Kind::Space)
            .map(|glyph| {
                let u0 = glyph.x * cos + glyph.y * sin;
                (half_points(glyph.y * cos - glyph.x * sin), u0, u0 + glyph.width)
            })
            .collect();
        places.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        #[expect(clippy::cast_precision_loss, reason = "a page has few glyphs")]
        let are_usual = places.len() as f32 > own().count() as f32 * DRAWN_PART;
        Self { places, are_usual }
    }

    /// Whether a space is drawn between two places of a line.
    fn between(&self, v: f32, from: f32, to: f32) -> bool {
        let middle = f32::midpoint(from, to);
        let line = half_points(v);
        (line - 1..=line + 1).any(|line| {
            let after = self.places.partition_point(|(other, u0, _)| (*other, *u0) <= (line, middle));
            let before = after.checked_sub(1).and_then(|before| self.places.get(before));
            before.is_some_and(|(other, _, u1)| *other == line && *u1 > from)
        })
    }
}

#[expect(clippy::cast_possible_truncation, reason = "saturates, and a page is not that large")]
fn half_points(v: f32) -> i32 {
    (v * 2.0).round() as i32
}

/// The rectangle on the page around a stretch of a row.
pub(super) fn on_page(angle: i16, u0: f32, u1: f32, bottom: f32, top: f32) -> Box2 {
    let (cos, sin) = direction(angle);
    let mut around = Box2::EMPTY;
    for (u, v) in [(u0, bottom), (u1, bottom), (u0, top), (u1, top)] {
        around.add(u * cos - v * sin, u * sin + v * cos);
    }
    around
}

fn gather(glyphs: &[Glyph], angle: i16, items: &mut Vec<Item>) -> Vec<Word> {
    let (cos, sin) = direction(angle);
    let mut words: Vec<Word> = Vec::new();
    // Marks drawn before the letter they sit on.
    let (mut marks, mut strays): (Vec<(Item, Glyph, f32)>, Vec<_>) = (Vec::new(), Vec::new());
    let mut pending = false;
    // How far the last glyph's own spacing carries: between letters spaced out alike is no gap.
    let mut carried = 0.0_f32;
    for glyph in glyphs.iter().filter(|glyph| glyph.angle == angle) {
        if glyph.kind == Kind::Space {
            pending = true;
            continue;
        }
        let u0 = glyph.x * cos + glyph.y * sin;
        let v = glyph.y * cos - glyph.x * sin;
        let item = Item { u0, u1: u0 + glyph.width, text: glyph.text, kind: glyph.kind };
        if glyph.kind == Kind::Mark {
            match words.last_mut().filter(|word| word.carries(&item, v)) {
                Some(word) => {
                    word.count += 1;
                    items.push(item);
                }
                None => marks.push((item, *glyph, v)),
            }
            continue;
        }
        let after_space = std::mem::take(&mut pending);
        let spacing = std::mem::replace(&mut carried, glyph.spacing.max(0.0));
        if let Some(word) = words.last_mut().filter(|word| word.goes_on(&item, glyph, v, after_space, spacing)) {
            // Drawn twice in one place, to look bold.
            let twice = |last: &Item| last.text == item.text && (last.u0 - item.u0).abs() < SAME_PLACE * glyph.size;
            if items.last().is_some_and(twice) && item.u1 > item.u0 {
                continue;
            }
            word.u0 = word.u0.min(item.u0);
            word.u1 = word.u1.max(item.u1);
            word.count += 1;
            word.right_to_left |= is_right_to_left(item.kind);
            word.last = item.u0;
            items.push(item);
        } else {
            let mut word = Word::new(item, glyph, v, items.len());
            if let Some(last) = words.last_mut().filter(|_| after_space) {
                let to_the_right = item.u0 >= last.u0;
                last.drawn.right |= to_the_right;
                last.drawn.left |= !to_the_right;
                word.drawn = DrawnSpaces { left: to_the_right, right: !to_the_right };
            }
            items.push(item);
            words.push(word);
        }
        for (mark, glyph, v) in marks.drain(..) {
            match words.last_mut().filter(|word| word.carries(&mark, v)) {
                Some(word) => {
                    word.count += 1;
                    items.push(mark);
                }
                None => strays.push((mark, glyph, v)),
            }
        }
    }
    // What sits on nothing stands for itself.
    for (mark, glyph, v) in strays.into_iter().chain(marks) {
        words.push(Word::new(mark, &glyph, v, items.len()));
        items.push(mark);
    }
    words
}

impl Word {
    fn new(item: Item, glyph: &Glyph, v: f32, first: usize) -> Self {
        Self {
            u0: item.u0,
            u1: item.u1,
            v,
            size: glyph.size,
            first,
            count: 1,
            right_to_left: is_right_to_left(item.kind),
            look: Look { bold: glyph.bold, pagination: glyph.pagination },
            apart: false,
            drawn: DrawnSpaces::default(),
            last: item.u0,
        }
    }

    /// Whether a mark sits on one of the word's letters.
    fn carries(&self, mark: &Item, v: f32) -> bool {
        let at = f32::midpoint(mark.u0, mark.u1);
        self.right_to_left
            && (v - self.v).abs() <= MARK_ACROSS * self.size
            && at >= self.u0 - MARK_ALONG * self.size
            && at <= self.u1 + MARK_ALONG * self.size
            && self.count < MAX_GLYPHS
    }

    /// Whether a glyph stands right beside the word, on either side, with nothing between.
    fn goes_on(&self, item: &Item, glyph: &Glyph, v: f32, after_space: bool, spacing: f32) -> bool {
        let size = self.size.max(glyph.size);
        if (v - self.v).abs() > BASELINE * size
            || (glyph.size - self.size).abs() > 0.2 * size
            || self.look.pagination != glyph.pagination
            || self.count >= MAX_GLYPHS
        {
            return false;
        }
        // What runs from left to right is drawn that way: a step back begins something else, but for an accent.
        let is_step_back = item.u0 < self.last - STEP_BACK * glyph.size && glyph.width > ACCENT * glyph.size;
        if is_step_back && !is_right_to_left(item.kind) && !self.right_to_left {
            return false;
        }
        if item.u0 < self.u1 && item.u1 > self.u0 {
            return !after_space;
        }
        let mut gap = if item.u0 >= self.u1 { item.u0 - self.u1 } else { self.u0 - item.u1 };
        // Spacing that is all there is between two letters spaces them out; where it was taken back, it says nothing.
        if spacing <= MAX_LETTER_SPACING * size && gap >= spacing * (1.0 - LETTER_SPACING_KEPT) {
            gap -= spacing;
        }
        gap <= if after_space { DRAWN_SPACE } else { SPACE } * size
    }
}

fn is_right_to_left(kind: Kind) -> bool {
    matches!(kind, Kind::RightToLeft | Kind::Mark)
}

fn into_rows(mut words: Vec<Word>) -> Vec<Row> {
    words.sort_by(|a, b| b.v.total_cmp(&a.v));
    let mut rows: Vec<Row> = Vec::new();
    // The band of the open row's largest word.
    let (mut bottom, mut top) = (0.0_f32, 0.0_f32);
    for word in words {
        let (low, high) = (word.bottom(), word.top());
        let overlap = high.min(top) - low.max(bottom);
        match rows.last_mut() {
            Some(row) if overlap >= ROW_OVERLAP * (high - low).min(top - bottom) && overlap > 0.0 => {
                if high - low > top - bottom {
                    (bottom, top) = (low, high);
                }
                row.words.push(word);
            }
            _ => {
                (bottom, top) = (low, high);
                rows.push(Row { words: vec![word] });
            }
        }
    }
    rows
}

/// Orders a row, drops what is printed twice in one place, and closes spaced-out words.
fn finish(row: &mut Row, items: &mut [Item], spaces: &Spaces) {
    row.words.sort_by(|a, b| a.u0.total_cmp(&b.u0));
    row.words.dedup_by(|word, kept| {
        let overlap = word.u1.min(kept.u1) - word.u0.max(kept.u0);
        let same = word.count == kept.count
            && overlap > 0.8 * (word.u1 - word.u0)
            && (word.v - kept.v).abs() < 0.3 * word.size
            && {
                let of = |word: &Word| items.get(word.first..word.first + word.count).unwrap_or_default();
                of(word).iter().zip(of(kept)).all(|(a, b)| a.text == b.text)
            };
        kept.look.bold |= same;
        same
    });
    separate(row, spaces);
    for word in &row.words {
        if word.right_to_left {
            order_by_place(items.get_mut(word.first..word.first + word.count).unwrap_or_default());
        }
    }
}

/// In text that runs from right to left the glyphs of a word may come in any order: what counts is where they stand. A
/// mark goes right after the letter it sits on, as it is read from the right.
fn order_by_place(items: &mut [Item]) {
    let middle = |item: &Item| f32::midpoint(item.u0, item.u1);
    let marks = items.iter().any(|item| item.kind == Kind::Mark);
    if marks {
        items.sort_by_key(|item| item.kind == Kind::Mark);
        let letters = items.iter().take_while(|item| item.kind != Kind::Mark).count();
        let (bases, marks) = items.split_at_mut(letters);
        for mark in marks {
            let at = middle(mark);
            let nearest = bases.iter().min_by(|a, b| {
                let off = |base: &Item| (base.u0 - at).max(at - base.u1).max(0.0);
                off(a).total_cmp(&off(b)).then((middle(a) - at).abs().total_cmp(&(middle(b) - at).abs()))
            });
            if let Some(base) = nearest {
                // Just left of the middle: after its letter from the right, before the next.
                let place = middle(base) - (base.u1 - base.u0).abs().max(0.01) * 0.01;
                (mark.u0, mark.u1) = (place, place);
            }
        }
    }
    items.sort_by(|a, b| middle(a).total_cmp(&middle(b)));
}

/// Finds the spaces of a row.
fn separate(row: &mut Row, spaces: &Spaces) {
    let limit = if spaces.are_usual { SPACE_BESIDE_DRAWN } else { SPACE };
    let mut left: Option<Word> = None;
    for word in &mut row.words {
        if let Some(left) = left {
            let size = left.size.min(word.size);
            let gap = word.u0 - left.u1;
            word.apart = gap > DRAWN_SPACE * size
                && (gap > limit * size || word.is_drawn_apart(&left) || spaces.between(left.v, left.u1, word.u0));
        }
        left = Some(*word);
    }
    let mut from = 0;
    while let Some(rest) = row.words.get_mut(from..).filter(|rest| !rest.is_empty()) {
        from += close_spaced_word(rest, spaces);
    }
}

impl Word {
    /// Whether a space is drawn between the word and the one to its left.
    const fn is_drawn_apart(&self, left: &Self) -> bool {
        self.drawn.left && left.drawn.right
    }
}

/// `l e t t e r s` set apart by their places alone are one word, and wider gaps among them are its borders. Looks at the
/// beginning of a row, and says how many words it has looked at.
fn close_spaced_word(words: &mut [Word], spaces: &Spaces) -> usize {
    let Some(first) = words.first().copied() else { return 0 };
    let is_piece = |word: &Word| word.count <= MAX_SPACED_GLYPHS && (word.size - first.size).abs() < 0.1 * first.size;
    let length = words.iter().take_while(|word| is_piece(word)).count();
    if length < MIN_SPACED_PIECES {
        return length.max(1);
    }
    let run = words.get_mut(..length).unwrap_or_default();
    let mut gaps: Vec<f32> = run.windows(2).filter_map(|pair| Some(pair.last()?.u0 - pair.first()?.u1)).collect();
    gaps.sort_by(f32::total_cmp);
    let usual = gaps.get(gaps.len() / 2).copied().unwrap_or(f32::INFINITY);
    if usual <= MAX_LETTER_SPACING * first.size {
        let mut left = first;
        for word in run.iter_mut().skip(1) {
            let is_drawn = word.is_drawn_apart(&left) || spaces.between(left.v, left.u1, word.u0);
            // Only what follows each other in the instructions can be one word: what was drawn apart stays apart.
            if word.first == left.first + left.count && !is_drawn && word.u0 - left.u1 <= SPACED_WORD_GAP * usual {
                word.apart = false;
            }
            left = *word;
        }
    }
    length
}

#[cfg(test)]
impl Word {
    /// A word of so many glyphs as fit.
    pub(super) fn blank(u0: f32, u1: f32, v: f32, size: f32) -> Self {
        let item = Item { u0, u1, text: Span::default(), kind: Kind::Plain };
        let glyph = Glyph {
            x: u0,
            y: v,
            angle: 0,
            width: u1 - u0,
            spacing: 0.0,
            size,
            text: Span::default(),
            kind: Kind::Plain,
            bold: false,
            pagination: false,
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a test's own small numbers")]
        let count = ((u1 - u0) / (size / 2.0)) as usize;
        Self { count, ..Self::new(item, &glyph, v, 0) }
    }
}
