//! `munshi person set PERSON`

use std::str::FromStr;

use clap::Args;
use munshi_identity::{ContactAddress, Person, Role, persons};
use munshi_safety::audit::AuditEvent;
use munshi_store::Tx;
use munshi_types::{Language, ScopeGlob};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};
use serde::Serialize;
use serde_json::json;

use super::{Shown, Telling, add_addresses, find, last_owner_failure, parse_list};
use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct PersonSetArguments {
    /// Name, phone, e-mail, @handle or id
    person: String,
    #[command(flatten)]
    wish: Wish,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

/// What is to be different.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
struct Wish {
    /// owner, admin, staff, viewer, or none for a contact
    #[arg(long)]
    role: Option<RoleOrNone>,
    /// New name
    #[arg(long, value_parser = super::parse_name)]
    name: Option<String>,
    /// Audiences they belong to, comma-separated; replaces the list, "" clears it
    #[arg(long, value_name = "TAGS", value_parser = parse_tags)]
    tags: Option<Tags>,
    /// Scopes granted in addition to their role, such as ledger.*; "" clears them
    #[arg(long, value_name = "SCOPES", value_parser = parse_scopes)]
    opened: Option<Scopes>,
    /// Scopes denied regardless of their role; "" clears them
    #[arg(long, value_name = "SCOPES", value_parser = parse_scopes)]
    closed: Option<Scopes>,
    /// Their language, such as hi
    #[arg(long, value_name = "CODE", value_parser = super::parse_language)]
    language: Option<Language>,
    /// Phone number to add
    #[arg(long, value_parser = super::parse_phone)]
    phone: Vec<ContactAddress>,
    /// E-mail address to add
    #[arg(long, value_parser = super::parse_email)]
    email: Vec<ContactAddress>,
    /// Mark a person who left as back
    #[arg(long)]
    back: bool,
    /// Forget the browsers they used before, so that they sign in again
    #[arg(long)]
    forget_browsers: bool,
}

#[derive(Clone, Debug)]
struct Tags(Vec<String>);

#[derive(Clone, Debug)]
struct Scopes(Vec<ScopeGlob>);

fn parse_tags(text: &str) -> Result<Tags, String> {
    parse_list(text, super::parse_tag).map(Tags)
}

fn parse_scopes(text: &str) -> Result<Scopes, String> {
    parse_list(text, super::parse_glob).map(Scopes)
}

#[derive(Clone, Copy, Debug)]
struct RoleOrNone(Option<Role>);

impl FromStr for RoleOrNone {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        if text == "none" {
            return Ok(Self(None));
        }
        text.parse()
            .map(|role| Self(Some(role)))
            .map_err(|_| format!("`{text}` is not a role: use owner, admin, staff, viewer or none"))
    }
}

#[derive(Debug, Serialize)]
struct Answer {
    #[serde(flatten)]
    shown: Shown,
    /// What is different now.
    changed: Vec<&'static str>,
}

pub(super) fn run(context: &CommandContext, arguments: PersonSetArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let (given, wish) = (arguments.person, arguments.wish);
    let answer = context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find_open(&db).await?;
        let telling = Telling::from_operator(context, &arguments.operator, &db, tenant.id).await?;
        db.write(tenant.id, move |tx| change(tx, &given, wish, &telling)).await
    })?;
    context.output.print_result(&answer, |answer, _| {
        let name = &answer.shown.person.name;
        match answer.changed.as_slice() {
            [] => format!("{name} is unchanged."),
            changed => format!("Changed {} of {name}.", changed.join(", ")),
        }
    })
}

fn change(tx: &mut Tx<'_>, given: &str, wish: Wish, telling: &Telling) -> Result<Answer, CommandFailure> {
    let before = find(tx, given)?;
    if before.left_at.is_some() && !wish.back {
        return Err(
            CommandFailure::refused(format!("{} has left", before.name)).hint("add --back if they are back")
        );
    }
    let known = persons::list_addresses(tx, before.id)?;
    let mut addresses = [wish.phone.clone(), wish.email.clone()].concat();
    addresses.retain(|address| !known.contains(address));
    let forget_browsers = wish.forget_browsers;
    let after = apply_changes(&before, wish);
    let stays_owner = after.role == Some(Role::Owner);
    if before.role == Some(Role::Owner) && !stays_owner && persons::is_last_owner(tx, before.id)? {
        return Err(last_owner_failure(&before.name));
    }
    let mut changed = list_changed_fields(&before, &after);
    if !addresses.is_empty() {
        changed.push("addresses");
    }
    if !changed.is_empty() {
        persons::upsert(tx, &after)?;
        add_addresses(tx, &after, &addresses)?;
    }
    if forget_browsers && persons::forget_browsers(tx, after.id)? > 0 {
        changed.push("browsers");
    }
    let shown = Shown::load(tx, after)?;
    record_changes(tx, &before, &shown.person, &changed, telling)?;
    telling.revoke_keys(tx, &before, &shown.person)?;
    Ok(Answer { shown, changed })
}

fn apply_changes(before: &Person, wish: Wish) -> Person {
    let old = before.clone();
    Person {
        role: wish.role.map_or(old.role, |role| role.0),
        name: wish.name.unwrap_or(old.name),
        tags: wish.tags.map_or(old.tags, |tags| tags.0),
        opened: wish.opened.map_or(old.opened, |scopes| scopes.0),
        closed: wish.closed.map_or(old.closed, |scopes| scopes.0),
        language: wish.language.or(old.language),
        left_at: if wish.back { None } else { old.left_at },
        ..old
    }
}

fn list_changed_fields(before: &Person, after: &Person) -> Vec<&'static str> {
    let differs = [
        ("leaving", before.left_at != after.left_at),
        ("role", before.role != after.role),
        ("name", before.name != after.name),
        ("tags", before.tags != after.tags),
        ("opened", before.opened != after.opened),
        ("closed", before.closed != after.closed),
        ("language", before.language != after.language),
    ];
    differs.into_iter().filter_map(|(what, is)| is.then_some(what)).collect()
}

/// A role is told by itself, with what it was: it decides what somebody may.
fn record_changes(
    tx: &mut Tx<'_>,
    before: &Person,
    after: &Person,
    changed: &[&'static str],
    telling: &Telling,
) -> Result<(), CommandFailure> {
    if before.left_at != after.left_at {
        telling.record(tx, after, AuditEvent::PERSON_RETURNED, json!({ "role": after.role }))?;
    }
    if before.role != after.role {
        let payload = json!({ "from": before.role, "to": after.role });
        telling.record(tx, after, AuditEvent::PERSON_ROLE_CHANGED, payload)?;
    }
    let others: Vec<&str> =
        changed.iter().copied().filter(|what| !matches!(*what, "role" | "leaving")).collect();
    if !others.is_empty() {
        let payload =
            json!({ "keys": others, "tags": after.tags, "opened": after.opened, "closed": after.closed });
        telling.record(tx, after, AuditEvent::PERSON_CHANGED, payload)?;
    }
    Ok(())
}
