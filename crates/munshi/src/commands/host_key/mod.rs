//! `munshi host-key …`: with what a host's own server says who its visitors are.

mod add;
mod list;
mod retire;

use clap::Subcommand;
use munshi_identity::hosts::HostKey;
use munshi_safety::audit::{self, Actor, Event, NewEntry};
use munshi_store::Tx;
use munshi_types::{Ids, Timestamp};
use serde_json::json;

use crate::context::Context;
use crate::failure::Result;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Add a key; two of one host can be good at once, so that the next is in place before the first goes
    Add(add::Arguments),
    /// List keys, newest first
    List(list::Arguments),
    /// Let a key end
    Retire(retire::Arguments),
}

pub(super) fn run(context: &Context, command: Command) -> Result<()> {
    match command {
        Command::Add(arguments) => add::run(context, &arguments),
        Command::List(arguments) => list::run(context, &arguments),
        Command::Retire(arguments) => retire::run(context, &arguments),
    }
}

/// Tells the audit, last in the transaction.
fn tell(tx: &mut Tx<'_>, actor: &Actor, event: &str, key: &HostKey, now: Timestamp) -> Result<()> {
    let payload = json!({
        "host": key.host,
        "algorithm": key.algorithm,
        "holds": key.holds,
        "ends_at": key.ends_at,
    });
    let event: Event = event.parse()?;
    let entry = NewEntry { actor: actor.clone(), event, subject: key.kid.clone(), payload };
    audit::append(tx, &entry, now, &Ids::system())?;
    Ok(())
}
