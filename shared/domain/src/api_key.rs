//! API keys: `ank_<key id>_<secret>`. The store holds only the secret's SHA-256.

use crate::{InvalidId, KeyId, ScopeSet, Sha256, TenantId, Timestamp};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use std::fmt;
use subtle::ConstantTimeEq as _;

/// Every key starts so, which lets secret scanners find leaked ones.
const PREFIX: &str = "ank_";
/// Bytes of randomness in a secret.
const SECRET_BYTES: usize = 32;

/// The private half of a key. Shows nothing of itself.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; SECRET_BYTES]);

impl Secret {
    /// From 32 bytes of a cryptographic random source.
    #[must_use]
    pub const fn from_random(bytes: [u8; SECRET_BYTES]) -> Self {
        Self(bytes)
    }

    /// What the store keeps of it.
    #[must_use]
    pub fn sha256(&self) -> Sha256 {
        Sha256::of(&self.0)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A whole key as its owner holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    pub id: KeyId,
    pub secret: Secret,
}

impl ApiKey {
    /// # Errors
    /// When the text is not of the form `ank_<key id>_<secret>`. The error never repeats the text.
    pub fn parse(text: &str) -> Result<Self, InvalidId> {
        let wrong = || InvalidId::new("API key", "must be of the form ank_<key id>_<secret>");
        let (id, secret) = text.strip_prefix(PREFIX).and_then(|rest| rest.split_once('_')).ok_or_else(wrong)?;
        let bytes = URL_SAFE_NO_PAD.decode(secret).ok().and_then(|bytes| bytes.try_into().ok()).ok_or_else(wrong)?;
        Ok(Self { id: KeyId::new(id).map_err(|_| wrong())?, secret: Secret(bytes) })
    }

    /// The text to give to the key's owner, once.
    #[must_use]
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}_{}", self.id, URL_SAFE_NO_PAD.encode(self.secret.0))
    }
}

/// What the store knows of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiKeyRecord {
    pub key_id: KeyId,
    pub tenant_id: TenantId,
    pub secret_sha256: Sha256,
    pub scopes: ScopeSet,
    /// What the key is for, in its owner's words.
    pub label: String,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

/// A caller the authorizer has vouched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub tenant_id: TenantId,
    pub key_id: KeyId,
    pub scopes: ScopeSet,
}

/// Why a key opens nothing. Told to the operator's log, never to the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyRefusal {
    #[error("the secret does not match")]
    WrongSecret,
    #[error("the key has expired")]
    Expired,
    #[error("the key was revoked")]
    Revoked,
}

impl ApiKeyRecord {
    /// # Errors
    /// The reason the key is refused. The secret is compared first and in constant time, so that nobody learns
    /// a key's state without holding it.
    pub fn verify(&self, presented: &Secret, now: Timestamp) -> Result<Identity, KeyRefusal> {
        if !bool::from(self.secret_sha256.as_bytes().ct_eq(presented.sha256().as_bytes())) {
            return Err(KeyRefusal::WrongSecret);
        }
        if self.revoked_at.is_some() {
            return Err(KeyRefusal::Revoked);
        }
        if self.expires_at.is_some_and(|expiry| expiry <= now) {
            return Err(KeyRefusal::Expired);
        }
        Ok(Identity { tenant_id: self.tenant_id, key_id: self.key_id.clone(), scopes: self.scopes.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use uuid::Uuid;

    fn key() -> ApiKey {
        ApiKey { id: KeyId::new("0123456789abcdef").unwrap(), secret: Secret::from_random([7; 32]) }
    }

    fn record(now: Timestamp) -> ApiKeyRecord {
        ApiKeyRecord {
            key_id: key().id,
            tenant_id: TenantId::new(Uuid::from_u128(1)),
            secret_sha256: key().secret.sha256(),
            scopes: ScopeSet::default_scopes(),
            label: "test".into(),
            created_at: now,
            expires_at: None,
            revoked_at: None,
        }
    }

    #[test]
    fn api_key_text_reads_back_and_debug_shows_no_secret() {
        let text = key().reveal();
        assert_eq!(ApiKey::parse(&text), Ok(key()));
        assert!(!format!("{:?}", key()).contains(text.rsplit('_').next().unwrap()));
    }

    #[test]
    fn api_key_of_another_form_is_refused_without_being_repeated() {
        for text in
            ["", "ank_", "ank_0123456789abcdef", "ank_0123456789abcdef_short", "xyz_0123456789abcdef_AAAA", "ank__"]
        {
            let error = ApiKey::parse(text).unwrap_err().to_string();
            assert_eq!(error, "API key must be of the form ank_<key id>_<secret>");
        }
    }

    #[test]
    fn api_key_whose_secret_contains_the_separator_still_parses() {
        // Byte 0xff encodes to characters that include '_' in the URL-safe alphabet.
        let key = ApiKey { id: key().id, secret: Secret::from_random([0xff; 32]) };
        assert_eq!(ApiKey::parse(&key.reveal()), Ok(key));
    }

    #[test]
    fn key_verification_tells_wrong_expired_and_revoked_apart() {
        let now = Timestamp::from_unix_millis(1_000_000);
        let good = record(now);
        assert!(good.verify(&key().secret, now).is_ok());
        assert_eq!(good.verify(&Secret::from_random([8; 32]), now), Err(KeyRefusal::WrongSecret));

        let expired = ApiKeyRecord { expires_at: Some(now), ..record(now) };
        assert_eq!(expired.verify(&key().secret, now), Err(KeyRefusal::Expired));
        assert!(expired.verify(&key().secret, Timestamp::from_unix_millis(999_999)).is_ok());

        let revoked =
            ApiKeyRecord { revoked_at: Some(now), expires_at: Some(now.plus(Duration::from_secs(9))), ..record(now) };
        assert_eq!(revoked.verify(&key().secret, now), Err(KeyRefusal::Revoked));
        assert_eq!(revoked.verify(&Secret::from_random([8; 32]), now), Err(KeyRefusal::WrongSecret));
    }
}
