//! Mails over SMTP.
//!
//! # Layout
//! - `format`: a message as a mail: text and HTML, threads, files; `html`: text as HTML; `qr`: codes as pictures
//! - `dial`: a connection that is found and encrypted; `connection`: the same, greeted and logged in; `handshake`: STARTTLS; `stream`: the
//!   bytes of either
//! - [`MailSender`]: handing a mail over, step by step; [`MailFault`], [`MailStage`]: where it failed, and what that means
//! - `places`: how many connections an account has at once, and a tenant ([`TenantConnectionPlaces`])
//! - `thread`: which mails an answer stands behind; `incoming`: mails to us ([`MailLink`])
//! - [`MailTimings`]: how long each step may take

mod connection;
mod dial;
mod fault;
mod format;
mod handshake;
mod html;
mod incoming;
mod places;
pub(crate) mod qr;
mod sender;
mod stream;
mod thread;
mod timings;

pub use fault::{MailFault, MailOutcome, MailStage};
pub(crate) use incoming::{MailLink, MailLinkParts};
pub use places::TenantConnectionPlaces;
pub use sender::{MailSender, MailSenderParts};
pub use timings::MailTimings;
