//! `munshi apply DIR`: a tenant brought to what its folder says, in one transaction.

use clap::Args;
use munshi_tiers::Authorship;
use munshi_types::{IdGenerator, Zone};

use super::diff::{self, FolderPlanReport};
use crate::context::CommandContext;
use crate::failure::{CommandFailure, Result};
use crate::output::TextStyler;
use crate::output::shown::count;
use crate::wiring::database::ConfiguredDatabase;
use crate::wiring::given_back::{self, LoginRevocationPlan};
use crate::wiring::installed::installed;
use crate::wiring::{policy, tiers};

#[derive(Debug, Args)]
pub(crate) struct ApplyArguments {
    #[command(flatten)]
    folder: diff::TenantFolderArguments,
    #[command(flatten)]
    by: ChangeNoteArguments,
    /// The time zone of a tenant that is made
    #[arg(long)]
    zone: Option<Zone>,
}

/// What stands in the history.
#[derive(Debug, Args)]
pub(crate) struct ChangeNoteArguments {
    /// Who does it, for the history
    #[arg(long, value_name = "NAME", env = "USER", hide_env = true, default_value = "somebody")]
    author: String,
    /// Why, for the history
    #[arg(long, value_name = "TEXT", default_value = "")]
    note: String,
}

impl ChangeNoteArguments {
    pub(super) fn authorship(
        self,
        context: &CommandContext,
        otherwise: impl FnOnce() -> String,
    ) -> Authorship {
        let note = if self.note.is_empty() { otherwise() } else { self.note };
        Authorship { author: self.author, note, made_at: context.now() }
    }
}

pub(super) fn run(context: &CommandContext, arguments: ApplyArguments) -> Result<()> {
    let config = context.config()?;
    let database = ConfiguredDatabase::for_one_question(&config)?;
    let by = arguments.by.authorship(context, String::new);
    let plans = context.block_on(async {
        let db = database.open_or_create(&config, context.now()).await?;
        let plans = arguments.folder.plan(&db, &installed(&config)?, &policy::companions(&config)?).await?;
        if let (Some(zone), Some(plan)) = (&arguments.zone, plans.iter().find(|plan| !plan.is_new)) {
            let what =
                format!("--zone {zone} is for a tenant that is made, and {} is there already", plan.tenant);
            return Err(CommandFailure::usage(what).hint("leave --zone out; nothing was changed"));
        }
        // Shown before it is done: whoever is overtaken sees what they meant to change.
        let mut planned = FolderPlanReport { plans: plans.clone(), applied: true, logins: Vec::new() };
        if !context.output.is_json() {
            context.output.answer(&planned, diff::words)?;
        }
        let away = given_back::taken_away(&db, &plans).await?;
        let going = LoginRevocationPlan::of((context, &config), &db, &away).await?;
        let zone = arguments.zone.unwrap_or_default();
        let ids = IdGenerator::system();
        munshi_tiers::apply(&db, plans, zone, by, &ids, tiers::tell(ids.clone())).await?;
        planned.logins = going.give_back().await;
        Ok(planned)
    })?;
    context.output.answer(&plans, words)
}

/// What was done, after what was to be done has been shown.
fn words(planned: &FolderPlanReport, _painter: TextStyler) -> String {
    let changes: usize = planned.plans.iter().map(|plan| plan.changes.len() + plan.files.len()).sum();
    if changes > 0 {
        let logins: String = planned.logins.iter().map(|gone| gone.words.as_str()).collect();
        format!("Applied {}.\n{logins}", count(changes as u64, "change"))
    } else if planned.plans.iter().any(|plan| plan.is_new) {
        "Made the tenant; there were no tiers to apply.\n".to_owned()
    } else {
        String::new()
    }
}
