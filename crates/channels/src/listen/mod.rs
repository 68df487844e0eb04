//! Hearing accounts whose providers have to be asked what is new.
//!
//! Each such account has a row in `channel_states`, which [`crate::rows::save_accounts`] keeps in step with what is declared. Every node runs a
//! [`ChannelListener`]: it claims accounts that nobody asks, each under a lease, and asks their providers over and over. What is heard is
//! stored like what a webhook tells, and the cursor moves in the same transaction: whatever dies in between is heard again, and known.
//!
//! # Layout
//! - [`ChannelListener`]: finds accounts, claims them, renews its leases, follows what comes and goes
//! - `account`: one account, asked until it is another's or gone; `rows`: what the store knows of each

mod account;
mod listener;
pub(crate) mod rows;

pub use listener::{ChannelListener, ListenPace};
pub use rows::{CHANNEL_LISTENING, ChannelHearing, load_hearing};
