use super::{
    DynamoStore, Item, RECORD, failed, item,
    keys::{DOMAINS, FILES, JOBS, Key, file_partition, partition},
    number, record, refused, text,
};
use crate::time::RandomIds;
use anchorage_domain::{
    DomainKey, DomainRecord, FileId, FileRecord, FileStatus, IdentityHash, IdentityRecord, JobId, JobRecord, Revision,
    TenantScope,
};
use anchorage_ports::{
    Change, CommitError, DocumentStore, FileListing, FilePage, Ids as _, MAX_CHANGES, Outage, OutageKind, Service,
};
use async_trait::async_trait;
use aws_sdk_dynamodb::{
    config::http::HttpResponse,
    error::SdkError,
    operation::{put_item::PutItemError, transact_write_items::TransactWriteItemsError},
    types::{
        AttributeValue, Delete, Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem,
        builders::TransactWriteItemBuilder,
    },
};
use std::collections::BTreeSet;

/// Files one query looks at before its filter.
const FILES_PER_QUERY: i32 = 100;
/// Queries one page of a listing makes; past it the page is short and has a next one.
const MAX_QUERIES: usize = 5;
/// Names the commit that wrote an item, which tells a commit's own second delivery from somebody else's write.
const COMMIT: &str = "commit";

const IS_NEW: &str = "attribute_not_exists(pk)";
const IS_AS_READ: &str = "revision = :read";

/// A change as the table takes it.
struct Write {
    key: Key,
    read: Revision,
    /// Absent for a removal.
    item: Option<Item>,
}

impl Write {
    fn of(scope: &TenantScope, change: Change) -> Result<Self, Outage> {
        Ok(match change {
            Change::PutFile(mut file) => {
                let (key, read) = (Key::file(scope, file.file_id), file.revision);
                file.revision = read.next();
                let mut item = item(key.clone(), &file)?;
                item.insert("domain".to_owned(), text(file.domain.as_str()));
                item.insert("status".to_owned(), text(file.status.as_str()));
                Self::put(key, read, item)
            }
            Change::PutJob(mut job) => {
                let (key, read) = (Key::job(scope, job.file_id, job.job_id), job.revision);
                job.revision = read.next();
                Self::put(key.clone(), read, item(key, &job)?)
            }
            Change::PutDomain(mut domain) => {
                let (key, read) = (Key::domain(scope, &domain.key), domain.revision);
                domain.revision = read.next();
                Self::put(key.clone(), read, item(key, &domain)?)
            }
            Change::PutIdentity(mut identity) => {
                let (key, read) = (Key::identity(scope, &identity.identity), identity.revision);
                identity.revision = read.next();
                Self::put(key.clone(), read, item(key, &identity)?)
            }
            Change::RemoveIdentity(identity) => {
                Self { key: Key::identity(scope, &identity.identity), read: identity.revision, item: None }
            }
        })
    }

    fn put(key: Key, read: Revision, mut item: Item) -> Self {
        item.insert("revision".to_owned(), number(read.next().get()));
        Self { key, read, item: Some(item) }
    }

    /// What must hold of the stored item, and the value it names.
    fn condition(&self) -> (&'static str, Option<AttributeValue>) {
        if self.read == Revision::NEW { (IS_NEW, None) } else { (IS_AS_READ, Some(number(self.read.get()))) }
    }

    fn into_transaction(self, table: &str) -> Result<TransactWriteItem, Outage> {
        let (condition, read) = self.condition();
        let values = read.map(|read| [(":read".to_owned(), read)].into());
        let builder = TransactWriteItem::builder();
        let write = match self.item {
            Some(item) => Put::builder()
                .table_name(table)
                .set_item(Some(item))
                .condition_expression(condition)
                .set_expression_attribute_values(values)
                .build()
                .map(|put| builder.put(put)),
            None => Delete::builder()
                .table_name(table)
                .set_key(Some(self.key.into_item()))
                .condition_expression(condition)
                .set_expression_attribute_values(values)
                .build()
                .map(|delete| builder.delete(delete)),
        };
        write
            .map(TransactWriteItemBuilder::build)
            .map_err(|_| refused("TransactWriteItems: the request could not be made"))
    }
}

impl DynamoStore {
    /// One record alone, at half the price of a transaction.
    ///
    /// The client repeats a put whose answer was lost, and the repetition finds the record changed: by this very commit,
    /// as the name it left says.
    async fn put_one(&self, write: &Write, mut item: Item) -> Result<(), CommitError> {
        let commit = text(RandomIds.next().to_string());
        item.insert(COMMIT.to_owned(), commit.clone());
        let (condition, read) = write.condition();
        let request = self
            .client
            .put_item()
            .table_name(&self.table)
            .set_item(Some(item))
            .condition_expression(condition)
            .set_expression_attribute_values(read.map(|read| [(":read".to_owned(), read)].into()))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        let Err(error) = request.send().await else {
            return Ok(());
        };
        match error.as_service_error() {
            Some(PutItemError::ConditionalCheckFailedException(failure)) => {
                let ours = failure.item().is_some_and(|stored| stored.get(COMMIT) == Some(&commit));
                if ours { Ok(()) } else { Err(CommitError::Conflict) }
            }
            Some(PutItemError::TransactionConflictException(_)) => Err(CommitError::Conflict),
            _ => Err(failed("PutItem", &error).into()),
        }
    }

    /// Several records; the client names the transaction, so that its own repetition is none.
    async fn put_several(&self, writes: Vec<Write>) -> Result<(), CommitError> {
        let writes = writes.into_iter().map(|write| write.into_transaction(&self.table));
        let writes = writes.collect::<Result<Vec<_>, _>>()?;
        let written = self.client.transact_write_items().set_transact_items(Some(writes)).send().await;
        written.map(|_| ()).map_err(|error| why_canceled(&error))
    }
}

pub(super) fn why_canceled(error: &SdkError<TransactWriteItemsError, HttpResponse>) -> CommitError {
    match error.as_service_error() {
        Some(TransactWriteItemsError::TransactionCanceledException(canceled)) => {
            by_reasons(canceled.cancellation_reasons().iter().filter_map(|reason| reason.code()))
        }
        _ => failed("TransactWriteItems", error).into(),
    }
}

/// A condition that failed says more than a throttled neighbour: trying the same again would not help.
fn by_reasons<'a>(codes: impl Iterator<Item = &'a str>) -> CommitError {
    let codes: BTreeSet<_> = codes.collect();
    let throttled = ["ThrottlingError", "ProvisionedThroughputExceeded"].iter().any(|code| codes.contains(code));
    if codes.contains("ConditionalCheckFailed") || codes.contains("TransactionConflict") {
        CommitError::Conflict
    } else {
        let kind = if throttled { OutageKind::Throttled } else { OutageKind::Refused };
        Outage::new(Service::DocumentStore, kind, "TransactWriteItems: canceled").into()
    }
}

#[async_trait]
impl DocumentStore for DynamoStore {
    async fn domain(&self, scope: &TenantScope, key: &DomainKey) -> Result<Option<DomainRecord>, Outage> {
        self.get(Key::domain(scope, key)).await
    }

    async fn domains(&self, scope: &TenantScope) -> Result<Vec<DomainRecord>, Outage> {
        self.all(partition(scope), DOMAINS).await?.iter().map(record).collect()
    }

    async fn file(&self, scope: &TenantScope, file: FileId) -> Result<Option<FileRecord>, Outage> {
        self.get(Key::file(scope, file)).await
    }

    async fn files(&self, scope: &TenantScope, files: &[FileId]) -> Result<Vec<FileRecord>, Outage> {
        self.get_all(files.iter().map(|file| Key::file(scope, *file)).collect()).await
    }

    async fn list_files(&self, scope: &TenantScope, listing: &FileListing) -> Result<FilePage, Outage> {
        let (condition, status) = match listing.status {
            Some(status) => ("#status = :status", status),
            None => ("#status <> :status", FileStatus::Deleted),
        };
        let mut query = self
            .client
            .query()
            .table_name(&self.table)
            .consistent_read(true)
            .scan_index_forward(false)
            .limit(FILES_PER_QUERY)
            .key_condition_expression("pk = :pk AND begins_with(sk, :files)")
            .expression_attribute_names("#status", "status")
            .expression_attribute_names("#record", RECORD)
            .projection_expression("#record")
            .expression_attribute_values(":pk", text(partition(scope)))
            .expression_attribute_values(":files", text(FILES))
            .expression_attribute_values(":status", text(status.as_str()));
        query = match &listing.domain {
            Some(domain) => query
                .filter_expression(format!("{condition} AND #domain = :domain"))
                .expression_attribute_names("#domain", "domain")
                .expression_attribute_values(":domain", text(domain.as_str())),
            None => query.filter_expression(condition),
        };
        let mut after = listing.after.map(|file| Key::file(scope, file).into_item());
        let mut items: Vec<FileRecord> = Vec::new();
        for _ in 0..MAX_QUERIES {
            let page = query.clone().set_exclusive_start_key(after).send().await;
            let page = page.map_err(|error| failed("Query", &error))?;
            for item in page.items.iter().flatten() {
                if items.len() == listing.limit {
                    let next = items.last().map(|file| file.file_id);
                    return Ok(FilePage { items, next });
                }
                items.push(record(item)?);
            }
            after = page.last_evaluated_key;
            if after.is_none() {
                return Ok(FilePage { items, next: None });
            }
        }
        let next = after.as_ref().and_then(|key| key.get("sk")?.as_s().ok()?.strip_prefix(FILES)?.parse().ok());
        Ok(FilePage { items, next })
    }

    async fn job(&self, scope: &TenantScope, file: FileId, job: JobId) -> Result<Option<JobRecord>, Outage> {
        self.get(Key::job(scope, file, job)).await
    }

    async fn jobs(&self, scope: &TenantScope, file: FileId, limit: usize) -> Result<Vec<JobRecord>, Outage> {
        // DynamoDB refuses a limit of 0.
        let Some(limit) = i32::try_from(limit).ok().filter(|limit| *limit > 0) else {
            return Ok(Vec::new());
        };
        let page = self
            .client
            .query()
            .table_name(&self.table)
            .consistent_read(true)
            .scan_index_forward(false)
            .limit(limit)
            .key_condition_expression("pk = :pk AND begins_with(sk, :jobs)")
            .expression_attribute_values(":pk", text(file_partition(scope, file)))
            .expression_attribute_values(":jobs", text(JOBS))
            .send()
            .await
            .map_err(|error| failed("Query", &error))?;
        page.items().iter().map(record).collect()
    }

    async fn identity(&self, scope: &TenantScope, identity: &IdentityHash) -> Result<Option<IdentityRecord>, Outage> {
        self.get(Key::identity(scope, identity)).await
    }

    async fn commit(&self, scope: &TenantScope, changes: Vec<Change>) -> Result<(), CommitError> {
        if changes.is_empty() || changes.len() > MAX_CHANGES {
            return Err(refused(&format!("a commit takes 1 to {MAX_CHANGES} changes")).into());
        }
        if changes.iter().any(Change::is_too_large) {
            return Err(refused("a record is larger than the store takes").into());
        }
        let mut writes = changes.into_iter().map(|change| Write::of(scope, change)).collect::<Result<Vec<_>, _>>()?;
        if writes.iter().map(|write| &write.key).collect::<BTreeSet<_>>().len() < writes.len() {
            return Err(refused("a commit names one record twice").into());
        }
        match writes.as_mut_slice() {
            [only] if only.item.is_some() => {
                let item = only.item.take().unwrap_or_default();
                self.put_one(only, item).await
            }
            _ => self.put_several(writes).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canceled_transaction_is_a_conflict_before_it_is_anything_else() {
        let outage = |kind| Outage::new(Service::DocumentStore, kind, "TransactWriteItems: canceled").into();
        for (codes, expected) in [
            (&["None", "ConditionalCheckFailed"][..], CommitError::Conflict),
            (&["TransactionConflict", "None"], CommitError::Conflict),
            (&["ThrottlingError", "ConditionalCheckFailed"], CommitError::Conflict),
            (&["None", "ThrottlingError"], outage(OutageKind::Throttled)),
            (&["ValidationError"], outage(OutageKind::Refused)),
        ] {
            assert_eq!(by_reasons(codes.iter().copied()), expected, "{codes:?}");
        }
    }
}
