//! `munshi person …`: the people of a tenant.

mod add;
mod find;
mod leave;
mod list;
mod set;

pub(super) use find::{find, only_owner};

use clap::Subcommand;
use munshi_identity::{ContactAddress, Person, persons};
use munshi_safety::audit::{self, AuditActor, AuditEvent, NewAuditEntry};
use munshi_store::{Db, Tx};
use munshi_types::{IdGenerator, Language, ScopeGlob, TenantId, Timestamp, is_unseen};
use serde::Serialize;
use serde_json::Value;

use super::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::failure::{CommandFailure, Result};

#[derive(Debug, Subcommand)]
pub(crate) enum PersonCommand {
    /// Add somebody who works for the tenant, or whom it deals with
    Add(add::PersonAddArguments),
    /// List people, newest first
    List(list::PersonListArguments),
    /// Change somebody's role, name, tags, language, addresses, or what is open and closed to them
    Set(set::PersonSetArguments),
    /// Note that somebody has left: from then on they can do nothing here
    Leave(leave::PersonLeaveArguments),
}

pub(super) fn run(context: &CommandContext, command: PersonCommand) -> Result<()> {
    match command {
        PersonCommand::Add(arguments) => add::run(context, arguments),
        PersonCommand::List(arguments) => list::run(context, &arguments),
        PersonCommand::Set(arguments) => set::run(context, arguments),
        PersonCommand::Leave(arguments) => leave::run(context, arguments),
    }
}

/// A person as they are shown.
#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    person: Person,
    addresses: Vec<ContactAddress>,
}

impl Shown {
    fn of(tx: &mut Tx<'_>, person: Person) -> Result<Self> {
        let addresses = persons::addresses(tx, person.id)?;
        Ok(Self { person, addresses })
    }
}

/// Who does it and when: what every change is told with.
struct Telling {
    actor: AuditActor,
    ids: IdGenerator,
    now: Timestamp,
}

impl Telling {
    async fn of(
        context: &CommandContext,
        operator: &OperatorArguments,
        db: &Db,
        tenant: TenantId,
    ) -> Result<Self> {
        let actor = operator.known_in(context, db, tenant).await?;
        Ok(Self { actor, ids: IdGenerator::system(), now: context.now() })
    }

    /// Tells the audit, last in the transaction. Names and addresses stay out of it: the id says who.
    fn tell(&self, tx: &mut Tx<'_>, person: &Person, event: AuditEvent, payload: Value) -> Result<()> {
        let entry =
            NewAuditEntry { actor: self.actor.clone(), event, subject: person.id.to_string(), payload };
        audit::append(tx, &entry, self.now, &self.ids)?;
        Ok(())
    }
}

/// Ties addresses to somebody, unless they are another's.
fn add_addresses(tx: &mut Tx<'_>, person: &Person, addresses: &[ContactAddress]) -> Result<()> {
    for address in addresses {
        match persons::by_address(tx, address)? {
            Some(other) if other.id != person.id => return Err(taken(address, &other)),
            _ => persons::add_address(tx, person.id, address)?,
        }
    }
    Ok(())
}

fn taken(address: &ContactAddress, other: &Person) -> CommandFailure {
    let back = if other.left_at.is_some() { ", who left" } else { "" };
    let failure =
        CommandFailure::already_there(format!("{address} belongs to {}{back} ({})", other.name, other.id));
    match other.left_at {
        Some(_) => failure.hint(format!("if they are here again: `munshi person set {} --back`", other.id)),
        None => failure.hint("an address is one person's; `munshi person list` shows whose"),
    }
}

fn last_owner(name: &str) -> CommandFailure {
    CommandFailure::refused(format!("{name} is the last owner, and somebody has to be"))
        .hint("make somebody else an owner first: `munshi person set PERSON --role owner`")
}

fn phone(text: &str) -> Result<ContactAddress, String> {
    ContactAddress::phone(text).map_err(|error| error.to_string())
}

fn email(text: &str) -> Result<ContactAddress, String> {
    ContactAddress::email(text).map_err(|error| error.to_string())
}

fn name(text: &str) -> Result<String, String> {
    let name = text.trim();
    let fits = (1..=200).contains(&name.chars().count()) && !name.chars().any(is_unseen);
    if fits {
        Ok(name.to_owned())
    } else {
        Err("a name has 1 to 200 letters on one line, none of them hidden".to_owned())
    }
}

fn tag(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let fits = (1..=64).contains(&text.chars().count()) && text.chars().all(plain);
    if fits {
        Ok(text.to_owned())
    } else {
        Err(format!("`{text}` is no tag: write letters, digits and dashes, such as customers"))
    }
}

fn language(text: &str) -> Result<Language, String> {
    text.parse().map_err(|error: munshi_types::LanguageError| error.to_string())
}

/// A list with commas; empty for none.
fn list_of<T>(text: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(read).collect()
}

fn glob(text: &str) -> Result<ScopeGlob, String> {
    text.parse().map_err(|error: munshi_types::ScopeGlobError| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_it_looks_like() {
        assert_eq!(name(" Raju शर्मा ").as_deref(), Ok("Raju शर्मा"));
        assert!(name("క్\u{200d}ష").is_ok());
        for forged in
            ["", " ", "Asha\u{202e}iraV", "Asha\u{2066}", "Asha\u{200b}", "Asha\nowner", "Asha\u{e0041}"]
        {
            assert!(name(forged).is_err(), "{forged:?}");
        }
    }
}
