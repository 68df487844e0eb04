//! Channels: a tenant's accounts at providers by which people write and are answered.
//!
//! An account is declared in a tenant's `channels.toml`: a mail server, a WhatsApp number, a bot, or a log that shows what would leave. What
//! people write is stored in an inbox ([`incoming`]) before the provider is answered, and goes to the engine from there. For what leaves,
//! [`ChannelSenders`] finds the account by tenant, binding and channel, and gives the outbox what sends by it. Passwords and tokens are in
//! the vault; each is opened for the request that needs it, and goes nowhere else.
//!
//! Not here: what is sent when, to whom and how often (`munshi-conversations`' outbox and its rules), who may declare an account (the
//! operations), and the route that providers call (`web/src/routes/channel_webhooks`).
//!
//! # Layout
//! - [`accounts`]: the file; [`rows`]: its versions in the store
//! - [`ChannelSenders`]: which account a message leaves by; `send_rate`: how many an account sends a minute
//! - `text`: what is said, in the marks of each app and in pieces that it takes
//! - [`email`]: mails: what one looks like, how it is handed to a server, how those that arrive are read; [`FileSource`]: the files that go along
//! - [`link`], `links`: accounts at providers that are spoken to over HTTP; [`incoming`]: what people write to them
//! - [`listen`]: asking the providers that do not tell by themselves
//! - `log`: the sender that only shows
//!
//! # To add a provider of a platform that is a channel already
//! The compiler asks for the arms of steps 1 and 2, and for nothing else.
//! 1. Add a variant to [`accounts::ChannelAccountKind`], with its name and channel, and to its `ALL` (`accounts/account.rs`); what it needs
//!    and may have is an arm of `rules_of` (`accounts/link_account.rs`).
//! 2. Add a folder `links/NAME` with a [`link::ChannelLink`] and its [`munshi_conversations::outbox::ChannelSender`], and an arm to
//!    `links::build` (`links/mod.rs`). Where its app writes bold text or links in a way of its own, add a `TextStyle` (`text/mod.rs`,
//!    `text/marks.rs`).
//! 3. Give each [`incoming::ChannelEvent`] the provider's own id: one that came before is not taken twice.
//! 4. If it can be asked what is new, say so in [`accounts::ChannelAccount::may_be_asked`], implement `poll`, and add its hint to
//!    `explain_unreached` (`operations/src/channels/setup.rs`).
//! 5. Name it where people read the list of kinds: `operations/src/channels/{add,view}.rs`, `cli/src/commands/channel/add.rs` and
//!    `docs/channels.md`. `docs/operations.md` and the API document are made from the operations.
//! 6. Test it against a stand-in of its API in `tests/channels/`, both ways, with requests that are forged and repeated.
//!
//! # To add a platform
//! It is a channel of its own. Before its first provider:
//! 1. Add a variant to [`Channel`](munshi_types::tier::Channel), its `ALL` and `as_str` (`types/src/tier/binding.rs`). A binding's file may
//!    name it then; `UPDATE_DOCS=1 cargo test -p munshi-tiers` writes `docs/tiers.md` and `docs/schemas/binding.json`.
//! 2. Say whether it proves who writes: `proves_writer` (`safety/src/approvals/answer.rs`). Only then can somebody consent by a message.
//! 3. Say how to write there: `channel_guidance` (`tiers/src/prompt/envelope.rs`).
//! 4. If people type several messages for one thought there, add it to `is_typed_on` (`agent/src/turn/join.rs`).
//! 5. If its addresses are phone numbers or e-mail addresses, add it to `normalize_address` (`conversations/src/outbox/recipient.rs`),
//!    `parse_recipient` (`operations/src/channels/trial.rs`) and `incoming/forget.rs`.

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

pub const MIGRATIONS: &[Migration] = &[
    migration!("0110_channels"),
    migration!("0150_channel_arrivals"),
    migration!("0153_channel_hearing"),
    migration!("0160_arrival_order"),
    migration!("0170_arrival_senders"),
];
