//! Uploaded bytes in a versioned S3 bucket.

use crate::{aws::outage, connect::Connect};
use anchorage_domain::{FileId, Filename, ObjectKey, TenantScope, Timestamp, VersionId};
use anchorage_ports::{Blob, BlobError, BlobStore, Outage, OutageKind, PresignedRequest, Service, UploadTicket};
use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_sdk_s3::{
    Client,
    config::http::HttpResponse,
    error::{ProvideErrorMetadata, SdkError},
    operation::list_object_versions::ListObjectVersionsOutput,
    presigning::{PresignedRequest as Signed, PresigningConfig},
    types::{Delete, ObjectIdentifier},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::time::{Duration, UNIX_EPOCH};

/// Listings of one removal; each names up to 1,000 versions (S3 API).
const MAX_LISTINGS: usize = 100;
/// Bytes set aside for an object before its first byte has come.
const MAX_INITIAL_BUFFER: u64 = 1024 * 1024;
/// What RFC 5987 lets stand as itself in an extended parameter.
const ATTR_CHAR: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'!')
    .remove(b'#')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b'-')
    .remove(b'.')
    .remove(b'^')
    .remove(b'_')
    .remove(b'`')
    .remove(b'|')
    .remove(b'~');

#[derive(Debug, Clone)]
pub struct S3Blobs {
    client: Client,
    bucket: String,
}

impl S3Blobs {
    /// An endpoint of one's own is addressed path-style: its bucket names are no host names.
    #[must_use]
    pub fn new(config: &SdkConfig, bucket: impl Into<String>) -> Self {
        let path_style = config.endpoint_url().is_some();
        let config = aws_sdk_s3::config::Builder::from(config).force_path_style(path_style).build();
        Self { client: Client::from_conf(config), bucket: bucket.into() }
    }

    /// Removes every version and delete marker under `prefix` whose key passes `wanted`.
    async fn remove_all(&self, prefix: &str, wanted: impl Fn(&str) -> bool + Send + Sync) -> Result<u64, Outage> {
        let mut removed = 0;
        let mut request = self.client.list_object_versions().bucket(&self.bucket).prefix(prefix);
        for _ in 0..MAX_LISTINGS {
            let page = request.clone().send().await.map_err(|error| failed("ListObjectVersions", &error))?;
            let (objects, versions) = listed(&page, &wanted);
            self.delete(objects).await?;
            removed += versions;
            if page.is_truncated() != Some(true) {
                return Ok(removed);
            }
            request = request
                .set_key_marker(page.next_key_marker().map(str::to_owned))
                .set_version_id_marker(page.next_version_id_marker().map(str::to_owned));
        }
        Err(refused("ListObjectVersions: more versions than one removal takes"))
    }

    async fn delete(&self, objects: Vec<ObjectIdentifier>) -> Result<(), Outage> {
        if objects.is_empty() {
            return Ok(());
        }
        let delete = Delete::builder().set_objects(Some(objects)).quiet(true).build();
        let delete = delete.map_err(|_| refused("DeleteObjects: the request could not be made"))?;
        let answer = self.client.delete_objects().bucket(&self.bucket).delete(delete).send().await;
        let answer = answer.map_err(|error| failed("DeleteObjects", &error))?;
        match answer.errors().first() {
            None => Ok(()),
            Some(error) => Err(Outage::new(
                Service::BlobStore,
                OutageKind::Unavailable,
                format!(
                    "DeleteObjects: {} not removed, first {}",
                    answer.errors().len(),
                    error.code().unwrap_or("no code")
                ),
            )),
        }
    }
}

#[async_trait]
impl Connect for S3Blobs {
    async fn connect(&self) {
        let _outcome = self.client.head_object().bucket(&self.bucket).key("uploads/-").send().await;
    }
}

#[async_trait]
impl BlobStore for S3Blobs {
    async fn presign_upload(
        &self,
        scope: &TenantScope,
        ticket: &UploadTicket,
        now: Timestamp,
    ) -> Result<PresignedRequest, BlobError> {
        own(scope, &ticket.key)?;
        let size = i64::try_from(ticket.size_bytes).map_err(|_| refused("PutObject: no such size"))?;
        let signed = self
            .client
            .put_object()
            .bucket(&self.bucket)
            .key(ticket.key.to_string())
            .content_length(size)
            .content_type(&ticket.content_type)
            .checksum_sha256(STANDARD.encode(ticket.sha256.as_bytes()))
            .presigned(validity(ticket.valid_for, now)?)
            .await
            .map_err(|error| failed("PutObject", &error))?;
        Ok(presigned("PUT", &signed, now.plus(ticket.valid_for)))
    }

    async fn presign_download(
        &self,
        scope: &TenantScope,
        key: &ObjectKey,
        filename: &Filename,
        valid_for: Duration,
        now: Timestamp,
    ) -> Result<PresignedRequest, BlobError> {
        own(scope, key)?;
        let request = self.client.get_object().bucket(&self.bucket).key(key.to_string());
        let request = request.response_content_disposition(attachment(filename));
        let signed = request.presigned(validity(valid_for, now)?).await.map_err(|error| failed("GetObject", &error))?;
        Ok(presigned("GET", &signed, now.plus(valid_for)))
    }

    async fn put(
        &self,
        scope: &TenantScope,
        key: &ObjectKey,
        content_type: &str,
        bytes: Vec<u8>,
    ) -> Result<(), BlobError> {
        own(scope, key)?;
        let request = self.client.put_object().bucket(&self.bucket).key(key.to_string()).content_type(content_type);
        let sent = request.body(bytes.into()).send().await;
        sent.map(|_| ()).map_err(|error| failed("PutObject", &error).into())
    }

    async fn read(
        &self,
        scope: &TenantScope,
        key: &ObjectKey,
        version: Option<&VersionId>,
        max_bytes: u64,
    ) -> Result<Blob, BlobError> {
        own(scope, key)?;
        let request = self.client.get_object().bucket(&self.bucket).key(key.to_string());
        let answer = request.set_version_id(version.map(|version| version.as_str().to_owned())).send().await;
        let mut object = answer.map_err(|error| {
            if is_missing(&error) { BlobError::NotFound } else { failed("GetObject", &error).into() }
        })?;
        let too_large = BlobError::TooLarge { limit: max_bytes };
        let announced = object.content_length().and_then(|length| u64::try_from(length).ok()).unwrap_or(0);
        if announced > max_bytes {
            return Err(too_large);
        }
        let mut bytes = Vec::with_capacity(usize::try_from(announced.min(MAX_INITIAL_BUFFER)).unwrap_or(0));
        while let Some(part) = object.body.next().await {
            let part = part.map_err(|_| {
                Outage::new(Service::BlobStore, OutageKind::Unavailable, "GetObject: the object's bytes broke off")
            })?;
            if (bytes.len() + part.len()) as u64 > max_bytes {
                return Err(too_large);
            }
            bytes.extend_from_slice(&part);
        }
        let version = object.version_id().and_then(|id| VersionId::new(id).ok());
        Ok(Blob { bytes, content_type: object.content_type().map(str::to_owned), version })
    }

    async fn remove(&self, scope: &TenantScope, key: &ObjectKey) -> Result<u64, Outage> {
        if own(scope, key).is_err() {
            return Ok(0);
        }
        let key = key.to_string();
        self.remove_all(&key, |found| found == key).await
    }

    async fn remove_file(&self, scope: &TenantScope, file: FileId) -> Result<u64, Outage> {
        self.remove_all(&ObjectKey::file_prefix(scope.tenant(), file), |_| true).await
    }
}

fn own(scope: &TenantScope, key: &ObjectKey) -> Result<(), BlobError> {
    if key.tenant == scope.tenant() { Ok(()) } else { Err(BlobError::NotFound) }
}

/// What to delete of a listing, and how many of them are versions rather than markers.
fn listed(page: &ListObjectVersionsOutput, wanted: impl Fn(&str) -> bool) -> (Vec<ObjectIdentifier>, u64) {
    let identify = |key: Option<&str>, version: Option<&str>| {
        let key = key.filter(|key| wanted(key))?;
        ObjectIdentifier::builder().key(key).set_version_id(version.map(str::to_owned)).build().ok()
    };
    let mut objects: Vec<_> = page.versions().iter().filter_map(|v| identify(v.key(), v.version_id())).collect();
    let versions = objects.len() as u64;
    objects.extend(page.delete_markers().iter().filter_map(|marker| identify(marker.key(), marker.version_id())));
    (objects, versions)
}

/// There is no such object or version; a version that is a delete marker answers 405.
fn is_missing<E: ProvideErrorMetadata>(error: &SdkError<E, HttpResponse>) -> bool {
    match error {
        SdkError::ServiceError(failure) => {
            matches!(failure.err().code(), Some("NoSuchKey" | "NoSuchVersion" | "NotFound" | "MethodNotAllowed"))
        }
        _ => false,
    }
}

fn validity(valid_for: Duration, now: Timestamp) -> Result<PresigningConfig, Outage> {
    let start = UNIX_EPOCH + Duration::from_millis(u64::try_from(now.unix_millis()).unwrap_or(0));
    let config = PresigningConfig::builder().start_time(start).expires_in(valid_for).build();
    config.map_err(|_| refused("a signature is valid for at most a week"))
}

/// The headers that are part of the signature, as the client must send them; any HTTP client sends the host by itself.
fn presigned(method: &'static str, signed: &Signed, expires_at: Timestamp) -> PresignedRequest {
    let headers = signed.headers().filter(|(name, _)| !name.eq_ignore_ascii_case("host"));
    let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
    PresignedRequest { method, url: signed.uri().to_owned(), headers, expires_at }
}

/// RFC 6266: the name in full, and for old clients what of it is plain ASCII.
fn attachment(filename: &Filename) -> String {
    let plain: String = filename
        .as_str()
        .chars()
        .map(|c| if c.is_ascii_graphic() && !matches!(c, '"' | '%') || c == ' ' { c } else { '_' })
        .collect();
    let full = utf8_percent_encode(filename.as_str(), ATTR_CHAR);
    format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{full}")
}

fn failed<E: ProvideErrorMetadata>(operation: &str, error: &SdkError<E, HttpResponse>) -> Outage {
    outage(Service::BlobStore, operation, error)
}

fn refused(detail: &str) -> Outage {
    Outage::new(Service::BlobStore, OutageKind::Refused, detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anchorage_domain::{Sha256, TenantId};
    use aws_sdk_s3::config::{BehaviorVersion, Credentials, Region, SharedCredentialsProvider};
    use std::collections::{BTreeMap, BTreeSet};
    use uuid::Uuid;

    fn blobs() -> S3Blobs {
        let config = SdkConfig::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("eu-central-1"))
            .credentials_provider(SharedCredentialsProvider::new(Credentials::new("id", "secret", None, None, "test")))
            .build();
        S3Blobs::new(&config, "bucket")
    }

    #[expect(clippy::disallowed_methods, reason = "a test vouches for itself")]
    fn scope(tenant: u128) -> TenantScope {
        TenantScope::for_operator(TenantId::new(Uuid::from_u128(tenant)))
    }

    fn ticket() -> UploadTicket {
        UploadTicket {
            key: ObjectKey { tenant: scope(1).tenant(), file: FileId::new(Uuid::from_u128(2)), version: 1 },
            size_bytes: 5,
            sha256: Sha256::of(b"hello"),
            content_type: "text/plain".into(),
            valid_for: Duration::from_mins(15),
        }
    }

    const NOW: Timestamp = Timestamp::from_unix_millis(1_790_000_000_000);

    /// Cases C09 and H3: what is not signed is not refused.
    #[tokio::test]
    async fn presigned_upload_signs_size_type_and_checksum() {
        let request = blobs().presign_upload(&scope(1), &ticket(), NOW).await.unwrap();
        let expected = BTreeMap::from([
            ("content-length".to_owned(), "5".to_owned()),
            ("content-type".to_owned(), "text/plain".to_owned()),
            ("x-amz-checksum-sha256".to_owned(), "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=".to_owned()),
        ]);
        assert_eq!(request.headers, expected);
        let query: BTreeMap<_, _> =
            request.url.split_once('?').unwrap().1.split('&').filter_map(|p| p.split_once('=')).collect();
        let signed: BTreeSet<_> = query["X-Amz-SignedHeaders"].split("%3B").collect();
        assert_eq!(signed, BTreeSet::from(["content-length", "content-type", "host", "x-amz-checksum-sha256"]));
        assert_eq!(query["X-Amz-Expires"], "900");
        assert_eq!(request.expires_at, NOW.plus(Duration::from_mins(15)));
    }

    #[tokio::test]
    async fn presigning_for_another_tenant_is_not_found() {
        assert_eq!(blobs().presign_upload(&scope(9), &ticket(), NOW).await, Err(BlobError::NotFound));
    }

    #[test]
    fn attachment_names_escape_quotes_and_spell_out_unicode() {
        for (name, expected) in [
            ("a b.txt", "attachment; filename=\"a b.txt\"; filename*=UTF-8''a%20b.txt"),
            ("a\"b%.txt", "attachment; filename=\"a_b_.txt\"; filename*=UTF-8''a%22b%25.txt"),
            ("گ.md", "attachment; filename=\"_.md\"; filename*=UTF-8''%DA%AF.md"),
        ] {
            assert_eq!(attachment(&Filename::new(name).unwrap()), expected);
        }
    }
}
