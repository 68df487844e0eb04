//! What decides whether something may be done, and remembers that it was.
//!
//! # Layout
//! - [`audit`]: the chain of what happened; [`vault`]: a tenant's secrets
//! - [`budget`]: plans, limits, what is set aside and what is spent
//! - [`privacy`]: what a cloud model may see, and what may leave
//! - [`Error`]: what can go wrong

pub mod audit;
pub mod budget;
mod error;
pub mod privacy;
pub mod vault;

pub use error::{Error, Result};

use munshi_store::{Migration, migration};

pub const MIGRATIONS: &[Migration] = &[migration!("0009_usage")];
