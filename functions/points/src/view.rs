//! Points as callers see them.

use anchorage_domain::{DomainKey, FileId, Generation, OrderId, PointId, QuarantineReason, Sha256, Source, Timestamp};
use anchorage_service::points::{PlacedPoint, PointPage};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Hexadecimal digits of the content's digest in an entity tag.
const TAG_DIGITS: usize = 16;

/// One chunk of a published document.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Point)]
pub struct PointView {
    #[schema(value_type = String, format = Uuid)]
    point_id: PointId,
    #[schema(value_type = String, format = Uuid)]
    file_id: FileId,
    #[schema(value_type = String)]
    domain: DomainKey,
    /// Counts the publications of the file that this point is part of.
    #[schema(value_type = u64)]
    generation: Generation,
    chunk_index: u32,
    /// Place among the file's points.
    #[schema(value_type = i64)]
    order_id: OrderId,
    /// The point before this one in its file; absent for the first.
    #[schema(value_type = Option<String>, format = Uuid)]
    previous_chunk_id: Option<PointId>,
    /// The point after this one in its file; absent for the last.
    #[schema(value_type = Option<String>, format = Uuid)]
    next_chunk_id: Option<PointId>,
    /// The text exactly as it was extracted.
    content: String,
    #[schema(value_type = String)]
    content_sha256: Sha256,
    title: Option<String>,
    /// The headings that the text stands under, outermost first.
    heading_path: Vec<String>,
    /// Where in the document the text stands: `{kind: "bytes", start, end}`, `{kind: "sheet", name, rows_start,
    /// rows_end}` or `{kind: "pages", pages: [{page, label, bbox}]}`: for every page its number in the file from 1, the number
    /// printed on it, and left, bottom, right and top in points, in the coordinates of the unrotated page.
    #[schema(value_type = Object)]
    source: Source,
    /// The text cannot be trusted without a look at the original.
    quarantined: bool,
    /// Why not: `unmapped_glyphs` or `visual_order`.
    #[schema(value_type = Option<String>)]
    quarantine_reason: Option<QuarantineReason>,
    document_type: String,
    #[schema(value_type = Object)]
    metadata: Map<String, Value>,
    /// Counts the edits of this point.
    version: u32,
    /// Changes with the version and the content.
    etag: String,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

impl PointView {
    pub fn etag(&self) -> &str {
        &self.etag
    }
}

impl From<PlacedPoint> for PointView {
    fn from(PlacedPoint { point, neighbours }: PlacedPoint) -> Self {
        let digest: String = point.content_sha256.to_string().chars().take(TAG_DIGITS).collect();
        Self {
            point_id: point.point_id,
            file_id: point.file_id,
            domain: point.domain,
            generation: point.generation,
            chunk_index: point.chunk_index,
            order_id: point.order_id,
            previous_chunk_id: neighbours.previous,
            next_chunk_id: neighbours.next,
            content: point.content,
            content_sha256: point.content_sha256,
            title: point.title,
            heading_path: point.heading_path,
            source: point.source,
            quarantined: point.quarantined.is_some(),
            quarantine_reason: point.quarantined,
            document_type: point.document_type,
            metadata: point.metadata,
            version: point.version,
            etag: format!("\"{}-{digest}\"", point.version),
            created_at: point.created_at,
            updated_at: point.updated_at,
        }
    }
}

/// One page of a file's points, in order.
#[derive(Debug, Serialize, ToSchema)]
pub struct PointList {
    points: Vec<PointView>,
    /// Absent on the last page. Good for this file alone, and until its next publication.
    next_cursor: Option<String>,
}

impl From<PointPage> for PointList {
    fn from(page: PointPage) -> Self {
        Self {
            points: page.points.into_iter().map(PointView::from).collect(),
            next_cursor: page.next.map(|cursor| cursor.to_string()),
        }
    }
}
