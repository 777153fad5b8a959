//! Office archives, read behind a guard: bounds are on what an entry really inflates to, whatever its header claims.

use super::xml::{attribute, for_each_start};
use crate::{Limits, ParseError};
use std::{
    collections::HashMap,
    io::{Cursor, Read as _},
};
use zip::ZipArchive;

/// An archive that has been inflated once, whole, within the limits.
pub(super) struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
}

/// The part that everything else hangs on.
pub(super) struct MainPart {
    pub name: String,
    pub content_type: String,
}

/// A relation of one part to another.
#[derive(Debug, Clone)]
pub(super) struct Relation {
    /// The last segment of its type, the same in the strict and the transitional namespace.
    pub kind: String,
    pub target: String,
}

impl<'a> Archive<'a> {
    pub(super) fn open(bytes: &'a [u8], limits: &Limits) -> Result<Self, ParseError> {
        let mut zip = ZipArchive::new(Cursor::new(bytes))
            .map_err(|_| ParseError::failed("the archive is cut off or damaged: its directory cannot be read"))?;
        if zip.len() > limits.max_archive_entries {
            let problem = format!("has {} entries; at most {} are read", zip.len(), limits.max_archive_entries);
            return Err(ParseError::ArchiveTooLarge { problem });
        }
        let mut left = limits.max_inflated_bytes;
        for index in 0..zip.len() {
            let entry = zip.by_index(index).map_err(|error| entry_error(&error))?;
            let inflated = std::io::copy(&mut entry.take(left + 1), &mut std::io::sink())
                .map_err(|_| ParseError::failed("an entry of the archive is damaged"))?;
            left = left.checked_sub(inflated).ok_or_else(|| ParseError::ArchiveTooLarge {
                problem: format!("unpacks to more than {} bytes", limits.max_inflated_bytes),
            })?;
        }
        Ok(Self { zip })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.zip.index_for_name(name).is_some()
    }

    /// A part's text. Its size was bounded when the archive was opened.
    pub(super) fn part(&mut self, name: &str) -> Result<String, ParseError> {
        let missing = || ParseError::failed(format!("the document lacks its part {name}"));
        let mut entry = self.zip.by_name(name).map_err(|_| missing())?;
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(|_| ParseError::failed(format!("the part {name} is damaged")))?;
        let encoding = encoding_rs::Encoding::for_bom(&bytes).map_or(encoding_rs::UTF_8, |(encoding, _)| encoding);
        Ok(encoding.decode(&bytes).0.into_owned())
    }

    /// What kind of `OpenDocument` file this is, by its own word; nothing where it is none.
    pub(super) fn open_document(&mut self) -> Result<Option<String>, ParseError> {
        if !self.has("mimetype") {
            return Ok(None);
        }
        let kind = self.part("mimetype")?;
        Ok(kind.trim().strip_prefix("application/vnd.oasis.opendocument.").map(str::to_owned))
    }

    /// The main document, by the package's relations and content types.
    pub(super) fn main_part(&mut self) -> Result<MainPart, ParseError> {
        if !self.has("[Content_Types].xml") {
            return Err(ParseError::UnsupportedType { detected: "an archive that is no Office document" });
        }
        let relations = self.relations("")?;
        let name = relations.into_values().find(|relation| relation.kind == "officeDocument");
        let name = name.ok_or_else(|| ParseError::failed("the package names no main document"))?.target;
        let types = self.part("[Content_Types].xml")?;
        let mut content_type = String::new();
        let mut by_extension = String::new();
        for_each_start(&types, |element| {
            let of = attribute(element, "ContentType").unwrap_or_default();
            if attribute(element, "PartName")
                .is_some_and(|part| part.trim_start_matches('/').eq_ignore_ascii_case(&name))
            {
                content_type = of;
            } else if attribute(element, "Extension").is_some_and(|end| name.ends_with(&format!(".{end}"))) {
                by_extension = of;
            }
        })?;
        Ok(MainPart { name, content_type: if content_type.is_empty() { by_extension } else { content_type } })
    }

    /// Relations of a part (of the package itself for an empty name) by id, targets resolved.
    pub(super) fn relations(&mut self, part: &str) -> Result<HashMap<String, Relation>, ParseError> {
        let (folder, file) = part.rsplit_once('/').map_or(("", part), |(folder, file)| (folder, file));
        let name = if folder.is_empty() { format!("_rels/{file}.rels") } else { format!("{folder}/_rels/{file}.rels") };
        let mut relations = HashMap::new();
        if !self.has(&name) {
            return Ok(relations);
        }
        let xml = self.part(&name)?;
        for_each_start(&xml, |element| {
            let (id, kind, target) =
                (attribute(element, "Id"), attribute(element, "Type"), attribute(element, "Target"));
            let external = attribute(element, "TargetMode").is_some_and(|mode| mode == "External");
            if let (Some(id), Some(kind), Some(target), false) = (id, kind, target, external) {
                let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
                relations.insert(id, Relation { kind, target: resolve(folder, &target) });
            }
        })?;
        Ok(relations)
    }
}

fn entry_error(error: &zip::result::ZipError) -> ParseError {
    match error {
        zip::result::ZipError::UnsupportedArchive(text) if text.to_ascii_lowercase().contains("password") => {
            ParseError::Encrypted
        }
        _ => ParseError::failed("an entry of the archive is damaged or packed in an unknown way"),
    }
}

/// A target is relative to its part's folder unless it starts with a slash.
fn resolve(folder: &str, target: &str) -> String {
    let mut path: Vec<&str> = if target.starts_with('/') { Vec::new() } else { folder.split('/').collect() };
    for segment in target.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                path.pop();
            }
            segment => path.push(segment),
        }
    }
    path.retain(|segment| !segment.is_empty());
    path.join("/")
}

/// The last segment of a part's name.
pub(super) fn file_name(part: &str) -> &str {
    part.rsplit('/').next().unwrap_or(part)
}
