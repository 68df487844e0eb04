//! `munshi operator prove EMAIL`

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

#[derive(Debug, Args)]
pub(crate) struct OperatorProveArguments {
    /// E-mail of the account
    email: String,
    #[command(flatten)]
    operator: OperatorArguments,
}

#[derive(Debug, Serialize)]
struct Proved {
    email: String,
    /// False where it was proved before: then nothing has ended.
    first: bool,
}

pub(super) fn run(context: &CommandContext, arguments: &OperatorProveArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let proved = context.block_on(async {
        let db = database.open().await?;
        let actor = arguments.operator.resolve_actor(context, &db, TenantId::PLATFORM).await?;
        let telling = Telling { actor, ids: IdGenerator::system(), now: context.now() };
        let email = arguments.email.clone();
        let unit = move |tx: &mut PlatformTx<'_>| -> Result<_> {
            let operator = find(tx, &email)?;
            let ended = operators::mark_verified_revoking(tx, operator.id, telling.now)?;
            if let Some(keys) = &ended {
                let tenants: Vec<TenantId> =
                    roles::list(tx, operator.id)?.into_iter().map(|(tenant, _)| tenant).collect();
                let payload = json!({ "how": "keeper" });
                telling.record(tx, &tenants, "operator.proved", operator.id.to_string(), payload)?;
                for (tenant, key) in keys {
                    telling.record_revoked_keys(tx, *tenant, std::slice::from_ref(key))?;
                }
            }
            Ok(Proved { email: operator.email, first: ended.is_some() })
        };
        db.platform(OPERATORS).write(unit).await
    })?;
    context.output.print_result(&proved, |Proved { email, first }, _| match first {
        true => format!(
            "{email} is verified. Its password, sign-ins, links and keys are revoked. Run `munshi operator link {email}` for a link \
             to set a new password."
        ),
        false => format!("{email} was already verified; nothing changed."),
    })
}
