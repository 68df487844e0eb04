//! `munshi operator withdraw EMAIL`

use clap::Args;
use munshi_identity::links::{self, InvitationScope, LinkPurpose, OneTimeLink};
use munshi_identity::operators::OPERATORS;
use munshi_store::PlatformTx;
use munshi_types::{IdGenerator, TenantId};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};
use serde::Serialize;
use serde_json::json;

use super::Telling;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::output::formatting::format_count;

#[derive(Debug, Args)]
pub(crate) struct OperatorWithdrawArguments {
    /// Invited e-mail, in any tenant
    email: String,
    #[command(flatten)]
    operator: OperatorArguments,
}

#[derive(Debug, Serialize)]
struct Withdrawn {
    email: String,
    withdrawn: usize,
}

pub(super) fn run(context: &CommandContext, arguments: &OperatorWithdrawArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let ended = context.block_on(async {
        let db = database.open().await?;
        let actor = arguments.operator.resolve_actor(context, &db, TenantId::PLATFORM).await?;
        let telling = Telling { actor, ids: IdGenerator::system(), now: context.now() };
        let email = arguments.email.clone();
        let unit = move |tx: &mut PlatformTx<'_>| -> Result<usize> {
            let ended = links::withdraw_all(tx, &email, telling.now)?;
            for link in &ended {
                telling.record(tx, &tenants(link), "link.withdrawn", link.id.to_string(), json!({}))?;
            }
            Ok(ended.len())
        };
        db.platform(OPERATORS).write(unit).await
    })?;
    if ended == 0 {
        return Err(CommandFailure::not_found(format!("{} has no open invitation", arguments.email))
            .hint("`munshi operator list --invited` lists open invitations"));
    }
    let withdrawn = Withdrawn { email: arguments.email.clone(), withdrawn: ended };
    context.output.print_result(&withdrawn, |withdrawn, _| {
        let invitations = format_count(u64::try_from(withdrawn.withdrawn).unwrap_or(u64::MAX), "invitation");
        format!("Withdrew {invitations} of {}.", withdrawn.email)
    })
}

/// The tenants that hear of it.
fn tenants(link: &OneTimeLink) -> Vec<TenantId> {
    match link.purpose {
        LinkPurpose::Invitation { place: InvitationScope::Workspace { tenant, .. }, .. } => vec![tenant],
        _ => Vec::new(),
    }
}
