//! Who somebody is to a tenant: persons, how they are reached, their roles and what these permit; the keys that let
//! programs in, and the codes that prove an address.
//!
//! Operators, who look after tenants through the web, and the ways they come in; hosts, who vouch for their visitors.
//!
//! Not here: what may be done at all (the safety pipeline asks this crate about one person's part of it), conversations,
//! cookies, and how a code reaches a phone.
//!
//! # Layout
//! - [`Role`], [`PrincipalStanding`]: what somebody is; [`Principal`]: for whom something is done
//! - [`PermissionRules`], [`authorize`]: what a role may see and do, and whom to ask otherwise
//! - [`persons`]: the people as the store keeps them, met, and merged; [`ContactAddress`]: how they are reached
//! - [`row_sealing`]: sealing what stood plain before; [`PersonalData`]: what is kept of people, to be told and to be forgotten
//! - [`keys`]: API keys, made, shown once, and told again from a request
//! - [`codes`]: one-time codes, asked for and answered
//! - [`operators`]: accounts and their roles; [`sign_ins`], [`links`], [`passwords`], [`login_backoff`]: how they come in
//! - [`jwt`]: signed tokens of others; [`hosts`]: what a host says of its visitors
//!
//! To add an area of the API, add a line to `areas!` in `keys/area.rs`; to add a purpose of codes, one to `CodePurpose` and,
//! in a new migration, to the table's check.

mod address;
mod base64url;
pub mod codes;
mod error;
pub mod hosts;
pub mod jwt;
pub mod keys;
pub mod links;
pub mod login_backoff;
pub mod operators;
pub mod passwords;
mod permission;
mod personal_data;
pub mod persons;
mod principal;
mod role;
pub mod row_sealing;
pub mod sign_ins;
mod token;

pub use address::{ContactAddress, ContactAddressError, ContactAddressKind};
pub use error::{Error, MergeObstacle, Result};
pub use permission::{
    MissingPermission, PermissionRules, RoleRules, authorize, has_owner_authority, may_approve,
};
pub use personal_data::PersonalData;
pub use persons::Person;
pub use principal::{Principal, PrincipalStanding};
pub use role::{Role, RoleError};
pub use token::SecretToken;

use munshi_store::{Migration, migration};

pub const MIGRATIONS: &[Migration] = &[
    migration!("0006_persons"),
    migration!("0013_keys"),
    migration!("0019_operators"),
    migration!("0023_people_changes"),
    migration!("0030_key_bounds"),
    migration!("0031_proved_accounts"),
    migration!("0046_key_parents"),
    migration!("0047_key_closed_scopes"),
    migration!("0048_keeper_keys"),
    migration!("0062_person_keys"),
    migration!("0064_sealed_persons"),
    migration!("0066_sealed_rows"),
    migration!("0084_forgotten_persons"),
    migration!("0112_code_mailboxes"),
    migration!("0136_mailed_links"),
    migration!("0171_sealed_changes"),
];
