//! Queries that rank, and those that look around a point.

use super::{
    Call, Conditions, QdrantIndex, point, point_id, refused,
    schema::{Field, SPARSE},
};
use anchorage_domain::{PointId, TenantScope};
use anchorage_ports::{Hit, HybridQuery, Neighbours, Outage, Point, StageScore};
use qdrant_client::qdrant::{
    BatchResult, Direction, Filter, IdfParamsBuilder, OrderByBuilder, PrefetchQueryBuilder, Query,
    QueryBatchPointsBuilder, QueryPoints, QueryPointsBuilder, RrfBuilder, ScoredPoint, SearchParams,
    SearchParamsBuilder, VectorInput,
};
use std::collections::{BTreeMap, HashMap};

/// Constant of reciprocal rank fusion: the one it was published with, and not the store's default of 2.
const RRF_K: u32 = 60;
/// The first server version that can weigh terms by a part of its points.
const TENANT_IDF_SINCE: (u64, u64) = (1, 19);
/// Queries sent at once.
const MAX_QUERIES: usize = 256;

/// One vector of a question: its name, the query, and how it is to be searched.
struct Stage {
    name: String,
    query: Query,
    params: Option<SearchParams>,
}

/// Ranks count from 1.
fn scores(points: &[ScoredPoint]) -> Result<Vec<(PointId, StageScore)>, Outage> {
    let ranked = points.iter().zip(1_u32..);
    ranked.map(|(point, rank)| Ok((point_id(point.id.clone())?, StageScore { rank, score: point.score }))).collect()
}

impl QdrantIndex {
    /// Whether the server takes the corpus that term weights are of. An older one weighs by everything it holds.
    pub(super) async fn takes_tenant_idf(&self) -> Result<bool, Outage> {
        let ask = || async {
            let health = self.client.call(Call::Read, |qdrant| async move { qdrant.health_check().await }).await?;
            let mut numbers = health.version.split('.').map_while(|part| part.parse::<u64>().ok());
            Ok(numbers.next().zip(numbers.next()).is_some_and(|version| version >= TENANT_IDF_SINCE))
        };
        self.tenant_idf.get_or_try_init(ask).await.copied()
    }

    async fn batch(&self, queries: Vec<QueryPoints>) -> Result<Vec<BatchResult>, Outage> {
        let asked = queries.len();
        let request = QueryBatchPointsBuilder::new(&self.collection, queries).build();
        let answer = self
            .client
            .call(Call::Read, |qdrant| {
                let request = request.clone();
                async move { qdrant.query_batch(request).await }
            })
            .await?;
        if answer.result.len() == asked { Ok(answer.result) } else { Err(refused("the store left queries unanswered")) }
    }

    async fn stages(&self, scope: &TenantScope, query: &HybridQuery) -> Result<Vec<Stage>, Outage> {
        let mut stages = Vec::new();
        for (name, vector) in &query.dense {
            let Some(spec) = self.vectors.iter().find(|spec| spec.name == *name) else {
                return Err(refused(format!("the collection has no vector {name}")));
            };
            if vector.len() != spec.dims as usize {
                return Err(refused(format!("vector {name} has {} dimensions, not {}", vector.len(), spec.dims)));
            }
            let query = Query::new_nearest(VectorInput::new_dense(vector.clone()));
            stages.push(Stage { name: name.to_string(), query, params: None });
        }
        if !query.sparse.indices.is_empty() {
            let input = VectorInput::new_sparse(query.sparse.indices.clone(), query.sparse.values.clone());
            // Term weights are the tenant's own: another tenant's documents change none of its scores.
            let corpus = self.takes_tenant_idf().await?.then(|| Conditions::of(scope).filter());
            let params = corpus
                .map(|corpus| SearchParamsBuilder::default().idf(IdfParamsBuilder::default().corpus(corpus)).build());
            stages.push(Stage { name: SPARSE.to_owned(), query: Query::new_nearest(input), params });
        }
        Ok(stages)
    }

    fn fused(&self, stages: &[Stage], filter: &Filter, query: &HybridQuery) -> QueryPoints {
        let prefetches: Vec<_> = stages
            .iter()
            .map(|stage| {
                // The whole condition on every prefetch: one at the root alone would not bound what these find.
                let prefetch = PrefetchQueryBuilder::default()
                    .query(stage.query.clone())
                    .using(stage.name.clone())
                    .filter(filter.clone())
                    .limit(u64::from(query.depth));
                let prefetch = match &stage.params {
                    Some(params) => prefetch.params(params.clone()),
                    None => prefetch,
                };
                prefetch.build()
            })
            .collect();
        QueryPointsBuilder::new(&self.collection)
            .prefetch(prefetches)
            .query(Query::new_rrf(RrfBuilder::new().k(RRF_K)))
            .filter(filter.clone())
            .limit(u64::from(query.limit))
            .with_payload(true)
            .build()
    }

    fn alone(&self, stage: &Stage, filter: &Filter, query: &HybridQuery) -> QueryPoints {
        let alone = QueryPointsBuilder::new(&self.collection)
            .query(stage.query.clone())
            .using(stage.name.clone())
            .filter(filter.clone())
            .limit(u64::from(query.depth))
            .with_payload(false);
        match &stage.params {
            Some(params) => alone.params(params.clone()).build(),
            None => alone.build(),
        }
    }

    pub(super) async fn hybrid(&self, scope: &TenantScope, query: &HybridQuery) -> Result<Vec<Hit>, Outage> {
        let stages = self.stages(scope, query).await?;
        if stages.is_empty() || query.domains.is_empty() || query.limit == 0 || query.depth == 0 {
            return Ok(Vec::new());
        }
        let conditions = Conditions::of(scope).domains(&query.domains).active(true);
        let filter = match query.file {
            Some(file) => conditions.file(file),
            None => conditions,
        }
        .filter();
        let mut queries = vec![self.fused(&stages, &filter, query)];
        if query.explain {
            queries.extend(stages.iter().map(|stage| self.alone(stage, &filter, query)));
        }
        let mut answers = self.batch(queries).await?.into_iter();
        let fused = answers.next().map(|answer| answer.result).unwrap_or_default();
        let mut own: HashMap<PointId, BTreeMap<String, StageScore>> = HashMap::new();
        for (stage, answer) in stages.iter().zip(answers) {
            for (id, score) in scores(&answer.result)? {
                own.entry(id).or_default().insert(stage.name.clone(), score);
            }
        }
        let ranks = scores(&fused)?;
        let hits = fused.into_iter().zip(ranks).map(|(found, (id, score))| {
            let mut stages = own.remove(&id).unwrap_or_default();
            stages.insert("fused".to_owned(), score);
            Ok(Hit { point: point(found.id, found.payload)?, stages })
        });
        hits.collect()
    }

    /// Two queries a point: the nearest active one on either side in the order of its file and generation.
    pub(super) async fn neighbours_of(
        &self,
        scope: &TenantScope,
        points: &[&Point],
    ) -> Result<Vec<Neighbours>, Outage> {
        if points.is_empty() {
            return Ok(Vec::new());
        }
        let queries: Vec<_> = points
            .iter()
            .flat_map(|point| {
                let siblings = || Conditions::of(scope).file(point.file_id).generation(point.generation).active(true);
                let nearest = |conditions: Conditions, direction: Direction| {
                    QueryPointsBuilder::new(&self.collection)
                        .query(Query::new_order_by(OrderByBuilder::new(Field::Order.key()).direction(direction.into())))
                        .filter(conditions.filter())
                        .limit(1)
                        .with_payload(false)
                        .build()
                };
                [
                    nearest(siblings().before(point.order_id), Direction::Desc),
                    nearest(siblings().after(point.order_id), Direction::Asc),
                ]
            })
            .collect();
        if queries.len() > MAX_QUERIES {
            return Err(refused(format!(
                "neighbours of {} points asked at once, at most {}",
                points.len(),
                MAX_QUERIES / 2
            )));
        }
        let mut found = Vec::with_capacity(queries.len());
        for answer in self.batch(queries).await? {
            found.push(answer.result.into_iter().next().map(|point| point_id(point.id)).transpose()?);
        }
        Ok(found
            .chunks(2)
            .map(|sides| Neighbours {
                previous: sides.first().copied().flatten(),
                next: sides.get(1).copied().flatten(),
            })
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qdrant::QdrantSettings;
    use anchorage_domain::{DomainKey, SparseVector, TenantId};
    use qdrant_client::qdrant::condition::ConditionOneOf;
    use uuid::Uuid;

    fn names_the_tenant_first(filter: Option<&Filter>) -> bool {
        let first = filter.and_then(|filter| filter.must.first()).and_then(|first| first.condition_one_of.as_ref());
        matches!(first, Some(ConditionOneOf::Field(field)) if field.key == Field::Tenant.key())
    }

    /// The tenant bounds the root and each prefetch: what is given at the root alone does not bound a prefetch.
    #[test]
    fn fused_query_has_the_whole_condition_everywhere() {
        #[expect(clippy::disallowed_methods, reason = "a test acts for the pipeline")]
        let scope = TenantScope::for_pipeline(TenantId::new(Uuid::from_u128(1)));
        let index = QdrantIndex::new(QdrantSettings {
            url: "http://127.0.0.1:1".into(),
            api_key: None,
            collection: "c".into(),
            vectors: Vec::new(),
        });
        let domains = vec![DomainKey::new("d").unwrap()];
        let filter = Conditions::of(&scope).domains(&domains).active(true).filter();
        let stage = |name: &str| Stage {
            name: name.into(),
            query: Query::new_nearest(VectorInput::new_dense(vec![1.0])),
            params: None,
        };
        let (dense, sparse) = (BTreeMap::new(), SparseVector::default());
        let query = HybridQuery { domains, file: None, dense, sparse, depth: 50, limit: 5, explain: true };
        let stages = [stage("dense"), stage(SPARSE)];
        let fused = index.fused(&stages, &filter, &query);
        assert_eq!(fused.prefetch.len(), 2);
        assert!(names_the_tenant_first(fused.filter.as_ref()));
        for prefetch in &fused.prefetch {
            assert!(names_the_tenant_first(prefetch.filter.as_ref()));
            assert_eq!((&prefetch.filter, prefetch.limit), (&fused.filter, Some(50)));
        }
        for stage in &stages {
            assert!(names_the_tenant_first(index.alone(stage, &filter, &query).filter.as_ref()));
        }
    }
}
