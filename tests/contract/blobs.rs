use crate::{fresh_id, fresh_scope, real::Real};
use acceptance::stack::stack;
use anchorage_adapters::{RandomIds, S3Blobs, SystemClock};
use anchorage_domain::{FileId, Filename, ObjectKey, Sha256, TenantScope, Timestamp, VersionId};
use anchorage_memory::MemoryBlobs;
use anchorage_ports::{BlobError, BlobStore, Clock as _, Ids as _, PresignedRequest, UploadTicket};
use async_trait::async_trait;
use std::time::Duration;

/// Makes a presigned request as a client would.
#[async_trait]
trait Sender: Sync {
    /// Whether the store took `bytes`, sent with the request's headers, of which `replaced` stand in for some.
    async fn put(&self, request: &PresignedRequest, replaced: &[(&str, &str)], bytes: &[u8], now: Timestamp) -> bool;
}

#[async_trait]
impl Sender for MemoryBlobs {
    async fn put(&self, request: &PresignedRequest, _: &[(&str, &str)], bytes: &[u8], now: Timestamp) -> bool {
        self.send(&request.url, bytes, now).is_some()
    }
}

struct Http;

#[async_trait]
impl Sender for Http {
    async fn put(&self, request: &PresignedRequest, replaced: &[(&str, &str)], bytes: &[u8], _: Timestamp) -> bool {
        let mut headers = request.headers.clone();
        headers.extend(replaced.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        // The client states the length of what it sends, whatever the ticket said.
        headers.remove("content-length");
        let put = stack().http.put(&request.url).body(bytes.to_vec());
        let put = headers.iter().fold(put, |put, (name, value)| put.header(name, value));
        put.send().await.unwrap().status().is_success()
    }
}

fn key(scope: &TenantScope, version: u32) -> ObjectKey {
    ObjectKey { tenant: scope.tenant(), file: FileId::new(fresh_id()), version }
}

fn ticket(key: ObjectKey, bytes: &[u8]) -> UploadTicket {
    UploadTicket {
        key,
        size_bytes: bytes.len() as u64,
        sha256: Sha256::of(bytes),
        content_type: "text/plain".into(),
        valid_for: Duration::from_mins(15),
    }
}

async fn upload(
    blobs: &dyn BlobStore,
    sender: &dyn Sender,
    scope: &TenantScope,
    key: ObjectKey,
    bytes: &[u8],
) -> VersionId {
    let now = SystemClock.now();
    let request = blobs.presign_upload(scope, &ticket(key, bytes), now).await.unwrap();
    assert!(sender.put(&request, &[], bytes, now).await, "what the ticket signed is taken");
    blobs.read(scope, &key, None, 1024).await.unwrap().version.expect("the store keeps versions")
}

/// Cases C09 and H3.
async fn uploads_are_exactly_what_was_signed(blobs: &dyn BlobStore, sender: &dyn Sender) {
    let scope = fresh_scope();
    let key = key(&scope, 1);
    let (now, ticket) = (SystemClock.now(), ticket(key, b"hello"));
    let request = blobs.presign_upload(&scope, &ticket, now).await.unwrap();
    assert_eq!((request.method, request.expires_at), ("PUT", now.plus(ticket.valid_for)));
    for (what, bytes) in
        [("more bytes", &b"hello, world"[..]), ("fewer bytes", b"hell"), ("none", b""), ("other bytes", b"olleh")]
    {
        assert!(!sender.put(&request, &[], bytes, now).await, "{what} than signed are refused");
    }
    let old = SystemClock.now().unix_millis() - 3_600_000;
    let expired = blobs.presign_upload(&scope, &ticket, Timestamp::from_unix_millis(old)).await.unwrap();
    assert!(!sender.put(&expired, &[], b"hello", SystemClock.now()).await, "an expired ticket is refused");
    assert_eq!(blobs.read(&scope, &key, None, 1024).await, Err(BlobError::NotFound), "nothing refused was stored");
    assert!(sender.put(&request, &[], b"hello", now).await, "the signed bytes are taken");
    let stored = blobs.read(&scope, &key, None, 1024).await.unwrap();
    assert_eq!((stored.bytes.as_slice(), stored.content_type.as_deref()), (&b"hello"[..], Some("text/plain")));
}

async fn reads_stop_at_the_limit_and_name_versions(blobs: &dyn BlobStore, sender: &dyn Sender) {
    let scope = fresh_scope();
    let key = key(&scope, 1);
    let first = upload(blobs, sender, &scope, key, b"first").await;
    let second = upload(blobs, sender, &scope, key, b"second!").await;
    for (version, max_bytes, expected) in [
        (Some(&first), 1024, Ok(&b"first"[..])),
        (Some(&second), 1024, Ok(b"second!")),
        (None, 1024, Ok(b"second!")),
        (None, 7, Ok(b"second!")),
        (None, 6, Err(BlobError::TooLarge { limit: 6 })),
        (Some(&first), 5, Ok(b"first")),
        (Some(&first), 4, Err(BlobError::TooLarge { limit: 4 })),
    ] {
        let read = blobs.read(&scope, &key, version, max_bytes).await.map(|blob| blob.bytes);
        assert_eq!(read, expected.map(<[u8]>::to_vec), "{version:?} up to {max_bytes}");
    }
    let unknown = VersionId::new(fresh_id().to_string()).unwrap();
    assert_eq!(blobs.read(&scope, &key, Some(&unknown), 9).await, Err(BlobError::NotFound), "an unknown version");
}

async fn removal_takes_every_version_and_nothing_else(blobs: &dyn BlobStore, sender: &dyn Sender) {
    let scope = fresh_scope();
    let first = key(&scope, 1);
    // The first key's text is a prefix of this one's.
    let tenth = ObjectKey { version: 10, ..first };
    let other = key(&scope, 1);
    for (key, bytes) in [(first, &b"a"[..]), (first, b"b"), (tenth, b"c"), (other, b"d")] {
        upload(blobs, sender, &scope, key, bytes).await;
    }
    assert_eq!(blobs.remove(&scope, &first).await, Ok(2), "both versions of the object");
    assert_eq!(blobs.remove(&scope, &first).await, Ok(0), "removing again finds none");
    assert_eq!(blobs.read(&scope, &first, None, 9).await, Err(BlobError::NotFound));
    assert_eq!(blobs.read(&scope, &tenth, None, 9).await.map(|blob| blob.bytes), Ok(b"c".to_vec()), "version 10 stays");
    assert_eq!(blobs.remove_file(&scope, first.file).await, Ok(1), "what is left of the file");
    assert_eq!(blobs.remove_file(&scope, first.file).await, Ok(0));
    assert!(blobs.read(&scope, &other, None, 9).await.is_ok(), "another file stays");
}

/// Case C46.
async fn other_tenants_objects_are_not_there(blobs: &dyn BlobStore, sender: &dyn Sender) {
    let (own, other) = (fresh_scope(), fresh_scope());
    let key = key(&own, 1);
    let (now, valid_for) = (SystemClock.now(), Duration::from_mins(1));
    let filename = Filename::new("a.txt").unwrap();
    upload(blobs, sender, &own, key, b"canary").await;
    assert_eq!(blobs.read(&other, &key, None, 1024).await, Err(BlobError::NotFound));
    assert_eq!(blobs.presign_upload(&other, &ticket(key, b"x"), now).await, Err(BlobError::NotFound));
    let download = blobs.presign_download(&other, &key, &filename, valid_for, now).await;
    assert_eq!(download, Err(BlobError::NotFound));
    assert_eq!(blobs.remove(&other, &key).await, Ok(0));
    assert_eq!(blobs.remove_file(&other, key.file).await, Ok(0));
    assert_eq!(blobs.read(&own, &key, None, 1024).await.map(|blob| blob.bytes), Ok(b"canary".to_vec()));
}

async fn contract(blobs: &dyn BlobStore, sender: &dyn Sender) {
    uploads_are_exactly_what_was_signed(blobs, sender).await;
    reads_stop_at_the_limit_and_name_versions(blobs, sender).await;
    removal_takes_every_version_and_nothing_else(blobs, sender).await;
    other_tenants_objects_are_not_there(blobs, sender).await;
}

#[tokio::test]
async fn blobs_in_memory_keep_the_contract() {
    let blobs = MemoryBlobs::default();
    contract(&blobs, &blobs).await;
}

#[tokio::test]
async fn blobs_over_s3_keep_the_contract() {
    let Some(real) = Real::find("the blob store").await else { return };
    contract(&S3Blobs::new(&real.config, &real.bucket), &Http).await;
}

#[tokio::test]
async fn presigned_upload_over_s3_refuses_other_headers_than_signed() {
    let Some(real) = Real::find("signed headers").await else { return };
    let (blobs, scope, now) = (S3Blobs::new(&real.config, &real.bucket), fresh_scope(), SystemClock.now());
    let key = key(&scope, 1);
    let request = blobs.presign_upload(&scope, &ticket(key, b"hello"), now).await.unwrap();
    let other = Sha256::of(&RandomIds.secret());
    for (name, value) in
        [("content-type", "text/html"), ("x-amz-checksum-sha256", other.to_string().get(..44).unwrap())]
    {
        assert!(!Http.put(&request, &[(name, value)], b"hello", now).await, "another {name} is refused");
    }
    assert_eq!(blobs.read(&scope, &key, None, 9).await, Err(BlobError::NotFound));
}

#[tokio::test]
async fn presigned_download_over_s3_gives_the_bytes_under_the_name() {
    let Some(real) = Real::find("the presigned download").await else { return };
    let (blobs, scope) = (S3Blobs::new(&real.config, &real.bucket), fresh_scope());
    let key = key(&scope, 1);
    upload(&blobs, &Http, &scope, key, b"hello").await;
    let filename = Filename::new("گزارش.txt").unwrap();
    let request =
        blobs.presign_download(&scope, &key, &filename, Duration::from_mins(1), SystemClock.now()).await.unwrap();
    let answer = stack().http.get(&request.url).send().await.unwrap();
    let disposition = answer.headers()["content-disposition"].to_str().unwrap().to_owned();
    assert!(disposition.ends_with("filename*=UTF-8''%DA%AF%D8%B2%D8%A7%D8%B1%D8%B4.txt"), "{disposition}");
    assert_eq!(answer.bytes().await.unwrap().as_ref(), b"hello");
}
