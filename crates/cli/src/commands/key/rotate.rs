//! `munshi key rotate KEY`

use std::time::Duration;

use clap::Args;
use munshi_identity::keys;
use munshi_store::Tx;
use munshi_types::{IdGenerator, SystemRandom};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};

use super::{KeySelectorArguments, Shown, Telling, find};
use crate::context::CommandContext;
use crate::output::formatting::format_count;

#[derive(Debug, Args)]
pub(crate) struct KeyRotateArguments {
    #[command(flatten)]
    which: KeySelectorArguments,
    /// Hours the old secret stays valid; 0 revokes it at once
    #[arg(long, value_name = "HOURS", default_value_t = 24, value_parser = clap::value_parser!(u32).range(0..=720))]
    grace: u32,
}

pub(super) fn run(context: &CommandContext, arguments: KeyRotateArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let KeyRotateArguments { which, grace } = arguments;
    let shown = context.block_on(async {
        let db = database.open().await?;
        let tenant = which.of.find_open(&db).await?;
        let actor = which.operator.resolve_actor(context, &db, tenant.id).await?;
        let telling = Telling { actor, ids: IdGenerator::system(), now: context.now() };
        db.write(tenant.id, move |tx| rotate(tx, &which.key, grace, &telling)).await
    })?;
    context.output.print_result(&shown, |shown, _| {
        let before = match grace {
            0 => "The old one is revoked".to_owned(),
            hours => format!("The old one stays valid for {}", format_count(hours.into(), "hour")),
        };
        let name = &shown.key.name;
        format!("Rotated {name}. {before}. Store the new key now; it is not shown again:\n\n{}\n", shown.text)
    })
}

fn rotate(tx: &mut Tx<'_>, given: &str, grace: u32, telling: &Telling) -> Result<Shown> {
    let key = find(tx, given)?;
    let grace = Duration::from_secs(u64::from(grace) * 60 * 60);
    let made = keys::rotate(tx, &SystemRandom, key.id, grace, telling.now)?.ok_or_else(|| {
        CommandFailure::refused(format!("{} is revoked or expired", key.name))
            .hint("create a new one: `munshi key add`")
    })?;
    // Whoever sees the new secret answers for the key.
    keys::transfer_maker(tx, key.id, &keys::KeyMaker::from_name(telling.actor.id.clone()))?;
    telling.record(tx, "api_key.rotated", &made.key)?;
    Ok(Shown::from_issued(made))
}
