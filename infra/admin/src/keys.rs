use crate::{Admin, AdminError, Output, cli::KeyArgs};
use anchorage_domain::{ApiKey, ApiKeyRecord, KeyId, ScopeSet, Secret, TenantId, TenantScope};
use serde_json::json;
use std::time::Duration;

const DAY: Duration = Duration::from_hours(24);
/// Characters of a key id; 32 of them, so that a random byte picks each with the same chance.
const ALPHABET: [char; 32] = [
    'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p', 'q', 'r', 's', 't', 'u', 'v', 'w',
    'x', 'y', 'z', '2', '3', '4', '5', '6', '7',
];
const KEY_ID_CHARS: usize = 16;

impl Admin {
    /// A fresh key and its record, written. The secret is in the returned key and nowhere else.
    pub(crate) async fn mint(&self, scope: &TenantScope, args: &KeyArgs) -> Result<(ApiKey, ApiKeyRecord), AdminError> {
        let random = self.ids.secret();
        let id: String =
            random.iter().take(KEY_ID_CHARS).filter_map(|byte| ALPHABET.get(usize::from(byte % 32))).collect();
        let id = KeyId::new(id).map_err(|error| AdminError::Usage(error.to_string()))?;
        if self.directory.find_key(&id).await?.is_some() {
            return Err(AdminError::Conflict("the key id drawn is taken already; run the command again".into()));
        }
        let key = ApiKey { id: id.clone(), secret: Secret::from_random(self.ids.secret()) };
        let now = self.clock.now();
        let scopes: ScopeSet = args.scopes.iter().copied().collect();
        let record = ApiKeyRecord {
            key_id: id,
            tenant_id: scope.tenant(),
            secret_sha256: key.secret.sha256(),
            scopes: if args.scopes.is_empty() { ScopeSet::default_scopes() } else { scopes },
            label: args.label.clone(),
            created_at: now,
            expires_at: args.expires_in_days.map(|days| now.plus(DAY * days)),
            revoked_at: None,
        };
        self.directory.put_key(scope, &record).await?;
        Ok((key, record))
    }

    pub(crate) async fn create_key(&self, tenant: TenantId, args: &KeyArgs) -> Result<Output, AdminError> {
        let (scope, _) = self.known(tenant).await?;
        let (key, record) = self.mint(&scope, args).await?;
        let lines = [
            format!("key id  {}", record.key_id),
            format!("scopes  {}", record.scopes),
            format!("key     {} (shown once)", key.reveal()),
        ];
        let json = json!({"tenant_id": tenant, "key_id": record.key_id, "api_key": key.reveal(),
            "scopes": record.scopes, "expires_at": record.expires_at});
        Ok(Output::new(&lines, json))
    }

    pub(crate) async fn revoke_key(&self, tenant: TenantId, key: &KeyId) -> Result<Output, AdminError> {
        let (scope, _) = self.known(tenant).await?;
        if !self.directory.revoke_key(&scope, key, self.clock.now()).await? {
            return Err(AdminError::NotFound(format!("key {key} of this tenant")));
        }
        let text = format!("key {key} opens nothing any more, once gateways have forgotten their cached answer");
        Ok(Output::new(&[text], json!({"tenant_id": tenant, "key_id": key, "revoked": true})))
    }

    pub(crate) async fn list_keys(&self, tenant: TenantId) -> Result<Output, AdminError> {
        let (scope, _) = self.known(tenant).await?;
        let now = self.clock.now();
        let keys = self.directory.keys(&scope).await?;
        let state = |key: &ApiKeyRecord| match key {
            key if key.revoked_at.is_some() => "revoked",
            key if key.expires_at.is_some_and(|end| end <= now) => "expired",
            _ => "valid",
        };
        let lines: Vec<_> = keys
            .iter()
            .map(|key| format!("{}  {:<7}  {}  {}", key.key_id, state(key), key.scopes, key.label))
            .collect();
        let items: Vec<_> = keys
            .iter()
            .map(|key| {
                json!({"key_id": key.key_id, "state": state(key), "scopes": key.scopes, "label": key.label,
                    "created_at": key.created_at, "expires_at": key.expires_at, "revoked_at": key.revoked_at})
            })
            .collect();
        Ok(Output::new(&lines, json!({"tenant_id": tenant, "keys": items})))
    }
}
