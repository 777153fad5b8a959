//! The vector index over Qdrant, spoken to through its own client.

mod bootstrap;
mod client;
mod convert;
mod filter;
mod schema;
mod search;
#[cfg(test)]
mod tests;

pub use bootstrap::{BootstrapError, BootstrapReport};

use crate::connect::Connect;
use anchorage_domain::{FileId, Generation, OrderId, PointId, Sha256, TenantScope};
use anchorage_ports::{
    CountFilter, DenseVectors, Generations, Hit, HybridQuery, IndexManifest, KeywordQuery, Neighbours, Outage, Point,
    PointDraft, VectorIndex, VectorSpec,
};
use async_trait::async_trait;
use client::{Call, CallError, Client, completed};
use convert::{dense_vectors, draft, point, point_id, refused};
use filter::Conditions;
use qdrant_client::qdrant::{
    CountPointsBuilder, DeletePointsBuilder, Direction, Filter, OrderByBuilder, PointId as QdrantId, PointStruct,
    PointsIdsList, RetrievedPoint, ScrollPointsBuilder, SetPayloadPointsBuilder, UpsertPointsBuilder, Value,
    VectorsSelector, with_vectors_selector::SelectorOptions,
};
use schema::{Field, MANIFEST_KEY};
use secrecy::SecretString;
use std::collections::{BTreeSet, HashMap, HashSet};
use tokio::sync::OnceCell;
use uuid::Uuid;

/// Points a write may hold.
const MAX_BATCH_POINTS: usize = 64;
/// Bytes a write may hold, so that it fits a gRPC message with room to spare.
const MAX_BATCH_BYTES: usize = 4_000_000;
/// Points read at once where only their ids, or little more, are wanted.
const PAGE: u32 = 1_000;
/// Points read at once with their vectors: within a gRPC message for the largest models.
const VECTORS_PAGE: u32 = 128;
/// The record that says what the collection was built with.
const MANIFEST_ID: Uuid = Uuid::from_u128(0x616e_6368_6f72_6167_6500_0000_0000_0001);

/// Where the collection is and which dense vectors it has.
#[derive(Debug, Clone)]
pub struct QdrantSettings {
    pub url: String,
    pub api_key: Option<SecretString>,
    pub collection: String,
    pub vectors: Vec<VectorSpec>,
}

#[derive(Debug)]
pub struct QdrantIndex {
    client: Client,
    collection: String,
    vectors: Vec<VectorSpec>,
    /// Whether the server weighs terms by one tenant's documents; asked once.
    tenant_idf: OnceCell<bool>,
}

impl QdrantIndex {
    /// Makes no call; the connection is opened by the first one.
    #[must_use]
    pub fn new(settings: QdrantSettings) -> Self {
        let QdrantSettings { url, api_key, collection, vectors } = settings;
        Self { client: Client::new(&url, api_key), collection, vectors, tenant_idf: OnceCell::new() }
    }

    async fn scroll(&self, request: ScrollPointsBuilder) -> Result<(Vec<RetrievedPoint>, Option<QdrantId>), CallError> {
        let request = request.build();
        let answer = self
            .client
            .call(Call::Read, |qdrant| {
                let request = request.clone();
                async move { qdrant.scroll(request).await }
            })
            .await?;
        Ok((answer.result, answer.next_page_offset))
    }

    /// One page of what matches, from `offset`, with the payload keys named.
    fn page(&self, filter: Filter, offset: Option<QdrantId>, keys: &[Field]) -> ScrollPointsBuilder {
        let keys: Vec<&str> = keys.iter().map(|field| field.key()).collect();
        let request = ScrollPointsBuilder::new(&self.collection).filter(filter).limit(PAGE).with_vectors(false);
        let request = if keys.is_empty() {
            request.with_payload(false)
        } else {
            request.with_payload(qdrant_client::qdrant::PayloadIncludeSelector::new(
                keys.into_iter().map(str::to_owned).collect::<Vec<_>>(),
            ))
        };
        match offset {
            Some(offset) => request.offset(offset),
            None => request,
        }
    }

    async fn points(&self, request: ScrollPointsBuilder) -> Result<Vec<Point>, Outage> {
        let (found, _) = self.scroll(request.with_payload(true).with_vectors(false)).await?;
        found.into_iter().map(|found| point(found.id, found.payload)).collect()
    }

    async fn upsert(&self, points: Vec<PointStruct>) -> Result<(), Outage> {
        let request = UpsertPointsBuilder::new(&self.collection, points).wait(true).build();
        let answer = self
            .client
            .call(Call::Write, |qdrant| {
                let request = request.clone();
                async move { qdrant.upsert_points(request).await }
            })
            .await?;
        completed(answer.result)
    }

    /// Flips points by id: a flip by filter can leave the index behind the payload under concurrent writes.
    async fn set_active(&self, conditions: Conditions, active: bool) -> Result<(), Outage> {
        let filter = conditions.active(!active).filter();
        let payload = HashMap::from([(Field::IsActive.key().to_owned(), Value::from(active))]);
        let mut offset = None;
        loop {
            let (found, next) = self.scroll(self.page(filter.clone(), offset, &[])).await?;
            let ids: Vec<QdrantId> = found.into_iter().filter_map(|point| point.id).collect();
            if !ids.is_empty() {
                let request = SetPayloadPointsBuilder::new(&self.collection, payload.clone())
                    .points_selector(PointsIdsList { ids })
                    .wait(true)
                    .build();
                let answer = self
                    .client
                    .call(Call::Write, |qdrant| {
                        let request = request.clone();
                        async move { qdrant.set_payload(request).await }
                    })
                    .await?;
                completed(answer.result)?;
            }
            // Pages go by ascending id, so the loop ends whatever is written meanwhile.
            match next {
                Some(next) => offset = Some(next),
                None => return Ok(()),
            }
        }
    }

    async fn count_matching(&self, filter: Filter) -> Result<u64, Outage> {
        let request = CountPointsBuilder::new(&self.collection).filter(filter).exact(true).build();
        let answer = self
            .client
            .call(Call::Read, |qdrant| {
                let request = request.clone();
                async move { qdrant.count(request).await }
            })
            .await?;
        Ok(answer.result.map_or(0, |result| result.count))
    }
}

#[async_trait]
impl Connect for QdrantIndex {
    async fn connect(&self) {
        // Reads and writes have a channel each; what the server can do is asked on the first.
        let write = self.client.call(Call::Write, |qdrant| async move { qdrant.health_check().await });
        let _outcomes = futures::join!(self.takes_tenant_idf(), write);
    }
}

#[async_trait]
impl VectorIndex for QdrantIndex {
    async fn manifest(&self) -> Result<Option<IndexManifest>, Outage> {
        let filter =
            Filter::must([qdrant_client::qdrant::Condition::has_id([QdrantId::from(MANIFEST_ID.to_string())])]);
        let request = ScrollPointsBuilder::new(&self.collection).filter(filter).limit(1).with_payload(true);
        let (found, _) = match self.scroll(request).await {
            Ok(page) => page,
            Err(CallError::NotFound) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let Some(record) = found.into_iter().next() else { return Ok(None) };
        let text = record.payload.get(MANIFEST_KEY).and_then(Value::as_str);
        let manifest = text.and_then(|text| serde_json::from_str(text).ok());
        manifest.map(Some).ok_or_else(|| refused("the collection's manifest cannot be read"))
    }

    async fn stage(&self, scope: &TenantScope, points: &[PointDraft]) -> Result<(), Outage> {
        // Everything is checked before anything is written.
        let mut batches = Vec::new();
        let (mut batch, mut batch_bytes) = (Vec::new(), 0_usize);
        for given in points {
            let (point, bytes) = draft(scope, given, &self.vectors)?;
            if bytes > MAX_BATCH_BYTES {
                let id = given.point.point_id;
                return Err(refused(format!("point {id} is {bytes} bytes, more than {MAX_BATCH_BYTES}")));
            }
            if batch.len() >= MAX_BATCH_POINTS || batch_bytes.saturating_add(bytes) > MAX_BATCH_BYTES {
                batches.push(std::mem::take(&mut batch));
                batch_bytes = 0;
            }
            batch.push(point);
            batch_bytes += bytes;
        }
        if !batch.is_empty() {
            batches.push(batch);
        }
        for batch in batches {
            self.upsert(batch).await?;
        }
        Ok(())
    }

    async fn staged(&self, scope: &TenantScope, file: FileId, generation: Generation) -> Result<HashSet<u32>, Outage> {
        let filter = Conditions::of(scope).file(file).generation(generation).filter();
        let mut indexes = HashSet::new();
        let mut offset = None;
        loop {
            let (found, next) = self.scroll(self.page(filter.clone(), offset, &[Field::ChunkIndex])).await?;
            for point in found {
                let index = point.payload.get(Field::ChunkIndex.key()).and_then(Value::as_integer);
                let index = index.and_then(|index| u32::try_from(index).ok());
                indexes.insert(index.ok_or_else(|| refused("a stored point has no chunk index"))?);
            }
            match next {
                Some(next) => offset = Some(next),
                None => return Ok(indexes),
            }
        }
    }

    async fn vectors(
        &self,
        scope: &TenantScope,
        file: FileId,
        texts: &BTreeSet<Sha256>,
    ) -> Result<HashMap<Sha256, DenseVectors>, Outage> {
        let mut found = HashMap::new();
        if texts.is_empty() {
            return Ok(found);
        }
        let filter = Conditions::of(scope).file(file).texts(texts).filter();
        let names = self.vectors.iter().map(|spec| spec.name.to_string()).collect();
        let wanted = SelectorOptions::Include(VectorsSelector { names });
        let mut offset = None;
        // A text can stand in a file many times: it is read on until each has been met, or there is no more.
        while found.len() < texts.len() {
            let request = self.page(filter.clone(), offset, &[Field::ContentSha256]);
            let request = request.limit(VECTORS_PAGE).with_vectors(wanted.clone());
            let (points, next) = self.scroll(request).await?;
            for point in points {
                if let Some((text, vectors)) = dense_vectors(point, &self.vectors)? {
                    found.entry(text).or_insert(vectors);
                }
            }
            match next {
                Some(next) => offset = Some(next),
                None => break,
            }
        }
        Ok(found)
    }

    async fn activate(&self, scope: &TenantScope, file: FileId, generation: Generation) -> Result<(), Outage> {
        self.set_active(Conditions::of(scope).file(file).generation(generation), true).await
    }

    async fn deactivate(&self, scope: &TenantScope, file: FileId, generations: Generations) -> Result<(), Outage> {
        self.set_active(Conditions::of(scope).file(file).generations(generations), false).await
    }

    async fn remove(&self, scope: &TenantScope, file: FileId, generations: Generations) -> Result<u64, Outage> {
        // By id, so that the count is of what was removed and nothing staged meanwhile is met by a replayed filter.
        let filter = Conditions::of(scope).file(file).generations(generations).filter();
        let mut removed = 0;
        let mut offset = None;
        loop {
            let (found, next) = self.scroll(self.page(filter.clone(), offset, &[])).await?;
            let ids: Vec<QdrantId> = found.into_iter().filter_map(|point| point.id).collect();
            if !ids.is_empty() {
                removed += ids.len() as u64;
                let request =
                    DeletePointsBuilder::new(&self.collection).points(PointsIdsList { ids }).wait(true).build();
                let answer = self
                    .client
                    .call(Call::Write, |qdrant| {
                        let request = request.clone();
                        async move { qdrant.delete_points(request).await }
                    })
                    .await?;
                completed(answer.result)?;
            }
            match next {
                Some(next) => offset = Some(next),
                None => return Ok(removed),
            }
        }
    }

    async fn point(&self, scope: &TenantScope, point: PointId) -> Result<Option<Point>, Outage> {
        // A scroll, because the store's read by id takes no filter.
        let filter = Conditions::of(scope).point(point).filter();
        let request = ScrollPointsBuilder::new(&self.collection).filter(filter).limit(1);
        Ok(self.points(request).await?.pop())
    }

    async fn list(
        &self,
        scope: &TenantScope,
        file: FileId,
        generation: Generation,
        after: Option<OrderId>,
        limit: u32,
    ) -> Result<Vec<Point>, Outage> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let conditions = Conditions::of(scope).file(file).generation(generation).active(true);
        let conditions = match after {
            Some(after) => conditions.after(after),
            None => conditions,
        };
        let order = OrderByBuilder::new(Field::Order.key()).direction(Direction::Asc.into());
        let request =
            ScrollPointsBuilder::new(&self.collection).filter(conditions.filter()).order_by(order).limit(limit);
        self.points(request).await
    }

    async fn neighbours(&self, scope: &TenantScope, points: &[&Point]) -> Result<Vec<Neighbours>, Outage> {
        self.neighbours_of(scope, points).await
    }

    async fn count(&self, scope: &TenantScope, filter: &CountFilter) -> Result<u64, Outage> {
        let mut conditions = Conditions::of(scope);
        if let Some(file) = filter.file {
            conditions = conditions.file(file);
        }
        if let Some(generation) = filter.generation {
            conditions = conditions.generation(generation);
        }
        if let Some(domain) = &filter.domain {
            conditions = conditions.domains(std::slice::from_ref(domain));
        }
        if filter.active_only {
            conditions = conditions.active(true);
        }
        self.count_matching(conditions.filter()).await
    }

    async fn keyword(&self, scope: &TenantScope, query: &KeywordQuery) -> Result<Vec<Point>, Outage> {
        if query.terms.is_empty() || query.domains.is_empty() || query.limit == 0 {
            return Ok(Vec::new());
        }
        let conditions = Conditions::of(scope).domains(&query.domains).active(true).words(&query.terms);
        let conditions = match query.file {
            Some(file) => conditions.file(file),
            None => conditions,
        };
        self.points(ScrollPointsBuilder::new(&self.collection).filter(conditions.filter()).limit(query.limit)).await
    }

    async fn search(&self, scope: &TenantScope, query: &HybridQuery) -> Result<Vec<Hit>, Outage> {
        self.hybrid(scope, query).await
    }
}
