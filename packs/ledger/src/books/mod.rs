//! A shop's books: tables and plain functions over a transaction. Every write is the caller's transaction, and booking
//! twice under one key gives one entry.
//!
//! Double entry lies underneath: a posting takes an amount out of one account and into another, so an entry can't fail to
//! balance. What was booked is never changed or deleted: it is cancelled, or corrected, by an entry that reverses it.
//! Balances, stock, days and habits are kept beside the entries so that reading them costs one row; [`verify`] works
//! them all out again and names the first that is wrong.
//!
//! # Layout
//! - [`Act`], [`book`], [`cancel`], [`correct`]: what can happen, and writing it down
//! - [`Entry`], [`entry`]: what was written; [`day_book`]: page by page
//! - [`contacts`], [`items`]: who and what; `names` finds either in any script
//! - [`balances`], [`days`], [`habits`]: kept figures
//! - [`dedup`]: the same thing said or seen twice
//! - [`profile`], [`reminders`], [`documents`]; [`shares`]: links to these; [`details`]: more of contacts; [`taxes`]: of items
//! - [`export`], [`import`]: comma-separated files
//! - `head`, `write`: the lock all writers take, and the one way rows come into the books
//!
//! # To add a kind of entry
//! Add it to [`Kind`] and the migration's CHECK (in a new migration), say in `act.rs` which accounts it moves, and let
//! `export` and `import` name it. `tests/books/properties.rs` should deal it too.

mod account;
mod act;
pub mod balances;
mod book;
mod cancel;
pub mod contacts;
mod correct;
mod day;
pub mod day_book;
pub mod days;
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
pub mod taxes;
pub mod verify;
mod words;
mod write;

pub use account::{Account, categories, chart};
pub use act::{Act, LARGEST, Lent, Line, Movement, Opening, Posting, Settled};
pub use book::{Booked, Held, NewEntry, Said, Writing, book, hold_for};
pub use cancel::{Cancelling, cancel};
pub use contacts::{Contact, NewContact, Roles};
pub use correct::{Corrected, correct};
pub use day::{Day, Days};
pub use entry::{Cancelled, Entry};
pub use head::hold;
pub use ids::{ContactId, DocumentId, EntryKey, ItemId, LedgerEntryId, ReminderId};
pub use items::{Item, NewItem};
pub use names::Found;
pub use quantity::Quantity;
pub use verify::{Finding, verify};
pub use words::{Kind, Means, Scheme, Side, Source};
