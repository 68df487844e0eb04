//! What decides whether something may be done, and remembers that it was.
//!
//! # Layout
//! - [`audit`]: the chain of what happened; [`vault`]: a tenant's secrets
//! - [`budget`]: plans, limits, what is set aside and what is spent
//! - [`Error`]: what can go wrong
//! - [`privacy`]: what a cloud model may see, and what may leave

pub mod audit;
pub mod budget;
mod error;
pub mod privacy;
pub mod vault;

pub use error::{Error, Result};

use munshi_store::{Migration, migration};

pub const MIGRATIONS: &[Migration] = &[migration!("0007_audit"), migration!("0008_vault")];
