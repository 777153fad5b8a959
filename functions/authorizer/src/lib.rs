//! API key → tenant: the gateway's Lambda authorizer, payload format 2.0 with simple responses.
//!
//! Whatever is wrong with a key, the answer is the same and takes the same comparison; only the log says why. A store that
//! does not answer is an error, never a refusal: the gateway then answers 500, and no caller is told that its key is bad.

use anchorage_domain::{ApiKey, ApiKeyRecord, Identity, ScopeSet, Sha256, TenantId, Timestamp};
use anchorage_ports::{Clock, Directory, Outage};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

/// What the gateway hands on to the functions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Context {
    pub tenant_id: String,
    pub key_id: String,
    /// Separated by spaces: a context holds texts only.
    pub scopes: String,
}

/// The simple response of an HTTP API authorizer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    pub is_authorized: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Context>,
}

impl Verdict {
    const REFUSED: Self = Self { is_authorized: false, context: None };

    fn of(identity: &Identity) -> Self {
        let context = Context {
            tenant_id: identity.tenant_id.to_string(),
            key_id: identity.key_id.to_string(),
            scopes: identity.scopes.to_string(),
        };
        Self { is_authorized: true, context: Some(context) }
    }
}

/// Looks keys up and verifies them.
#[derive(Debug, Clone)]
pub struct Authorizer {
    pub directory: Arc<dyn Directory>,
    pub clock: Arc<dyn Clock>,
}

impl Authorizer {
    /// Judges a request by its headers.
    ///
    /// # Errors
    /// When the directory does not answer.
    pub async fn judge(&self, event: &Value) -> Result<Verdict, Outage> {
        let Some(key) = presented(event).and_then(|text| ApiKey::parse(text).ok()) else {
            tracing::info!(event = "authorizer.refused", reason = "no key of the right form");
            return Ok(Verdict::REFUSED);
        };
        let now = self.clock.now();
        let record = self.directory.find_key(&key.id).await?;
        // An unknown key is compared as well, with a record that no secret opens, so that it takes as long as a known one.
        let verified = match &record {
            Some(record) => record.verify(&key.secret, now),
            None => nobody(&key).verify(&key.secret, now),
        };
        match verified {
            Ok(identity) => Ok(Verdict::of(&identity)),
            Err(refusal) => {
                let reason = if record.is_none() { "there is no such key".to_owned() } else { refusal.to_string() };
                tracing::info!(event = "authorizer.refused", key_id = %key.id, reason);
                Ok(Verdict::REFUSED)
            }
        }
    }
}

/// A record that opens to nobody: it is revoked and expired, whatever secret is presented.
fn nobody(key: &ApiKey) -> ApiKeyRecord {
    let never = Timestamp::from_unix_millis(0);
    ApiKeyRecord {
        key_id: key.id.clone(),
        tenant_id: TenantId::new(uuid::Uuid::nil()),
        secret_sha256: Sha256::from_bytes([0; 32]),
        scopes: ScopeSet::default(),
        label: String::new(),
        created_at: never,
        expires_at: Some(never),
        revoked_at: Some(never),
    }
}

/// The key's text. The gateway gives header names in lower case, and calls for no other header.
fn presented(event: &Value) -> Option<&str> {
    event.get("headers")?.get("x-api-key")?.as_str().map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anchorage_domain::{KeyId, Secret, TenantScope};
    use anchorage_memory::{ManualClock, MemoryStore};
    use serde_json::json;
    use std::time::Duration;

    fn tenant() -> TenantId {
        TenantId::new(uuid::Uuid::from_u128(7))
    }

    #[expect(clippy::disallowed_methods, reason = "a test is its own operator")]
    fn operator() -> TenantScope {
        TenantScope::for_operator(tenant())
    }

    fn key(id: &str, secret: u8) -> ApiKey {
        ApiKey { id: KeyId::new(id).unwrap(), secret: Secret::from_random([secret; 32]) }
    }

    const GOOD: &str = "goodkey000000000";
    const OLD: &str = "oldkey0000000000";
    const REVOKED: &str = "revokedkey000000";

    async fn authorizer() -> Authorizer {
        let (store, clock) = (MemoryStore::default(), ManualClock::default());
        let now = clock.now();
        for (id, expires_at, revoked_at) in
            [(GOOD, Some(now.plus(Duration::from_secs(1))), None), (OLD, Some(now), None), (REVOKED, None, Some(now))]
        {
            let record = ApiKeyRecord {
                key_id: KeyId::new(id).unwrap(),
                tenant_id: tenant(),
                secret_sha256: key(id, 1).secret.sha256(),
                scopes: ScopeSet::default_scopes(),
                label: "test".into(),
                created_at: now,
                expires_at,
                revoked_at,
            };
            store.put_key(&operator(), &record).await.unwrap();
        }
        Authorizer { directory: Arc::new(store), clock: Arc::new(clock) }
    }

    #[tokio::test]
    async fn key_gives_its_tenant_and_scopes() {
        let text = key(GOOD, 1).reveal();
        for headers in [json!({"x-api-key": text}), json!({"x-api-key": format!(" {text} ")})] {
            let verdict = authorizer().await.judge(&json!({"headers": headers})).await.unwrap();
            let expected = json!({"isAuthorized": true, "context": {
                "tenant_id": tenant().to_string(),
                "key_id": GOOD,
                "scopes": "files:read files:write points:read points:write rag:query",
            }});
            assert_eq!(serde_json::to_value(verdict).unwrap(), expected);
        }
    }

    #[tokio::test]
    async fn key_that_opens_nothing_is_refused_in_one_way() {
        let refused = json!({"isAuthorized": false});
        for headers in [
            json!({"x-api-key": key(GOOD, 2).reveal()}),
            json!({"x-api-key": key(OLD, 1).reveal()}),
            json!({"x-api-key": key(REVOKED, 1).reveal()}),
            json!({"x-api-key": key("unknownkey000000", 1).reveal()}),
            json!({"x-api-key": "ank_broken"}),
            json!({"authorization": format!("Basic {}", key(GOOD, 1).reveal())}),
            json!({}),
            json!(null),
        ] {
            let verdict = authorizer().await.judge(&json!({"headers": headers})).await.unwrap();
            assert_eq!(serde_json::to_value(verdict).unwrap(), refused, "{headers}");
        }
        let verdict = authorizer().await.judge(&json!("no event")).await.unwrap();
        assert_eq!(serde_json::to_value(verdict).unwrap(), refused);
    }
}
