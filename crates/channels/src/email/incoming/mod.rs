//! Mails to us: read from a mailbox, or handed over by a provider.
//!
//! # Layout
//! - [`MailLink`]: an account that hears; `mailbox`: its server; `cursor`: how far it was read; `webhook`: what a provider hands over
//! - `imap`: the protocol
//! - `mime`: a mail taken apart; `html_text`, `quotes`: what somebody wrote themselves; `files`: what goes along
//! - `authentication`: who really sent it; `automatic`, `report`: what nobody answers
//! - `read`: all of it as everything else that arrives

mod authentication;
mod automatic;
mod cursor;
mod files;
mod html_text;
mod imap;
mod link;
mod mailbox;
mod mime;
mod quotes;
mod read;
mod report;
mod webhook;

pub(crate) use link::{MailLink, MailLinkParts};
