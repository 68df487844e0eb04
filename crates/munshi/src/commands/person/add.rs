//! `munshi person add NAME`

use clap::Args;
use munshi_identity::{ContactAddress, Person, Role, persons};
use munshi_safety::audit::AuditEvent;
use munshi_types::{IdGenerator, Language};
use serde_json::json;

use super::{Shown, Telling, add_addresses};
use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::failure::{CommandFailure, Result};
use crate::wiring::database::ConfiguredDatabase;

#[derive(Debug, Args)]
pub(crate) struct PersonAddArguments {
    /// As people call them
    #[arg(value_parser = super::name)]
    name: String,
    /// owner, admin, staff or viewer; without it, somebody the tenant deals with
    #[arg(long)]
    role: Option<Role>,
    /// A number they are reached at; may be given more than once
    #[arg(long, value_parser = super::phone)]
    phone: Vec<ContactAddress>,
    /// An e-mail address; may be given more than once
    #[arg(long, value_parser = super::email)]
    email: Vec<ContactAddress>,
    /// An audience they belong to, such as customers; may be given more than once
    #[arg(long, value_parser = super::tag)]
    tag: Vec<String>,
    /// What they are spoken to in, such as hi
    #[arg(long, value_name = "CODE", value_parser = super::language)]
    language: Option<Language>,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: PersonAddArguments) -> Result<()> {
    let database = ConfiguredDatabase::for_one_question(&context.config()?)?;
    let (ids, now) = (IdGenerator::system(), context.now());
    let addresses = [arguments.phone, arguments.email].concat();
    let person = Person {
        role: arguments.role,
        tags: arguments.tag,
        language: arguments.language,
        ..Person::new(&ids, arguments.name, now)
    };
    let shown = context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find_open(&db).await?;
        let telling = Telling::of(context, &arguments.operator, &db, tenant.id).await?;
        let unit = move |tx: &mut munshi_store::Tx<'_>| -> Result<Shown, CommandFailure> {
            persons::put(tx, &person)?;
            add_addresses(tx, &person, &addresses)?;
            let kinds: Vec<&str> = addresses.iter().map(|address| address.kind().as_str()).collect();
            let payload = json!({ "role": person.role, "tags": person.tags, "addresses": kinds });
            let shown = Shown::of(tx, person)?;
            telling.tell(tx, &shown.person, AuditEvent::PERSON_ADDED, payload)?;
            Ok(shown)
        };
        db.write(tenant.id, unit).await
    })?;
    context.output.answer(&shown, |shown, _| {
        let person = &shown.person;
        let what = person.role.map_or_else(String::new, |role| format!(", {role}"));
        format!("Added {}{what}. Their id is {}.", person.name, person.id)
    })
}
