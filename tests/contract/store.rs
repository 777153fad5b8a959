use crate::{fresh_id, fresh_scope, real::Real};
use anchorage_adapters::{DynamoStore, SystemClock};
use anchorage_domain::{
    Actor, ApiKeyRecord, Decision, DocumentType, DomainKey, DomainPolicy, DomainRecord, FileId, FileRecord, FileStatus,
    Filename, Generation, IdentityHash, IdentityRecord, JobId, JobKind, JobRecord, KeyId, Language, Reason, Revision,
    ScopeSet, Sha256, TenantScope, Timestamp, TraceId,
};
use anchorage_memory::MemoryStore;
use anchorage_ports::{
    AnswerTrace, Change, Clock as _, CommitError, Directory, DocumentStore, FileListing, MAX_CHANGES, OutageKind,
    TenantRecord, TraceStore,
};
use futures::future::join_all;
use serde_json::{Map, json};
use std::collections::{BTreeMap, BTreeSet};

/// Some instant in whole milliseconds, as records keep it.
const NOW: Timestamp = Timestamp::from_unix_millis(1_790_000_000_123);

fn domain_key(name: &str) -> DomainKey {
    DomainKey::new(name).unwrap()
}

fn domain(name: &str) -> DomainRecord {
    DomainRecord {
        key: domain_key(name),
        active: true,
        policy: DomainPolicy::new(Language::Fa),
        created_by: Actor::Operator,
        created_at: NOW,
        updated_at: NOW,
        revision: Revision::NEW,
    }
}

fn identity(scope: &TenantScope, unique_id: &str, file_id: FileId) -> IdentityRecord {
    let identity = IdentityHash::new(scope.tenant(), &domain_key("d"), &DocumentType::file(), unique_id);
    IdentityRecord { identity, file_id, revision: Revision::NEW }
}

fn file(scope: &TenantScope, domain: &str, status: FileStatus) -> FileRecord {
    let file_id = FileId::new(fresh_id());
    FileRecord {
        file_id,
        domain: domain_key(domain),
        identity: identity(scope, &file_id.to_string(), file_id).identity,
        external_id: None,
        filename: Filename::new("گزارش ۱.txt").unwrap(),
        title: None,
        content_type: "text/plain".into(),
        content_sha256: Sha256::of(b"x"),
        size_bytes: 1,
        // Numbers that a decimal store would round, and shapes it has its own word for.
        document_type: DocumentType::file(),
        skipped: Vec::new(),
        metadata: Map::from_iter([
            ("float".to_owned(), json!(1.0)),
            ("huge".to_owned(), json!(1e300)),
            ("big".to_owned(), json!(u64::MAX)),
            ("empty".to_owned(), json!({"": [null, "", []]})),
        ]),
        status,
        version: 1,
        newest_generation: Generation::new(1),
        newest_job: JobId::new(fresh_id()),
        published: None,
        failure: None,
        created_by: Actor::Pipeline,
        created_at: NOW,
        updated_at: NOW,
        revision: Revision::NEW,
    }
}

fn job(file: FileId) -> JobRecord {
    JobRecord::queued(JobId::new(fresh_id()), file, JobKind::Ingest, 1, Generation::new(1), Actor::Operator, NOW)
}

fn everything() -> FileListing {
    FileListing { domain: None, status: None, limit: 100, after: None }
}

async fn create(store: &dyn DocumentStore, scope: &TenantScope, change: Change) {
    store.commit(scope, vec![change]).await.unwrap();
}

async fn records_come_back_as_written(store: &dyn DocumentStore) {
    let scope = fresh_scope();
    let (domain, file) = (domain("d"), file(&scope, "d", FileStatus::Queued));
    let (job, identity) = (job(file.file_id), identity(&scope, "u", file.file_id));
    let changes = vec![
        Change::PutDomain(domain.clone()),
        Change::PutFile(file.clone()),
        Change::PutJob(job.clone()),
        Change::PutIdentity(identity.clone()),
    ];
    store.commit(&scope, changes).await.unwrap();
    let first = Revision::NEW.next();
    let (file_id, job_id, hash) = (file.file_id, job.job_id, identity.identity);
    assert_eq!(
        store.domain(&scope, &domain_key("d")).await.unwrap(),
        Some(DomainRecord { revision: first, ..domain }),
        "a domain"
    );
    let file = FileRecord { revision: first, ..file };
    assert_eq!(store.file(&scope, file_id).await.unwrap().as_ref(), Some(&file), "a file with its metadata");
    assert_eq!(store.files(&scope, &[file_id]).await.unwrap(), [file], "a file among several");
    let job = JobRecord { revision: first, ..job };
    assert_eq!(store.job(&scope, file_id, job_id).await.unwrap(), Some(job.clone()), "a job");
    assert_eq!(store.jobs(&scope, file_id, 9).await.unwrap(), [job], "the jobs of a file");
    let identity = IdentityRecord { revision: first, ..identity };
    assert_eq!(store.identity(&scope, &hash).await.unwrap(), Some(identity.clone()), "an identity");
    create(store, &scope, Change::RemoveIdentity(identity)).await;
    assert_eq!(store.identity(&scope, &hash).await.unwrap(), None, "a removed identity");
}

async fn writes_that_rest_on_an_old_read_change_nothing(store: &dyn DocumentStore) {
    let scope = fresh_scope();
    let new = file(&scope, "d", FileStatus::Queued);
    create(store, &scope, Change::PutFile(new.clone())).await;
    let again = store.commit(&scope, vec![Change::PutFile(new.clone())]).await;
    assert_eq!(again, Err(CommitError::Conflict), "a record is created once");

    let read = store.file(&scope, new.file_id).await.unwrap().unwrap();
    let winner = FileRecord { status: FileStatus::Ready, ..read.clone() };
    let loser = FileRecord { status: FileStatus::Failed, ..read.clone() };
    create(store, &scope, Change::PutFile(winner)).await;
    let late = store.commit(&scope, vec![Change::PutFile(loser)]).await;
    assert_eq!(late, Err(CommitError::Conflict), "the second writer of one read loses");
    let stored = store.file(&scope, new.file_id).await.unwrap().unwrap();
    assert_eq!((stored.status, stored.revision), (FileStatus::Ready, read.revision.next()));

    let gone = identity(&scope, "u", new.file_id);
    create(store, &scope, Change::PutIdentity(gone.clone())).await;
    let stale = store.commit(&scope, vec![Change::RemoveIdentity(gone.clone())]).await;
    assert_eq!(stale, Err(CommitError::Conflict), "a removal names the revision it read");
    assert!(store.identity(&scope, &gone.identity).await.unwrap().is_some());
    let absent = FileRecord { revision: Revision::NEW.next(), ..file(&scope, "d", FileStatus::Queued) };
    let absent = store.commit(&scope, vec![Change::PutFile(absent)]).await;
    assert_eq!(absent, Err(CommitError::Conflict), "an update of what is not there");
}

async fn commits_are_whole_or_nothing(store: &dyn DocumentStore) {
    let scope = fresh_scope();
    let (there, new) = (file(&scope, "d", FileStatus::Queued), file(&scope, "d", FileStatus::Queued));
    create(store, &scope, Change::PutFile(there.clone())).await;
    let changes = vec![Change::PutFile(new.clone()), Change::PutJob(job(new.file_id)), Change::PutFile(there)];
    assert_eq!(store.commit(&scope, changes).await, Err(CommitError::Conflict));
    assert_eq!(store.file(&scope, new.file_id).await.unwrap(), None, "no part of a refused commit is stored");
    assert_eq!(store.jobs(&scope, new.file_id, 9).await.unwrap(), []);

    let refused = |outcome: Result<(), CommitError>| matches!(outcome, Err(CommitError::Outage(outage)) if outage.kind == OutageKind::Refused);
    let twice = vec![Change::PutFile(new.clone()), Change::PutFile(new.clone())];
    assert!(refused(store.commit(&scope, twice).await), "one record twice");
    assert!(refused(store.commit(&scope, vec![]).await), "no change at all");
    let many = |n| (0..n).map(|_| Change::PutJob(job(new.file_id))).collect::<Vec<_>>();
    assert!(refused(store.commit(&scope, many(MAX_CHANGES + 1)).await), "one more change than the bound");
    assert_eq!(store.jobs(&scope, new.file_id, 9).await.unwrap(), []);
    assert_eq!(store.commit(&scope, many(MAX_CHANGES)).await, Ok(()), "as many changes as the bound");

    // Case V10.
    let metadata = Map::from_iter([("text".to_owned(), json!("ی".repeat(200_000)))]);
    let huge = FileRecord { metadata, ..new.clone() };
    let changes = vec![Change::PutJob(job(huge.file_id)), Change::PutFile(huge)];
    assert!(refused(store.commit(&scope, changes).await), "a record past the store's size");
    assert_eq!(store.jobs(&scope, new.file_id, 100).await.unwrap().len(), MAX_CHANGES, "nothing half-written");
}

/// Case V12.
async fn of_many_at_once_exactly_one_wins(store: &dyn DocumentStore) {
    let scope = fresh_scope();
    let file_id = FileId::new(fresh_id());
    let attempts = (0..50).map(|_| store.commit(&scope, vec![Change::PutIdentity(identity(&scope, "u", file_id))]));
    let created = join_all(attempts).await;
    assert_eq!(created.iter().filter(|outcome| outcome.is_ok()).count(), 1, "50 equal attempts at once");
    assert!(created.iter().all(|outcome| matches!(outcome, Ok(()) | Err(CommitError::Conflict))));

    let claims = (0..20).map(|_| {
        let file = file(&scope, "d", FileStatus::Queued);
        let owner = identity(&scope, "v", file.file_id);
        store.commit(&scope, vec![Change::PutIdentity(owner), Change::PutFile(file)])
    });
    let claimed = join_all(claims).await;
    assert_eq!(claimed.iter().filter(|outcome| outcome.is_ok()).count(), 1, "20 commits that share a record");
    assert_eq!(store.list_files(&scope, &everything()).await.unwrap().items.len(), 1, "the losers left nothing");
}

async fn listings_page_and_filter(store: &dyn DocumentStore) {
    let scope = fresh_scope();
    let mut newest_first = Vec::new();
    for n in 0..7 {
        let status = if n == 3 {
            FileStatus::Deleted
        } else if n % 2 == 0 {
            FileStatus::Ready
        } else {
            FileStatus::Failed
        };
        let file = file(&scope, if n < 4 { "a" } else { "b" }, status);
        newest_first.insert(0, file.file_id);
        create(store, &scope, Change::PutFile(file)).await;
    }
    let pick = |places: &[usize]| places.iter().map(|place| newest_first[6 - place]).collect::<Vec<_>>();
    for (what, domain, status, expected) in [
        ("all but deleted ones", None, None, pick(&[6, 5, 4, 2, 1, 0])),
        ("one domain", Some("a"), None, pick(&[2, 1, 0])),
        ("one status", None, Some(FileStatus::Ready), pick(&[6, 4, 2, 0])),
        ("deleted ones", None, Some(FileStatus::Deleted), pick(&[3])),
        ("domain and status", Some("b"), Some(FileStatus::Failed), pick(&[5])),
        ("an unknown domain", Some("c"), None, vec![]),
    ] {
        for limit in [1, 2, 3, 100] {
            let mut listing = FileListing { domain: domain.map(domain_key), status, limit, after: None };
            let mut found = Vec::new();
            for _ in 0..20 {
                let page = store.list_files(&scope, &listing).await.unwrap();
                assert!(page.items.len() <= limit, "{what}: a page is no longer than asked for");
                found.extend(page.items.iter().map(|file| file.file_id));
                listing.after = page.next;
                if page.next.is_none() {
                    break;
                }
            }
            assert_eq!(found, expected, "{what}, {limit} at a time");
        }
    }
}

async fn many_files_and_jobs_are_found(store: &dyn DocumentStore) {
    let scope = fresh_scope();
    let files: Vec<_> = (0..110).map(|_| file(&scope, "d", FileStatus::Ready)).collect();
    for chunk in files.chunks(MAX_CHANGES) {
        store.commit(&scope, chunk.iter().cloned().map(Change::PutFile).collect()).await.unwrap();
    }
    let mut wanted: Vec<_> = files.iter().map(|file| file.file_id).collect();
    wanted.push(FileId::new(fresh_id()));
    wanted.push(files[0].file_id);
    let found = store.files(&scope, &wanted).await.unwrap();
    let ids: BTreeSet<_> = found.iter().map(|file| file.file_id).collect();
    assert_eq!((found.len(), ids.len()), (110, 110), "each of more files than one batch takes, once");
    assert_eq!(store.files(&scope, &[]).await.unwrap(), [], "none of none");

    let of = files[0].file_id;
    let jobs: Vec<_> = (0..4).map(|_| job(of)).collect();
    store.commit(&scope, jobs.iter().cloned().map(Change::PutJob).collect()).await.unwrap();
    let newest: Vec<_> = store.jobs(&scope, of, 2).await.unwrap().iter().map(|job| job.job_id).collect();
    assert_eq!(newest, [jobs[3].job_id, jobs[2].job_id], "the newest jobs first");
    assert_eq!(store.jobs(&scope, of, 0).await.unwrap(), []);

    for name in ["b", "a", "c-1"] {
        create(store, &scope, Change::PutDomain(domain(name))).await;
    }
    let domains: Vec<_> =
        store.domains(&scope).await.unwrap().into_iter().map(|domain| domain.key.to_string()).collect();
    assert_eq!(domains, ["a", "b", "c-1"], "domains by key");
}

/// Case C46.
async fn other_tenants_records_are_not_there(store: &dyn DocumentStore) {
    let (own, other) = (fresh_scope(), fresh_scope());
    let file = file(&own, "d", FileStatus::Ready);
    let (job, identity) = (job(file.file_id), identity(&own, "u", file.file_id));
    let changes = vec![
        Change::PutDomain(domain("d")),
        Change::PutFile(file.clone()),
        Change::PutJob(job.clone()),
        Change::PutIdentity(identity.clone()),
    ];
    store.commit(&own, changes).await.unwrap();
    assert_eq!(store.domain(&other, &domain_key("d")).await.unwrap(), None);
    assert_eq!(store.domains(&other).await.unwrap(), []);
    assert_eq!(store.file(&other, file.file_id).await.unwrap(), None);
    assert_eq!(store.files(&other, &[file.file_id]).await.unwrap(), []);
    assert_eq!(store.list_files(&other, &everything()).await.unwrap().items, []);
    let after = FileListing { after: Some(FileId::new(fresh_id())), ..everything() };
    assert_eq!(store.list_files(&other, &after).await.unwrap().items, []);
    assert_eq!(store.job(&other, file.file_id, job.job_id).await.unwrap(), None);
    assert_eq!(store.jobs(&other, file.file_id, 9).await.unwrap(), []);
    assert_eq!(store.identity(&other, &identity.identity).await.unwrap(), None);

    let read = store.file(&own, file.file_id).await.unwrap();
    let theirs = FileRecord { status: FileStatus::Deleted, ..read.clone().unwrap() };
    assert_eq!(store.commit(&other, vec![Change::PutFile(theirs)]).await, Err(CommitError::Conflict), "their update");
    create(store, &other, Change::PutFile(FileRecord { status: FileStatus::Failed, ..file.clone() })).await;
    assert_eq!(
        store.file(&own, file.file_id).await.unwrap(),
        read,
        "a record of theirs under the same id is another one"
    );
}

fn api_key(scope: &TenantScope, created_at: Timestamp) -> ApiKeyRecord {
    // The last 16 digits of a fresh UUID are its random part.
    let id = fresh_id().simple().to_string()[16..].to_owned();
    ApiKeyRecord {
        key_id: KeyId::new(id).unwrap(),
        tenant_id: scope.tenant(),
        secret_sha256: Sha256::of(b"secret"),
        scopes: ScopeSet::default_scopes(),
        label: "test".into(),
        created_at,
        expires_at: None,
        revoked_at: None,
    }
}

async fn directory_contract(directory: &dyn Directory) {
    let (own, other) = (fresh_scope(), fresh_scope());
    let tenant = TenantRecord { tenant_id: own.tenant(), name: "One".into(), created_at: NOW };
    assert_eq!(directory.tenant(&own).await, Ok(None));
    directory.put_tenant(&own, &tenant).await.unwrap();
    let later = SystemClock.now();
    directory
        .put_tenant(&own, &TenantRecord { name: "Two".into(), created_at: later, ..tenant.clone() })
        .await
        .unwrap();
    let renamed = TenantRecord { name: "Two".into(), ..tenant.clone() };
    assert_eq!(directory.tenant(&own).await, Ok(Some(renamed)), "written again, only the name changes");
    assert_eq!(directory.tenant(&other).await, Ok(None));
    assert_eq!(directory.put_tenant(&other, &tenant).await.unwrap_err().kind, OutageKind::Refused, "a foreign tenant");

    let (second, first) = (api_key(&own, later), api_key(&own, NOW));
    assert_eq!(directory.find_key(&first.key_id).await, Ok(None));
    for key in [&second, &first] {
        directory.put_key(&own, key).await.unwrap();
    }
    assert_eq!(directory.find_key(&first.key_id).await, Ok(Some(first.clone())), "a key by its id alone");
    assert_eq!(directory.keys(&own).await, Ok(vec![first.clone(), second.clone()]), "keys, oldest first");
    let relabelled = ApiKeyRecord { label: "new".into(), ..first.clone() };
    directory.put_key(&own, &relabelled).await.unwrap();
    assert_eq!(directory.keys(&own).await, Ok(vec![relabelled.clone(), second]), "a key written over itself");

    assert_eq!(directory.keys(&other).await, Ok(vec![]), "another tenant sees no key");
    assert_eq!(directory.revoke_key(&other, &first.key_id, NOW).await, Ok(false), "nor revokes one");
    assert_eq!(directory.put_key(&other, &relabelled).await.unwrap_err().kind, OutageKind::Refused, "nor writes it");
    let taken = ApiKeyRecord { tenant_id: other.tenant(), ..relabelled.clone() };
    assert_eq!(directory.put_key(&other, &taken).await.unwrap_err().kind, OutageKind::Refused, "nor takes its id");
    assert_eq!(directory.find_key(&first.key_id).await, Ok(Some(relabelled.clone())));
    assert_eq!(directory.keys(&other).await, Ok(vec![]));

    assert_eq!(directory.revoke_key(&own, &api_key(&own, NOW).key_id, NOW).await, Ok(false), "an unknown key");
    assert_eq!(directory.revoke_key(&own, &first.key_id, NOW).await, Ok(true));
    assert_eq!(directory.revoke_key(&own, &first.key_id, later).await, Ok(true), "revoking again");
    let revoked = ApiKeyRecord { revoked_at: Some(NOW), ..relabelled };
    assert_eq!(directory.find_key(&first.key_id).await, Ok(Some(revoked.clone())), "keeps the first instant");
    directory.put_key(&own, &revoked).await.expect("a revoked key is still its tenant's");
}

async fn traces_contract(traces: &dyn TraceStore) {
    let (own, other) = (fresh_scope(), fresh_scope());
    let trace = AnswerTrace {
        trace_id: TraceId::new(fresh_id()),
        query: "چرا؟".into(),
        domains: vec![domain_key("d")],
        decision: Decision::Abstain,
        reason: Reason::NoHits,
        cited: vec![],
        candidates: vec![],
        degraded: vec!["rerank".into()],
        stage_millis: BTreeMap::from([("search".into(), 7)]),
        created_at: SystemClock.now(),
        expires_at: SystemClock.now().plus(std::time::Duration::from_hours(1)),
    };
    assert_eq!(traces.get(&own, trace.trace_id).await, Ok(None));
    traces.put(&own, &trace).await.unwrap();
    assert_eq!(traces.get(&own, trace.trace_id).await, Ok(Some(trace.clone())));
    assert_eq!(traces.get(&other, trace.trace_id).await, Ok(None), "another tenant's trace is not there");
}

async fn contract<S: DocumentStore + Directory + TraceStore>(store: &S) {
    records_come_back_as_written(store).await;
    writes_that_rest_on_an_old_read_change_nothing(store).await;
    commits_are_whole_or_nothing(store).await;
    of_many_at_once_exactly_one_wins(store).await;
    listings_page_and_filter(store).await;
    many_files_and_jobs_are_found(store).await;
    other_tenants_records_are_not_there(store).await;
    directory_contract(store).await;
    traces_contract(store).await;
}

#[tokio::test]
async fn store_in_memory_keeps_the_contract() {
    contract(&MemoryStore::default()).await;
}

#[tokio::test]
async fn store_over_dynamodb_keeps_the_contract() {
    let Some(real) = Real::find("the document store").await else { return };
    contract(&DynamoStore::new(&real.config, &real.table)).await;
}
