//! What an operator does to a deployment: its collection, its tenants, their keys and domains.
//!
//! The commands are functions over ports, so that tests run them in memory; `main` adds the command line and the adapters.

pub mod cli;
mod error;
mod keys;
mod output;
mod tenants;

pub use error::AdminError;
pub use output::Output;

use anchorage_domain::{TenantId, TenantScope};
use anchorage_ports::{Clock, Directory, Ids, TenantRecord};
use anchorage_service::Domains;
use cli::{DomainsCommand, KeysCommand, TenantCommand};
use std::sync::Arc;

/// The operator's hands on the stores.
#[derive(Debug, Clone)]
pub struct Admin {
    pub directory: Arc<dyn Directory>,
    pub domains: Domains,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
}

#[expect(clippy::disallowed_methods, reason = "this is the operator's command line")]
fn scope(tenant: TenantId) -> TenantScope {
    TenantScope::for_operator(tenant)
}

impl Admin {
    /// Runs one command.
    ///
    /// # Errors
    /// When the command names what is not there, or a store cannot be reached.
    pub async fn run(&self, command: &TenantCommand) -> Result<Output, AdminError> {
        match command {
            TenantCommand::ProvisionTenant(args) => self.provision(args).await,
            TenantCommand::Keys { command } => match command {
                KeysCommand::Create { tenant, key } => self.create_key(*tenant, key).await,
                KeysCommand::Revoke { tenant, key_id } => self.revoke_key(*tenant, key_id).await,
                KeysCommand::List { tenant } => self.list_keys(*tenant).await,
            },
            TenantCommand::Domains { command } => match command {
                DomainsCommand::List { tenant } => self.list_domains(*tenant).await,
                DomainsCommand::Create { tenant, domain } => self.create_domain(*tenant, domain).await,
                DomainsCommand::Enable { tenant, key } => self.set_domain_active(*tenant, key, true).await,
                DomainsCommand::Disable { tenant, key } => self.set_domain_active(*tenant, key, false).await,
            },
        }
    }

    /// The scope of a tenant that is there: nothing is written for one that was mistyped.
    async fn known(&self, tenant: TenantId) -> Result<(TenantScope, TenantRecord), AdminError> {
        let scope = scope(tenant);
        match self.directory.tenant(&scope).await? {
            Some(record) => Ok((scope, record)),
            None => Err(AdminError::NotFound(format!("tenant {tenant}"))),
        }
    }
}
