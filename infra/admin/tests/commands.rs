//! The commands over the stores in memory.
#![cfg(test)]

use anchorage_admin::{
    Admin, AdminError, Output,
    cli::{Cli, Command},
};
use anchorage_domain::{ApiKey, KeyRefusal};
use anchorage_memory::{ManualClock, MemoryStore, SequentialIds};
use anchorage_ports::{Clock as _, Directory as _};
use anchorage_service::Domains;
use clap::Parser as _;
use serde_json::Value;
use std::{sync::Arc, time::Duration};

const DAY: Duration = Duration::from_hours(24);

struct Deployment {
    admin: Admin,
    store: Arc<MemoryStore>,
    clock: Arc<ManualClock>,
}

fn deployment() -> Deployment {
    let (store, clock) = (Arc::new(MemoryStore::default()), Arc::new(ManualClock::default()));
    let domains = Domains { store: store.clone(), clock: clock.clone() };
    let ids = Arc::new(SequentialIds::default());
    Deployment { admin: Admin { directory: store.clone(), domains, clock: clock.clone(), ids }, store, clock }
}

impl Deployment {
    async fn run(&self, line: &str) -> Result<Output, AdminError> {
        let words = ["anchorage-admin"].into_iter().chain(line.split(' '));
        match Cli::try_parse_from(words).unwrap().command {
            Command::Tenant(command) => self.admin.run(&command).await,
            Command::Bootstrap => panic!("not over the stores"),
        }
    }

    async fn json(&self, line: &str) -> Value {
        self.run(line).await.unwrap().json
    }

    /// What the authorizer would say to a key.
    async fn verify(&self, key: &str) -> Result<String, KeyRefusal> {
        let key = ApiKey::parse(key).unwrap();
        let record = self.store.find_key(&key.id).await.unwrap().unwrap();
        record.verify(&key.secret, self.clock.now()).map(|identity| identity.scopes.to_string())
    }
}

fn text<'a>(json: &'a Value, key: &str) -> &'a str {
    json[key].as_str().unwrap()
}

#[tokio::test]
async fn provisioning_makes_a_tenant_whose_key_opens_and_whose_domains_are_active() {
    let deployment = deployment();
    let made = deployment.json("provision-tenant --name N --domain support:fa --domain drugs:vi").await;
    assert_eq!(made["domains"], serde_json::json!(["drugs", "support"]));
    let scopes = deployment.verify(text(&made, "api_key")).await.unwrap();
    assert_eq!(scopes, "files:read files:write points:read points:write rag:query");

    let tenant = text(&made, "tenant_id");
    let again = deployment
        .json(&format!("provision-tenant --name M --tenant {tenant} --domain support:en --domain x:en"))
        .await;
    assert_eq!((text(&again, "tenant_id"), &again["domains"]), (tenant, &serde_json::json!(["drugs", "support", "x"])));
    assert_ne!(again["key_id"], made["key_id"]);
    let domains = deployment.json(&format!("domains list --tenant {tenant}")).await;
    assert_eq!(domains["domains"][1]["policy"]["language"], "fa", "what is there stays");
}

#[tokio::test]
async fn provisioning_twice_makes_two_tenants_that_share_nothing() {
    let deployment = deployment();
    let first = deployment.json("provision-tenant --name N --domain support:fa").await;
    let second = deployment.json("provision-tenant --name N").await;
    assert_ne!(first["tenant_id"], second["tenant_id"]);
    assert_eq!(second["domains"], serde_json::json!([]));
}

#[tokio::test]
async fn keys_carry_their_scopes_expire_and_are_revoked() {
    let deployment = deployment();
    let made = deployment.json("provision-tenant --name N").await;
    let tenant = text(&made, "tenant_id");
    let line = format!("keys create --tenant {tenant} --scopes rag:query,domains:read --expires-in-days 2 --label ci");
    let key = deployment.json(&line).await;
    assert_eq!(deployment.verify(text(&key, "api_key")).await.unwrap(), "domains:read rag:query");
    deployment.clock.advance(DAY * 2);
    assert_eq!(deployment.verify(text(&key, "api_key")).await, Err(KeyRefusal::Expired));

    deployment.json(&format!("keys revoke --tenant {tenant} --key-id {}", text(&made, "key_id"))).await;
    assert_eq!(deployment.verify(text(&made, "api_key")).await, Err(KeyRefusal::Revoked));
    let listed = deployment.run(&format!("keys list --tenant {tenant}")).await.unwrap();
    let states: Vec<_> = listed.json["keys"].as_array().unwrap().iter().map(|key| text(key, "state")).collect();
    assert_eq!(states, ["revoked", "expired"]);
    for shown in [listed.text, listed.json.to_string()] {
        assert!(!shown.contains(text(&key, "api_key")) && !shown.contains("secret"), "{shown}");
    }
}

#[tokio::test]
async fn domains_are_registered_once_and_switched() {
    let deployment = deployment();
    let made = deployment.json("provision-tenant --name N").await;
    let tenant = text(&made, "tenant_id");
    let create = format!("domains create --tenant {tenant} support:fa");
    assert_eq!(deployment.json(&create).await["active"], true);
    assert_eq!(deployment.run(&create).await.unwrap_err().exit_code(), 4);
    assert_eq!(deployment.json(&format!("domains disable --tenant {tenant} support")).await["active"], false);
    assert_eq!(deployment.json(&format!("domains enable --tenant {tenant} support")).await["active"], true);
    assert_eq!(deployment.run(&format!("domains enable --tenant {tenant} other")).await.unwrap_err().exit_code(), 3);
}

#[tokio::test]
async fn nothing_is_written_for_a_tenant_that_is_not_there_or_a_key_of_another() {
    let deployment = deployment();
    let first = deployment.json("provision-tenant --name N").await;
    let second = deployment.json("provision-tenant --name M").await;
    let nobody = "01890a5d-ac96-774b-bcce-b302099a8057";
    for line in [
        format!("provision-tenant --name N --tenant {nobody}"),
        format!("keys create --tenant {nobody}"),
        format!("keys list --tenant {nobody}"),
        format!("domains create --tenant {nobody} support:fa"),
        format!("keys revoke --tenant {} --key-id {}", text(&second, "tenant_id"), text(&first, "key_id")),
    ] {
        assert_eq!(deployment.run(&line).await.unwrap_err().exit_code(), 3, "{line}");
    }
    assert!(deployment.verify(text(&first, "api_key")).await.is_ok());
}
