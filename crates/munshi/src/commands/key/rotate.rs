//! `munshi key rotate KEY`

use std::time::Duration;

use clap::Args;
use munshi_identity::keys;
use munshi_store::Tx;
use munshi_types::{IdGenerator, SystemRandom};

use super::{KeySelectorArguments, Shown, Telling, find};
use crate::context::CommandContext;
use crate::failure::{CommandFailure, Result};
use crate::output::shown::count;
use crate::wiring::database::ConfiguredDatabase;

#[derive(Debug, Args)]
pub(crate) struct KeyRotateArguments {
    #[command(flatten)]
    which: KeySelectorArguments,
    /// So many hours longer the secret before opens; 0 ends it at once
    #[arg(long, value_name = "HOURS", default_value_t = 24, value_parser = clap::value_parser!(u32).range(0..=720))]
    grace: u32,
}

pub(super) fn run(context: &CommandContext, arguments: KeyRotateArguments) -> Result<()> {
    let database = ConfiguredDatabase::for_one_question(&context.config()?)?;
    let KeyRotateArguments { which, grace } = arguments;
    let shown = context.block_on(async {
        let db = database.open().await?;
        let tenant = which.of.find_open(&db).await?;
        let actor = which.operator.known_in(context, &db, tenant.id).await?;
        let telling = Telling { actor, ids: IdGenerator::system(), now: context.now() };
        db.write(tenant.id, move |tx| renew(tx, &which.key, grace, &telling)).await
    })?;
    context.output.answer(&shown, |shown, _| {
        let before = match grace {
            0 => "The one before opens nothing any more".to_owned(),
            hours => format!("The one before opens for {} longer", count(hours.into(), "hour")),
        };
        let name = &shown.key.name;
        format!(
            "{name} has another key. {before}. This is the new one; it is not shown again:\n\n{}\n",
            shown.text
        )
    })
}

fn renew(tx: &mut Tx<'_>, given: &str, grace: u32, telling: &Telling) -> Result<Shown> {
    let key = find(tx, given)?;
    let grace = Duration::from_secs(u64::from(grace) * 60 * 60);
    let made = keys::rotate(tx, &SystemRandom, key.id, grace, telling.now)?.ok_or_else(|| {
        CommandFailure::refused(format!("{} was revoked or has ended", key.name))
            .hint("make another: `munshi key add`")
    })?;
    // Whoever sees the new secret answers for the key.
    keys::hand_over(tx, key.id, &keys::KeyMaker::named(telling.actor.id.clone()))?;
    telling.tell(tx, "api_key.rotated", &made.key)?;
    Ok(Shown::of(made))
}
