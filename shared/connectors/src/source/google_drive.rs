//! Google Drive: a file's metadata, with the text it was exported to under `export: {mimeType, text}`.

use crate::{
    ItemError, Outcome,
    document::{DocumentType, Draft, Identity},
    html,
    item::Item,
    markdown::{Markdown, Style},
};

pub(crate) fn read(item: &Item<'_>) -> Result<Outcome, ItemError> {
    // An entry of the list of changes names the file beside it.
    if item.has("fileId") {
        let id = item.required_id("fileId", "the file's id")?;
        if item.flag("removed")? {
            return Ok(Identity::new(DocumentType::GoogleDriveFile, &[&id], "fileId")?.removed());
        }
    }
    let inner = if item.has("fileId") { item.object("file")? } else { None };
    let file = inner.as_ref().unwrap_or(item);

    let id = file.required_id("id", "the file's id")?;
    let identity = Identity::new(DocumentType::GoogleDriveFile, &[&id], "id")?;
    if file.flag("trashed")? {
        return Ok(identity.removed());
    }
    let mut draft = Draft::new(identity);
    draft.title = file.words("name")?.map(str::to_owned);
    draft.url = file.url("webViewLink")?;
    draft.updated_at = file.first_time(&["modifiedTime", "createdTime"])?;
    let facts = &mut draft.facts;
    facts.text("mime_type", file.text("mimeType")?);
    facts.text("description", file.text("description")?);
    facts.text("drive_id", file.id("driveId")?.as_deref());
    facts.list("parents", file.strings("parents")?);
    facts.list("owners", file.texts("owners", "displayName")?);
    facts.text("modified_by", file.text("lastModifyingUser.displayName")?);

    let source = if item.has("export") { item } else { file };
    let text = source
        .text("export.text")?
        .ok_or_else(|| ItemError::missing("export.text", "the file's exported text, beside its `export.mimeType`"))?;
    let kind = source.words("export.mimeType")?.unwrap_or("text/plain");
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match kind.as_str() {
        "text/markdown" | "text/x-markdown" => draft.markdown.native(text),
        "text/html" => drop(html::read(text, None, "export.text", &mut draft.markdown)?),
        "text/csv" => rows(text, b',', &mut draft.markdown)?,
        "text/tab-separated-values" => rows(text, b'\t', &mut draft.markdown)?,
        "text/plain" => draft.markdown.paragraph(text.trim_start_matches('\u{feff}')),
        kind if kind.starts_with("text/") || matches!(kind, "application/json" | "application/xml") => {
            draft.markdown.code("", text);
        }
        _ => {
            return Err(ItemError::invalid(
                "export.mimeType",
                "a kind of text: text/markdown, text/html, text/csv, text/plain",
            ));
        }
    }
    draft.finish("export.text")
}

fn rows(text: &str, delimiter: u8, markdown: &mut Markdown) -> Result<(), ItemError> {
    let text = text.trim_start_matches('\u{feff}');
    let mut reader =
        csv::ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(text.as_bytes());
    let plain = Style::default();
    markdown.open_table();
    for record in reader.records() {
        let record = record.map_err(|_| ItemError::invalid("export.text", "rows of separated values"))?;
        markdown.open_row();
        for cell in &record {
            markdown.open_cell(1);
            markdown.text(cell, &plain);
        }
    }
    markdown.close_table();
    Ok(())
}
