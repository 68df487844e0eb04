//! The ledger pack: a munshi who keeps the books of a shop.
//!
//! # Layout
//! - [`books`]: who owes what, what was sold, spent and stocked, and the proof that the figures are right
//! - [`Ledger`]: the pack, with its tools (`tools`) and what a prompt should know
//! - [`sms`]: messages of banks, UPI apps, cards and wallets, read as payments or as none
//! - [`Error`]: what a caller can do something about

// Money is whole paise and quantities whole thousandths; a float would lose one of them some day.
#![deny(clippy::float_arithmetic)]

pub mod books;
mod error;
mod pack;
pub mod sms;
mod tools;

pub use error::{Error, Result};
pub use pack::Ledger;

use munshi_store::{Migration, migration};

pub const MIGRATIONS: &[Migration] = &[migration!("0017_books")];
