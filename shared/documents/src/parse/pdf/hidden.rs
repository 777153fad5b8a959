//! Layers that a document opens without: their text is not on the page.

use hayro_syntax::object::{Array, Dict, MaybeRef, Name, ObjRef, Object};
use std::collections::HashSet;

/// Most layers of one document.
const MAX_LAYERS: usize = 65_536;

#[derive(Debug, Default)]
pub(super) struct Hidden {
    off: HashSet<(u32, i32)>,
}

impl Hidden {
    pub(super) fn of(catalog: &Dict<'_>) -> Self {
        let Some(properties) = catalog.get::<Dict<'_>>("OCProperties") else { return Self::default() };
        let Some(config) = properties.get::<Dict<'_>>("D") else { return Self::default() };
        let listed = |dict: &Dict<'_>, key: &str| -> Vec<(u32, i32)> {
            let list = dict.get::<Array<'_>>(key);
            list.iter()
                .flat_map(Array::raw_iter)
                .take(MAX_LAYERS)
                .filter_map(|item| item.as_obj_ref())
                .map(id)
                .collect()
        };
        let mut off: HashSet<_> = HashSet::new();
        if config.get::<Name<'_>>("BaseState").is_some_and(|state| state.as_ref() == b"OFF") {
            off.extend(listed(&properties, "OCGs"));
            for on in listed(&config, "ON") {
                off.remove(&on);
            }
        }
        off.extend(listed(&config, "OFF"));
        Self { off }
    }

    /// Whether a layer, or a rule about layers, hides what stands in it.
    pub(super) fn hides(&self, reference: Option<ObjRef>, layer: &Dict<'_>) -> bool {
        if self.off.is_empty() {
            return false;
        }
        if reference.is_some_and(|reference| self.off.contains(&id(reference))) {
            return true;
        }
        // A rule names layers; the usual ones show what any of them shows.
        let members: Vec<_> = match layer.get_raw::<Object<'_>>("OCGs") {
            Some(MaybeRef::Ref(reference)) => match layer.get::<Array<'_>>("OCGs") {
                Some(list) => list.raw_iter().take(MAX_LAYERS).filter_map(|item| item.as_obj_ref()).collect(),
                None => vec![reference],
            },
            Some(MaybeRef::NotRef(Object::Array(list))) => {
                list.raw_iter().take(MAX_LAYERS).filter_map(|item| item.as_obj_ref()).collect()
            }
            _ => Vec::new(),
        };
        let off = |reference: &ObjRef| self.off.contains(&id(*reference));
        match layer.get::<Name<'_>>("P").as_deref() {
            _ if members.is_empty() => false,
            Some(b"AllOn") => members.iter().any(off),
            Some(b"AnyOff") => !members.iter().any(off),
            Some(b"AllOff") => !members.iter().all(off),
            _ => members.iter().all(off),
        }
    }
}

const fn id(reference: ObjRef) -> (u32, i32) {
    (reference.obj_number, reference.gen_number)
}
