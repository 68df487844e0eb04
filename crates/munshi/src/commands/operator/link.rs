//! `munshi operator link [EMAIL]`

use clap::Args;
use munshi_identity::links::{self, NewLink, Purpose};
use munshi_identity::operators::{self, OPERATORS};
use munshi_store::PlatformTx;
use munshi_types::{Ids, SystemRandom, TenantId};
use serde_json::json;

use super::{Shown, Telling, find};
use crate::commands::vault::Operator;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::wiring::database::Database;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Whose password is to be chosen anew; without it, the only operator there is, or the first while there is none
    email: Option<String>,
    #[command(flatten)]
    operator: Operator,
}

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<()> {
    let config = context.config()?;
    let database = Database::for_one_question(&config)?;
    let (link, token, about) = context.block_on(async {
        let db = database.open().await?;
        let actor = arguments.operator.known_in(context, &db, TenantId::PLATFORM).await?;
        let telling = Telling { actor, ids: Ids::system(), now: context.now() };
        let email = arguments.email.clone();
        let unit = move |tx: &mut PlatformTx<'_>| -> Result<_> {
            let (purpose, about) = purpose(tx, email.as_deref())?;
            let by = telling.actor.id.clone();
            let new = NewLink { purpose: &purpose, made_by: &by, life: links::LIFE };
            let (link, token) = links::make(tx, &telling.ids, &SystemRandom, &new, telling.now)?;
            telling.tell(tx, &[], "link.made", link.id.to_string(), json!({ "purpose": purpose }))?;
            Ok((link, token, about))
        };
        db.platform(OPERATORS).write(unit).await
    })?;
    Shown::of(&config, &token, link.ends_at).answer(context, &about)
}

fn purpose(tx: &mut PlatformTx<'_>, email: Option<&str>) -> Result<(Purpose, String)> {
    let operator = match email {
        Some(email) => find(tx, email)?,
        None => {
            let mut all = operators::all(tx)?;
            match (all.pop(), all.is_empty()) {
                (None, _) => return Ok((Purpose::First, "This link makes the first operator.".to_owned())),
                (Some(only), true) => only,
                (Some(_), false) => {
                    return Err(Failure::usage("there are several operators")
                        .hint("say whose link it is: munshi operator link EMAIL"));
                }
            }
        }
    };
    let about = format!("With this link {} chooses another password and is signed in.", operator.email);
    Ok((Purpose::Recovery { operator: operator.id }, about))
}
