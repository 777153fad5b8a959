//! Opening a document: nothing of it is inflated before it is known how much that would be.
//!
//! The library that reads objects inflates, while it opens a file, whatever the file's tables name, searches a damaged
//! file without a bound, and builds every page that a tree names. So it is not given the file's own tables: objects are
//! found here, those in streams are counted here, and the library is given a table of exactly these, with a catalog of
//! our own that has no pages. The real catalog and its pages are walked here. A damaged table is then no special case.

use super::{
    scan::{self, Place},
    stream::{self, Budget},
};
use crate::ParseError;
use hayro_syntax::{
    DecryptionError, LoadPdfError, Pdf,
    object::{Array, Dict, MaybeRef, Name, ObjRef, Object, ObjectIdentifier, Stream, String as PdfString},
};
use std::{collections::BTreeMap, fmt::Write as _, sync::Arc};

/// Most objects of a document, those in streams included.
const MAX_OBJECTS: usize = 500_000;
/// Numbers of our own catalog, of its empty tree and of our table, past what any writer uses.
const OWN_CATALOG: u32 = 8_388_605;
const OWN_PAGES: u32 = 8_388_606;
const OWN_TABLE: u32 = 8_388_607;

/// A document whose objects can be read.
pub(super) struct Opened {
    pdf: Pdf,
    trailer: Trailer,
    /// Streams of objects that cannot be read.
    pub damaged: bool,
}

/// What the file's own trailer says.
#[derive(Debug, Clone, Default)]
struct Trailer {
    root: Option<ObjectIdentifier>,
    info: Option<ObjectIdentifier>,
    /// How it is encrypted, as a trailer says it.
    encryption: Vec<u8>,
}

/// Where an object is.
#[derive(Debug, Clone, Copy)]
enum Entry {
    At { offset: usize, generation: u32 },
    In { holder: u32, index: u32 },
}

impl Opened {
    pub(super) fn new(bytes: &[u8], budget: &mut Budget) -> Result<Self, ParseError> {
        let too_many = || ParseError::TooLarge { limit: MAX_OBJECTS as u64 };
        let places = scan::objects(bytes, MAX_OBJECTS).ok_or_else(too_many)?;
        let trailer = Trailer::of(bytes);
        // Later versions of an object stand after earlier ones.
        let mut entries: BTreeMap<u32, (usize, Entry)> = BTreeMap::new();
        for Place { number, generation, offset, .. } in &places {
            entries.insert(*number, (*offset, Entry::At { offset: *offset, generation: *generation }));
        }
        let mut file = Vec::with_capacity(bytes.len() + entries.len() * ENTRY_BYTES + 4_096);
        file.extend_from_slice(bytes);
        append(&mut file, &entries, &trailer.encryption);
        let file = Arc::new(file);
        let pdf = Pdf::new(Arc::clone(&file)).map_err(failure)?;
        let mut held = Vec::new();
        let mut damaged = false;
        for place in places.iter().filter(|place| place.is_holder) {
            // Only its last version can be reached.
            let is_last = entries.get(&place.number).is_some_and(|(offset, _)| *offset == place.offset);
            let id = ObjectIdentifier::new(place.number, i32::try_from(place.generation).unwrap_or(0));
            let Some(stream) = pdf.xref().get::<Stream<'_>>(id).filter(|_| is_last && place.generation == 0) else {
                continue;
            };
            // The library would try an unreadable one again for every object in it.
            let Some(data) = stream::holder(&stream, budget)? else {
                damaged = true;
                continue;
            };
            let numbers = numbers_in(stream.dict(), &data);
            if held.len() + numbers.len() + entries.len() > MAX_OBJECTS {
                return Err(too_many());
            }
            held.extend(
                (0..)
                    .zip(numbers)
                    .map(|(index, number)| (place.offset, number, Entry::In { holder: place.number, index })),
            );
        }
        let pdf = if held.is_empty() {
            pdf
        } else {
            drop(pdf);
            for (offset, number, entry) in held {
                if entries.get(&number).is_none_or(|(other, _)| *other < offset) {
                    entries.insert(number, (offset, entry));
                }
            }
            let mut file = Arc::unwrap_or_clone(file);
            file.truncate(bytes.len());
            append(&mut file, &entries, &trailer.encryption);
            Pdf::new(file).map_err(failure)?
        };
        Ok(Self { pdf, trailer, damaged })
    }

    pub(super) fn catalog(&self) -> Option<Dict<'_>> {
        let is_catalog = |dict: &Dict<'_>| dict.contains_key("Pages");
        let named = self.trailer.root.and_then(|root| self.pdf.xref().get::<Dict<'_>>(root)).filter(is_catalog);
        named.or_else(|| {
            let own = ObjectIdentifier::new(OWN_CATALOG, 0);
            let all = self.objects().filter_map(Object::into_dict);
            all.filter(|dict| dict.obj_id() != Some(own) && is(dict, b"Catalog") && is_catalog(dict)).last()
        })
    }

    /// As the document calls itself.
    pub(super) fn title(&self) -> Option<String> {
        let info = self.pdf.xref().get::<Dict<'_>>(self.trailer.info?)?;
        Some(super::strings::decode(info.get::<PdfString<'_>>("Title")?.as_bytes()))
    }

    pub(super) fn objects(&self) -> impl Iterator<Item = Object<'_>> {
        self.pdf.objects().into_iter()
    }
}

fn failure(error: LoadPdfError) -> ParseError {
    match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => ParseError::Encrypted,
        LoadPdfError::Decryption(_) => ParseError::failed("the document is encrypted in a way that is not known"),
        LoadPdfError::Invalid => ParseError::failed("the document is no PDF, or too damaged to be read as one"),
    }
}

fn is(dict: &Dict<'_>, kind: &[u8]) -> bool {
    dict.get::<Name<'_>>("Type").is_some_and(|name| name.as_ref() == kind)
}

fn identifier(reference: ObjRef) -> ObjectIdentifier {
    ObjectIdentifier::new(reference.obj_number, reference.gen_number)
}

impl Trailer {
    fn of(file: &[u8]) -> Self {
        let Some(dict) = scan::trailer(file) else { return Self::default() };
        let mut encryption = Vec::new();
        if let Some(how) = dict.get_raw::<Dict<'_>>("Encrypt") {
            encryption.extend_from_slice(b"/Encrypt ");
            match how {
                MaybeRef::Ref(reference) => {
                    encryption.extend(format!("{} {} R", reference.obj_number, reference.gen_number).bytes());
                }
                MaybeRef::NotRef(how) => encryption.extend_from_slice(how.data()),
            }
            if let Some(id) = dict.get::<Array<'_>>("ID").and_then(|ids| ids.iter::<PdfString<'_>>().next()) {
                encryption.extend_from_slice(b"/ID[<");
                encryption.extend(id.as_bytes().iter().flat_map(|byte| format!("{byte:02x}").into_bytes()));
                encryption.extend_from_slice(b">]");
            }
        }
        Self { root: dict.get_ref("Root").map(identifier), info: dict.get_ref("Info").map(identifier), encryption }
    }
}

/// The numbers of the objects that a stream holds, in order.
fn numbers_in(dict: &Dict<'_>, data: &[u8]) -> Vec<u32> {
    let count = dict.get::<u32>("N").unwrap_or(0) as usize;
    let first = dict.get::<u32>("First").unwrap_or(0) as usize;
    let pairs = data.get(..first.min(data.len())).unwrap_or_default();
    let numbers = pairs.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let numbers = numbers.map_while(|word| std::str::from_utf8(word).ok()?.parse().ok());
    numbers.step_by(2).take(count.min(MAX_OBJECTS)).collect()
}

/// Bytes of an entry of our table: its kind, then a place and a generation, or a holder and an index.
const ENTRY_BYTES: usize = 9;

/// Closes a file with an empty tree of pages in place of its own, and a table of the given objects.
fn append(file: &mut Vec<u8>, entries: &BTreeMap<u32, (usize, Entry)>, encryption: &[u8]) {
    let mut own = |text: String| {
        file.push(b'\n');
        let offset = file.len();
        file.extend_from_slice(text.as_bytes());
        Entry::At { offset, generation: 0 }
    };
    let catalog = own(format!("{OWN_CATALOG} 0 obj\n<</Type/Catalog/Pages {OWN_PAGES} 0 R>>\nendobj"));
    let pages = own(format!("{OWN_PAGES} 0 obj\n<</Type/Pages/Kids[]/Count 0>>\nendobj"));
    let theirs =
        entries.iter().filter(|(number, _)| **number < OWN_CATALOG).map(|(number, (_, entry))| (*number, *entry));
    let all = theirs.chain([(OWN_CATALOG, catalog), (OWN_PAGES, pages)]);
    let (mut table, mut index): (Vec<u8>, Vec<(u32, u32)>) =
        (Vec::with_capacity((entries.len() + 2) * ENTRY_BYTES), Vec::new());
    for (number, entry) in all {
        let (kind, second, third) = match entry {
            Entry::At { offset, generation } => (1, u32::try_from(offset).unwrap_or(u32::MAX), generation),
            Entry::In { holder, index } => (2, holder, index),
        };
        table.push(kind);
        table.extend_from_slice(&second.to_be_bytes());
        table.extend_from_slice(&third.to_be_bytes());
        match index.last_mut() {
            Some((first, count)) if *first + *count == number => *count += 1,
            _ => index.push((number, 1)),
        }
    }
    let mut ranges = String::new();
    for (first, count) in index {
        let _ = write!(ranges, "{first} {count} ");
    }
    file.push(b'\n');
    let start = file.len();
    let dict = format!(
        "{OWN_TABLE} 0 obj\n<</Type/XRef/Size {}/W[1 4 4]/Index[{ranges}]/Root {OWN_CATALOG} 0 R/Length {}",
        OWN_TABLE + 1,
        table.len()
    );
    file.extend_from_slice(dict.as_bytes());
    file.extend_from_slice(encryption);
    file.extend_from_slice(b">>stream\n");
    file.extend_from_slice(&table);
    file.extend_from_slice(format!("\nendstream\nendobj\nstartxref\n{start}\n%%EOF\n").as_bytes());
}
