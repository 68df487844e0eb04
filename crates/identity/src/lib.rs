//! Who somebody is to a tenant: persons, how they are reached, their roles and what these permit.
//!
//! Not here: what may be done at all (the safety pipeline asks this crate about one person's part of it), sessions,
//! keys and one-time codes.
//!
//! # Layout
//! - [`Role`], [`Standing`]: what somebody is; [`Principal`]: for whom something is done
//! - [`Rules`], [`permits`]: what a role may see and do, and whom to ask otherwise
//! - [`persons`]: the people as the store keeps them; [`Address`]: how they are reached

mod address;
mod permission;
pub mod persons;
mod principal;
mod role;

pub use address::{Address, AddressError, AddressKind};
pub use permission::{Lacking, RoleRules, Rules, may_approve, permits};
pub use persons::Person;
pub use principal::{Principal, Standing};
pub use role::{Role, RoleError};

use munshi_store::{Migration, migration};

pub const MIGRATIONS: &[Migration] = &[migration!("0006_persons")];
