use crate::lock;
use anchorage_domain::{FileId, Generation, OrderId, PointId, Sha256, TenantId, TenantScope};
use anchorage_ports::{
    CountFilter, DenseVectors, Generations, Hit, HybridQuery, IndexManifest, KeywordQuery, Neighbours, Outage,
    OutageKind, Point, PointDraft, Service, StageScore, VectorIndex,
};
use async_trait::async_trait;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Mutex,
};

/// Constant of reciprocal rank fusion.
const RRF_K: f32 = 60.0;

/// Exact search over everything; right, not fast.
#[derive(Debug)]
pub struct MemoryIndex {
    manifest: Option<IndexManifest>,
    points: Mutex<BTreeMap<PointId, (TenantId, PointDraft)>>,
}

impl MemoryIndex {
    #[must_use]
    pub fn new(manifest: Option<IndexManifest>) -> Self {
        Self { manifest, points: Mutex::default() }
    }

    /// Every point of a tenant by id, for comparing whole states.
    #[must_use]
    pub fn snapshot(&self, tenant: TenantId) -> Vec<PointDraft> {
        lock(&self.points).values().filter(|(owner, _)| *owner == tenant).map(|(_, draft)| draft.clone()).collect()
    }

    fn select(&self, scope: &TenantScope, wanted: impl Fn(&Point) -> bool) -> Vec<PointDraft> {
        let points = lock(&self.points);
        let mut found: Vec<_> = points
            .values()
            .filter(|(owner, draft)| *owner == scope.tenant() && wanted(&draft.point))
            .map(|(_, draft)| draft.clone())
            .collect();
        found.sort_by_key(|draft| (draft.point.file_id, draft.point.generation, draft.point.order_id));
        found
    }

    fn set_active(&self, scope: &TenantScope, active: bool, wanted: impl Fn(&Point) -> bool) {
        for (owner, draft) in lock(&self.points).values_mut() {
            if *owner == scope.tenant() && wanted(&draft.point) {
                draft.point.is_active = active;
            }
        }
    }
}

fn refused(detail: String) -> Outage {
    Outage::new(Service::VectorIndex, OutageKind::Refused, detail)
}

fn dot(left: &[f32], right: &[f32]) -> f32 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

/// Words as the index's tokenizer cuts them: at everything that is no letter or digit.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// The best of one stage, best first, ties by id.
fn ranked(mut scored: Vec<(PointId, f32)>, depth: u32) -> Vec<(PointId, StageScore)> {
    scored.sort_by(|(a_id, a), (b_id, b)| b.total_cmp(a).then(a_id.cmp(b_id)));
    let ranked = scored.into_iter().take(depth as usize).zip(1_u32..);
    ranked.map(|((id, score), rank)| (id, StageScore { rank, score })).collect()
}

#[async_trait]
impl VectorIndex for MemoryIndex {
    async fn manifest(&self) -> Result<Option<IndexManifest>, Outage> {
        Ok(self.manifest.clone())
    }

    async fn stage(&self, scope: &TenantScope, points: &[PointDraft]) -> Result<(), Outage> {
        for draft in points {
            for spec in self.manifest.iter().flat_map(|manifest| &manifest.vectors) {
                let dims = draft.dense.get(&spec.name).map_or(0, Vec::len);
                if dims != spec.dims as usize {
                    return Err(refused(format!("vector {} has {dims} dimensions, not {}", spec.name, spec.dims)));
                }
            }
        }
        let mut stored = lock(&self.points);
        for draft in points {
            stored.insert(draft.point.point_id, (scope.tenant(), draft.clone()));
        }
        Ok(())
    }

    async fn staged(&self, scope: &TenantScope, file: FileId, generation: Generation) -> Result<HashSet<u32>, Outage> {
        let staged = self.select(scope, |point| point.file_id == file && point.generation == generation);
        Ok(staged.into_iter().map(|draft| draft.point.chunk_index).collect())
    }

    async fn vectors(
        &self,
        scope: &TenantScope,
        file: FileId,
        texts: &BTreeSet<Sha256>,
    ) -> Result<HashMap<Sha256, DenseVectors>, Outage> {
        let found = self.select(scope, |point| point.file_id == file && texts.contains(&point.content_sha256));
        Ok(found.into_iter().map(|draft| (draft.point.content_sha256, draft.dense)).collect())
    }

    async fn activate(&self, scope: &TenantScope, file: FileId, generation: Generation) -> Result<(), Outage> {
        self.set_active(scope, true, |point| point.file_id == file && point.generation == generation);
        Ok(())
    }

    async fn deactivate(&self, scope: &TenantScope, file: FileId, generations: Generations) -> Result<(), Outage> {
        self.set_active(scope, false, |point| point.file_id == file && generations.contains(point.generation));
        Ok(())
    }

    async fn remove(&self, scope: &TenantScope, file: FileId, generations: Generations) -> Result<u64, Outage> {
        let mut points = lock(&self.points);
        let before = points.len();
        points.retain(|_, (owner, draft)| {
            let point = &draft.point;
            !(*owner == scope.tenant() && point.file_id == file && generations.contains(point.generation))
        });
        Ok((before - points.len()) as u64)
    }

    async fn point(&self, scope: &TenantScope, point: PointId) -> Result<Option<Point>, Outage> {
        Ok(self.select(scope, |other| other.point_id == point).pop().map(|draft| draft.point))
    }

    async fn list(
        &self,
        scope: &TenantScope,
        file: FileId,
        generation: Generation,
        after: Option<OrderId>,
        limit: u32,
    ) -> Result<Vec<Point>, Outage> {
        let found = self.select(scope, |point| {
            point.file_id == file
                && point.generation == generation
                && point.is_active
                && after.is_none_or(|after| point.order_id > after)
        });
        Ok(found.into_iter().map(|draft| draft.point).take(limit as usize).collect())
    }

    async fn neighbours(&self, scope: &TenantScope, points: &[&Point]) -> Result<Vec<Neighbours>, Outage> {
        let around = |of: &Point| {
            let siblings = self.select(scope, |point| {
                point.file_id == of.file_id && point.generation == of.generation && point.is_active
            });
            let siblings = || siblings.iter().map(|draft| &draft.point);
            Neighbours {
                previous: siblings().rfind(|point| point.order_id < of.order_id).map(|point| point.point_id),
                next: siblings().find(|point| point.order_id > of.order_id).map(|point| point.point_id),
            }
        };
        Ok(points.iter().map(|point| around(point)).collect())
    }

    async fn count(&self, scope: &TenantScope, filter: &CountFilter) -> Result<u64, Outage> {
        let counted = self.select(scope, |point| {
            filter.file.is_none_or(|file| point.file_id == file)
                && filter.generation.is_none_or(|generation| point.generation == generation)
                && filter.domain.as_ref().is_none_or(|domain| point.domain == *domain)
                && (!filter.active_only || point.is_active)
        });
        Ok(counted.len() as u64)
    }

    async fn keyword(&self, scope: &TenantScope, query: &KeywordQuery) -> Result<Vec<Point>, Outage> {
        if query.terms.is_empty() {
            return Ok(Vec::new());
        }
        let found = self.select(scope, |point| {
            let present: HashSet<&str> = words(&point.content_folded).collect();
            point.is_active
                && query.domains.contains(&point.domain)
                && query.file.is_none_or(|file| point.file_id == file)
                && query.terms.iter().flat_map(|term| words(term)).all(|word| present.contains(word))
        });
        Ok(found.into_iter().map(|draft| draft.point).take(query.limit as usize).collect())
    }

    async fn search(&self, scope: &TenantScope, query: &HybridQuery) -> Result<Vec<Hit>, Outage> {
        let candidates = self.select(scope, |point| {
            point.is_active
                && query.domains.contains(&point.domain)
                && query.file.is_none_or(|file| point.file_id == file)
        });
        let mut stages: Vec<(String, Vec<(PointId, StageScore)>)> = Vec::new();
        for (name, vector) in &query.dense {
            let near = |draft: &PointDraft| draft.dense.get(name).map(|v| (draft.point.point_id, dot(v, vector)));
            stages.push((name.to_string(), ranked(candidates.iter().filter_map(near).collect(), query.depth)));
        }
        let weights: HashMap<_, _> = query.sparse.indices.iter().zip(&query.sparse.values).collect();
        let shared_terms = |draft: &PointDraft| {
            let terms = draft.sparse.indices.iter().zip(&draft.sparse.values);
            let sum: f32 = terms.filter_map(|(term, weight)| weights.get(term).map(|w| *w * weight)).sum();
            (sum > 0.0).then_some((draft.point.point_id, sum))
        };
        stages.push(("sparse".into(), ranked(candidates.iter().filter_map(shared_terms).collect(), query.depth)));

        let mut fused: BTreeMap<PointId, f32> = BTreeMap::new();
        for (id, stage) in stages.iter().flat_map(|(_, ranked)| ranked) {
            #[expect(clippy::cast_precision_loss, reason = "a rank is far below 2^24")]
            let rank = stage.rank as f32;
            *fused.entry(*id).or_default() += 1.0 / (RRF_K + rank);
        }
        let hits = ranked(fused.into_iter().collect(), query.limit).into_iter().filter_map(|(id, fused)| {
            let draft = candidates.iter().find(|draft| draft.point.point_id == id)?;
            let mut scores = BTreeMap::from([("fused".to_owned(), fused)]);
            if query.explain {
                let own = stages.iter().filter_map(|(name, ranked)| {
                    ranked.iter().find(|(other, _)| *other == id).map(|(_, score)| (name.clone(), *score))
                });
                scores.extend(own);
            }
            Some(Hit { point: draft.point.clone(), stages: scores })
        });
        Ok(hits.collect())
    }
}
