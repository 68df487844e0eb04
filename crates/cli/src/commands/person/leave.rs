//! `munshi person leave PERSON`

use clap::Args;
use munshi_identity::{Person, Role, persons};
use munshi_safety::audit::AuditEvent;
use munshi_store::Tx;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};
use serde::Serialize;
use serde_json::json;

use super::{Telling, find, last_owner_failure};
use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct PersonLeaveArguments {
    /// Name, phone, e-mail, @handle or id
    person: String,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

#[derive(Debug, Serialize)]
struct Left {
    #[serde(flatten)]
    person: Person,
    /// False when they had left already.
    changed: bool,
}

pub(super) fn run(context: &CommandContext, arguments: PersonLeaveArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let given = arguments.person;
    let left = context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find_open(&db).await?;
        let telling = Telling::from_operator(context, &arguments.operator, &db, tenant.id).await?;
        db.write(tenant.id, move |tx| leave(tx, &given, &telling)).await
    })?;
    context.output.print_result(&left, |left, _| match left.changed {
        true => format!("{} has left and no longer has access.", left.person.name),
        false => format!("{} had already left.", left.person.name),
    })
}

fn leave(tx: &mut Tx<'_>, given: &str, telling: &Telling) -> Result<Left, CommandFailure> {
    let before = find(tx, given)?;
    if before.left_at.is_some() {
        return Ok(Left { person: before, changed: false });
    }
    if before.role == Some(Role::Owner) && persons::is_last_owner(tx, before.id)? {
        return Err(last_owner_failure(&before.name));
    }
    let person = Person { left_at: Some(telling.now), ..before.clone() };
    persons::upsert(tx, &person)?;
    telling.record(tx, &person, AuditEvent::PERSON_LEFT, json!({ "role": person.role }))?;
    telling.revoke_keys(tx, &before, &person)?;
    Ok(Left { person, changed: true })
}
