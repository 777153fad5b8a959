//! The `Points` service.

use std::sync::Arc;
use std::time::Instant;

use qdrant_client::qdrant::points_server::Points;
use qdrant_client::qdrant::points_update_operation::PointStructList;
use qdrant_client::qdrant::{
    BatchResult, ClearPayloadPoints, CountPoints, CountResponse, CountResult, CreateFieldIndexCollection,
    CreateVectorNameRequest, DeleteFieldIndexCollection, DeletePayloadPoints, DeletePointVectors, DeletePoints,
    DeleteVectorNameRequest, DiscoverBatchPoints, DiscoverBatchResponse, DiscoverPoints, DiscoverResponse, FacetCounts,
    FacetResponse, GetPoints, GetResponse, PointsOperationResponse, QueryBatchPoints, QueryBatchResponse,
    QueryGroupsResponse, QueryPointGroups, QueryPoints, QueryResponse, RecommendBatchPoints, RecommendBatchResponse,
    RecommendGroupsResponse, RecommendPointGroups, RecommendPoints, RecommendResponse, ScoredPoint, ScrollPoints,
    ScrollResponse, SearchBatchPoints, SearchBatchResponse, SearchGroupsResponse, SearchMatrixOffsetsResponse,
    SearchMatrixPairsResponse, SearchMatrixPoints, SearchPointGroups, SearchPoints, SearchResponse, SetPayloadPoints,
    UpdateBatchPoints, UpdateBatchResponse, UpdatePointVectors, UpdateResult, UpdateStatus, UpsertPoints,
};
use qdrant_edge::{EdgeConfig, UpdateOperation};
use tonic::{Request, Response, Status};

use super::collection::Collection;
use super::convert::update::{Context, no_shard_key};
use super::convert::{index, output, query, read, value};
use super::refusal::Refusal;
use super::store::Store;

/// The most queries of one batch, and ids of one read.
const MAX_BATCH: usize = 10_000;

/// The engine blocks on CPU and disk, so it never runs on the threads that serve connections.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Status> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Ok(done?),
        Err(error) => Err(Refusal::internal("call", &error).into()),
    }
}

#[derive(Debug)]
pub(super) struct PointsService {
    store: Arc<Store>,
}

impl PointsService {
    pub(super) fn new(store: Arc<Store>) -> Self {
        Self { store }
    }

    async fn read<T: Send + 'static>(
        &self,
        name: String,
        work: impl FnOnce(&Collection, &EdgeConfig) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<(T, f64), Status> {
        let begun = Instant::now();
        let store = Arc::clone(&self.store);
        let work = move || {
            let collection = store.collection(&name)?;
            let config = collection.read(|shard| Ok(shard.config().clone()))?;
            work(&collection, &config)
        };
        let done = blocking(work).await?;
        Ok((done, begun.elapsed().as_secs_f64()))
    }

    /// Applies what `plan` makes of the request, and answers when it is on disk.
    ///
    /// `wait` makes no difference: nothing is applied later. Neither do `ordering` and `timeout`: there is one copy
    /// and one writer, so every write is strong, and it is complete when it is answered.
    async fn write(
        &self,
        name: String,
        plan: impl FnOnce(&Context) -> Result<UpdateOperation, Refusal> + Send + 'static,
    ) -> Result<Response<PointsOperationResponse>, Status> {
        let work = move |collection: &Collection, config: &EdgeConfig| {
            let context = Context { config: config.clone(), indexes: collection.indexes() };
            collection.write(vec![plan(&context)?])
        };
        let (number, time) = self.read(name, work).await?;
        Ok(Response::new(PointsOperationResponse { result: Some(completed(number)), time, usage: None }))
    }
}

fn completed(operation: u64) -> UpdateResult {
    UpdateResult { operation_id: Some(operation), status: UpdateStatus::Completed.into() }
}

fn unsupported(what: &'static str) -> Status {
    Refusal::Unsupported(what).into()
}

fn ask(collection: &Collection, config: &EdgeConfig, request: QueryPoints) -> Result<Vec<ScoredPoint>, Refusal> {
    let request = query::query(request, config)?;
    let indexes = collection.indexes();
    for filter in query::filters(&request) {
        indexes.check(Some(filter))?;
    }
    let (offset, limit) = (request.offset, request.limit);
    // The engine fetches what the offset skips and leaves the skipping to its caller.
    let found = collection.read(|shard| shard.query(request))?;
    Ok(found.into_iter().skip(offset).take(limit).map(output::scored).collect())
}

#[tonic::async_trait]
impl Points for PointsService {
    async fn upsert(&self, request: Request<UpsertPoints>) -> Result<Response<PointsOperationResponse>, Status> {
        let request = request.into_inner();
        let points = PointStructList {
            points: request.points,
            shard_key_selector: request.shard_key_selector,
            update_filter: request.update_filter,
            update_mode: request.update_mode,
        };
        self.write(request.collection_name, move |context| context.upsert(points)).await
    }

    async fn delete(&self, request: Request<DeletePoints>) -> Result<Response<PointsOperationResponse>, Status> {
        let request = request.into_inner();
        no_shard_key(request.shard_key_selector.as_ref())?;
        self.write(request.collection_name, move |context| context.delete(request.points)).await
    }

    async fn get(&self, request: Request<GetPoints>) -> Result<Response<GetResponse>, Status> {
        let request = request.into_inner();
        no_shard_key(request.shard_key_selector.as_ref())?;
        let work = move |collection: &Collection, config: &EdgeConfig| {
            if request.ids.len() > MAX_BATCH {
                return Err(Refusal::invalid(format!("at most {MAX_BATCH} ids in one call")));
            }
            let ids = value::point_ids(request.ids)?;
            let payload = read::with_payload(request.with_payload, true)?;
            let vectors = read::with_vectors(request.with_vectors, config)?;
            collection.read(|shard| shard.retrieve(&ids, Some(payload), Some(vectors)))
        };
        let (records, time) = self.read(request.collection_name, work).await?;
        let result = records.into_iter().map(output::record).collect();
        Ok(Response::new(GetResponse { result, time, usage: None }))
    }

    async fn update_vectors(
        &self,
        request: Request<UpdatePointVectors>,
    ) -> Result<Response<PointsOperationResponse>, Status> {
        let request = request.into_inner();
        no_shard_key(request.shard_key_selector.as_ref())?;
        let plan = move |context: &Context| context.update_vectors(request.points, request.update_filter);
        self.write(request.collection_name, plan).await
    }

    async fn delete_vectors(
        &self,
        request: Request<DeletePointVectors>,
    ) -> Result<Response<PointsOperationResponse>, Status> {
        let request = request.into_inner();
        no_shard_key(request.shard_key_selector.as_ref())?;
        let plan = move |context: &Context| context.delete_vectors(request.points_selector, request.vectors);
        self.write(request.collection_name, plan).await
    }

    async fn set_payload(
        &self,
        request: Request<SetPayloadPoints>,
    ) -> Result<Response<PointsOperationResponse>, Status> {
        let request = request.into_inner();
        no_shard_key(request.shard_key_selector.as_ref())?;
        let plan = move |context: &Context| {
            context.set_payload(request.payload, request.points_selector, request.key.as_deref())
        };
        self.write(request.collection_name, plan).await
    }

    async fn overwrite_payload(
        &self,
        request: Request<SetPayloadPoints>,
    ) -> Result<Response<PointsOperationResponse>, Status> {
        let request = request.into_inner();
        no_shard_key(request.shard_key_selector.as_ref())?;
        let plan = move |context: &Context| {
            context.overwrite_payload(request.payload, request.points_selector, request.key.as_deref())
        };
        self.write(request.collection_name, plan).await
    }

    async fn delete_payload(
        &self,
        request: Request<DeletePayloadPoints>,
    ) -> Result<Response<PointsOperationResponse>, Status> {
        let request = request.into_inner();
        no_shard_key(request.shard_key_selector.as_ref())?;
        let plan = move |context: &Context| context.delete_payload(&request.keys, request.points_selector);
        self.write(request.collection_name, plan).await
    }

    async fn clear_payload(
        &self,
        request: Request<ClearPayloadPoints>,
    ) -> Result<Response<PointsOperationResponse>, Status> {
        let request = request.into_inner();
        no_shard_key(request.shard_key_selector.as_ref())?;
        self.write(request.collection_name, move |context| context.clear_payload(request.points)).await
    }

    async fn create_field_index(
        &self,
        request: Request<CreateFieldIndexCollection>,
    ) -> Result<Response<PointsOperationResponse>, Status> {
        let request = request.into_inner();
        let work = move |collection: &Collection, _: &EdgeConfig| {
            let (schema, description) = index::parse(request.field_type, request.field_index_params)?;
            collection.create_index(value::key(&request.field_name)?, schema, description)
        };
        let (number, time) = self.read(request.collection_name, work).await?;
        Ok(Response::new(PointsOperationResponse { result: Some(completed(number)), time, usage: None }))
    }

    async fn delete_field_index(
        &self,
        request: Request<DeleteFieldIndexCollection>,
    ) -> Result<Response<PointsOperationResponse>, Status> {
        let request = request.into_inner();
        let work =
            move |collection: &Collection, _: &EdgeConfig| collection.delete_index(value::key(&request.field_name)?);
        let (number, time) = self.read(request.collection_name, work).await?;
        Ok(Response::new(PointsOperationResponse { result: Some(completed(number)), time, usage: None }))
    }

    async fn scroll(&self, request: Request<ScrollPoints>) -> Result<Response<ScrollResponse>, Status> {
        let request = request.into_inner();
        let name = request.collection_name.clone();
        let work = move |collection: &Collection, config: &EdgeConfig| {
            let request = read::scroll(request, config)?;
            collection.indexes().check(request.filter.as_ref())?;
            collection.read(|shard| shard.scroll(request))
        };
        let ((records, next), time) = self.read(name, work).await?;
        let result = records.into_iter().map(output::record).collect();
        let next_page_offset = next.map(value::to_point_id);
        Ok(Response::new(ScrollResponse { next_page_offset, result, time, usage: None }))
    }

    async fn count(&self, request: Request<CountPoints>) -> Result<Response<CountResponse>, Status> {
        let request = request.into_inner();
        let name = request.collection_name.clone();
        let work = move |collection: &Collection, _: &EdgeConfig| {
            let request = read::count(request)?;
            collection.indexes().check(request.filter.as_ref())?;
            collection.read(|shard| shard.count(request))
        };
        let (count, time) = self.read(name, work).await?;
        Ok(Response::new(CountResponse { result: Some(CountResult { count: count as u64 }), time, usage: None }))
    }

    async fn facet(&self, request: Request<FacetCounts>) -> Result<Response<FacetResponse>, Status> {
        let request = request.into_inner();
        let name = request.collection_name.clone();
        let work = move |collection: &Collection, _: &EdgeConfig| {
            let request = read::facet(request)?;
            let indexes = collection.indexes();
            indexes.check_facet(&request.key)?;
            indexes.check(request.filter.as_ref())?;
            collection.read(|shard| shard.facet(request))
        };
        let (found, time) = self.read(name, work).await?;
        Ok(Response::new(FacetResponse { hits: output::facets(found), time, usage: None }))
    }

    async fn update_batch(&self, request: Request<UpdateBatchPoints>) -> Result<Response<UpdateBatchResponse>, Status> {
        let request = request.into_inner();
        let work = move |collection: &Collection, config: &EdgeConfig| {
            let context = Context { config: config.clone(), indexes: collection.indexes() };
            let operations = context.batch(request.operations)?;
            let count = operations.len() as u64;
            let last = collection.write(operations)?;
            Ok((last.saturating_sub(count) + 1..=last).map(completed).collect())
        };
        let (result, time) = self.read(request.collection_name, work).await?;
        Ok(Response::new(UpdateBatchResponse { result, time, usage: None }))
    }

    async fn query(&self, request: Request<QueryPoints>) -> Result<Response<QueryResponse>, Status> {
        let request = request.into_inner();
        let name = request.collection_name.clone();
        let (result, time) = self.read(name, move |collection, config| ask(collection, config, request)).await?;
        Ok(Response::new(QueryResponse { result, time, usage: None }))
    }

    async fn query_batch(&self, request: Request<QueryBatchPoints>) -> Result<Response<QueryBatchResponse>, Status> {
        let request = request.into_inner();
        let name = request.collection_name;
        let work = move |collection: &Collection, config: &EdgeConfig| {
            if request.query_points.len() > MAX_BATCH {
                return Err(Refusal::invalid(format!("at most {MAX_BATCH} queries in one call")));
            }
            let answers = request
                .query_points
                .into_iter()
                .map(|query| Ok(BatchResult { result: ask(collection, config, query)? }));
            answers.collect::<Result<Vec<_>, Refusal>>()
        };
        let (result, time) = self.read(name, work).await?;
        Ok(Response::new(QueryBatchResponse { result, time, usage: None }))
    }

    async fn create_vector_name(
        &self,
        _: Request<CreateVectorNameRequest>,
    ) -> Result<Response<PointsOperationResponse>, Status> {
        Err(unsupported("adding a vector to a collection"))
    }

    async fn delete_vector_name(
        &self,
        _: Request<DeleteVectorNameRequest>,
    ) -> Result<Response<PointsOperationResponse>, Status> {
        Err(unsupported("removing a vector from a collection"))
    }

    async fn search(&self, _: Request<SearchPoints>) -> Result<Response<SearchResponse>, Status> {
        Err(unsupported("Search: use Query"))
    }

    async fn search_batch(&self, _: Request<SearchBatchPoints>) -> Result<Response<SearchBatchResponse>, Status> {
        Err(unsupported("SearchBatch: use QueryBatch"))
    }

    async fn search_groups(&self, _: Request<SearchPointGroups>) -> Result<Response<SearchGroupsResponse>, Status> {
        Err(unsupported("SearchGroups"))
    }

    async fn recommend(&self, _: Request<RecommendPoints>) -> Result<Response<RecommendResponse>, Status> {
        Err(unsupported("Recommend"))
    }

    async fn recommend_batch(
        &self,
        _: Request<RecommendBatchPoints>,
    ) -> Result<Response<RecommendBatchResponse>, Status> {
        Err(unsupported("RecommendBatch"))
    }

    async fn recommend_groups(
        &self,
        _: Request<RecommendPointGroups>,
    ) -> Result<Response<RecommendGroupsResponse>, Status> {
        Err(unsupported("RecommendGroups"))
    }

    async fn discover(&self, _: Request<DiscoverPoints>) -> Result<Response<DiscoverResponse>, Status> {
        Err(unsupported("Discover"))
    }

    async fn discover_batch(&self, _: Request<DiscoverBatchPoints>) -> Result<Response<DiscoverBatchResponse>, Status> {
        Err(unsupported("DiscoverBatch"))
    }

    async fn query_groups(&self, _: Request<QueryPointGroups>) -> Result<Response<QueryGroupsResponse>, Status> {
        Err(unsupported("QueryGroups"))
    }

    async fn search_matrix_pairs(
        &self,
        _: Request<SearchMatrixPoints>,
    ) -> Result<Response<SearchMatrixPairsResponse>, Status> {
        Err(unsupported("SearchMatrixPairs"))
    }

    async fn search_matrix_offsets(
        &self,
        _: Request<SearchMatrixPoints>,
    ) -> Result<Response<SearchMatrixOffsetsResponse>, Status> {
        Err(unsupported("SearchMatrixOffsets"))
    }
}
