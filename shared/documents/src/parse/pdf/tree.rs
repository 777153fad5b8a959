//! The pages of a document, found without trust in the tree that holds them.

use super::{matrix::Box2, open::Opened};
use crate::ParseError;
use hayro_syntax::object::{Array, Dict, MaybeRef, Name, Object};
use std::collections::HashSet;

/// Most pages of one document, and most nodes of its tree.
const MAX_PAGES: usize = 10_000;
const MAX_NODES: usize = 40_000;
/// Where a page names no size: A4.
const A4: [f32; 4] = [0.0, 0.0, 595.0, 842.0];

/// A page and what it inherits.
#[derive(Debug, Clone)]
pub(super) struct PageNode<'a> {
    pub dict: Dict<'a>,
    pub resources: Dict<'a>,
    pub visible: Box2,
}

#[derive(Debug, Clone, Default)]
struct Inherited<'a> {
    resources: Option<Dict<'a>>,
    media: Option<[f32; 4]>,
    crop: Option<[f32; 4]>,
}

impl<'a> Inherited<'a> {
    fn with(&self, dict: &Dict<'a>) -> Self {
        Self {
            resources: dict.get("Resources").or_else(|| self.resources.clone()),
            media: dict.get("MediaBox").or(self.media),
            crop: dict.get("CropBox").or(self.crop),
        }
    }
}

pub(super) fn pages(opened: &Opened) -> Result<Vec<PageNode<'_>>, ParseError> {
    let root = opened.catalog().and_then(|catalog| catalog.get::<Dict<'_>>("Pages"));
    let mut pages = Vec::new();
    if let Some(root) = root {
        walk(&root, &mut pages)?;
    }
    if pages.is_empty() {
        // The tree is lost; its leaves may be there.
        let leaves = opened.objects().filter_map(Object::into_dict);
        for dict in leaves.filter(|dict| is(dict, b"Page") && dict.contains_key("Contents")) {
            add(&mut pages, &Inherited::default().with(&dict), dict)?;
        }
    }
    Ok(pages)
}

fn walk<'a>(root: &Dict<'a>, pages: &mut Vec<PageNode<'a>>) -> Result<(), ParseError> {
    let mut seen = HashSet::new();
    let mut nodes = 0;
    let Some(kids) = root.get::<Array<'a>>("Kids") else { return Ok(()) };
    let mut open = vec![(kids.raw_iter().zip(kids.iter::<Object<'a>>()), Inherited::default().with(root))];
    while let Some((kids, inherited)) = open.last_mut() {
        let Some((reference, kid)) = kids.next() else {
            open.pop();
            continue;
        };
        nodes += 1;
        if nodes > MAX_NODES {
            return Err(ParseError::TooLarge { limit: MAX_NODES as u64 });
        }
        // A node that stands in the tree twice, or in itself, counts once.
        if let MaybeRef::Ref(reference) = reference
            && !seen.insert((reference.obj_number, reference.gen_number))
        {
            continue;
        }
        let Some(dict) = kid.into_dict() else { continue };
        let inherited = inherited.with(&dict);
        match dict.get::<Array<'a>>("Kids") {
            Some(kids) if !is(&dict, b"Page") => open.push((kids.raw_iter().zip(kids.iter()), inherited)),
            _ => add(pages, &inherited, dict)?,
        }
    }
    Ok(())
}

fn add<'a>(pages: &mut Vec<PageNode<'a>>, inherited: &Inherited<'a>, dict: Dict<'a>) -> Result<(), ParseError> {
    if pages.len() >= MAX_PAGES {
        return Err(ParseError::TooLarge { limit: MAX_PAGES as u64 });
    }
    let upright = |[x0, y0, x1, y1]: [f32; 4]| Box2 { x0: x0.min(x1), y0: y0.min(y1), x1: x0.max(x1), y1: y0.max(y1) };
    let media = upright(inherited.media.unwrap_or(A4));
    let crop = inherited.crop.map_or(media, upright);
    let visible = Box2 {
        x0: crop.x0.max(media.x0),
        y0: crop.y0.max(media.y0),
        x1: crop.x1.min(media.x1),
        y1: crop.y1.min(media.y1),
    };
    let visible = if visible.width() > 0.0 && visible.height() > 0.0 { visible } else { upright(A4) };
    pages.push(PageNode { dict, resources: inherited.resources.clone().unwrap_or_default(), visible });
    Ok(())
}

fn is(dict: &Dict<'_>, kind: &[u8]) -> bool {
    dict.get::<Name<'_>>("Type").is_some_and(|name| name.as_ref() == kind)
}
