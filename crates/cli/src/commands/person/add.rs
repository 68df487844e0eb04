//! `munshi person add NAME`

use clap::Args;
use munshi_identity::{ContactAddress, Person, Role, persons};
use munshi_safety::audit::AuditEvent;
use munshi_types::{IdGenerator, Language};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};
use serde_json::json;

use super::{Shown, Telling, add_addresses};
use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct PersonAddArguments {
    /// Display name
    #[arg(value_parser = super::parse_name)]
    name: String,
    /// owner, admin, staff or viewer. Default: none, a contact of the tenant
    #[arg(long)]
    role: Option<Role>,
    /// Phone number; repeatable
    #[arg(long, value_parser = super::parse_phone)]
    phone: Vec<ContactAddress>,
    /// E-mail address; repeatable
    #[arg(long, value_parser = super::parse_email)]
    email: Vec<ContactAddress>,
    /// Audience they belong to, such as customers; repeatable
    #[arg(long, value_parser = super::parse_tag)]
    tag: Vec<String>,
    /// Their language, such as hi
    #[arg(long, value_name = "CODE", value_parser = super::parse_language)]
    language: Option<Language>,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: PersonAddArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
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
        let telling = Telling::from_operator(context, &arguments.operator, &db, tenant.id).await?;
        let unit = move |tx: &mut munshi_store::Tx<'_>| -> Result<Shown, CommandFailure> {
            persons::upsert(tx, &person)?;
            add_addresses(tx, &person, &addresses)?;
            let kinds: Vec<&str> = addresses.iter().map(|address| address.kind().as_str()).collect();
            let payload = json!({ "role": person.role, "tags": person.tags, "addresses": kinds });
            let shown = Shown::load(tx, person)?;
            telling.record(tx, &shown.person, AuditEvent::PERSON_ADDED, payload)?;
            Ok(shown)
        };
        db.write(tenant.id, unit).await
    })?;
    context.output.print_result(&shown, |shown, _| {
        let person = &shown.person;
        let what = person.role.map_or_else(String::new, |role| format!(", {role}"));
        format!("Added {}{what}. Their id is {}.", person.name, person.id)
    })
}
