//! `munshi tier rollback TENANT KIND NAME`

use clap::Args;
use munshi_tiers::{ApplyPlan, history};
use munshi_types::{IdGenerator, Zone};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::Result;
use munshi_wiring::installation::list_installed_names;
use munshi_wiring::tier_audit;
use serde::Serialize;

use super::TierSelectorArguments;
use crate::commands::apply::ChangeNoteArguments;
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct TierRollbackArguments {
    #[command(flatten)]
    which: TierSelectorArguments,
    /// Version to roll back to. Default: the previous one
    #[arg(long, value_name = "VERSION", value_parser = clap::value_parser!(u32).range(1..))]
    to: Option<u32>,
    #[command(flatten)]
    by: ChangeNoteArguments,
}

#[derive(Debug, Serialize)]
struct RolledBack {
    back_to: u32,
    #[serde(flatten)]
    plan: ApplyPlan,
}

pub(super) fn run(context: &CommandContext, arguments: TierRollbackArguments) -> Result<()> {
    let config = context.config()?;
    let database = ConfiguredDatabase::single_connection(&config)?;
    let TierSelectorArguments { tenant, kind, name } = arguments.which;
    let back = context.block_on(async {
        let db = database.open().await?;
        let known = list_installed_names(&config)?;
        let (plan, back_to) = history::plan_rollback(&db, &tenant, kind, &name, arguments.to, &known).await?;
        let by = arguments.by.authorship(context, || format!("back to version {back_to}"));
        let (ids, zone) = (IdGenerator::system(), Zone::default());
        munshi_tiers::apply(&db, vec![plan.clone()], zone, by, &ids, tier_audit::build_recorder(ids.clone()))
            .await?;
        Ok(RolledBack { back_to, plan })
    })?;
    context.output.print_result(&back, |back, _| match back.plan.changes.first() {
        None => format!("{kind} {name} is already identical to version {}.", back.back_to),
        Some(change) if change.from == Some(change.to) => {
            format!("{change}Restored from the archive unchanged.\n")
        }
        Some(change) => {
            format!("{change}Rolled back to version {}, as version {}.\n", back.back_to, change.to)
        }
    })
}
