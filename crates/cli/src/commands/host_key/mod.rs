//! `munshi host-key …`: with what a host's own server says who its visitors are.

mod add;
mod list;
mod retire;

use clap::Subcommand;
use munshi_identity::hosts::HostKey;
use munshi_safety::audit::{self, AuditActor, AuditEvent, NewAuditEntry};
use munshi_store::Tx;
use munshi_types::{IdGenerator, Timestamp};
use munshi_wiring::failure::Result;
use serde_json::json;

use crate::context::CommandContext;

#[derive(Debug, Subcommand)]
pub(crate) enum HostKeyCommand {
    /// Add a key; a host can have two valid keys at once, for rotation
    Add(add::HostKeyAddArguments),
    /// List keys, newest first
    List(list::HostKeyListArguments),
    /// Expire a key
    Retire(retire::HostKeyRetireArguments),
}

pub(super) fn run(context: &CommandContext, command: HostKeyCommand) -> Result<()> {
    match command {
        HostKeyCommand::Add(arguments) => add::run(context, &arguments),
        HostKeyCommand::List(arguments) => list::run(context, &arguments),
        HostKeyCommand::Retire(arguments) => retire::run(context, &arguments),
    }
}

/// Tells the audit, last in the transaction.
fn record_audit(
    tx: &mut Tx<'_>,
    actor: &AuditActor,
    event: &str,
    key: &HostKey,
    now: Timestamp,
) -> Result<()> {
    let payload = json!({
        "host": key.host,
        "algorithm": key.algorithm,
        "holds": key.holds,
        "ends_at": key.ends_at,
    });
    let event: AuditEvent = event.parse()?;
    let entry = NewAuditEntry { actor: actor.clone(), event, subject: key.kid.clone(), payload };
    audit::append(tx, &entry, now, &IdGenerator::system())?;
    Ok(())
}
