//! The ledger pack: a munshi who keeps the books of a shop.
//!
//! # Layout
//! - [`books`]: who owes what, what was sold, spent and stocked, and the proof that the figures are right
//! - [`bill`], [`tax`]: invoices and bills of supply, and the tax in them
//! - [`LedgerPack`]: the pack, with its tools (`tools`), what is confirmed (`check`), what a prompt should know
//!   (`context`), its `pages` and `commands`, and messages that are read without a model (`forwarded_sms`)
//! - [`messages`]: what is booked of the messages of banks, UPI apps, cards and wallets, which `munshi-sms` reads
//! - [`demo`]: a shop that never was, to try things on
//! - [`Error`]: what a caller can do something about

// Money is whole paise and quantities whole thousandths; a float would lose one of them some day.
#![deny(clippy::float_arithmetic)]

pub mod bill;
pub mod books;
mod check;
mod commands;
mod context;
pub mod demo;
mod error;
mod forwarded_sms;
pub mod messages;
mod pack;
mod pages;
pub mod tax;
mod tools;

pub use error::{Error, Result};
pub use pack::LedgerPack;

use munshi_store::{Migration, migration};

pub const MIGRATIONS: &[Migration] =
    &[migration!("0017_books"), migration!("0026_bills"), migration!("0027_sightings")];
