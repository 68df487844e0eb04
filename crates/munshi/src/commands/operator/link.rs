//! `munshi operator link [EMAIL]`

use clap::Args;
use munshi_identity::links::{self, LinkPurpose, NewOneTimeLink};
use munshi_identity::operators::{self, OPERATORS};
use munshi_store::PlatformTx;
use munshi_types::{IdGenerator, SystemRandom, TenantId};
use serde_json::json;

use super::{Shown, Telling, find};
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::failure::{CommandFailure, Result};
use crate::wiring::database::ConfiguredDatabase;

#[derive(Debug, Args)]
pub(crate) struct OperatorLinkArguments {
    /// Whose password is to be chosen anew; without it, the only operator there is, or the first while there is none
    email: Option<String>,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &OperatorLinkArguments) -> Result<()> {
    let config = context.config()?;
    let database = ConfiguredDatabase::for_one_question(&config)?;
    let (link, token, about) = context.block_on(async {
        let db = database.open().await?;
        let actor = arguments.operator.known_in(context, &db, TenantId::PLATFORM).await?;
        let telling = Telling { actor, ids: IdGenerator::system(), now: context.now() };
        let email = arguments.email.clone();
        let unit = move |tx: &mut PlatformTx<'_>| -> Result<_> {
            let (purpose, about) = purpose(tx, email.as_deref())?;
            let by = telling.actor.id.clone();
            let new = NewOneTimeLink { purpose: &purpose, made_by: &by, life: links::LIFE };
            let (link, token) = links::make(tx, &telling.ids, &SystemRandom, &new, telling.now)?;
            telling.tell(tx, &[], "link.made", link.id.to_string(), json!({ "purpose": purpose }))?;
            Ok((link, token, about))
        };
        db.platform(OPERATORS).write(unit).await
    })?;
    Shown::of(&config, &token, link.ends_at).answer(context, &about)
}

fn purpose(tx: &mut PlatformTx<'_>, email: Option<&str>) -> Result<(LinkPurpose, String)> {
    let operator = match email {
        Some(email) => find(tx, email)?,
        None => {
            let mut all = operators::all(tx)?;
            match (all.pop(), all.is_empty()) {
                (None, _) => {
                    return Ok((LinkPurpose::First, "This link makes the first operator.".to_owned()));
                }
                (Some(only), true) => only,
                (Some(_), false) => {
                    return Err(CommandFailure::usage("there are several operators")
                        .hint("say whose link it is: munshi operator link EMAIL"));
                }
            }
        }
    };
    let about = format!("With this link {} chooses another password and is signed in.", operator.email);
    Ok((LinkPurpose::Recovery { operator: operator.id }, about))
}
