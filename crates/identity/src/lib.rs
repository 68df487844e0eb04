//! Who somebody is to a tenant: persons, how they are reached, their roles and what these permit; the keys that let
//! programs in, and the codes that prove an address.
//!
//! Not here: what may be done at all (the safety pipeline asks this crate about one person's part of it), sessions, and
//! how a code reaches a phone.
//!
//! # Layout
//! - [`Role`], [`Standing`]: what somebody is; [`Principal`]: for whom something is done
//! - [`Rules`], [`permits`]: what a role may see and do, and whom to ask otherwise
//! - [`persons`]: the people as the store keeps them, met, and merged; [`Address`]: how they are reached
//! - [`keys`]: API keys, made, shown once, and told again from a request
//! - [`codes`]: one-time codes, asked for and answered
//!
//! To add an area of the API, add a line to `areas!` in `keys/area.rs`; to add a purpose of codes, one to `Purpose` and,
//! in a new migration, to the table's check.

mod address;
pub mod codes;
mod error;
pub mod keys;
mod permission;
pub mod persons;
mod principal;
mod role;

pub use address::{Address, AddressError, AddressKind};
pub use error::{Error, Result, Unmergeable};
pub use permission::{Lacking, RoleRules, Rules, may_approve, permits};
pub use persons::Person;
pub use principal::{Principal, Standing};
pub use role::{Role, RoleError};

use munshi_store::{Migration, migration};

pub const MIGRATIONS: &[Migration] =
    &[migration!("0006_persons"), migration!("0013_keys"), migration!("0023_people_changes")];
