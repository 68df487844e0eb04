//! Mails over SMTP.
//!
//! # Layout
//! - `format`: a message as a mail: text and HTML, threads, files; `html`: text as HTML; `qr`: codes as pictures
//! - `connection`: a server that is connected to, encrypted and greeted; `handshake`: STARTTLS; `stream`: the bytes of either
//! - [`MailSender`]: handing a mail over, step by step; [`MailFault`], [`MailStage`]: where it failed, and what that means
//! - `places`: how many connections an account has at once, and a tenant ([`TenantConnectionPlaces`])
//! - [`MailTimings`]: how long each step may take

mod connection;
mod fault;
mod format;
mod handshake;
mod html;
mod places;
mod qr;
mod sender;
mod stream;
mod timings;

pub use fault::{MailFault, MailOutcome, MailStage};
pub use places::TenantConnectionPlaces;
pub use sender::{MailSender, MailSenderParts};
pub use timings::MailTimings;
