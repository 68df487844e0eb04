//! `munshi operator link [EMAIL]`

use clap::Args;
use munshi_identity::links::{self, LinkPurpose, NewOneTimeLink};
use munshi_identity::operators::{self, OPERATORS};
use munshi_store::PlatformTx;
use munshi_types::{IdGenerator, SystemRandom, TenantId};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};
use serde_json::json;

use super::{Shown, Telling, find};
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct OperatorLinkArguments {
    /// Operator whose password to reset. Default: the only operator, or the first one to create
    email: Option<String>,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &OperatorLinkArguments) -> Result<()> {
    let config = context.config()?;
    let database = ConfiguredDatabase::single_connection(&config)?;
    let (link, token, about) = context.block_on(async {
        let db = database.open().await?;
        let actor = arguments.operator.resolve_actor(context, &db, TenantId::PLATFORM).await?;
        let telling = Telling { actor, ids: IdGenerator::system(), now: context.now() };
        let email = arguments.email.clone();
        let unit = move |tx: &mut PlatformTx<'_>| -> Result<_> {
            let (purpose, about) = purpose(tx, email.as_deref())?;
            let by = telling.actor.id.clone();
            let new = NewOneTimeLink { purpose: &purpose, made_by: &by, life: links::LIFE };
            let (link, token) = links::make(tx, &telling.ids, &SystemRandom, &new, telling.now)?;
            telling.record(tx, &[], "link.made", link.id.to_string(), json!({ "purpose": purpose }))?;
            Ok((link, token, about))
        };
        db.platform(OPERATORS).write(unit).await
    })?;
    Shown::new(&config, &token, link.ends_at).print_result(context, &about)
}

fn purpose(tx: &mut PlatformTx<'_>, email: Option<&str>) -> Result<(LinkPurpose, String)> {
    let operator = match email {
        Some(email) => find(tx, email)?,
        None => {
            let mut all = operators::list(tx)?;
            match (all.pop(), all.is_empty()) {
                (None, _) => {
                    return Ok((LinkPurpose::First, "This link creates the first operator.".to_owned()));
                }
                (Some(only), true) => only,
                (Some(_), false) => {
                    return Err(CommandFailure::usage("there are several operators")
                        .hint("name one: munshi operator link EMAIL"));
                }
            }
        }
    };
    let about = format!("This link lets {} choose a new password and sign in.", operator.email);
    Ok((LinkPurpose::Recovery { operator: operator.id }, about))
}
