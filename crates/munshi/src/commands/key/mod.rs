//! `munshi key …`: what lets programs in.

mod add;
mod list;
mod revoke;
mod rotate;

use clap::{Args, Subcommand};
use munshi_identity::keys::{self, Carries, Key};
use munshi_safety::audit::{self, Actor, Event, NewEntry};
use munshi_store::Tx;
use munshi_types::{Ids, Timestamp};
use serde::Serialize;
use serde_json::json;

use super::tenant::Of;
use super::vault::Operator;
use crate::context::Context;
use crate::failure::{Failure, Result};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a key; it is shown this once
    Add(add::Arguments),
    /// List keys, newest first; never the keys themselves
    List(list::Arguments),
    /// Take a key back: from then on it opens nothing
    Revoke(Which),
    /// Give a key another secret; the one before opens for a while longer
    Rotate(rotate::Arguments),
}

/// The key that is meant, and who asks.
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// Its name, how it begins (mk_4fGh7Kq2), or its id
    key: String,
    #[command(flatten)]
    of: Of,
    #[command(flatten)]
    operator: Operator,
}

pub(super) fn run(context: &Context, command: Command) -> Result<()> {
    match command {
        Command::Add(arguments) => add::run(context, arguments),
        Command::List(arguments) => list::run(context, &arguments),
        Command::Revoke(which) => revoke::run(context, which),
        Command::Rotate(arguments) => rotate::run(context, arguments),
    }
}

/// A key with its text, the one time.
#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    key: Key,
    /// The key itself.
    text: String,
}

impl Shown {
    fn of(made: keys::Made) -> Self {
        Self { text: made.text.reveal().to_owned(), key: made.key }
    }
}

/// Who does it and when.
struct Telling {
    actor: Actor,
    ids: Ids,
    now: Timestamp,
}

impl Telling {
    /// Tells the audit, last in the transaction: which key, never its text.
    fn tell(&self, tx: &mut Tx<'_>, event: &str, key: &Key) -> Result<()> {
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
        let event: Event = event.parse()?;
        let entry = NewEntry { actor: self.actor.clone(), event, subject: key.id.to_string(), payload };
        audit::append(tx, &entry, self.now, &self.ids)?;
        Ok(())
    }
}

fn find(tx: &mut Tx<'_>, given: &str) -> Result<Key> {
    if let Ok(id) = given.parse() {
        return keys::find(tx, id)?.ok_or_else(|| missing(given));
    }
    if let Some(key) = keys::by_handle(tx, given)? {
        return Ok(key);
    }
    keys::named(tx, given)?.ok_or_else(|| missing(given))
}

/// Whoever pasted a whole key should not see it again in an error.
fn missing(given: &str) -> Failure {
    let shown: String = given.chars().take(11).collect();
    let shown = if given.starts_with("mk_") { shown } else { given.to_owned() };
    Failure::not_found(format!("there is no key called {shown}")).hint("`munshi key list` shows them all")
}

fn carried(key: &Key) -> String {
    match key.carries {
        Carries::Role(role) => role.to_string(),
        Carries::Person(person) => format!("person {person}"),
    }
}
