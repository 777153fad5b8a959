//! Writes: one message → one operation of the engine, with everything checked before it is applied.

use std::collections::HashMap;

use qdrant_client::qdrant::points_selector::PointsSelectorOneOf;
use qdrant_client::qdrant::points_update_operation::{Operation, PointStructList};
use qdrant_client::qdrant::{
    Filter as ProtoFilter, PointStruct, PointVectors, PointsSelector, PointsUpdateOperation, ShardKeySelector,
    UpdateMode, Value, VectorsSelector,
};
use qdrant_edge::{
    ConditionalInsertOperation, DeletePayloadOp, EdgeConfig, Filter, PayloadOps, PointId, PointInsertOperations,
    PointOperations, PointStructPersisted, PointVectorsPersisted, SetPayloadOp, UpdateMode as EngineMode,
    UpdateOperation, UpdateVectorsOp, VectorOperations,
};

use super::super::refusal::Refusal;
use super::super::strict::{Indexes, is_boundless};
use super::{absent, filter, value, vectors};

/// The most points, or operations of a batch, in one call.
const MAX_BATCH: usize = 10_000;

/// What a write is checked against.
#[derive(Debug)]
pub(in super::super) struct Context {
    pub(in super::super) config: EdgeConfig,
    pub(in super::super) indexes: Indexes,
}

/// Points by id, or by a filter that binds.
enum Chosen {
    Ids(Vec<PointId>),
    Filter(Filter),
}

impl Context {
    fn filter(&self, wanted: ProtoFilter) -> Result<Filter, Refusal> {
        let wanted = filter::filter(wanted)?;
        self.indexes.check(Some(&wanted))?;
        Ok(wanted)
    }

    fn chosen(&self, selector: Option<PointsSelector>) -> Result<Chosen, Refusal> {
        match selector.and_then(|selector| selector.points_selector_one_of) {
            Some(PointsSelectorOneOf::Points(list)) => {
                bounded(list.ids.len())?;
                Ok(Chosen::Ids(value::point_ids(list.ids)?))
            }
            Some(PointsSelectorOneOf::Filter(wanted)) => {
                let wanted = self.filter(wanted)?;
                // A real server takes it and changes every point; nobody here means that.
                if is_boundless(&wanted) {
                    return Err(Refusal::invalid("a filter without conditions would choose every point"));
                }
                Ok(Chosen::Filter(wanted))
            }
            None => Err(Refusal::invalid("PointsSelector is missing")),
        }
    }

    pub(in super::super) fn upsert(&self, request: PointStructList) -> Result<UpdateOperation, Refusal> {
        no_shard_key(request.shard_key_selector.as_ref())?;
        bounded(request.points.len())?;
        let mode = match request.update_mode.map(UpdateMode::try_from) {
            None | Some(Ok(UpdateMode::Upsert)) => EngineMode::Upsert,
            Some(Ok(UpdateMode::InsertOnly)) => EngineMode::InsertOnly,
            Some(Ok(UpdateMode::UpdateOnly)) => EngineMode::UpdateOnly,
            Some(Err(_)) => return Err(Refusal::invalid("unknown update mode")),
        };
        let fence = request.update_filter.map(|wanted| self.filter(wanted)).transpose()?;
        let points: Result<Vec<PointStructPersisted>, Refusal> =
            request.points.into_iter().map(|point| self.point(point)).collect();
        let points_op = PointInsertOperations::PointsList(points?);
        Ok(UpdateOperation::PointOperation(if fence.is_none() && mode == EngineMode::Upsert {
            PointOperations::UpsertPoints(points_op)
        } else {
            PointOperations::UpsertPointsConditional(ConditionalInsertOperation {
                points_op,
                condition: fence.unwrap_or_default(),
                update_mode: Some(mode),
            })
        }))
    }

    fn point(&self, point: PointStruct) -> Result<PointStructPersisted, Refusal> {
        Ok(PointStructPersisted {
            id: value::point_id(point.id)?,
            vector: vectors::point(point.vectors, &self.config)?,
            payload: Some(value::payload(point.payload)),
        })
    }

    pub(in super::super) fn delete(&self, points: Option<PointsSelector>) -> Result<UpdateOperation, Refusal> {
        Ok(UpdateOperation::PointOperation(match self.chosen(points)? {
            Chosen::Ids(ids) => PointOperations::DeletePoints { ids },
            Chosen::Filter(filter) => PointOperations::DeletePointsByFilter(filter),
        }))
    }

    fn payload_change(
        &self,
        payload: HashMap<String, Value>,
        selector: Option<PointsSelector>,
        key: Option<&str>,
    ) -> Result<SetPayloadOp, Refusal> {
        let (points, filter) = split(self.chosen(selector)?);
        let key = key.map(value::key).transpose()?;
        Ok(SetPayloadOp { payload: value::payload(payload), points, filter, key })
    }

    pub(in super::super) fn set_payload(
        &self,
        payload: HashMap<String, Value>,
        selector: Option<PointsSelector>,
        key: Option<&str>,
    ) -> Result<UpdateOperation, Refusal> {
        let change = self.payload_change(payload, selector, key)?;
        Ok(UpdateOperation::PayloadOperation(PayloadOps::SetPayload(change)))
    }

    pub(in super::super) fn overwrite_payload(
        &self,
        payload: HashMap<String, Value>,
        selector: Option<PointsSelector>,
        key: Option<&str>,
    ) -> Result<UpdateOperation, Refusal> {
        absent(key.as_ref(), "overwriting below a key")?;
        let change = self.payload_change(payload, selector, None)?;
        Ok(UpdateOperation::PayloadOperation(PayloadOps::OverwritePayload(change)))
    }

    pub(in super::super) fn delete_payload(
        &self,
        keys: &[String],
        selector: Option<PointsSelector>,
    ) -> Result<UpdateOperation, Refusal> {
        let (points, filter) = split(self.chosen(selector)?);
        let change = DeletePayloadOp { keys: value::keys(keys)?, points, filter };
        Ok(UpdateOperation::PayloadOperation(PayloadOps::DeletePayload(change)))
    }

    pub(in super::super) fn clear_payload(&self, points: Option<PointsSelector>) -> Result<UpdateOperation, Refusal> {
        Ok(UpdateOperation::PayloadOperation(match self.chosen(points)? {
            Chosen::Ids(points) => PayloadOps::ClearPayload { points },
            Chosen::Filter(filter) => PayloadOps::ClearPayloadByFilter(filter),
        }))
    }

    pub(in super::super) fn update_vectors(
        &self,
        points: Vec<PointVectors>,
        fence: Option<ProtoFilter>,
    ) -> Result<UpdateOperation, Refusal> {
        bounded(points.len())?;
        let update_filter = fence.map(|wanted| self.filter(wanted)).transpose()?;
        let points = points.into_iter().map(|point| {
            let id = value::point_id(point.id)?;
            Ok(PointVectorsPersisted { id, vector: vectors::point(point.vectors, &self.config)? })
        });
        let points = points.collect::<Result<_, Refusal>>()?;
        let change = UpdateVectorsOp { points, update_filter };
        Ok(UpdateOperation::VectorOperation(VectorOperations::UpdateVectors(change)))
    }

    pub(in super::super) fn delete_vectors(
        &self,
        selector: Option<PointsSelector>,
        names: Option<VectorsSelector>,
    ) -> Result<UpdateOperation, Refusal> {
        let names = names.ok_or_else(|| Refusal::invalid("vectors are missing"))?.names;
        let names = vectors::known(names, &self.config)?;
        Ok(UpdateOperation::VectorOperation(match self.chosen(selector)? {
            Chosen::Ids(ids) => VectorOperations::DeleteVectors(ids.into(), names),
            Chosen::Filter(filter) => VectorOperations::DeleteVectorsByFilter(filter, names),
        }))
    }

    pub(in super::super) fn batch(
        &self,
        operations: Vec<PointsUpdateOperation>,
    ) -> Result<Vec<UpdateOperation>, Refusal> {
        bounded(operations.len())?;
        operations.into_iter().map(|operation| self.operation(operation)).collect()
    }

    #[expect(deprecated, reason = "two variants are named only to be refused")]
    fn operation(&self, operation: PointsUpdateOperation) -> Result<UpdateOperation, Refusal> {
        match operation.operation.ok_or_else(|| Refusal::invalid("an operation of the batch is empty"))? {
            Operation::Upsert(points) => self.upsert(points),
            Operation::SetPayload(set) => {
                no_shard_key(set.shard_key_selector.as_ref())?;
                self.set_payload(set.payload, set.points_selector, set.key.as_deref())
            }
            Operation::OverwritePayload(set) => {
                no_shard_key(set.shard_key_selector.as_ref())?;
                self.overwrite_payload(set.payload, set.points_selector, set.key.as_deref())
            }
            Operation::DeletePayload(delete) => {
                no_shard_key(delete.shard_key_selector.as_ref())?;
                self.delete_payload(&delete.keys, delete.points_selector)
            }
            Operation::UpdateVectors(update) => {
                no_shard_key(update.shard_key_selector.as_ref())?;
                self.update_vectors(update.points, update.update_filter)
            }
            Operation::DeleteVectors(delete) => {
                no_shard_key(delete.shard_key_selector.as_ref())?;
                self.delete_vectors(delete.points_selector, delete.vectors)
            }
            Operation::DeletePoints(delete) => {
                no_shard_key(delete.shard_key_selector.as_ref())?;
                self.delete(delete.points)
            }
            Operation::ClearPayload(clear) => {
                no_shard_key(clear.shard_key_selector.as_ref())?;
                self.clear_payload(clear.points)
            }
            Operation::DeleteDeprecated(_) | Operation::ClearPayloadDeprecated(_) => {
                Err(Refusal::Unsupported("operations deprecated since 1.7"))
            }
        }
    }
}

pub(in super::super) fn no_shard_key(selector: Option<&ShardKeySelector>) -> Result<(), Refusal> {
    absent(selector, "shard keys")
}

fn split(chosen: Chosen) -> (Option<Vec<PointId>>, Option<Filter>) {
    match chosen {
        Chosen::Ids(ids) => (Some(ids), None),
        Chosen::Filter(filter) => (None, Some(filter)),
    }
}

fn bounded(count: usize) -> Result<(), Refusal> {
    if count <= MAX_BATCH { Ok(()) } else { Err(Refusal::invalid(format!("at most {MAX_BATCH} in one call"))) }
}
