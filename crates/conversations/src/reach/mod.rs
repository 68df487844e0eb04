//! Who of a tenant is reached where, and for what: questions that wait for their answer, what somebody should look at,
//! and customers who ask for a human.
//!
//! Whoever works for a tenant has addresses, and chooses for each kind of news which of them are tried in which order; without a choice
//! it is their own e-mail. Once a minute a job looks what nobody was told of yet: it goes to the first address that can be reached, and to
//! the next one later where it was not answered or did not arrive. What was told is written down in the transaction that sends it, so
//! that nobody hears of one thing twice at one address. All of it leaves through the outbox, and its rules hold for it.
//!
//! # Layout
//! - [`preferences`]: who chose what; `notices`: who was told of what
//! - [`AccountEmails`]: the e-mails of those who came by invitation
//! - `places`: the next address; `news`: what there is to tell, and whom; `plan`: what is to be done; `mailing`: doing it; `teller`: the job
//! - [`words`]: what the mails say, also those with one-time links, which leave without the outbox
//!
//! To add a kind of news, add a variant to [`ReachKind`] and what is to be told to `news`.

mod accounts;
mod mailing;
mod news;
mod notices;
mod places;
mod plan;
pub mod preferences;
mod teller;
pub mod words;

pub use accounts::AccountEmails;
pub use preferences::{ReachKind, ReachPreferences};
pub use teller::{KIND, NewsTeller, NewsTellerParts};

pub(crate) use preferences::{REACH_DATA, find_zone};
