//! Settings turned into parts: the one place where the floors below meet.
//!
//! # Layout
//! - [`migrations()`]: every crate's tables, in one list
//! - [`database`]: where it is and how it is opened; [`lock`]: who may use a SQLite file
//! - [`budget`]: what may be spent
//! - `node`: which node this is, for others that work on the same database
//! - [`models`], [`gateway`]: the models of the settings, and what stands before them
//! - [`data_folder`]: the data folder; [`telemetry`]: logs and traces
//! - [`vault`], [`audit`]: where the vault's key is, and where anchors go
//! - [`connectors`]: other people's tools, and the file that declares them; [`revoke_logins`]: logins of those taken away
//! - [`packs`]: the packs there are; [`tenant_templates`]: the tenants that come in the binary; [`create_tenant`]: one of them, made here;
//!   [`engine`]: what answers
//! - [`tools`]: the tools there are, and what calls them; [`policy`]: the file that says what they may
//! - [`housekeeping`]: what is done at night for every tenant
//! - [`installation`]: what a tier may name; [`tier_audit`]: what the audit is told of them
//! - [`account`]: how operators sign in, and hosts' keys
//! - `onboarding`: what the start page does, `tenant_templates`: the tenants it offers; [`trial`]: a model asked whether it answers
//! - `api`: what the routes under `/v1` are made of
//! - [`server`]: the web server and the job runner, started and stopped together; [`readiness`]: how they are

pub(crate) mod account;
mod api;
pub(crate) mod audit;
pub(crate) mod budget;
pub(crate) mod connectors;
pub(crate) mod create_tenant;
pub(crate) mod data_folder;
pub(crate) mod database;
pub(crate) mod engine;
pub(crate) mod gateway;
mod housekeeping;
pub(crate) mod installation;
pub(crate) mod lock;
pub(crate) mod models;
mod node;
mod onboarding;
pub(crate) mod packs;
pub(crate) mod policy;
mod readiness;
pub(crate) mod revoke_logins;
pub(crate) mod server;
pub(crate) mod telemetry;
pub(crate) mod tenant_templates;
pub(crate) mod tier_audit;
pub(crate) mod tools;
pub(crate) mod trial;
pub(crate) mod vault;

use munshi_store::Migrations;

use crate::failure::Result;

/// The tables of every crate. A crate with a `MIGRATIONS` list has its line here.
pub(crate) fn migrations() -> Result<Migrations> {
    let mut lists = vec![
        munshi_store::MIGRATIONS,
        munshi_jobs::MIGRATIONS,
        munshi_llm::MIGRATIONS,
        munshi_identity::MIGRATIONS,
        munshi_tiers::MIGRATIONS,
        munshi_safety::MIGRATIONS,
        munshi_agent::MIGRATIONS,
        munshi_connectors::MIGRATIONS,
    ];
    lists.extend(packs::migrations());
    Ok(Migrations::new(&lists)?)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_crate_has_its_own_numbers() {
        assert!(super::migrations().unwrap().len() >= 3);
    }
}
