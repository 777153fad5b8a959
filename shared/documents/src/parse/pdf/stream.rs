//! What a stream holds, never more of it than the document's budget allows.

use crate::{Limits, ParseError};
use flate2::{Decompress, FlushDecompress, Status};
use hayro_syntax::{
    Filter,
    object::{Array, Dict, Object, ObjectIdentifier, Stream},
};
use std::{borrow::Cow, collections::HashSet};

/// Most bytes one byte of each coding can stand for. Deflate: 258 bytes by two bits; LZW: a string of 4,096 bytes by
/// nine bits; run lengths: 128 bytes by two; base 85: four zero bytes by one.
const DEFLATE_RATIO: u64 = 1_032;
const LZW_RATIO: u64 = 3_641;
const RUN_LENGTH_RATIO: u64 = 64;
const BASE_85_RATIO: u64 = 4;

/// Most streams remembered as counted.
const MAX_COUNTED: usize = 65_536;
/// Bytes inflated at a time.
const STEP: usize = 16 * 1024;

/// What is left of the bytes that a document's streams may inflate to.
#[derive(Debug)]
pub(super) struct Budget {
    left: u64,
    limit: u64,
    /// Streams that were counted: what is drawn on every page inflates again, and needs room once.
    counted: HashSet<ObjectIdentifier>,
    /// Streams that the library may decode on its own: it keeps what it makes of them.
    afforded: HashSet<ObjectIdentifier>,
    /// Streams that could not be read: they are not tried again, however often they are drawn.
    failed: HashSet<ObjectIdentifier>,
}

impl Budget {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            left: limits.max_inflated_bytes,
            limit: limits.max_inflated_bytes,
            counted: HashSet::new(),
            afforded: HashSet::new(),
            failed: HashSet::new(),
        }
    }

    fn take(&mut self, bytes: u64) -> Result<(), ParseError> {
        self.left = self
            .left
            .checked_sub(bytes)
            .ok_or(ParseError::ArchiveTooLarge { problem: format!("inflates to more than {} bytes", self.limit) })?;
        Ok(())
    }

    /// Inflates into nothing, to learn what a stream would cost whoever inflates it, and whether it is whole.
    fn measure(&mut self, deflated: &[u8]) -> Result<bool, ParseError> {
        let mut inflater = Decompress::new(true);
        let mut scratch = [0; STEP];
        loop {
            let (read, written) = (inflater.total_in(), inflater.total_out());
            let rest = usize::try_from(read).ok().and_then(|read| deflated.get(read..)).unwrap_or_default();
            let status = inflater.decompress(rest, &mut scratch, FlushDecompress::None);
            let moved = inflater.total_in() > read || inflater.total_out() > written;
            // An error ends the stream: what came before it was inflated all the same.
            if inflater.total_out() > self.left || !moved || !matches!(status, Ok(Status::Ok | Status::BufError)) {
                self.take(inflater.total_out())?;
                return Ok(matches!(status, Ok(Status::StreamEnd)));
            }
        }
    }
}

/// The content of a stream, as far as it can be read. `None` when nothing of it can.
pub(super) fn content<'a>(stream: &Stream<'a>, budget: &mut Budget) -> Result<Option<Cow<'a, [u8]>>, ParseError> {
    let id = stream.obj_id();
    if budget.failed.contains(&id) {
        return Ok(None);
    }
    let before = budget.left;
    let content = decode(stream, budget)?;
    if content.is_none() {
        budget.failed.insert(id);
    }
    if budget.counted.contains(&id) {
        budget.left = before;
    } else if id.obj_number > 0 && budget.counted.len() < MAX_COUNTED {
        budget.counted.insert(id);
    }
    Ok(content)
}

fn decode<'a>(stream: &Stream<'a>, budget: &mut Budget) -> Result<Option<Cow<'a, [u8]>>, ParseError> {
    let filters = stream.filters();
    let raw = stream.raw_data();
    if filters.is_empty() {
        budget.take(raw.len() as u64)?;
        return Ok(Some(raw));
    }
    if filters.as_slice() == [Filter::FlateDecode] && !is_predicted(stream.dict()) {
        return inflate(&raw, budget).map(|data| data.map(Cow::Owned));
    }
    if !may_decode(&raw, &filters, budget)? {
        return Ok(None);
    }
    let decoded = stream.decoded_data().ok();
    budget.take(decoded.as_ref().map_or(0, |data| data.len() as u64))?;
    Ok(decoded)
}

/// Whether what a library decodes on its own stays within the budget; counts it.
pub(super) fn afford(stream: &Stream<'_>, budget: &mut Budget) -> Result<bool, ParseError> {
    let id = stream.obj_id();
    if budget.afforded.contains(&id) {
        return Ok(true);
    }
    let affords = is_affordable(stream, budget)?;
    if affords && id.obj_number > 0 && budget.afforded.len() < MAX_COUNTED {
        budget.afforded.insert(id);
    }
    Ok(affords)
}

fn is_affordable(stream: &Stream<'_>, budget: &mut Budget) -> Result<bool, ParseError> {
    let raw = stream.raw_data();
    let filters = stream.filters();
    if filters.is_empty() {
        budget.take(raw.len() as u64)?;
        return Ok(true);
    }
    // The library reads what is not whole in further ways, none of which is measured.
    if filters.as_slice() == [Filter::FlateDecode] && budget.measure(&raw)? {
        return Ok(true);
    }
    may_decode(&raw, &filters, budget)
}

/// The content of a stream that the library will decode on its own, as often as it likes. `None` when it might find more
/// in it than is found here.
pub(super) fn holder<'a>(stream: &Stream<'a>, budget: &mut Budget) -> Result<Option<Cow<'a, [u8]>>, ParseError> {
    let before = budget.left;
    let Some(data) = content(stream, budget)? else { return Ok(None) };
    budget.left = before;
    Ok(afford(stream, budget)?.then_some(data))
}

/// Codings that cannot be measured cheaply are judged by the worst they could do.
fn may_decode(raw: &[u8], filters: &[Filter], budget: &Budget) -> Result<bool, ParseError> {
    let mut worst = raw.len() as u64;
    for filter in filters {
        let ratio = match filter {
            Filter::FlateDecode => DEFLATE_RATIO,
            Filter::LzwDecode => LZW_RATIO,
            Filter::RunLengthDecode => RUN_LENGTH_RATIO,
            Filter::Ascii85Decode => BASE_85_RATIO,
            Filter::AsciiHexDecode | Filter::Crypt => 1,
            Filter::CcittFaxDecode | Filter::Jbig2Decode | Filter::DctDecode | Filter::JpxDecode => return Ok(false),
        };
        worst = worst.saturating_mul(ratio);
    }
    if worst > budget.left {
        return Err(ParseError::ArchiveTooLarge {
            problem: format!("may inflate to more than {} bytes", budget.limit),
        });
    }
    Ok(true)
}

/// Inflates what can be inflated: a page cut short, or damaged on the way, still has its beginning.
fn inflate(raw: &[u8], budget: &mut Budget) -> Result<Option<Vec<u8>>, ParseError> {
    let within = usize::try_from(budget.left.saturating_add(1)).unwrap_or(usize::MAX);
    let mut data = Vec::with_capacity(raw.len().saturating_mul(4).clamp(STEP, 1 << 20).min(within));
    let mut whole = inflate_into(raw, true, within, &mut data);
    if !whole && data.is_empty() {
        // Some writers leave out what marks the coding.
        whole = inflate_into(raw, false, within, &mut data);
    }
    budget.take(data.len() as u64)?;
    Ok((whole || !data.is_empty()).then_some(data))
}

/// Whether the stream came to its end, within the bound.
fn inflate_into(raw: &[u8], marked: bool, within: usize, data: &mut Vec<u8>) -> bool {
    let mut inflater = Decompress::new(marked);
    loop {
        let (read, before) = (usize::try_from(inflater.total_in()).unwrap_or(usize::MAX), data.len());
        if before >= within {
            return false;
        }
        if data.capacity() == before {
            data.reserve(before.max(STEP).min(within - before));
        }
        let rest = raw.get(read..).unwrap_or_default();
        match inflater.decompress_vec(rest, data, FlushDecompress::None) {
            Ok(Status::StreamEnd) => return true,
            // Nothing in, nothing out: the data ends here.
            Ok(_) if data.len() == before && inflater.total_in() == read as u64 && data.capacity() > before => {
                return false;
            }
            Ok(_) => {}
            Err(_) => return false,
        }
    }
}

fn is_predicted(dict: &Dict<'_>) -> bool {
    let predicts = |params: &Dict<'_>| params.get::<u32>("Predictor").is_some_and(|predictor| predictor > 1);
    [dict.get::<Object<'_>>("DecodeParms"), dict.get::<Object<'_>>("DP")].into_iter().flatten().any(|params| {
        match params {
            Object::Dict(params) => predicts(&params),
            Object::Array(all) => all_dicts(&all).any(|params| predicts(&params)),
            _ => false,
        }
    })
}

fn all_dicts<'a>(array: &Array<'a>) -> impl Iterator<Item = Dict<'a>> {
    array.iter::<Object<'a>>().filter_map(Object::into_dict)
}
