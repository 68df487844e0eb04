//! Channels: a tenant's accounts at the providers by which messages leave.
//!
//! An account is declared in a tenant's `channels.toml`: a mail server that takes our mails, or a log that shows what would leave. The
//! [`ChannelSenders`] finds the account for a message by tenant, binding and channel, and gives the outbox what sends by it. Passwords
//! are in the vault; each is opened for the connection that needs it, and goes nowhere else.
//!
//! Not here: what is sent when, to whom and how often (`munshi-conversations`' outbox and its rules), and who may declare an account (the
//! operations).
//!
//! # Layout
//! - [`accounts`]: the file; [`rows`]: its versions in the store
//! - [`ChannelSenders`]: which account a message leaves by; `send_rate`: how many an account sends a minute
//! - `text`: what is said, in the marks of each app and in pieces that it takes
//! - [`email`]: mails: what one looks like, and how it is handed to a server; [`FileSource`]: the files that go along
//! - [`link`], `links`: accounts at providers that are spoken to over HTTP; [`incoming`]: what people write to them
//! - [`listen`]: asking the providers that do not tell by themselves
//! - `log`: the sender that only shows
//!
//! # To add a channel
//! A folder with what a message looks like there (`format`), how it is sent, and a sender that implements
//! [`munshi_conversations::outbox::ChannelSender`]; a variant of [`accounts::ChannelTransport`], and an arm in [`ChannelSenders`].

pub mod accounts;
pub mod email;
mod error;
mod files;
pub mod incoming;
pub mod link;
mod links;
pub mod listen;
mod log;
mod provider_call;
pub mod rows;
mod send_rate;
mod senders;
mod text;

use munshi_store::{Migration, migration};

pub use error::{Error, Result};
pub use files::{BlobFiles, FileSource};
pub use munshi_http::AllowedHosts;
pub use senders::{ChannelSenderParts, ChannelSenders};

pub const MIGRATIONS: &[Migration] =
    &[migration!("0110_channels"), migration!("0150_channel_arrivals"), migration!("0153_channel_hearing")];
