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
//!
//! # To add a tool
//! 1. Write `tools/<name>.txt`: `about` (for the model), `scope` (`ledger.…`), `reply` (a phrase), `writes` and `owner`
//!    where they apply, a `field` for each argument, `next` for suggestions. `src/tools/spec.rs` describes the format and
//!    the kinds of fields.
//! 2. In the same file, one line a language has what people say for it, in its own script and in Latin letters, with
//!    `{field}` where an argument stands: `hi = {person} ko reminder bhej diya; {person} को रिमाइंडर भेज दिया`. There are
//!    eleven: en, hi, bn, gu, kn, ml, mr, or, pa, ta, te. The offline model knows nothing else of the tool: no code
//!    there is needed. `docs/models.md` (The offline model) says how phrases and fields are matched.
//! 3. Write the handler in `src/tools/`: `ReadToolHandler`, or `WriteToolHandler` with `read_back`. Name it in `FILES`
//!    and in `build_handler` of `src/tools/mod.rs`.
//! 4. Add the `reply` phrase and others it says to all 21 files of `phrases/`. A missing one is refused at the start.
//! 5. If a person should confirm some of its writes, add an arm to `concerns` in `src/check/mod.rs`.
//! 6. Add the name to `tenants/kirana/agents/books.toml` and `teams/counter.md`, its scope to `deny` in `policy.toml` if
//!    staff may not use it, and a row to the table in `docs/ledger.md`.
//! 7. Tests: `TOOLS` in `tests/counter/phrases.rs` (each phrase leads to the tool, in every language), sentences that are
//!    not the phrases in `tests/said/*.txt`, and what it does in `tests/counter/`, on both engines.
//!
//! `crates/offline/shop/tools` looks alike, but belongs to the tests of the offline model.

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
mod operations;
mod pack;
mod pages;
mod subject_data;
mod subjects;
pub mod tax;
mod tools;

pub use error::{Error, Result};
pub use pack::LedgerPack;

use munshi_store::{Migration, migration};

pub const MIGRATIONS: &[Migration] = &[
    migration!("0017_books"),
    migration!("0026_bills"),
    migration!("0027_sightings"),
    migration!("0072_forgotten"),
    migration!("0101_contact_emails"),
    migration!("0181_reminder_messages"),
];
