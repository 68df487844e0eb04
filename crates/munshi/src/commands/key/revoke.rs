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
    /// The names of those that were made with it and are revoked with it.
    made_with_it: Vec<String>,
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
    context.output.answer(&answer, |answer, _| {
        let with_it = match &answer.made_with_it[..] {
            [] => String::new(),
            names => format!(" With it, since they were made with it: {}.", names.join(", ")),
        };
        let name = &answer.key.name;
        match answer.changed {
            true => {
                format!("Revoked {name}. A running server stops taking it within a second or two.{with_it}")
            }
            false => format!("{name} was revoked already.{with_it}"),
        }
    })
}

fn take_back(tx: &mut Tx<'_>, given: &str, telling: &Telling) -> Result<Answer> {
    let id = find(tx, given)?.id;
    let revoked = keys::revoke(tx, id, telling.now)?.ok_or_else(|| missing(given))?;
    if revoked.changed {
        telling.tell(tx, "api_key.revoked", &revoked.key)?;
    }
    for child in &revoked.made_with_it {
        telling.tell(tx, "api_key.revoked", child)?;
    }
    let made_with_it = revoked.made_with_it.into_iter().map(|key| key.name).collect();
    Ok(Answer { key: revoked.key, changed: revoked.changed, made_with_it })
}
