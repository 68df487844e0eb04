//! `munshi person add NAME`

use clap::Args;
use munshi_identity::{Address, Person, Role, persons};
use munshi_safety::audit::Event;
use munshi_types::{Ids, Language};
use serde_json::json;

use super::{Shown, Telling, add_addresses};
use crate::commands::tenant::Of;
use crate::commands::vault::Operator;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::wiring::database::Database;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// As people call them
    #[arg(value_parser = super::name)]
    name: String,
    /// owner, admin, staff or viewer; without it, somebody the tenant deals with
    #[arg(long)]
    role: Option<Role>,
    /// A number they are reached at; may be given more than once
    #[arg(long, value_parser = super::phone)]
    phone: Vec<Address>,
    /// An e-mail address; may be given more than once
    #[arg(long, value_parser = super::email)]
    email: Vec<Address>,
    /// An audience they belong to, such as customers; may be given more than once
    #[arg(long, value_parser = super::tag)]
    tag: Vec<String>,
    /// What they are spoken to in, such as hi
    #[arg(long, value_name = "CODE", value_parser = super::language)]
    language: Option<Language>,
    #[command(flatten)]
    of: Of,
    #[command(flatten)]
    operator: Operator,
}

pub(super) fn run(context: &Context, arguments: Arguments) -> Result<()> {
    let database = Database::for_one_question(&context.config()?)?;
    let (ids, now) = (Ids::system(), context.now());
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
        let unit = move |tx: &mut munshi_store::Tx<'_>| -> Result<Shown, Failure> {
            persons::put(tx, &person)?;
            add_addresses(tx, &person, &addresses)?;
            let kinds: Vec<&str> = addresses.iter().map(|address| address.kind().as_str()).collect();
            let payload = json!({ "role": person.role, "tags": person.tags, "addresses": kinds });
            let shown = Shown::of(tx, person)?;
            telling.tell(tx, &shown.person, Event::PERSON_ADDED, payload)?;
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
