//! The ledger pack: a munshi who keeps the books.
//!
//! # Layout
//! - [`sms`]: messages of banks, UPI apps, cards and wallets, read as payments or as none

pub mod sms;
