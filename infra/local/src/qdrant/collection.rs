//! One collection: the engine's shard, its description, one writer at a time.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use parking_lot::{Mutex, RwLock};
use qdrant_client::qdrant::{CollectionInfo, CollectionStatus, OptimizerStatus, PayloadSchemaInfo};
use qdrant_edge::{
    CreateIndex, EdgeConfig, EdgeShard, FieldIndexOperations, JsonPath, OperationResult, PayloadFieldSchema,
    UpdateOperation,
};

use super::meta;
use super::refusal::Refusal;
use super::store::OpenError;
use super::strict::Indexes;

/// The most payload indexes of one collection, as managed clusters have it.
const MAX_INDEXES: usize = 100;

#[derive(Debug)]
pub(super) struct Collection {
    folder: PathBuf,
    // Taken out on closing, which waits for the calls that still read it.
    shard: RwLock<Option<EdgeShard>>,
    info: RwLock<CollectionInfo>,
    // The engine's flush may not meet a writer, so writing and flushing are one critical section.
    writer: Mutex<Writer>,
}

#[derive(Debug, Default)]
struct Writer {
    operations: u64,
}

impl Collection {
    /// Makes the files of an empty collection, so that a later rename makes it visible in one step.
    pub(super) fn lay_out(folder: &Path, config: EdgeConfig, info: &CollectionInfo) -> Result<(), Refusal> {
        let failed = |e: io::Error| Refusal::internal("create", &e);
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(failed)?;
        }
        fs::create_dir_all(folder).map_err(failed)?;
        drop(EdgeShard::new(folder, config)?);
        meta::save(folder, info).map_err(failed)
    }

    pub(super) fn open(folder: &Path) -> Result<Self, OpenError> {
        let info = meta::load(folder).map_err(|source| OpenError::Io { path: folder.to_owned(), source })?;
        let shard = EdgeShard::load(folder, None)
            .map_err(|e| OpenError::Engine { path: folder.to_owned(), reason: e.to_string() })?;
        Ok(Self {
            folder: folder.to_owned(),
            shard: RwLock::new(Some(shard)),
            info: RwLock::new(info),
            writer: Mutex::new(Writer::default()),
        })
    }

    /// Flushes and lets go of the files.
    pub(super) fn close(&self) {
        let _writing = self.writer.lock();
        drop(self.shard.write().take());
    }

    /// Reads. Readers run beside each other and beside the writer.
    pub(super) fn read<T>(&self, read: impl FnOnce(&EdgeShard) -> OperationResult<T>) -> Result<T, Refusal> {
        Ok(read(self.shard.read().as_ref().ok_or_else(closed)?)?)
    }

    /// Applies the operations in order and flushes, so that what is acknowledged survives a kill.
    ///
    /// Returns the number of the last operation. Those before a refused one stay applied, as on the server.
    pub(super) fn write(&self, operations: Vec<UpdateOperation>) -> Result<u64, Refusal> {
        let mut writer = self.writer.lock();
        let shard = self.shard.read();
        let shard = shard.as_ref().ok_or_else(closed)?;
        let mut outcome = Ok(());
        for operation in operations {
            outcome = shard.update(operation);
            if outcome.is_err() {
                break;
            }
            writer.operations += 1;
        }
        shard.flush();
        outcome?;
        Ok(writer.operations)
    }

    pub(super) fn create_index(
        &self,
        field: JsonPath,
        schema: PayloadFieldSchema,
        description: PayloadSchemaInfo,
    ) -> Result<u64, Refusal> {
        let key = field.to_string();
        {
            let info = self.info.read();
            if !info.payload_schema.contains_key(&key) && info.payload_schema.len() >= MAX_INDEXES {
                return Err(Refusal::invalid(format!("a collection has at most {MAX_INDEXES} payload indexes")));
            }
        }
        let create = CreateIndex { field_name: field, field_schema: Some(schema) };
        let operation = UpdateOperation::FieldIndexOperation(FieldIndexOperations::CreateIndex(create));
        let number = self.write(vec![operation])?;
        self.describe(|schemas| {
            schemas.insert(key, description);
        })?;
        Ok(number)
    }

    pub(super) fn delete_index(&self, field: JsonPath) -> Result<u64, Refusal> {
        let key = field.to_string();
        let operation = UpdateOperation::FieldIndexOperation(FieldIndexOperations::DeleteIndex(field));
        // Described as gone first: a filter must never be let through to an index that is not there.
        self.describe(|schemas| {
            schemas.remove(&key);
        })?;
        self.write(vec![operation])
    }

    fn describe(&self, change: impl FnOnce(&mut HashMap<String, PayloadSchemaInfo>)) -> Result<(), Refusal> {
        let mut info = self.info.write();
        let mut next = info.clone();
        change(&mut next.payload_schema);
        meta::save(&self.folder, &next).map_err(|e| Refusal::internal("describe", &e))?;
        *info = next;
        Ok(())
    }

    /// The payload indexes that filters may rely on.
    pub(super) fn indexes(&self) -> Indexes {
        Indexes::of(&self.info.read().payload_schema)
    }

    /// The description with the engine's present counts.
    pub(super) fn info(&self) -> Result<CollectionInfo, Refusal> {
        let engine = self.read(|shard| Ok(shard.info()))?;
        let points = self.read(|shard| shard.count(qdrant_edge::CountRequest { filter: None, exact: true }))?;
        let mut info = self.info.read().clone();
        for (key, index) in &mut info.payload_schema {
            let counted = engine.payload_schema.iter().find(|(path, _)| path.to_string() == *key);
            index.points = Some(counted.map_or(0, |(_, found)| found.points as u64));
        }
        info.status = CollectionStatus::Green.into();
        info.optimizer_status = Some(OptimizerStatus { ok: true, error: String::new() });
        info.segments_count = engine.segments_count as u64;
        info.points_count = Some(points as u64);
        info.indexed_vectors_count = Some(engine.indexed_vectors_count as u64);
        Ok(info)
    }
}

fn closed() -> Refusal {
    Refusal::NotFound("Not found: the collection is being closed".to_owned())
}
