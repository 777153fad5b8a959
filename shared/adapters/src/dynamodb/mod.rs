//! The system of record in one `DynamoDB` table: `pk` and `sk` (strings), time to live on `expires_at`, no secondary index.
//!
//! Every read is consistent, so a decision never rests on a state that was overwritten. All access patterns:
//!
//! | what | how | `pk` | `sk` |
//! | --- | --- | --- | --- |
//! | a tenant | get, put | `T#<tenant>` | `TENANT` |
//! | a domain; all domains of a tenant, by key | get; query | `T#<tenant>` | `DOMAIN#<key>` |
//! | a file; up to 100 at once; newest first | get; batch get; query backwards, filtered by `domain`, `status` | `T#<tenant>` | `FILE#<file>` |
//! | the file of an identity | get | `T#<tenant>` | `IDENTITY#<hash>` |
//! | a job; the newest jobs of a file | get; query backwards | `T#<tenant>#F#<file>` | `JOB#<job>` |
//! | the trace of an answer, until `expires_at` | get, put | `T#<tenant>` | `TRACE#<trace>` |
//! | an API key by its id, before its tenant is known | get | `K#<key id>` | `KEY` |
//! | the keys of a tenant | query, then batch get | `T#<tenant>` | `KEY#<key id>` |
//!
//! Ids of files and jobs are UUIDs of version 7: their order is the order in which they were made.
//!
//! A record is kept whole in `record`, as JSON text: what a caller stored in a document's metadata comes back digit for
//! digit, whatever `DynamoDB` takes for a number, and its size is known before anything is written. Beside it stand only
//! the attributes that conditions and filters name.
//!
//! Invariant: every key but `K#…` starts with the tenant of the scope it was asked with.

mod directory;
mod documents;
mod keys;
mod traces;

use crate::{aws::outage, connect::Connect};
use anchorage_ports::{Outage, OutageKind, Service};
use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_sdk_dynamodb::{
    Client,
    config::http::HttpResponse,
    error::{ProvideErrorMetadata, SdkError},
    types::{AttributeValue, KeysAndAttributes},
};
use keys::Key;
use serde::{Serialize, de::DeserializeOwned};
use std::{
    collections::{BTreeSet, HashMap},
    time::Duration,
};

type Item = HashMap<String, AttributeValue>;

const RECORD: &str = "record";
/// Keys one batch read takes (`DynamoDB` quotas).
const MAX_BATCH: usize = 100;
/// Tries to read what a batch left unprocessed, each after a longer pause.
const MAX_BATCH_TRIES: u32 = 5;
const BATCH_PAUSE: Duration = Duration::from_millis(25);
/// Pages, of 1 MB each, that a listing of everything reads.
const MAX_PAGES: usize = 20;

/// Documents, keys and traces of all tenants.
#[derive(Debug, Clone)]
pub struct DynamoStore {
    client: Client,
    table: String,
}

impl DynamoStore {
    #[must_use]
    pub fn new(config: &SdkConfig, table: impl Into<String>) -> Self {
        Self { client: Client::new(config), table: table.into() }
    }

    async fn get<T: DeserializeOwned>(&self, key: Key) -> Result<Option<T>, Outage> {
        let request = self.client.get_item().table_name(&self.table).set_key(Some(key.into_item()));
        let answer = request.consistent_read(true).send().await.map_err(|error| failed("GetItem", &error))?;
        answer.item().map(record).transpose()
    }

    /// The records of those keys that exist, in any order.
    async fn get_all<T: DeserializeOwned>(&self, keys: BTreeSet<Key>) -> Result<Vec<T>, Outage> {
        let keys: Vec<Item> = keys.into_iter().map(Key::into_item).collect();
        let mut records = Vec::with_capacity(keys.len());
        for chunk in keys.chunks(MAX_BATCH) {
            self.get_batch(chunk.to_vec(), &mut records).await?;
        }
        Ok(records)
    }

    async fn get_batch<T: DeserializeOwned>(&self, mut keys: Vec<Item>, records: &mut Vec<T>) -> Result<(), Outage> {
        for attempt in 0..MAX_BATCH_TRIES {
            if attempt > 0 {
                tokio::time::sleep(BATCH_PAUSE * 2_u32.pow(attempt - 1)).await;
            }
            let wanted = KeysAndAttributes::builder().set_keys(Some(keys)).consistent_read(true).build();
            let wanted = wanted.map_err(|_| refused("BatchGetItem: the request could not be made"))?;
            let answer = self.client.batch_get_item().request_items(&self.table, wanted).send().await;
            let mut answer = answer.map_err(|error| failed("BatchGetItem", &error))?;
            for item in answer.responses.take().into_iter().flatten().flat_map(|(_, items)| items) {
                records.push(record(&item)?);
            }
            // The one table's keys, under whichever name the answer gives it.
            let left = answer.unprocessed_keys.take().into_iter().flatten();
            keys = left.flat_map(|(_, left)| left.keys).collect();
            if keys.is_empty() {
                return Ok(());
            }
        }
        Err(Outage::new(Service::DocumentStore, OutageKind::Throttled, "BatchGetItem: keys were left unprocessed"))
    }

    /// Everything of a partition whose sort key starts with `prefix`, in order.
    async fn all(&self, pk: String, prefix: &str) -> Result<Vec<Item>, Outage> {
        let query = self
            .client
            .query()
            .table_name(&self.table)
            .consistent_read(true)
            .key_condition_expression("pk = :pk AND begins_with(sk, :prefix)")
            .expression_attribute_values(":pk", text(pk))
            .expression_attribute_values(":prefix", text(prefix));
        let mut items = Vec::new();
        let mut after = None;
        for _ in 0..MAX_PAGES {
            let page = query.clone().set_exclusive_start_key(after).send().await;
            let page = page.map_err(|error| failed("Query", &error))?;
            items.extend(page.items.unwrap_or_default());
            after = page.last_evaluated_key;
            if after.is_none() {
                return Ok(items);
            }
        }
        Err(refused("Query: more records than a listing reads"))
    }
}

#[async_trait]
impl Connect for DynamoStore {
    async fn connect(&self) {
        let nothing = self.client.get_item().table_name(&self.table).set_key(Some(Key::of_nothing().into_item()));
        let _outcome = nothing.send().await;
    }
}

fn text(value: impl Into<String>) -> AttributeValue {
    AttributeValue::S(value.into())
}

fn number(value: impl Into<i128>) -> AttributeValue {
    AttributeValue::N(value.into().to_string())
}

/// An item that holds `value` under `key`.
fn item<T: Serialize>(key: Key, value: &T) -> Result<Item, Outage> {
    let json = serde_json::to_string(value).map_err(|_| refused("a record has no JSON form"))?;
    let mut item = key.into_item();
    item.insert(RECORD.to_owned(), text(json));
    Ok(item)
}

fn record<T: DeserializeOwned>(item: &Item) -> Result<T, Outage> {
    let json = item.get(RECORD).and_then(|value| value.as_s().ok());
    let record = json.and_then(|json| serde_json::from_str(json).ok());
    record.ok_or_else(|| refused("a stored record cannot be read"))
}

fn failed<E: ProvideErrorMetadata>(operation: &str, error: &SdkError<E, HttpResponse>) -> Outage {
    outage(Service::DocumentStore, operation, error)
}

fn refused(detail: &str) -> Outage {
    Outage::new(Service::DocumentStore, OutageKind::Refused, detail)
}
