//! A shop's books: tables and plain functions over a transaction. Every write is the caller's transaction, and booking
//! twice under one key gives one entry.
//!
//! Double entry lies underneath: a posting takes an amount out of one account and into another, so an entry can't fail to
//! balance. What was booked is never changed or deleted: it is cancelled, or corrected, by an entry that reverses it.
//! Balances, stock, days and habits are kept beside the entries so that reading them costs one row; [`verify`] works
//! them all out again and names the first that is wrong.
//!
//! # Layout
//! - [`ShopTransaction`], [`book`], [`cancel`], [`correct`]: what can happen, and writing it down
//! - [`LedgerEntry`], [`entry`]: what was written; [`day_book`]: page by page
//! - [`contacts`], [`items`]: who and what; `names` finds either in any script
//! - [`balances`], [`daily_turnover`], [`habits`]: kept figures
//! - [`dedup`]: the same thing said or seen twice
//! - [`profile`], [`reminders`], [`documents`]; [`shares`]: links to these; [`details`]: more of contacts; [`taxes`]: of items
//! - [`export`], [`import`]: comma-separated files
//! - `head`, `write`: the lock all writers take, and the one way rows come into the books
//!
//! # To add a kind of entry
//! Add it to [`LedgerEntryKind`] and the migration's CHECK (in a new migration), say in `transaction.rs` which accounts it moves, and let
//! `export` and `import` name it. `tests/books/properties.rs` should deal it too.

mod account;
pub mod balances;
mod book;
mod cancel;
pub mod contacts;
mod correct;
pub mod daily_turnover;
mod day;
pub mod day_book;
pub mod dedup;
pub mod details;
pub mod documents;
pub mod entry;
pub mod export;
pub mod habits;
mod head;
mod ids;
pub mod import;
pub mod items;
mod names;
pub mod profile;
mod quantity;
pub mod reminders;
pub mod shares;
mod stored_enums;
pub mod taxes;
mod transaction;
pub mod verify;
mod write;

pub use account::{LedgerAccount, categories, chart};
pub use book::{BookedEntry, BookingContext, BooksLock, EntryProvenance, NewLedgerEntry, book, lock_for};
pub use cancel::{EntryCancelRequest, cancel};
pub use contacts::{Contact, ContactRoles, NewContact};
pub use correct::{EntryCorrection, correct};
pub use day::{DayRange, LedgerDay};
pub use entry::{EntryCancellation, LedgerEntry};
pub use head::lock_until_commit;
pub use ids::{ContactId, DocumentId, EntryKey, ItemId, LedgerEntryId, ReminderId};
pub use items::{NewStockItem, StockItem};
pub use names::NameMatch;
pub use quantity::Quantity;
pub use stored_enums::{GstScheme, HabitSide, LedgerEntryKind, LedgerEntrySource, PaymentMeans};
pub use transaction::{
    CreditAsset, ItemQuantity, LARGEST, OpeningBalance, PaymentTerms, Posting, ShopTransaction, StockMovement,
};
pub use verify::{FigureMismatch, verify};
