//! `munshi operator withdraw EMAIL`

use clap::Args;
use munshi_identity::links::{self, Link, Place, Purpose};
use munshi_identity::operators::OPERATORS;
use munshi_store::PlatformTx;
use munshi_types::{Ids, TenantId};
use serde::Serialize;
use serde_json::json;

use super::Telling;
use crate::commands::vault::Operator;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::output::shown::count;
use crate::wiring::database::Database;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Who was invited, wherever that was
    email: String,
    #[command(flatten)]
    operator: Operator,
}

#[derive(Debug, Serialize)]
struct Withdrawn {
    email: String,
    withdrawn: usize,
}

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<()> {
    let database = Database::for_one_question(&context.config()?)?;
    let ended = context.block_on(async {
        let db = database.open().await?;
        let actor = arguments.operator.known_in(context, &db, TenantId::PLATFORM).await?;
        let telling = Telling { actor, ids: Ids::system(), now: context.now() };
        let email = arguments.email.clone();
        let unit = move |tx: &mut PlatformTx<'_>| -> Result<usize> {
            let ended = links::withdraw_all(tx, &email, telling.now)?;
            for link in &ended {
                telling.tell(tx, &tenants(link), "link.withdrawn", link.id.to_string(), json!({}))?;
            }
            Ok(ended.len())
        };
        db.platform(OPERATORS).write(unit).await
    })?;
    if ended == 0 {
        return Err(Failure::not_found(format!("{} has no invitation that is open", arguments.email))
            .hint("`munshi operator list --invited` shows who is invited"));
    }
    let withdrawn = Withdrawn { email: arguments.email.clone(), withdrawn: ended };
    context.output.answer(&withdrawn, |withdrawn, _| {
        let invitations = count(u64::try_from(withdrawn.withdrawn).unwrap_or(u64::MAX), "invitation");
        format!("Took back {invitations} of {}.", withdrawn.email)
    })
}

/// The tenants that hear of it.
fn tenants(link: &Link) -> Vec<TenantId> {
    match link.purpose {
        Purpose::Invitation { place: Place::Workspace { tenant, .. }, .. } => vec![tenant],
        _ => Vec::new(),
    }
}
