//! PDF: what is drawn on pages, read as text.
//!
//! A library reads the file's objects and fonts ([`hayro_syntax`], [`hayro_font`]); what is drawn, in which order it is
//! read, and how much of it is done at all, is decided here. Everything is bounded by what was really inflated and
//! interpreted, and whatever the library makes of a hostile file ends inside [`contained`].

mod compose;
mod drawn;
mod fonts;
mod furniture;
mod hidden;
mod inline;
mod interpret;
mod labels;
mod layout;
mod logical;
mod matrix;
mod open;
mod page;
mod scan;
mod stream;
mod strings;
mod tree;
mod trust;
mod words;

use super::{Outline, PageRef, Parsed};
use crate::{Limits, ParseError};
use anchorage_domain::{Coverage, SkipReason, Skipped};
use compose::Composer;
use drawn::{Drawn, Steps};
use fonts::Fonts;
use furniture::Extent;
use hayro_syntax::{
    object::{Array, Dict, Name, Object, Stream},
    page::Resources,
};
use hidden::Hidden;
use interpret::Machine;
use labels::Labels;
use matrix::{Box2, Matrix};
use open::Opened;
use page::{Pages, Piece};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};
use stream::Budget;
use tree::PageNode;
use trust::Trust;

/// Most annotations of one page.
const MAX_ANNOTATIONS: usize = 2_000;
/// A picture that covers this part of a page, with no more than so many glyphs beside it, is a page that was scanned.
const SCANNED_PART: f32 = 0.5;
const SCANNED_GLYPHS: u32 = 40;
/// Most repeated lines that are reported one by one.
const MAX_REPORTED: usize = 100;

pub(super) fn parse(bytes: &[u8], limits: &Limits) -> Result<Parsed, ParseError> {
    contained(|| read(bytes, limits)).unwrap_or_else(|| Err(ParseError::failed("the document is damaged")))
}

/// The library that reads objects and fonts has no panics that are known, and a hostile file is made to find one. One
/// document must not take others with it: what it was reading is given up.
fn contained<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

fn read(bytes: &[u8], limits: &Limits) -> Result<Parsed, ParseError> {
    let mut budget = Budget::new(limits);
    let opened = Opened::new(bytes, &mut budget)?;
    let catalog = opened.catalog().unwrap_or_default();
    let nodes = tree::pages(&opened)?;
    if nodes.is_empty() {
        return Err(ParseError::failed("the document has no pages"));
    }
    let mut coverage = Coverage { pages: Some(u32::try_from(nodes.len()).unwrap_or(u32::MAX)), ..Coverage::default() };
    if opened.damaged {
        coverage.skipped.push(Skipped { what: "objects".to_owned(), reason: SkipReason::Unreadable });
    }
    let labels = Labels::of(&catalog);
    let hidden = Hidden::of(&catalog);
    let mut coverage = Coverage { pages: Some(u32::try_from(nodes.len()).unwrap_or(u32::MAX)), ..Coverage::default() };
    let mut fonts = Fonts::new(limits.max_text_bytes);
    let mut steps = Steps::new(limits);
    let mut drawn = Drawn::default();
    let mut pages = Pages::default();
    let mut extents = Vec::with_capacity(nodes.len());
    let mut references = Vec::with_capacity(nodes.len());
    for (number, node) in (0_u32..).zip(&nodes) {
        drawn.clear();
        let whole = contained(|| {
            let mut machine = Machine {
                fonts: &mut fonts,
                budget: &mut budget,
                hidden: &hidden,
                steps: &mut steps,
                drawn: &mut drawn,
            };
            draw(&mut machine, node)
        });
        match whole {
            Some(Ok(())) => {}
            Some(Err(error)) => return Err(error),
            None => drawn.damaged = true,
        }
        let pieces = pages.add(number, &drawn, &fonts);
        if pages.text.len() > limits.max_text_bytes {
            return Err(ParseError::TooLarge { limit: limits.max_text_bytes as u64 });
        }
        let trust = trust::judge(&drawn, texts(&pages, pieces.clone()));
        if trust == Trust::None {
            pages.pieces.truncate(pieces.start);
        }
        let what = || format!("page {}", number + 1);
        coverage.skipped.extend(report(&drawn, trust, node).map(|reason| Skipped { what: what(), reason }));
        coverage.replaced_chars += u64::from(drawn.unknown);
        references.push(Arc::new(PageRef {
            number: number + 1,
            label: labels.label(number),
            quarantined: match trust {
                Trust::Quarantined(reason) => Some(reason),
                Trust::Full | Trust::None => None,
            },
        }));
        extents.push(Extent { pieces: pieces.start..pages.pieces.len(), visible: node.visible });
    }
    let (body, _) = compose::sizes(&pages.text, pages.pieces.iter());
    let (repeats, repeated) = furniture::find(&pages.text, &pages.pieces, &extents, body);
    for line in repeated.into_iter().take(MAX_REPORTED) {
        let what = format!("line on {} pages: {}", line.pages, super::label(&line.text));
        coverage.skipped.push(Skipped { what, reason: SkipReason::Repeated });
    }
    let kept = pages.pieces.iter().zip(&repeats).filter(|(_, repeats)| !**repeats).map(|(piece, _)| piece);
    let (body, levels) = compose::sizes(&pages.text, kept);
    let mut composer = Composer {
        text: &pages.text,
        limits,
        pages: &references,
        body,
        levels,
        blocks: Vec::new(),
        places: Vec::new(),
        outline: Outline::default(),
        title: None,
    };
    composer.compose(&pages.pieces, &repeats)?;
    let title = opened.title().filter(|title| !title.trim().is_empty()).or(composer.title);
    Ok(Parsed { title, blocks: composer.blocks, coverage, places: composer.places })
}

fn texts(pages: &Pages, pieces: std::ops::Range<usize>) -> impl Iterator<Item = &str> {
    pages.pieces.get(pieces).unwrap_or_default().iter().filter_map(|piece| match piece {
        Piece::Line(line) => pages.text.get(line.text.clone()),
        Piece::Table { .. } => None,
    })
}

/// What is to be said of a page that was not read in full.
fn report(drawn: &Drawn, trust: Trust, node: &PageNode<'_>) -> Option<SkipReason> {
    let scanned = drawn.largest_picture >= SCANNED_PART * node.visible.width() * node.visible.height();
    match trust {
        Trust::None => Some(SkipReason::Unreadable),
        Trust::Quarantined(_) => Some(SkipReason::Untrusted),
        Trust::Full if drawn.damaged => Some(SkipReason::Unreadable),
        Trust::Full if drawn.shown == 0 && (drawn.pictures > 0 || drawn.shapes > 0) => Some(SkipReason::NoText),
        Trust::Full if scanned && drawn.shown < SCANNED_GLYPHS => Some(SkipReason::NoText),
        Trust::Full => None,
    }
}

/// Runs a page's instructions, then its annotations' pictures of themselves: what was filled into a form is text.
fn draw<'a>(machine: &mut Machine<'_, 'a>, node: &PageNode<'a>) -> Result<(), ParseError> {
    let resources = Resources::new(node.resources.clone());
    let streams = interpret::streams(&node.dict, "Contents");
    let mut parts = Vec::with_capacity(streams.len());
    for stream in &streams {
        match stream::content(stream, machine.budget)? {
            Some(data) => parts.push(data),
            None => machine.drawn.damaged = true,
        }
    }
    if let [whole] = parts.as_slice() {
        machine.run(whole, &resources, Matrix::IDENTITY)?;
    } else {
        // An instruction may not reach over the border of two streams, but a state may.
        machine.run(&parts.join(&b'\n'), &resources, Matrix::IDENTITY)?;
    }
    let annotations = node.dict.get::<Array<'_>>("Annots");
    let annotations = annotations.iter().flat_map(Array::iter::<Object<'_>>).take(MAX_ANNOTATIONS);
    for annotation in annotations.filter_map(Object::into_dict) {
        if let (Some(form), Some([x0, y0, x1, y1])) = (shown_form(&annotation), annotation.get::<[f32; 4]>("Rect")) {
            let rect = Box2 { x0: x0.min(x1), y0: y0.min(y1), x1: x0.max(x1), y1: y0.max(y1) };
            machine.appearance(&form, rect)?;
        }
    }
    Ok(())
}

/// What an annotation shows on the page, where it shows text of its own.
fn shown_form<'a>(annotation: &Dict<'a>) -> Option<Stream<'a>> {
    const HIDDEN: u32 = 1 << 1;
    const NO_VIEW: u32 = 1 << 5;
    let kind = annotation.get::<Name<'_>>("Subtype")?;
    if !matches!(kind.as_ref(), b"Widget" | b"FreeText" | b"Stamp") {
        return None;
    }
    if annotation.get::<u32>("F").unwrap_or(0) & (HIDDEN | NO_VIEW) != 0 {
        return None;
    }
    match annotation.get::<Dict<'_>>("AP")?.get::<Object<'_>>("N")? {
        Object::Stream(form) => Some(form),
        Object::Dict(states) => states.get(annotation.get::<Name<'_>>("AS")?.as_ref()),
        _ => None,
    }
}
