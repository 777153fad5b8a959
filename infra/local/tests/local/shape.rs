//! Collections, indexes, aliases, health.

use qdrant_client::qdrant::{
    CollectionStatus, Condition, CreateAliasBuilder, CreateCollectionBuilder, CreateFieldIndexCollectionBuilder,
    DeleteFieldIndexCollectionBuilder, Distance, FieldType, Filter, PayloadSchemaType, RenameAliasBuilder,
    ScrollPointsBuilder, VectorParamsBuilder, vectors_config::Config,
};
use serde_json::json;
use tonic::Code;

use crate::support::{assert_refused, empty, fresh_name, plain, put, ready, shape};

#[tokio::test]
async fn health_of_a_running_server_names_its_version() {
    let server = empty().await;
    let version = server.client.health_check().await.unwrap().version;
    assert!(version.split('.').filter_map(|part| part.parse::<u32>().ok()).count() == 3, "{version}");
}

#[tokio::test]
async fn collection_created_is_described_listed_and_gone_when_deleted() {
    let server = ready().await;
    let info = server.client.collection_info(&server.name).await.unwrap().result.unwrap();
    assert_eq!(info.status(), CollectionStatus::Green);
    assert_eq!(info.points_count, Some(0));
    let params = info.config.unwrap().params.unwrap();
    let Some(Config::ParamsMap(dense)) = params.vectors_config.unwrap().config else { panic!("not named vectors") };
    assert_eq!(dense.map["dense"].size, 4);
    assert!(dense.map["late"].multivector_config.is_some());
    assert!(params.sparse_vectors_config.unwrap().map.contains_key("sparse"));
    assert_eq!(info.payload_schema["tenant_id"].data_type(), PayloadSchemaType::Keyword);
    assert_eq!(info.payload_schema["content"].data_type(), PayloadSchemaType::Text);
    assert_eq!(info.payload_schema.len(), 8);

    let listed = server.client.list_collections().await.unwrap();
    assert!(listed.collections.iter().any(|found| found.name == server.name));
    assert!(server.client.collection_exists(&server.name).await.unwrap());
    assert!(server.client.delete_collection(&server.name).await.unwrap().result);
    assert!(!server.client.collection_exists(&server.name).await.unwrap());
    assert_refused(server.client.collection_info(&server.name).await, Code::NotFound, "doesn't exist");
    assert!(!server.client.delete_collection(&server.name).await.unwrap().result);
}

#[tokio::test]
async fn collection_deleted_and_made_again_is_empty() {
    let server = ready().await;
    put(&server, vec![plain(1, json!({}))]).await;
    server.client.delete_collection(&server.name).await.unwrap();
    server.client.create_collection(shape(&server.name)).await.unwrap();
    let info = server.client.collection_info(&server.name).await.unwrap().result.unwrap();
    assert_eq!((info.points_count, info.payload_schema.len()), (Some(0), 0));
}

#[tokio::test]
async fn collection_that_exists_is_not_made_again() {
    let server = ready().await;
    let again = server.client.create_collection(shape(&server.name)).await;
    assert_refused(again, Code::AlreadyExists, "already exists");
}

#[tokio::test]
async fn unnamed_vector_of_a_collection_is_written_and_read() {
    let server = empty().await;
    let request = CreateCollectionBuilder::new(&server.name).vectors_config(VectorParamsBuilder::new(2, Distance::Dot));
    server.client.create_collection(request).await.unwrap();
    let point = qdrant_client::qdrant::PointStruct::new(7, vec![1.0, 2.0], qdrant_client::Payload::new());
    put(&server, vec![point]).await;
    let page = server.client.scroll(ScrollPointsBuilder::new(&server.name).with_vectors(true)).await.unwrap();
    let vector = page.result[0].vectors.as_ref().unwrap().get_vector().unwrap();
    assert!(matches!(vector, qdrant_client::qdrant::vector_output::Vector::Dense(dense) if dense.data == [1.0, 2.0]));
}

#[tokio::test]
async fn index_made_twice_is_one_and_deleted_is_gone() {
    let server = ready().await;
    let create = || CreateFieldIndexCollectionBuilder::new(&server.name, "domain", FieldType::Keyword).wait(true);
    server.client.create_field_index(create()).await.unwrap();
    server.client.create_field_index(create()).await.unwrap();
    put(&server, vec![plain(1, json!({"domain": "law"}))]).await;
    let filter = Filter::must([Condition::matches("domain", "law".to_owned())]);
    let page = || server.client.scroll(ScrollPointsBuilder::new(&server.name).filter(filter.clone()));
    assert_eq!(page().await.unwrap().result.len(), 1);
    let delete = DeleteFieldIndexCollectionBuilder::new(&server.name, "domain").wait(true);
    server.client.delete_field_index(delete).await.unwrap();
    assert_refused(page().await, Code::InvalidArgument, "Index required but not found for \"domain\"");
    server.client.create_field_index(create()).await.unwrap();
    assert_eq!(page().await.unwrap().result.len(), 1);
}

#[tokio::test]
async fn alias_leads_to_its_collection_until_it_is_switched_renamed_or_deleted() {
    let server = ready().await;
    let (alias, renamed, other) = (fresh_name(), fresh_name(), fresh_name());
    server.client.create_collection(shape(&other)).await.unwrap();
    put(&server, vec![plain(1, json!({}))]).await;
    let count = async |name: &str| {
        let request = qdrant_client::qdrant::CountPointsBuilder::new(name).exact(true);
        server.client.count(request).await.map(|answer| answer.result.unwrap().count)
    };
    server.client.create_alias(CreateAliasBuilder::new(&server.name, &alias)).await.unwrap();
    assert_eq!(count(&alias).await.unwrap(), 1);
    // Creating it again is the switch.
    server.client.create_alias(CreateAliasBuilder::new(&other, &alias)).await.unwrap();
    assert_eq!(count(&alias).await.unwrap(), 0);
    let listed = server.client.list_collection_aliases(&other).await.unwrap().aliases;
    assert_eq!(listed.iter().map(|found| found.alias_name.as_str()).collect::<Vec<_>>(), [alias.as_str()]);
    server.client.rename_alias(RenameAliasBuilder::new(&alias, &renamed)).await.unwrap();
    assert_refused(count(&alias).await, Code::NotFound, "doesn't exist");
    assert_eq!(count(&renamed).await.unwrap(), 0);
    server.client.delete_alias(&renamed).await.unwrap();
    assert_refused(count(&renamed).await, Code::NotFound, "doesn't exist");
    let taken = server.client.create_alias(CreateAliasBuilder::new(&server.name, &other)).await;
    assert_refused(taken, Code::AlreadyExists, "already exists");
    let missing = server.client.create_alias(CreateAliasBuilder::new("not-there", &alias)).await;
    assert_refused(missing, Code::NotFound, "doesn't exist");
    server.client.delete_collection(&other).await.unwrap();
}
