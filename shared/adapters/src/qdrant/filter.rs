//! Filters. Each begins with the tenant, so that none can be empty and none can reach further than its scope.

use super::schema::Field;
use anchorage_domain::{DomainKey, FileId, Generation, OrderId, PointId, Sha256, TenantScope};
use anchorage_ports::Generations;
use qdrant_client::qdrant::{Condition, Filter, PointId as QdrantId, Range};
use std::collections::BTreeSet;

#[derive(Debug, Clone)]
pub(super) struct Conditions(Vec<Condition>);

#[expect(clippy::cast_precision_loss, reason = "orders and generations stay far below 2^53")]
const fn float(value: i64) -> f64 {
    value as f64
}

/// Qdrant's integers are signed; a generation counts ingests and never gets there.
fn integer(generation: Generation) -> i64 {
    i64::try_from(generation.get()).unwrap_or(i64::MAX)
}

impl Conditions {
    pub(super) fn of(scope: &TenantScope) -> Self {
        Self(vec![Condition::matches(Field::Tenant.key(), scope.tenant().to_string())])
    }

    fn and(mut self, condition: Condition) -> Self {
        self.0.push(condition);
        self
    }

    pub(super) fn file(self, file: FileId) -> Self {
        self.and(Condition::matches(Field::File.key(), file.to_string()))
    }

    pub(super) fn generation(self, generation: Generation) -> Self {
        self.and(Condition::matches(Field::Generation.key(), integer(generation)))
    }

    pub(super) fn generations(self, generations: Generations) -> Self {
        match generations {
            Generations::All => self,
            Generations::OlderThan(newest) => {
                let range = Range { lt: Some(float(integer(newest))), ..Range::default() };
                self.and(Condition::range(Field::Generation.key(), range))
            }
        }
    }

    pub(super) fn active(self, active: bool) -> Self {
        self.and(Condition::matches(Field::IsActive.key(), active))
    }

    pub(super) fn domains(self, domains: &[DomainKey]) -> Self {
        let keys: Vec<String> = domains.iter().map(ToString::to_string).collect();
        self.and(Condition::matches(Field::Domain.key(), keys))
    }

    pub(super) fn texts(self, digests: &BTreeSet<Sha256>) -> Self {
        let digests: Vec<String> = digests.iter().map(ToString::to_string).collect();
        self.and(Condition::matches(Field::ContentSha256.key(), digests))
    }

    pub(super) fn after(self, order: OrderId) -> Self {
        let range = Range { gt: Some(float(order.get())), ..Range::default() };
        self.and(Condition::range(Field::Order.key(), range))
    }

    pub(super) fn before(self, order: OrderId) -> Self {
        let range = Range { lt: Some(float(order.get())), ..Range::default() };
        self.and(Condition::range(Field::Order.key(), range))
    }

    /// All words of `terms`.
    pub(super) fn words(self, terms: &[String]) -> Self {
        self.and(Condition::matches_text(Field::ContentFolded.key(), terms.join(" ")))
    }

    pub(super) fn point(self, point: PointId) -> Self {
        self.and(Condition::has_id([QdrantId::from(point.to_string())]))
    }

    pub(super) fn filter(self) -> Filter {
        Filter::must(self.0)
    }
}
