//! Forgetting people for good, and telling them before what is known.
//!
//! It is asked for in one transaction, which takes from the person every address at once. Then, each step as often as it takes: what is
//! under way for them comes to an end; their keys are destroyed in the store of keys, which makes their text unreadable wherever a
//! copy of it lies; their rows are removed or emptied; and a receipt says what went and what stayed. A crash in between is gone on
//! from by a job. The store of keys remembers whom was forgotten, so that an older copy of the database is told it again before
//! anything is served from it.
//!
//! Not here: the statements on each table, which stand in the crates that own them as [`PersonalData`](munshi_identity::PersonalData)s,
//! and what packs know of people ([`SubjectRecords`](munshi_pack::SubjectRecords)).
//!
//! # Layout
//! - [`ErasureService`]: [`begin`], [`carry_out`](ErasureService::carry_out), [`replay`](ErasureService::replay)
//! - [`export`]: what is known about somebody, page by page; [`export_page`]: the same to be read
//! - [`AddressedRecords`]: what is known by addresses alone; [`rows`]: whom was forgotten; `steps`: what is kept of people, and goes; [`ErasureReceipt`]
//! - `job`: going on after a crash, and what is removed later; `resume`: going on after the job was given up
//!
//! # To have a table forgotten
//! Add a `PersonalData` to the `PERSONAL_DATA` of its crate; a crate that has none yet is named in `steps`. A table that knows addresses
//! and no persons: [`AddressedRecords`], which whoever builds the service adds.

mod addressed;
mod begin;
mod carry_out;
mod error;
pub mod export;
pub mod export_page;
mod job;
mod receipt;
mod replay;
mod resume;
pub mod rows;
mod service;
mod steps;

pub use addressed::AddressedRecords;
pub use begin::{ErasureRequest, begin};
pub use error::{Error, Result};
pub use job::{ERASE, install, set_schedule};
pub use receipt::{ErasureReceipt, KeptRecord};
pub use rows::{Erasure, ErasureState};
pub use service::ErasureService;

use munshi_store::{Migration, PlatformScope, migration};

/// Looking for what is still to be forgotten, across tenants.
pub const ERASURES: PlatformScope = PlatformScope::new("erasures");

pub const MIGRATIONS: &[Migration] = &[migration!("0073_erasures")];
