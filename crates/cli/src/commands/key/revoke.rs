//! `munshi key revoke KEY`

use munshi_identity::keys::{self, ApiKeyRecord};
use munshi_store::Tx;
use munshi_types::IdGenerator;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::Result;
use serde::Serialize;

use super::{KeySelectorArguments, Telling, find, not_found_failure};
use crate::context::CommandContext;

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
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let answer = context.block_on(async {
        let db = database.open().await?;
        let tenant = which.of.find(&db).await?;
        let actor = which.operator.resolve_actor(context, &db, tenant.id).await?;
        let telling = Telling { actor, ids: IdGenerator::system(), now: context.now() };
        db.write(tenant.id, move |tx| revoke(tx, &which.key, &telling)).await
    })?;
    context.output.print_result(&answer, |answer, _| {
        let with_it = match &answer.made_with_it[..] {
            [] => String::new(),
            names => format!(" Also revoked, because it created them: {}.", names.join(", ")),
        };
        let name = &answer.key.name;
        match answer.changed {
            true => {
                format!("Revoked {name}. A running server rejects it within two seconds.{with_it}")
            }
            false => format!("{name} was already revoked.{with_it}"),
        }
    })
}

fn revoke(tx: &mut Tx<'_>, given: &str, telling: &Telling) -> Result<Answer> {
    let id = find(tx, given)?.id;
    let revoked = keys::revoke(tx, id, telling.now)?.ok_or_else(|| not_found_failure(given))?;
    if revoked.changed {
        telling.record(tx, "api_key.revoked", &revoked.key)?;
    }
    for child in &revoked.made_with_it {
        telling.record(tx, "api_key.revoked", child)?;
    }
    let made_with_it = revoked.made_with_it.into_iter().map(|key| key.name).collect();
    Ok(Answer { key: revoked.key, changed: revoked.changed, made_with_it })
}
