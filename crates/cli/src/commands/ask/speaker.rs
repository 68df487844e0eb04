//! Who speaks: the local operator as the tenant's owner, somebody known, or somebody new.

use munshi_identity::{ContactAddress, Person, Role, persons};
use munshi_safety::audit::{self, AuditActor, AuditEvent, NewAuditEntry};
use munshi_store::Tx;
use munshi_types::{IdGenerator, Language, PersonId, Timestamp};
use munshi_wiring::failure::{CommandFailure, Exit, Result};
use serde::Serialize;
use serde_json::{Value, json};

use crate::commands::person;

/// What this program calls people who have no other address.
const HERE: &str = "cli";
const OPERATOR: &str = "operator";

#[derive(Clone, Debug, Serialize)]
pub(in crate::commands) struct AskSpeaker {
    pub(in crate::commands) id: PersonId,
    pub(in crate::commands) name: String,
    pub(in crate::commands) role: Option<Role>,
    /// Met just now.
    #[serde(skip)]
    pub(in crate::commands) is_new: bool,
}

impl AskSpeaker {
    /// So that a slip in a name is seen.
    pub(in crate::commands) fn render_introduction(&self) -> String {
        let name = if self.name.is_empty() { "somebody" } else { self.name.as_str() };
        match self.role {
            Some(role) => format!("added {name} as the tenant's {role}; it had none"),
            None => format!("{name} was unknown and has been added"),
        }
    }
}

/// Who types, when, and what they said of the speaker.
#[derive(Clone)]
pub(in crate::commands) struct AskSpeakerContext {
    pub(in crate::commands) actor: AuditActor,
    pub(in crate::commands) ids: IdGenerator,
    pub(in crate::commands) now: Timestamp,
    pub(in crate::commands) language: Option<Language>,
}

pub(in crate::commands) fn find(
    tx: &mut Tx<'_>,
    given: Option<&str>,
    asking: &AskSpeakerContext,
) -> Result<AskSpeaker> {
    let (mut person, is_new) = match given {
        Some(given) => resolve_named(tx, given, asking)?,
        None => resolve_operator(tx, asking)?,
    };
    if person.left_at.is_some() {
        return Err(CommandFailure::refused(format!("{} has left the tenant", person.name))
            .hint(format!("if they are back: `munshi person set {} --back`", person.id)));
    }
    if let Some(language) = asking.language.filter(|language| person.language != Some(*language)) {
        person.language = Some(language);
        persons::upsert(tx, &person)?;
        asking.record_audit(tx, &person, AuditEvent::PERSON_CHANGED, json!({ "language": language }))?;
    }
    Ok(AskSpeaker { id: person.id, name: person.name, role: person.role, is_new })
}

/// Whoever is at the command line owns the machine. A tenant without an owner gets them as its first.
fn resolve_operator(tx: &mut Tx<'_>, asking: &AskSpeakerContext) -> Result<(Person, bool)> {
    let own = address(HERE, OPERATOR)?;
    let mut owners = persons::list_members(tx)?;
    owners.retain(|person| person.role == Some(Role::Owner) && person.left_at.is_none());
    if let Some(known) = persons::find_by_address(tx, &own)?
        && let Some(owner) = owners.iter().position(|owner| owner.id == known.id)
    {
        return Ok((owners.swap_remove(owner), false));
    }
    match owners.len() {
        0 => Ok((add_first_owner(tx, asking, &own)?, true)),
        1 => Ok((owners.swap_remove(0), false)),
        _ => {
            let names = owners.iter().map(|owner| owner.name.as_str()).collect::<Vec<_>>().join(", ");
            Err(CommandFailure::usage("the tenant has several owners")
                .hint(format!("choose one with --person: {names}")))
        }
    }
}

fn add_first_owner(tx: &mut Tx<'_>, asking: &AskSpeakerContext, own: &ContactAddress) -> Result<Person> {
    let named = Person::new(&asking.ids, asking.actor.id.clone(), asking.now);
    let owner = Person { role: Some(Role::Owner), ..named };
    persons::upsert(tx, &owner)?;
    if persons::find_by_address(tx, own)?.is_none() {
        persons::add_address(tx, owner.id, own)?;
    }
    let payload = json!({ "role": owner.role, "tags": [], "addresses": [own.kind().as_str()] });
    asking.record_audit(tx, &owner, AuditEvent::PERSON_ADDED, payload)?;
    Ok(owner)
}

/// Somebody known, or somebody new under what they were called: what they say is a conversation of their own.
fn resolve_named(tx: &mut Tx<'_>, given: &str, asking: &AskSpeakerContext) -> Result<(Person, bool)> {
    let given = given.trim();
    if given.is_empty() {
        return Err(
            CommandFailure::usage("the person's name is empty").hint("omit --person to speak as the owner")
        );
    }
    match person::find(tx, given) {
        Ok(known) => return Ok((known, false)),
        Err(failure) if failure.exit == Exit::NotFound && given.parse::<PersonId>().is_err() => {}
        Err(failure) => return Err(failure),
    }
    let (address, name) = match parse_address(given) {
        Some(address) => (address, ""),
        None => {
            (address(HERE, &given.split_whitespace().collect::<Vec<_>>().join("-").to_lowercase())?, given)
        }
    };
    let met = persons::find_or_add(tx, &asking.ids, &[address], name, asking.now)?;
    Ok((met.person, met.is_new))
}

fn parse_address(given: &str) -> Option<ContactAddress> {
    match given {
        handle if handle.starts_with('@') => ContactAddress::handle(handle).ok(),
        email if email.contains('@') => ContactAddress::email(email).ok(),
        phone => ContactAddress::phone(phone).ok(),
    }
}

fn address(channel: &str, id: &str) -> Result<ContactAddress> {
    ContactAddress::channel(channel, id).map_err(|_| {
        CommandFailure::usage(format!("{id} is not a valid name"))
            .hint("use a name of at most 200 letters on one line")
    })
}

impl AskSpeakerContext {
    fn record_audit(
        &self,
        tx: &mut Tx<'_>,
        person: &Person,
        event: AuditEvent,
        payload: Value,
    ) -> Result<()> {
        let entry =
            NewAuditEntry { actor: self.actor.clone(), event, subject: person.id.to_string(), payload };
        audit::append(tx, &entry, self.now, &self.ids)?;
        Ok(())
    }
}
