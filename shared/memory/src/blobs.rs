use crate::lock;
use anchorage_domain::{FileId, Filename, ObjectKey, Sha256, TenantScope, Timestamp, VersionId};
use anchorage_ports::{Blob, BlobError, BlobStore, Outage, PresignedRequest, UploadTicket};
use async_trait::async_trait;
use std::{
    collections::{BTreeMap, HashMap},
    sync::Mutex,
    time::Duration,
};

/// Versioned objects. A presigned upload is made with [`MemoryBlobs::send`], which refuses what the ticket did not sign.
#[derive(Debug, Default)]
pub struct MemoryBlobs(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    objects: HashMap<ObjectKey, Vec<(VersionId, Blob)>>,
    tickets: HashMap<String, (UploadTicket, Timestamp)>,
    versions: u64,
}

impl MemoryBlobs {
    /// Makes the presigned request for `url`, as a client would. The version's id when the store took the bytes.
    pub fn send(&self, url: &str, bytes: &[u8], now: Timestamp) -> Option<VersionId> {
        let mut state = lock(&self.0);
        let (ticket, expires_at) = state.tickets.get(url).cloned()?;
        let signed = ticket.size_bytes == bytes.len() as u64 && ticket.sha256 == Sha256::of(bytes) && now < expires_at;
        signed.then(|| state.put(ticket.key, bytes, &ticket.content_type)).flatten()
    }

    /// Writes an object without a ticket, as only the store's owner could.
    pub fn place(&self, key: ObjectKey, bytes: &[u8]) -> Option<VersionId> {
        lock(&self.0).put(key, bytes, "application/octet-stream")
    }

    /// Whether anything of the object is left.
    #[must_use]
    pub fn holds(&self, key: &ObjectKey) -> bool {
        lock(&self.0).objects.contains_key(key)
    }
}

impl State {
    fn put(&mut self, key: ObjectKey, bytes: &[u8], content_type: &str) -> Option<VersionId> {
        self.versions += 1;
        let version = VersionId::new(format!("v{}", self.versions)).ok()?;
        let blob =
            Blob { bytes: bytes.to_vec(), content_type: Some(content_type.to_owned()), version: Some(version.clone()) };
        self.objects.entry(key).or_default().push((version.clone(), blob));
        Some(version)
    }

    fn remove(&mut self, wanted: impl Fn(&ObjectKey) -> bool) -> u64 {
        let mut removed = 0;
        self.objects.retain(|key, versions| {
            let keep = !wanted(key);
            if !keep {
                removed += versions.len() as u64;
            }
            keep
        });
        removed
    }
}

#[async_trait]
impl BlobStore for MemoryBlobs {
    async fn presign_upload(
        &self,
        scope: &TenantScope,
        ticket: &UploadTicket,
        now: Timestamp,
    ) -> Result<PresignedRequest, BlobError> {
        if ticket.key.tenant != scope.tenant() {
            return Err(BlobError::NotFound);
        }
        let mut state = lock(&self.0);
        let url = format!("memory://upload/{}/{}", ticket.key, state.tickets.len());
        let expires_at = now.plus(ticket.valid_for);
        state.tickets.insert(url.clone(), (ticket.clone(), expires_at));
        let headers = BTreeMap::from([
            ("content-length".to_owned(), ticket.size_bytes.to_string()),
            ("content-type".to_owned(), ticket.content_type.clone()),
        ]);
        Ok(PresignedRequest { method: "PUT", url, headers, expires_at })
    }

    async fn presign_download(
        &self,
        scope: &TenantScope,
        key: &ObjectKey,
        filename: &Filename,
        valid_for: Duration,
        now: Timestamp,
    ) -> Result<PresignedRequest, BlobError> {
        if key.tenant != scope.tenant() {
            return Err(BlobError::NotFound);
        }
        let url = format!("memory://download/{key}?as={filename}");
        Ok(PresignedRequest { method: "GET", url, headers: BTreeMap::new(), expires_at: now.plus(valid_for) })
    }

    async fn put(
        &self,
        scope: &TenantScope,
        key: &ObjectKey,
        content_type: &str,
        bytes: Vec<u8>,
    ) -> Result<(), BlobError> {
        if key.tenant != scope.tenant() {
            return Err(BlobError::NotFound);
        }
        lock(&self.0).put(*key, &bytes, content_type);
        Ok(())
    }

    async fn read(
        &self,
        scope: &TenantScope,
        key: &ObjectKey,
        version: Option<&VersionId>,
        max_bytes: u64,
    ) -> Result<Blob, BlobError> {
        let state = lock(&self.0);
        let versions = state.objects.get(key).filter(|_| key.tenant == scope.tenant()).ok_or(BlobError::NotFound)?;
        let found = match version {
            Some(wanted) => versions.iter().find(|(id, _)| id == wanted),
            None => versions.last(),
        };
        let (_, blob) = found.ok_or(BlobError::NotFound)?;
        if blob.bytes.len() as u64 > max_bytes {
            return Err(BlobError::TooLarge { limit: max_bytes });
        }
        Ok(blob.clone())
    }

    async fn remove(&self, scope: &TenantScope, key: &ObjectKey) -> Result<u64, Outage> {
        let tenant = scope.tenant();
        Ok(lock(&self.0).remove(|other| other == key && key.tenant == tenant))
    }

    async fn remove_file(&self, scope: &TenantScope, file: FileId) -> Result<u64, Outage> {
        let tenant = scope.tenant();
        Ok(lock(&self.0).remove(|key| key.tenant == tenant && key.file == file))
    }
}
