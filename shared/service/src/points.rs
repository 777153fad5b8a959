//! Reading points: one, a file's in order, how many, and by keyword. Only what is published and active is there.

use anchorage_documents::words;
use anchorage_domain::{DomainKey, FileId, FileRecord, FileStatus, Generation, OrderId, PointId, Sha256, TenantScope};
use anchorage_ports::{CountFilter, DocumentStore, KeywordQuery, Neighbours, Outage, Point, VectorIndex};
use std::{collections::HashMap, ops::Range, str::FromStr, sync::Arc};

/// Words a keyword search takes.
pub const MAX_KEYWORDS: usize = 32;

/// Why a read of points came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PointsError {
    #[error("there is no such object")]
    NotFound,
    #[error("the cursor is none of this listing; start again without one")]
    InvalidCursor,
    #[error("the query holds no word")]
    NoWords,
    #[error("the query holds more than {MAX_KEYWORDS} words")]
    TooManyWords,
    #[error("the tenant has no domain {0}")]
    DomainUnknown(DomainKey),
    #[error("the domain {0} is switched off")]
    DomainDisabled(DomainKey),
    #[error(transparent)]
    Outage(#[from] Outage),
}

/// A point and who stands beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedPoint {
    pub point: Point,
    pub neighbours: Neighbours,
}

/// A point found by keyword, with the bytes of its content that matched.
#[derive(Debug, Clone, PartialEq)]
pub struct KeywordHit {
    pub placed: PlacedPoint,
    pub highlights: Vec<Range<usize>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PointPage {
    pub points: Vec<PlacedPoint>,
    pub next: Option<PointCursor>,
}

/// Where a listing of one file's points goes on. Good for the tenant, file and generation it was made for alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointCursor {
    order: OrderId,
    seal: String,
}

/// Hexadecimal digits of a cursor's seal.
const SEAL_DIGITS: usize = 16;

impl PointCursor {
    fn new(scope: &TenantScope, file: FileId, generation: Generation, order: OrderId) -> Self {
        let place = format!("{}/{file}/{generation}/{}", scope.tenant(), order.get());
        let seal = Sha256::of(place.as_bytes()).to_string().chars().take(SEAL_DIGITS).collect();
        Self { order, seal }
    }
}

impl std::fmt::Display for PointCursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.order.get(), self.seal)
    }
}

impl FromStr for PointCursor {
    type Err = PointsError;
    fn from_str(text: &str) -> Result<Self, PointsError> {
        let (order, seal) = text.split_once('.').ok_or(PointsError::InvalidCursor)?;
        let order = order.parse().map(OrderId::new).map_err(|_| PointsError::InvalidCursor)?;
        Ok(Self { order, seal: seal.to_owned() })
    }
}

/// The use cases about points.
#[derive(Debug, Clone)]
pub struct Points {
    pub store: Arc<dyn DocumentStore>,
    pub index: Arc<dyn VectorIndex>,
}

impl Points {
    /// # Errors
    /// When there is no such point among the published and active ones of the tenant, or on an outage.
    pub async fn get(&self, scope: &TenantScope, point: PointId) -> Result<PlacedPoint, PointsError> {
        let point = self.index.point(scope, point).await?.ok_or(PointsError::NotFound)?;
        let file = self.store.file(scope, point.file_id).await?;
        if !point.is_active || file.and_then(|file| file.current_generation()) != Some(point.generation) {
            return Err(PointsError::NotFound);
        }
        self.place(scope, vec![point]).await?.pop().ok_or(PointsError::NotFound)
    }

    /// A file's points in order. Empty before its first publication.
    ///
    /// # Errors
    /// When there is no such file, the cursor is of another listing, or on an outage.
    pub async fn list(
        &self,
        scope: &TenantScope,
        file: FileId,
        after: Option<&PointCursor>,
        limit: u32,
    ) -> Result<PointPage, PointsError> {
        let Some(generation) = self.live_file(scope, file).await?.current_generation() else {
            return Ok(PointPage { points: Vec::new(), next: None });
        };
        if after.is_some_and(|cursor| *cursor != PointCursor::new(scope, file, generation, cursor.order)) {
            return Err(PointsError::InvalidCursor);
        }
        let mut points =
            self.index.list(scope, file, generation, after.map(|cursor| cursor.order), limit.saturating_add(1)).await?;
        let more = points.len() > limit as usize;
        points.truncate(limit as usize);
        let next = points.last().filter(|_| more).map(|last| PointCursor::new(scope, file, generation, last.order_id));
        Ok(PointPage { points: self.place(scope, points).await?, next })
    }

    /// How many active points a file, a domain or the whole tenant has. A count over more than one file can be off by
    /// one file's points while that file is being published.
    ///
    /// # Errors
    /// When there is no such file or domain, or on an outage.
    pub async fn count(
        &self,
        scope: &TenantScope,
        file: Option<FileId>,
        domain: Option<DomainKey>,
    ) -> Result<u64, PointsError> {
        let mut filter = CountFilter { file, domain: domain.clone(), active_only: true, ..CountFilter::default() };
        if let Some(domain) = domain {
            self.store.domain(scope, &domain).await?.ok_or(PointsError::DomainUnknown(domain))?;
        }
        if let Some(file) = file {
            match self.live_file(scope, file).await?.current_generation() {
                Some(generation) => filter.generation = Some(generation),
                None => return Ok(0),
            }
        }
        Ok(self.index.count(scope, &filter).await?)
    }

    /// Points that hold every word of the query, folded as the content was.
    ///
    /// # Errors
    /// When the query holds no word or too many, the domain is not there or switched off, or on an outage.
    pub async fn search(
        &self,
        scope: &TenantScope,
        query: &str,
        domain: Option<DomainKey>,
        file: Option<FileId>,
        limit: u32,
    ) -> Result<Vec<KeywordHit>, PointsError> {
        let mut terms: Vec<_> = words(query).into_iter().map(|word| word.text).collect();
        terms.sort_unstable();
        terms.dedup();
        match terms.len() {
            0 => return Err(PointsError::NoWords),
            1..=MAX_KEYWORDS => {}
            _ => return Err(PointsError::TooManyWords),
        }
        let mut domains: Vec<_> = self.store.domains(scope).await?;
        if let Some(domain) = domain {
            domains.retain(|record| record.key == domain);
            match domains.first() {
                None => return Err(PointsError::DomainUnknown(domain)),
                Some(record) if !record.active => return Err(PointsError::DomainDisabled(domain)),
                Some(_) => {}
            }
        }
        let domains: Vec<_> = domains.into_iter().filter(|record| record.active).map(|record| record.key).collect();
        if domains.is_empty() {
            return Ok(Vec::new());
        }
        // Twice as many as asked for: while a file is being published, both of its generations answer.
        let query = KeywordQuery { terms, domains, file, limit: limit.saturating_mul(2) };
        let mut found = self.index.keyword(scope, &query).await?;
        let current = current_generations(self.store.as_ref(), scope, found.iter().map(|point| point.file_id)).await?;
        found.retain(|point| current.get(&point.file_id) == Some(&point.generation));
        found.truncate(limit as usize);
        let placed = self.place(scope, found).await?;
        Ok(placed
            .into_iter()
            .map(|placed| {
                let matched = words(&placed.point.content).into_iter().filter(|word| query.terms.contains(&word.text));
                KeywordHit { highlights: matched.map(|word| word.range).collect(), placed }
            })
            .collect())
    }

    async fn live_file(&self, scope: &TenantScope, file: FileId) -> Result<FileRecord, PointsError> {
        let file = self.store.file(scope, file).await?;
        file.filter(|file| file.status != FileStatus::Deleted).ok_or(PointsError::NotFound)
    }

    async fn place(&self, scope: &TenantScope, points: Vec<Point>) -> Result<Vec<PlacedPoint>, PointsError> {
        if points.is_empty() {
            return Ok(Vec::new());
        }
        let around = self.index.neighbours(scope, &points.iter().collect::<Vec<_>>()).await?;
        let placed = points.into_iter().zip(around);
        Ok(placed.map(|(point, neighbours)| PlacedPoint { point, neighbours }).collect())
    }
}

/// The generation readers see of each file; deleted and unpublished files are not in it.
pub(crate) async fn current_generations(
    store: &dyn DocumentStore,
    scope: &TenantScope,
    files: impl Iterator<Item = FileId>,
) -> Result<HashMap<FileId, Generation>, Outage> {
    let mut files: Vec<_> = files.collect();
    files.sort_unstable();
    files.dedup();
    if files.is_empty() {
        return Ok(HashMap::new());
    }
    let records = store.files(scope, &files).await?;
    Ok(records.into_iter().filter_map(|file| Some((file.file_id, file.current_generation()?))).collect())
}
