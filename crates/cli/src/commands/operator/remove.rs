//! `munshi operator remove EMAIL`

use clap::Args;
use munshi_identity::operators::{self, OPERATORS, roles};
use munshi_store::PlatformTx;
use munshi_types::{IdGenerator, TenantId};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::Result;
use serde::Serialize;
use serde_json::json;

use super::{Telling, find};
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::output::ConfirmationPrompt;

#[derive(Debug, Args)]
pub(crate) struct OperatorRemoveArguments {
    /// E-mail of the account
    email: String,
    /// Skip the confirmation
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    operator: OperatorArguments,
}

#[derive(Debug, Serialize)]
struct Removed {
    email: String,
    /// Keys that they had made and that open nothing any more.
    revoked: Vec<String>,
}

pub(super) fn run(context: &CommandContext, arguments: &OperatorRemoveArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let about = format!(
        "This deletes the account of {} permanently: its browsers are signed out and its keys revoked.",
        arguments.email
    );
    ConfirmationPrompt { about, word: &arguments.email, given: arguments.yes }.ask(&context.output)?;
    let removed = context.block_on(async {
        let db = database.open().await?;
        let actor = arguments.operator.resolve_actor(context, &db, TenantId::PLATFORM).await?;
        let telling = Telling { actor, ids: IdGenerator::system(), now: context.now() };
        let email = arguments.email.clone();
        let unit = move |tx: &mut PlatformTx<'_>| -> Result<_> {
            let operator = find(tx, &email)?;
            let tenants: Vec<TenantId> =
                roles::list(tx, operator.id)?.into_iter().map(|(tenant, _)| tenant).collect();
            let keys = operators::remove(tx, operator.id, telling.now)?.unwrap_or_default();
            let payload = json!({ "keeper": operator.keeper });
            telling.record(tx, &tenants, "operator.removed", operator.id.to_string(), payload)?;
            for (tenant, key) in &keys {
                telling.record_revoked_keys(tx, *tenant, std::slice::from_ref(key))?;
            }
            let revoked = keys.into_iter().map(|(_, key)| key.name).collect();
            Ok(Removed { email: operator.email, revoked })
        };
        db.platform(OPERATORS).write(unit).await
    })?;
    context.output.print_result(&removed, |removed, _| {
        format!("Deleted the account of {}.{}", removed.email, super::render_revoked_keys(&removed.revoked))
    })
}
