//! The `Collections` service.

use std::sync::Arc;
use std::time::Instant;

use qdrant_client::qdrant::collections_server::Collections;
use qdrant_client::qdrant::{
    AliasDescription, ChangeAliases, CollectionClusterInfoRequest, CollectionClusterInfoResponse,
    CollectionDescription, CollectionExists, CollectionExistsRequest, CollectionExistsResponse,
    CollectionOperationResponse, CreateCollection, CreateShardKeyRequest, CreateShardKeyResponse, DeleteCollection,
    DeleteShardKeyRequest, DeleteShardKeyResponse, GetCollectionInfoRequest, GetCollectionInfoResponse,
    ListAliasesRequest, ListAliasesResponse, ListCollectionAliasesRequest, ListCollectionsRequest,
    ListCollectionsResponse, ListShardKeysRequest, ListShardKeysResponse, UpdateCollection,
    UpdateCollectionClusterSetupRequest, UpdateCollectionClusterSetupResponse,
};
use tonic::{Request, Response, Status};

use super::points::blocking;
use super::refusal::Refusal;
use super::store::Store;

#[derive(Debug)]
pub(super) struct CollectionsService {
    store: Arc<Store>,
}

impl CollectionsService {
    pub(super) fn new(store: Arc<Store>) -> Self {
        Self { store }
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<(T, f64), Status> {
        let begun = Instant::now();
        let store = Arc::clone(&self.store);
        let done = blocking(move || work(&store)).await?;
        Ok((done, begun.elapsed().as_secs_f64()))
    }

    async fn aliases_of(&self, collection: Option<String>) -> Result<Response<ListAliasesResponse>, Status> {
        let (pairs, time) = self.run(move |store| store.aliases(collection.as_deref())).await?;
        let aliases = pairs
            .into_iter()
            .map(|(alias_name, collection_name)| AliasDescription { alias_name, collection_name })
            .collect();
        Ok(Response::new(ListAliasesResponse { aliases, time }))
    }
}

fn unsupported(what: &'static str) -> Status {
    Refusal::Unsupported(what).into()
}

#[tonic::async_trait]
impl Collections for CollectionsService {
    async fn get(
        &self,
        request: Request<GetCollectionInfoRequest>,
    ) -> Result<Response<GetCollectionInfoResponse>, Status> {
        let name = request.into_inner().collection_name;
        let (info, time) = self.run(move |store| store.collection(&name)?.info()).await?;
        Ok(Response::new(GetCollectionInfoResponse { result: Some(info), time }))
    }

    async fn list(&self, _: Request<ListCollectionsRequest>) -> Result<Response<ListCollectionsResponse>, Status> {
        let (names, time) = self.run(|store| Ok(store.names())).await?;
        let collections = names.into_iter().map(|name| CollectionDescription { name }).collect();
        Ok(Response::new(ListCollectionsResponse { collections, time }))
    }

    async fn create(
        &self,
        request: Request<CreateCollection>,
    ) -> Result<Response<CollectionOperationResponse>, Status> {
        let ((), time) = self.run(move |store| store.create(request.into_inner())).await?;
        Ok(Response::new(CollectionOperationResponse { result: true, time }))
    }

    async fn update(&self, _: Request<UpdateCollection>) -> Result<Response<CollectionOperationResponse>, Status> {
        Err(unsupported("changing a collection's parameters"))
    }

    async fn delete(
        &self,
        request: Request<DeleteCollection>,
    ) -> Result<Response<CollectionOperationResponse>, Status> {
        let (result, time) = self.run(move |store| store.delete(&request.into_inner().collection_name)).await?;
        Ok(Response::new(CollectionOperationResponse { result, time }))
    }

    async fn update_aliases(
        &self,
        request: Request<ChangeAliases>,
    ) -> Result<Response<CollectionOperationResponse>, Status> {
        let ((), time) = self.run(move |store| store.change_aliases(request.into_inner().actions)).await?;
        Ok(Response::new(CollectionOperationResponse { result: true, time }))
    }

    async fn list_collection_aliases(
        &self,
        request: Request<ListCollectionAliasesRequest>,
    ) -> Result<Response<ListAliasesResponse>, Status> {
        self.aliases_of(Some(request.into_inner().collection_name)).await
    }

    async fn list_aliases(&self, _: Request<ListAliasesRequest>) -> Result<Response<ListAliasesResponse>, Status> {
        self.aliases_of(None).await
    }

    async fn collection_exists(
        &self,
        request: Request<CollectionExistsRequest>,
    ) -> Result<Response<CollectionExistsResponse>, Status> {
        let name = request.into_inner().collection_name;
        let (exists, time) = self.run(move |store| Ok(store.collection(&name).is_ok())).await?;
        Ok(Response::new(CollectionExistsResponse { result: Some(CollectionExists { exists }), time }))
    }

    async fn collection_cluster_info(
        &self,
        _: Request<CollectionClusterInfoRequest>,
    ) -> Result<Response<CollectionClusterInfoResponse>, Status> {
        Err(unsupported("clusters"))
    }

    async fn update_collection_cluster_setup(
        &self,
        _: Request<UpdateCollectionClusterSetupRequest>,
    ) -> Result<Response<UpdateCollectionClusterSetupResponse>, Status> {
        Err(unsupported("clusters"))
    }

    async fn create_shard_key(
        &self,
        _: Request<CreateShardKeyRequest>,
    ) -> Result<Response<CreateShardKeyResponse>, Status> {
        Err(unsupported("shard keys"))
    }

    async fn delete_shard_key(
        &self,
        _: Request<DeleteShardKeyRequest>,
    ) -> Result<Response<DeleteShardKeyResponse>, Status> {
        Err(unsupported("shard keys"))
    }

    async fn list_shard_keys(
        &self,
        _: Request<ListShardKeysRequest>,
    ) -> Result<Response<ListShardKeysResponse>, Status> {
        Err(unsupported("shard keys"))
    }
}
