//! `munshi key revoke KEY`

use munshi_identity::keys::{self, ApiKeyRecord};
use munshi_store::Tx;
use munshi_types::IdGenerator;
use serde::Serialize;

use super::{KeySelectorArguments, Telling, find, missing};
use crate::context::CommandContext;
use crate::failure::Result;
use crate::wiring::database::ConfiguredDatabase;

#[derive(Debug, Serialize)]
struct Answer {
    #[serde(flatten)]
    key: ApiKeyRecord,
    /// False when it was revoked before.
    changed: bool,
}

pub(super) fn run(context: &CommandContext, which: KeySelectorArguments) -> Result<()> {
    let database = ConfiguredDatabase::for_one_question(&context.config()?)?;
    let answer = context.block_on(async {
        let db = database.open().await?;
        let tenant = which.of.find(&db).await?;
        let actor = which.operator.known_in(context, &db, tenant.id).await?;
        let telling = Telling { actor, ids: IdGenerator::system(), now: context.now() };
        db.write(tenant.id, move |tx| take_back(tx, &which.key, &telling)).await
    })?;
    context.output.answer(&answer, |answer, _| match answer.changed {
        true => {
            format!("Revoked {}. A running server stops taking it within a second or two.", answer.key.name)
        }
        false => format!("{} was revoked already.", answer.key.name),
    })
}

fn take_back(tx: &mut Tx<'_>, given: &str, telling: &Telling) -> Result<Answer> {
    let id = find(tx, given)?.id;
    let revoked = keys::revoke(tx, id, telling.now)?.ok_or_else(|| missing(given))?;
    if revoked.changed {
        telling.tell(tx, "api_key.revoked", &revoked.key)?;
    }
    Ok(Answer { key: revoked.key, changed: revoked.changed })
}
