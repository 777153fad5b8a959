//! What a file's bytes say of its objects, before any library reads them.

use hayro_syntax::object::{Dict, FromBytes as _, MaybeRef, Name, Number, Object};
use memchr::memmem;
use std::collections::HashMap;

/// An object that is read ends before this many others have begun: what does not is no object, and looking for its end
/// in all the rest of the file, over and over, has no bound.
const MAX_INSIDE: usize = 16;

/// An object that begins at a place of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub number: u32,
    pub generation: u32,
    pub offset: usize,
    /// It is a stream that says it holds objects.
    pub is_holder: bool,
}

/// Finds the objects of a file, in order, and only such as can be read. `None` when more than `limit` seem to begin.
///
/// What stands inside a stream is no object of the file: an attached document has its own.
pub(super) fn objects(bytes: &[u8], limit: usize) -> Option<Vec<Place>> {
    let mut begun = Vec::new();
    for at in memmem::find_iter(bytes, b"obj") {
        if let Some(place) = header(bytes, at) {
            begun.push((place, at + 3));
            if begun.len() > limit {
                return None;
            }
        }
    }
    let bodies: HashMap<u32, usize> = begun.iter().map(|(place, body)| (place.number, *body)).collect();
    let mut places = Vec::new();
    let mut covered = 0;
    for (index, (place, body)) in begun.iter().enumerate() {
        if place.offset < covered {
            continue;
        }
        let window = begun.get(index + MAX_INSIDE).map_or(bytes.len(), |(next, _)| next.offset);
        let Some(text) = bytes.get(*body..window) else { continue };
        let text = text.trim_ascii_start();
        let dict = if text.starts_with(b"<<") { Dict::from_bytes(text) } else { None };
        let data = dict.as_ref().and_then(|dict| start_of_data(bytes, dict));
        let end = dict.as_ref().zip(data).and_then(|(dict, data)| end_of_data(bytes, dict, data, &bodies));
        if let Some(end) = end {
            covered = end;
        } else if (dict.is_none() || data.is_some()) && Object::from_bytes(text).is_none() {
            // Neither its length nor anything else tells where it ends.
            continue;
        }
        let kind = dict.filter(|_| data.is_some()).and_then(|dict| dict.get::<Name<'_>>("Type"));
        places.push(Place { is_holder: kind.is_some_and(|name| name.as_ref() == b"ObjStm"), ..*place });
    }
    Some(places)
}

/// Where the data of a stream begins, if its dictionary is followed by any.
fn start_of_data(bytes: &[u8], dict: &Dict<'_>) -> Option<usize> {
    let own = dict.data();
    let end = (own.as_ptr() as usize).checked_sub(bytes.as_ptr() as usize)? + own.len();
    let after = bytes.get(end..)?;
    let data = after.trim_ascii_start().strip_prefix(b"stream")?;
    let data = data.strip_prefix(b"\n").or_else(|| data.strip_prefix(b"\r\n")).or_else(|| data.strip_prefix(b"\r"))?;
    Some(bytes.len() - data.len())
}

/// Where the data of a stream ends, as its length says, if that is where it is said to end.
fn end_of_data(bytes: &[u8], dict: &Dict<'_>, data: usize, bodies: &HashMap<u32, usize>) -> Option<usize> {
    let length = match dict.get_raw::<Number>("Length")? {
        MaybeRef::NotRef(length) => length,
        MaybeRef::Ref(reference) => {
            let body = bytes.get(*bodies.get(&reference.obj_number)?..)?;
            Number::from_bytes(body.get(..MAX_NUMBER.min(body.len()))?.trim_ascii_start())?
        }
    };
    let end = data.checked_add(usize::try_from(length.as_i64()).ok()?)?;
    let after = bytes.get(end..)?;
    after.get(..MAX_NUMBER.min(after.len()))?.trim_ascii_start().starts_with(b"endstream").then_some(end)
}

/// Longest number with what stands around it, in bytes.
const MAX_NUMBER: usize = 64;

/// The plain beginning of an object (`5 0 obj`) before a word.
fn header(bytes: &[u8], at: usize) -> Option<Place> {
    let end = back_over(bytes, at, is_white_space);
    let generation_start = back_over(bytes, end, |byte| byte.is_ascii_digit());
    let number_end = back_over(bytes, generation_start, is_white_space);
    let number_start = back_over(bytes, number_end, |byte| byte.is_ascii_digit());
    if number_end == generation_start {
        return None;
    }
    let parse = |from: usize, to: usize| std::str::from_utf8(bytes.get(from..to)?).ok()?.parse::<u32>().ok();
    let (number, generation) = (parse(number_start, number_end)?, parse(generation_start, end)?);
    (generation <= MAX_GENERATION).then_some(Place { number, generation, offset: number_start, is_holder: false })
}

/// Highest generation that a file can name.
const MAX_GENERATION: u32 = 65_535;

/// Most digits and spaces looked back over.
const MAX_HEADER: usize = 32;

fn back_over(bytes: &[u8], from: usize, over: impl Fn(u8) -> bool) -> usize {
    let before = bytes.get(..from).unwrap_or_default();
    from - before.iter().rev().take(MAX_HEADER).take_while(|byte| over(**byte)).count()
}

const fn is_white_space(byte: u8) -> bool {
    matches!(byte, 0 | b'\t' | b'\n' | 0xc | b'\r' | b' ')
}

/// Where the file says that its table of objects stands.
fn start_of_table(bytes: &[u8]) -> Option<usize> {
    let at = memmem::rfind(bytes, b"startxref")?;
    let rest = bytes.get(at + 9..)?;
    let digits: Vec<u8> =
        rest.iter().copied().skip_while(|byte| is_white_space(*byte)).take_while(u8::is_ascii_digit).take(12).collect();
    std::str::from_utf8(&digits).ok()?.parse().ok()
}

/// The dictionary that closes a table, or that belongs to one that is a stream.
pub(super) fn trailer(bytes: &[u8]) -> Option<Dict<'_>> {
    let at_table = start_of_table(bytes).and_then(|start| {
        let table = bytes.get(start..)?;
        let table = table.get(table.iter().take_while(|byte| is_white_space(**byte)).count()..)?;
        let at = if table.starts_with(b"xref") {
            memmem::find(table, b"trailer")? + 7
        } else {
            // A stream: its number, then its dictionary.
            memmem::find(table.get(..64.min(table.len()))?, b"obj")? + 3
        };
        from_dictionary(table.get(at..)?)
    });
    at_table.or_else(|| {
        let at = memmem::rfind(bytes, b"trailer")?;
        from_dictionary(bytes.get(at + 7..)?)
    })
}

fn from_dictionary(bytes: &[u8]) -> Option<Dict<'_>> {
    let bytes = bytes.get(bytes.iter().take_while(|byte| is_white_space(**byte)).count()..)?;
    Dict::from_bytes(bytes).filter(|dict| dict.contains_key("Root"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_what_can_be_read_outside_of_streams() {
        let many = "1 0 obj ( ".repeat(MAX_INSIDE);
        for (text, expected) in [
            ("1 0 obj<<>>endobj", &[(1, 0, 0, false)][..]),
            ("x\n12\r\n3obj 5 ", &[(12, 3, 2, false)]),
            ("an object, 5 objects", &[]),
            ("5 99999 obj 1 ", &[]),
            (
                "1 0 obj <</Length 13>>stream\n2 0 obj 5 end\nendstream 3 0 obj 7 ",
                &[(1, 0, 0, false), (3, 0, 53, false)],
            ),
            (
                "1 0 obj <</Length 3 0 R/Type/ObjStm>>stream\n2 0 obj 5 end\nendstream 3 0 obj 13 ",
                &[(1, 0, 0, true), (3, 0, 68, false)],
            ),
            (&many, &[]),
        ] {
            let found = objects(text.as_bytes(), 1_000).unwrap();
            let found: Vec<_> =
                found.iter().map(|place| (place.number, place.generation, place.offset, place.is_holder)).collect();
            assert_eq!(found, expected, "{text}");
        }
        assert_eq!(objects(b"1 0 obj 2 0 obj", 1), None);
    }

    #[test]
    fn trailer_is_found_by_its_table_and_without_it() {
        for text in [
            "xx\nxref\n0 1\n0000000000 65535 f \ntrailer\n<</Root 1 0 R>>\nstartxref\n3\n%%EOF",
            "xx\n7 0 obj <</Root 1 0 R>>stream\nstartxref\n3\n%%EOF",
            "xx\ntrailer <</Root 1 0 R>>\nstartxref\n99999\n%%EOF",
        ] {
            assert_eq!(trailer(text.as_bytes()).unwrap().get_ref("Root").unwrap().obj_number, 1, "{text}");
        }
        assert!(trailer(b"nothing").is_none());
    }
}
