use crate::lock;
use anchorage_domain::{
    ApiKeyRecord, DomainKey, DomainRecord, FileId, FileRecord, FileStatus, IdentityHash, IdentityRecord, JobId,
    JobRecord, KeyId, Revision, TenantId, TenantScope, Timestamp, TraceId,
};
use anchorage_ports::{
    AnswerTrace, Change, CommitError, Directory, DocumentStore, FileListing, FilePage, MAX_CHANGES, Outage, OutageKind,
    Service, TenantRecord, TraceStore,
};
use async_trait::async_trait;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Mutex,
};

#[derive(Debug, Default)]
struct State {
    tenants: BTreeMap<TenantId, TenantRecord>,
    keys: BTreeMap<KeyId, ApiKeyRecord>,
    domains: BTreeMap<(TenantId, DomainKey), DomainRecord>,
    files: BTreeMap<(TenantId, FileId), FileRecord>,
    jobs: BTreeMap<(TenantId, FileId, JobId), JobRecord>,
    identities: BTreeMap<(TenantId, IdentityHash), IdentityRecord>,
    traces: BTreeMap<(TenantId, TraceId), AnswerTrace>,
}

/// The system of record, the directory of keys and the answers' traces.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<State>);

impl MemoryStore {
    /// Everything a tenant has stored, in a stable order, for comparing whole states.
    #[must_use]
    pub fn snapshot(&self, tenant: TenantId) -> (Vec<FileRecord>, Vec<JobRecord>, Vec<IdentityRecord>) {
        let state = lock(&self.0);
        (
            state.files.iter().filter(|((owner, _), _)| *owner == tenant).map(|(_, file)| file.clone()).collect(),
            state.jobs.iter().filter(|((owner, _, _), _)| *owner == tenant).map(|(_, job)| job.clone()).collect(),
            state.identities.iter().filter(|((owner, _), _)| *owner == tenant).map(|(_, id)| id.clone()).collect(),
        )
    }
}

impl State {
    /// The revision a record stands at, [`Revision::NEW`] when it is not there, and which record it is.
    fn revision(&self, tenant: TenantId, change: &Change) -> (Revision, Revision, String) {
        let stored = |revision: Option<Revision>| revision.unwrap_or(Revision::NEW);
        match change {
            Change::PutFile(file) => (
                stored(self.files.get(&(tenant, file.file_id)).map(|stored| stored.revision)),
                file.revision,
                format!("file {}", file.file_id),
            ),
            Change::PutJob(job) => (
                stored(self.jobs.get(&(tenant, job.file_id, job.job_id)).map(|stored| stored.revision)),
                job.revision,
                format!("job {}", job.job_id),
            ),
            Change::PutDomain(domain) => (
                stored(self.domains.get(&(tenant, domain.key.clone())).map(|stored| stored.revision)),
                domain.revision,
                format!("domain {}", domain.key),
            ),
            Change::PutIdentity(identity) | Change::RemoveIdentity(identity) => (
                stored(self.identities.get(&(tenant, identity.identity)).map(|stored| stored.revision)),
                identity.revision,
                format!("identity {}", identity.identity),
            ),
        }
    }

    fn apply(&mut self, tenant: TenantId, change: Change) {
        match change {
            Change::PutFile(mut file) => {
                file.revision = file.revision.next();
                self.files.insert((tenant, file.file_id), file);
            }
            Change::PutJob(mut job) => {
                job.revision = job.revision.next();
                self.jobs.insert((tenant, job.file_id, job.job_id), job);
            }
            Change::PutDomain(mut domain) => {
                domain.revision = domain.revision.next();
                self.domains.insert((tenant, domain.key.clone()), domain);
            }
            Change::PutIdentity(mut identity) => {
                identity.revision = identity.revision.next();
                self.identities.insert((tenant, identity.identity), identity);
            }
            Change::RemoveIdentity(identity) => {
                self.identities.remove(&(tenant, identity.identity));
            }
        }
    }
}

fn refused(detail: &str) -> Outage {
    Outage::new(Service::DocumentStore, OutageKind::Refused, detail)
}

#[async_trait]
impl DocumentStore for MemoryStore {
    async fn domain(&self, scope: &TenantScope, key: &DomainKey) -> Result<Option<DomainRecord>, Outage> {
        Ok(lock(&self.0).domains.get(&(scope.tenant(), key.clone())).cloned())
    }

    async fn domains(&self, scope: &TenantScope) -> Result<Vec<DomainRecord>, Outage> {
        let state = lock(&self.0);
        Ok(state.domains.iter().filter(|((owner, _), _)| *owner == scope.tenant()).map(|(_, d)| d.clone()).collect())
    }

    async fn file(&self, scope: &TenantScope, file: FileId) -> Result<Option<FileRecord>, Outage> {
        Ok(lock(&self.0).files.get(&(scope.tenant(), file)).cloned())
    }

    async fn files(&self, scope: &TenantScope, files: &[FileId]) -> Result<Vec<FileRecord>, Outage> {
        let state = lock(&self.0);
        let wanted: BTreeSet<_> = files.iter().collect();
        Ok(wanted.into_iter().filter_map(|file| state.files.get(&(scope.tenant(), *file)).cloned()).collect())
    }

    async fn list_files(&self, scope: &TenantScope, listing: &FileListing) -> Result<FilePage, Outage> {
        let state = lock(&self.0);
        let wanted = |file: &&FileRecord| {
            listing.after.is_none_or(|after| file.file_id < after)
                && listing.domain.as_ref().is_none_or(|domain| file.domain == *domain)
                && listing.status.map_or(file.status != FileStatus::Deleted, |status| file.status == status)
        };
        let owned = state.files.iter().rev().filter(|((owner, _), _)| *owner == scope.tenant()).map(|(_, file)| file);
        let mut items: Vec<_> = owned.filter(wanted).take(listing.limit + 1).cloned().collect();
        let more = items.len() > listing.limit;
        items.truncate(listing.limit);
        let next = items.last().filter(|_| more).map(|file| file.file_id);
        Ok(FilePage { items, next })
    }

    async fn job(&self, scope: &TenantScope, file: FileId, job: JobId) -> Result<Option<JobRecord>, Outage> {
        Ok(lock(&self.0).jobs.get(&(scope.tenant(), file, job)).cloned())
    }

    async fn jobs(&self, scope: &TenantScope, file: FileId, limit: usize) -> Result<Vec<JobRecord>, Outage> {
        let state = lock(&self.0);
        let owned = state.jobs.iter().rev().filter(|((owner, of, _), _)| *owner == scope.tenant() && *of == file);
        Ok(owned.map(|(_, job)| job.clone()).take(limit).collect())
    }

    async fn identity(&self, scope: &TenantScope, identity: &IdentityHash) -> Result<Option<IdentityRecord>, Outage> {
        Ok(lock(&self.0).identities.get(&(scope.tenant(), *identity)).cloned())
    }

    async fn commit(&self, scope: &TenantScope, changes: Vec<Change>) -> Result<(), CommitError> {
        if changes.is_empty() || changes.len() > MAX_CHANGES {
            return Err(refused(&format!("a commit takes 1 to {MAX_CHANGES} changes")).into());
        }
        if changes.iter().any(Change::is_too_large) {
            return Err(refused("a record is larger than the store takes").into());
        }
        let mut state = lock(&self.0);
        let mut named = BTreeSet::new();
        for change in &changes {
            let (stored, read, name) = state.revision(scope.tenant(), change);
            if !named.insert(name) {
                return Err(refused("a commit names one record twice").into());
            }
            if stored != read {
                return Err(CommitError::Conflict);
            }
        }
        for change in changes {
            state.apply(scope.tenant(), change);
        }
        Ok(())
    }
}

#[async_trait]
impl Directory for MemoryStore {
    async fn find_key(&self, key: &KeyId) -> Result<Option<ApiKeyRecord>, Outage> {
        Ok(lock(&self.0).keys.get(key).cloned())
    }

    async fn put_tenant(&self, scope: &TenantScope, tenant: &TenantRecord) -> Result<(), Outage> {
        if tenant.tenant_id != scope.tenant() {
            return Err(refused("the tenant is not the scope's"));
        }
        let mut state = lock(&self.0);
        let created_at = state.tenants.get(&tenant.tenant_id).map_or(tenant.created_at, |stored| stored.created_at);
        state.tenants.insert(tenant.tenant_id, TenantRecord { created_at, ..tenant.clone() });
        Ok(())
    }

    async fn tenant(&self, scope: &TenantScope) -> Result<Option<TenantRecord>, Outage> {
        Ok(lock(&self.0).tenants.get(&scope.tenant()).cloned())
    }

    async fn put_key(&self, scope: &TenantScope, key: &ApiKeyRecord) -> Result<(), Outage> {
        let mut state = lock(&self.0);
        let foreign = |owner: TenantId| owner != scope.tenant();
        if foreign(key.tenant_id) || state.keys.get(&key.key_id).is_some_and(|stored| foreign(stored.tenant_id)) {
            return Err(refused("the key is not the scope's"));
        }
        state.keys.insert(key.key_id.clone(), key.clone());
        Ok(())
    }

    async fn keys(&self, scope: &TenantScope) -> Result<Vec<ApiKeyRecord>, Outage> {
        let state = lock(&self.0);
        let mut keys: Vec<_> = state.keys.values().filter(|key| key.tenant_id == scope.tenant()).cloned().collect();
        keys.sort_by(|a, b| (a.created_at, &a.key_id).cmp(&(b.created_at, &b.key_id)));
        Ok(keys)
    }

    async fn revoke_key(&self, scope: &TenantScope, key: &KeyId, now: Timestamp) -> Result<bool, Outage> {
        let mut state = lock(&self.0);
        let Some(stored) = state.keys.get_mut(key).filter(|stored| stored.tenant_id == scope.tenant()) else {
            return Ok(false);
        };
        stored.revoked_at.get_or_insert(now);
        Ok(true)
    }
}

#[async_trait]
impl TraceStore for MemoryStore {
    async fn put(&self, scope: &TenantScope, trace: &AnswerTrace) -> Result<(), Outage> {
        lock(&self.0).traces.insert((scope.tenant(), trace.trace_id), trace.clone());
        Ok(())
    }

    async fn get(&self, scope: &TenantScope, trace: TraceId) -> Result<Option<AnswerTrace>, Outage> {
        Ok(lock(&self.0).traces.get(&(scope.tenant(), trace)).cloned())
    }
}
