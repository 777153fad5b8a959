use crate::{
    Admin, AdminError, Output,
    cli::{NewDomain, ProvisionArgs},
    scope,
};
use anchorage_domain::{DomainKey, DomainPolicy, DomainRecord, TenantId, TenantScope};
use anchorage_ports::TenantRecord;
use anchorage_service::domains::{DomainChange, DomainsError};
use serde_json::json;

/// Longest name of a tenant, in bytes.
const MAX_NAME_BYTES: usize = 200;

fn line(domain: &DomainRecord) -> String {
    let state = if domain.active { "active" } else { "disabled" };
    format!("{}  {}  {state}", domain.key, domain.policy.language)
}

impl Admin {
    pub(crate) async fn provision(&self, args: &ProvisionArgs) -> Result<Output, AdminError> {
        let name = args.name.trim();
        if name.is_empty() || name.len() > MAX_NAME_BYTES {
            return Err(AdminError::Usage(format!("a tenant's name has 1 to {MAX_NAME_BYTES} bytes")));
        }
        let (scope, created_at) = match args.tenant {
            Some(tenant) => self.known(tenant).await.map(|(scope, record)| (scope, record.created_at))?,
            None => (scope(TenantId::new(self.ids.next())), self.clock.now()),
        };
        let tenant = scope.tenant();
        let record = TenantRecord { tenant_id: tenant, name: name.to_owned(), created_at };
        self.directory.put_tenant(&scope, &record).await?;
        // The key comes last: whoever holds one finds everything else in place.
        self.furnish(&scope, args).await.map_err(|cause| AdminError::Unfinished { tenant, cause: Box::new(cause) })
    }

    async fn furnish(&self, scope: &TenantScope, args: &ProvisionArgs) -> Result<Output, AdminError> {
        for NewDomain { key, language } in &args.domains {
            match self.domains.create(scope, key.clone(), true, DomainPolicy::new(*language)).await {
                Ok(_) | Err(DomainsError::Exists) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let domains = self.domains.list(scope).await?;
        let (key, record) = self.mint(scope, &args.key).await?;
        let mut lines = vec![format!("tenant  {}", scope.tenant()), format!("key id  {}", record.key_id)];
        lines.push(format!("key     {} (shown once)", key.reveal()));
        lines.extend(domains.iter().map(|domain| format!("domain  {}", line(domain))));
        let json = json!({"tenant_id": scope.tenant(), "api_key": key.reveal(), "key_id": record.key_id,
            "domains": domains.iter().map(|domain| &domain.key).collect::<Vec<_>>()});
        Ok(Output::new(&lines, json))
    }

    pub(crate) async fn list_domains(&self, tenant: TenantId) -> Result<Output, AdminError> {
        let (scope, _) = self.known(tenant).await?;
        let domains = self.domains.list(&scope).await?;
        let lines: Vec<_> = domains.iter().map(line).collect();
        Ok(Output::new(&lines, json!({"tenant_id": tenant, "domains": domains})))
    }

    pub(crate) async fn create_domain(&self, tenant: TenantId, domain: &NewDomain) -> Result<Output, AdminError> {
        let (scope, _) = self.known(tenant).await?;
        let policy = DomainPolicy::new(domain.language);
        let record = self.domains.create(&scope, domain.key.clone(), true, policy).await?;
        Ok(Output::new(&[line(&record)], record))
    }

    pub(crate) async fn set_domain_active(
        &self,
        tenant: TenantId,
        key: &DomainKey,
        active: bool,
    ) -> Result<Output, AdminError> {
        let (scope, _) = self.known(tenant).await?;
        let change = DomainChange { active: Some(active), policy: None };
        let record = self.domains.change(&scope, key, &change).await?;
        Ok(Output::new(&[line(&record)], record))
    }
}
