//! `munshi key …`: what lets programs in.

mod add;
mod list;
mod revoke;
mod rotate;

use clap::{Args, Subcommand};
use munshi_identity::keys::{self, ApiKeyRecord, KeySubject};
use munshi_safety::audit::{self, AuditActor, AuditEvent, NewAuditEntry};
use munshi_store::Tx;
use munshi_types::{IdGenerator, Timestamp};
use munshi_wiring::failure::{CommandFailure, Result};
use serde::Serialize;
use serde_json::json;

use super::tenant::TenantSelectorArguments;
use super::vault::OperatorArguments;
use crate::context::CommandContext;

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Create a key; it is shown only once
    Add(add::KeyAddArguments),
    /// List keys, newest first; secrets are never shown
    List(list::KeyListArguments),
    /// Revoke a key
    Revoke(KeySelectorArguments),
    /// Replace a key's secret; the old one stays valid for a grace period
    Rotate(rotate::KeyRotateArguments),
}

/// The key that is meant, and who asks.
#[derive(Debug, Args)]
pub(crate) struct KeySelectorArguments {
    /// Name, prefix (mk_4fGh7Kq2) or id
    key: String,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, command: KeyCommand) -> Result<()> {
    match command {
        KeyCommand::Add(arguments) => add::run(context, arguments),
        KeyCommand::List(arguments) => list::run(context, &arguments),
        KeyCommand::Revoke(which) => revoke::run(context, which),
        KeyCommand::Rotate(arguments) => rotate::run(context, arguments),
    }
}

/// A key with its text, the one time.
#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    key: ApiKeyRecord,
    /// The key itself.
    text: String,
}

impl Shown {
    fn from_issued(made: keys::IssuedApiKey) -> Self {
        Self { text: made.text.reveal().to_owned(), key: made.key }
    }
}

/// Who does it and when.
struct Telling {
    actor: AuditActor,
    ids: IdGenerator,
    now: Timestamp,
}

impl Telling {
    /// Tells the audit, last in the transaction: which key, never its text.
    fn record(&self, tx: &mut Tx<'_>, event: &str, key: &ApiKeyRecord) -> Result<()> {
        let handles: Vec<&str> = key.secrets.iter().map(|secret| secret.handle.as_str()).collect();
        let payload = json!({
            "name": key.name,
            "carries": key.carries,
            "areas": key.areas,
            "bindings": key.bindings,
            "speaks_as": key.speaks_as,
            "expires_at": key.expires_at,
            "handles": handles,
        });
        let event: AuditEvent = event.parse()?;
        let entry = NewAuditEntry { actor: self.actor.clone(), event, subject: key.id.to_string(), payload };
        audit::append(tx, &entry, self.now, &self.ids)?;
        Ok(())
    }
}

fn find(tx: &mut Tx<'_>, given: &str) -> Result<ApiKeyRecord> {
    if let Ok(id) = given.parse() {
        return keys::find(tx, id)?.ok_or_else(|| not_found_failure(given));
    }
    if let Some(key) = keys::find_by_handle(tx, given)? {
        return Ok(key);
    }
    keys::find_by_name(tx, given)?.ok_or_else(|| not_found_failure(given))
}

/// Whoever pasted a whole key should not see it again in an error.
fn not_found_failure(given: &str) -> CommandFailure {
    let shown: String = given.chars().take(11).collect();
    let shown = if given.starts_with("mk_") { shown } else { given.to_owned() };
    CommandFailure::not_found(format!("key {shown} not found")).hint("`munshi key list` shows them all")
}

fn format_subject(key: &ApiKeyRecord) -> String {
    match key.carries {
        KeySubject::Role(role) => role.to_string(),
        KeySubject::Person(person) => format!("person {person}"),
    }
}
