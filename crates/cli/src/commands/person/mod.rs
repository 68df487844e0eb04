//! `munshi person …`: the people of a tenant.

mod add;
mod find;
mod leave;
mod list;
mod set;

pub(super) use find::{find, only_owner};

use clap::Subcommand;
use munshi_identity::{ContactAddress, Person, keys, persons};
use munshi_safety::audit::{self, AuditActor, AuditEvent, NewAuditEntry};
use munshi_store::{Db, Tx};
use munshi_types::{IdGenerator, Language, ScopeGlob, TenantId, Timestamp, is_invisible};
use munshi_wiring::failure::{CommandFailure, Result};
use serde::Serialize;
use serde_json::{Value, json};

use super::vault::OperatorArguments;
use crate::context::CommandContext;

#[derive(Debug, Subcommand)]
pub(crate) enum PersonCommand {
    /// Add a staff member or contact of the tenant
    Add(add::PersonAddArguments),
    /// List people, newest first
    List(list::PersonListArguments),
    /// Change a person's role, name, tags, language, addresses or scopes
    Set(set::PersonSetArguments),
    /// Mark a person as left; they lose all access
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
    fn load(tx: &mut Tx<'_>, person: Person) -> Result<Self> {
        let addresses = persons::list_addresses(tx, person.id)?;
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
    async fn from_operator(
        context: &CommandContext,
        operator: &OperatorArguments,
        db: &Db,
        tenant: TenantId,
    ) -> Result<Self> {
        let actor = operator.resolve_actor(context, db, tenant).await?;
        Ok(Self { actor, ids: IdGenerator::system(), now: context.now() })
    }

    /// Tells the audit, last in the transaction. Names and addresses stay out of it: the id says who.
    fn record(&self, tx: &mut Tx<'_>, person: &Person, event: AuditEvent, payload: Value) -> Result<()> {
        let entry =
            NewAuditEntry { actor: self.actor.clone(), event, subject: person.id.to_string(), payload };
        audit::append(tx, &entry, self.now, &self.ids)?;
        Ok(())
    }

    /// Ends the keys that somebody has made, where they are less than they were, and tells the audit of each.
    fn revoke_keys(&self, tx: &mut Tx<'_>, before: &Person, after: &Person) -> Result<()> {
        for key in keys::revoke_after_role_loss(tx, before, after, self.now)? {
            let payload = json!({ "name": key.name, "why": "its maker lost the role that made it" });
            let (actor, subject) = (self.actor.clone(), key.id.to_string());
            let entry = NewAuditEntry { actor, event: "api_key.revoked".parse()?, subject, payload };
            audit::append(tx, &entry, self.now, &self.ids)?;
        }
        Ok(())
    }
}

/// Ties addresses to somebody, unless they are another's.
fn add_addresses(tx: &mut Tx<'_>, person: &Person, addresses: &[ContactAddress]) -> Result<()> {
    for address in addresses {
        match persons::find_by_address(tx, address)? {
            Some(other) if other.id != person.id => return Err(taken_failure(address, &other)),
            _ => persons::add_address(tx, person.id, address)?,
        }
    }
    Ok(())
}

fn taken_failure(address: &ContactAddress, other: &Person) -> CommandFailure {
    let back = if other.left_at.is_some() { ", who left" } else { "" };
    let failure =
        CommandFailure::already_there(format!("{address} belongs to {}{back} ({})", other.name, other.id));
    match other.left_at {
        Some(_) => failure.hint(format!("if they are back: `munshi person set {} --back`", other.id)),
        None => failure.hint("an address can belong to one person only; see `munshi person list`"),
    }
}

fn last_owner_failure(name: &str) -> CommandFailure {
    CommandFailure::refused(format!("{name} is the last owner; a tenant needs one"))
        .hint("make somebody else an owner first: `munshi person set PERSON --role owner`")
}

fn parse_phone(text: &str) -> Result<ContactAddress, String> {
    ContactAddress::phone(text).map_err(|error| error.to_string())
}

fn parse_email(text: &str) -> Result<ContactAddress, String> {
    ContactAddress::email(text).map_err(|error| error.to_string())
}

fn parse_name(text: &str) -> Result<String, String> {
    let name = text.trim();
    let fits = (1..=200).contains(&name.chars().count()) && !name.chars().any(is_invisible);
    if fits {
        Ok(name.to_owned())
    } else {
        Err("a name has 1 to 200 visible characters on one line".to_owned())
    }
}

fn parse_tag(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let fits = (1..=64).contains(&text.chars().count()) && text.chars().all(plain);
    if fits {
        Ok(text.to_owned())
    } else {
        Err(format!("`{text}` is not a valid tag: use letters, digits and dashes, such as customers"))
    }
}

fn parse_language(text: &str) -> Result<Language, String> {
    text.parse().map_err(|error: munshi_types::LanguageError| error.to_string())
}

/// A list with commas; empty for none.
fn parse_list<T>(text: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(read).collect()
}

fn parse_glob(text: &str) -> Result<ScopeGlob, String> {
    text.parse().map_err(|error: munshi_types::ScopeGlobError| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_it_looks_like() {
        assert_eq!(parse_name(" Raju शर्मा ").as_deref(), Ok("Raju शर्मा"));
        assert!(parse_name("క్\u{200d}ష").is_ok());
        for forged in
            ["", " ", "Asha\u{202e}iraV", "Asha\u{2066}", "Asha\u{200b}", "Asha\nowner", "Asha\u{e0041}"]
        {
            assert!(parse_name(forged).is_err(), "{forged:?}");
        }
    }
}
