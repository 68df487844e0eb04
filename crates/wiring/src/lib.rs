//! Settings turned into parts: the one place where the floors below meet, and that names engines and packs.
//!
//! The command line and the server are built on it. Nothing here knows HTTP routes, words that are typed, or where output goes.
//!
//! # Layout
//! - [`migrations()`]: every crate's tables, in one list
//! - [`failure`]: what goes wrong, with its exit code
//! - [`database`]: where it is and how it is opened; [`lock`]: who may use a SQLite file; [`data_folder`]: the data folder
//! - [`models`], [`gateway`]: the models of the settings, and what stands before them; [`trial`]: a model asked whether it answers
//! - [`erasure`]: forgetting people
//! - [`keys`]: the store of the keys that text is encrypted with; [`key_watch`]: keys that other nodes have destroyed, and whether the store
//!   answers; [`key_copies`]: the age of its copies
//! - [`vault`], [`audit`]: where the vault's key is, and where anchors go; [`budget`]: what may be spent
//! - [`blobs`]: where files of people are kept
//! - [`channels`]: the accounts by which messages come in and leave, and the file that declares them
//! - [`connectors`]: other people's tools, and the file that declares them; [`consents`]: tools whose purpose nobody declares
//! - [`packs`]: the packs there are; [`tools`]: the tools there are, and what calls them; [`policy`]: the file that says what they may
//! - `pack_services`: what packs work with besides their tables
//! - [`installation`]: what a tier may name; [`apply_plans`]: tiers that no operation applies
//! - [`tenant_templates`]: the tenants that come in the binary; [`create_tenant`]: one of them, made here
//! - [`account`]: where operators open this, and the links that let them in
//! - [`operations`]: what the administrative verbs need of the settings
//! - [`engine`]: what answers; `node`: which node this is, for others that work on the same database
//! - [`jobs`]: the job runner and its kinds of work; `housekeeping`: what is done at night for every tenant
//!
//! # To add a pack, or a crate with tables or jobs
//! A pack has its line in [`packs`]. A crate's migrations have theirs in [`migrations()`], its jobs in [`jobs`].

pub mod account;
pub mod apply_plans;
pub mod audit;
pub mod blobs;
pub mod budget;
pub mod channels;
pub mod connectors;
pub mod consents;
pub mod create_tenant;
pub mod data_folder;
pub mod database;
pub mod engine;
pub mod erasure;
pub mod failure;
pub mod gateway;
mod housekeeping;
pub mod installation;
pub mod jobs;
pub mod keeper_alerts;
pub mod key_copies;
pub mod key_watch;
pub mod keys;
pub mod lock;
mod message_receiver;
pub mod models;
mod node;
pub mod operations;
mod pack_services;
pub mod packs;
pub mod policy;
pub mod row_sealing;
mod tenant_outbox;
pub mod tenant_templates;
pub mod tools;
pub mod vault;

use munshi_store::Migrations;

use crate::failure::Result;

/// The tables of every crate. A crate with a `MIGRATIONS` list has its line here.
pub fn migrations() -> Result<Migrations> {
    let mut lists = vec![
        munshi_store::MIGRATIONS,
        munshi_jobs::MIGRATIONS,
        munshi_keys::MIGRATIONS,
        munshi_llm::MIGRATIONS,
        munshi_identity::MIGRATIONS,
        munshi_index::MIGRATIONS,
        munshi_blobs::MIGRATIONS,
        munshi_tiers::MIGRATIONS,
        munshi_safety::MIGRATIONS,
        munshi_conversations::MIGRATIONS,
        munshi_erasure::MIGRATIONS,
        munshi_connectors::MIGRATIONS,
        munshi_channels::MIGRATIONS,
        munshi_pack::MIGRATIONS,
    ];
    lists.extend(packs::migrations());
    Ok(Migrations::new(&lists)?)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_crate_has_its_own_numbers() {
        assert!(crate::migrations().unwrap().len() >= 3);
    }
}
