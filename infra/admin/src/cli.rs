//! The command line.

use anchorage_domain::{DomainKey, KeyId, Language, Scope, TenantId};
use clap::{Args, Parser, Subcommand};
use std::str::FromStr;

/// Operates an Anchorage deployment. Settings come from the environment of its functions or from the options.
#[derive(Debug, Parser)]
#[command(name = "anchorage-admin", version, about)]
pub struct Cli {
    #[command(flatten)]
    pub settings: Settings,
    /// Print JSON instead of text.
    #[arg(long, global = true)]
    pub json: bool,
    #[command(subcommand)]
    pub command: Command,
}

/// The deployment. Each command needs only a part of it; an empty value counts as not set.
#[derive(Debug, Clone, Default, Args)]
pub struct Settings {
    #[arg(long, env = "AWS_REGION", global = true)]
    pub region: Option<String>,
    #[arg(long, env = "ANCHORAGE_TABLE", global = true)]
    pub table: Option<String>,
    #[arg(long, env = "ANCHORAGE_QDRANT_URL", global = true)]
    pub qdrant_url: Option<String>,
    /// Name of the parameter that holds the vector store's key.
    #[arg(long, env = "ANCHORAGE_QDRANT_API_KEY_PARAMETER", global = true)]
    pub qdrant_api_key_parameter: Option<String>,
    #[arg(long, env = "ANCHORAGE_COLLECTION", global = true)]
    pub collection: Option<String>,
    /// The embedders as JSON, as the functions have them.
    #[arg(long, env = "ANCHORAGE_EMBEDDERS", global = true)]
    pub embedders: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Create the collection, its indexes and its manifest, or add what is missing.
    Bootstrap,
    #[command(flatten)]
    Tenant(TenantCommand),
}

#[derive(Debug, Subcommand)]
pub enum TenantCommand {
    /// Make a tenant with a key, shown once, and domains; or add these to a tenant.
    ProvisionTenant(ProvisionArgs),
    /// API keys of a tenant.
    Keys {
        #[command(subcommand)]
        command: KeysCommand,
    },
    /// Domains of a tenant.
    Domains {
        #[command(subcommand)]
        command: DomainsCommand,
    },
}

#[derive(Debug, Clone, Args)]
pub struct ProvisionArgs {
    /// The tenant's name.
    #[arg(long)]
    pub name: String,
    /// Add to this tenant instead of making one.
    #[arg(long)]
    pub tenant: Option<TenantId>,
    /// A domain as `key:language`; one that is there already stays as it is.
    #[arg(long = "domain", value_name = "KEY:LANGUAGE")]
    pub domains: Vec<NewDomain>,
    #[command(flatten)]
    pub key: KeyArgs,
}

#[derive(Debug, Clone, Default, Args)]
pub struct KeyArgs {
    /// What the key may do, separated by commas; without it everything but domains.
    #[arg(long, value_delimiter = ',')]
    pub scopes: Vec<Scope>,
    /// Days after which the key opens nothing; without it the key has no end.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=3650))]
    pub expires_in_days: Option<u32>,
    /// What the key is for.
    #[arg(long, default_value = "")]
    pub label: String,
}

#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Make a key; its secret is shown once and stored nowhere.
    Create {
        #[arg(long)]
        tenant: TenantId,
        #[command(flatten)]
        key: KeyArgs,
    },
    /// Revoke a key.
    Revoke {
        #[arg(long)]
        tenant: TenantId,
        #[arg(long)]
        key_id: KeyId,
    },
    /// List the keys, oldest first.
    List {
        #[arg(long)]
        tenant: TenantId,
    },
}

#[derive(Debug, Subcommand)]
pub enum DomainsCommand {
    /// List the domains.
    List {
        #[arg(long)]
        tenant: TenantId,
    },
    /// Register a domain.
    Create {
        #[arg(long)]
        tenant: TenantId,
        /// The domain as `key:language`.
        #[arg(value_name = "KEY:LANGUAGE")]
        domain: NewDomain,
    },
    /// Take in and answer again.
    Enable {
        #[arg(long)]
        tenant: TenantId,
        key: DomainKey,
    },
    /// Take nothing in and answer nothing from it.
    Disable {
        #[arg(long)]
        tenant: TenantId,
        key: DomainKey,
    },
}

/// A domain to register: its key and the language of its documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDomain {
    pub key: DomainKey,
    pub language: Language,
}

impl FromStr for NewDomain {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (key, language) = text.split_once(':').ok_or("must be KEY:LANGUAGE, like support:fa")?;
        Ok(Self {
            key: key.parse().map_err(|error| format!("{error}"))?,
            language: language.parse().map_err(|error| format!("{error}"))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn command_line_refuses_what_is_not_of_its_form() {
        let tenant = "01890a5d-ac96-774b-bcce-b302099a8057";
        for (line, valid) in [
            (&["provision-tenant", "--name", "N", "--domain", "support:fa"][..], true),
            (&["provision-tenant", "--name", "N", "--domain", "support"][..], false),
            (&["provision-tenant", "--name", "N", "--domain", "Support:fa"][..], false),
            (&["provision-tenant", "--name", "N", "--domain", "support:de"][..], false),
            (&["provision-tenant", "--name", "N", "--json"][..], true),
            (&["keys", "create", "--tenant", tenant, "--scopes", "files:read,rag:query"][..], true),
            (&["keys", "create", "--tenant", tenant, "--scopes", "files:all"][..], false),
            (&["keys", "create", "--tenant", tenant, "--expires-in-days", "0"][..], false),
            (&["keys", "revoke", "--tenant", "x", "--key-id", "0123456789abcdef"][..], false),
            (&["domains", "disable", "--tenant", tenant, "support"][..], true),
            (&["bootstrap"][..], true),
        ] {
            let parsed = Cli::try_parse_from([&["anchorage-admin"], line].concat());
            assert_eq!(parsed.is_ok(), valid, "{line:?}: {parsed:?}");
        }
    }
}
