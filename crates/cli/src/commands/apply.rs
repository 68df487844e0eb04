//! `munshi apply DIR`: a tenant brought to what its folder says, in one transaction.

use clap::Args;
use munshi_tiers::Authorship;
use munshi_types::{IdGenerator, Zone};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};
use munshi_wiring::installation::list_installed_names;
use munshi_wiring::revoke_logins::{self, LoginRevocationPlan};
use munshi_wiring::{policy, tier_audit};

use super::diff::{self, FolderPlanReport};
use crate::context::CommandContext;
use crate::output::TextStyler;
use crate::output::formatting::format_count;

#[derive(Debug, Args)]
pub(crate) struct ApplyArguments {
    #[command(flatten)]
    folder: diff::TenantFolderArguments,
    #[command(flatten)]
    by: ChangeNoteArguments,
    /// Time zone of a new tenant
    #[arg(long)]
    zone: Option<Zone>,
}

/// What stands in the history.
#[derive(Debug, Args)]
pub(crate) struct ChangeNoteArguments {
    /// Author, for the history
    #[arg(long, value_name = "NAME", env = "USER", hide_env = true, default_value = "somebody")]
    author: String,
    /// Reason, for the history
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
    let database = ConfiguredDatabase::single_connection(&config)?;
    let by = arguments.by.authorship(context, String::new);
    let plans = context.block_on(async {
        let db = database.open_or_create(&config, context.now()).await?;
        let plans = arguments
            .folder
            .plan(&db, &list_installed_names(&config)?, &policy::build_folder_extensions(&config)?)
            .await?;
        if let (Some(zone), Some(plan)) = (&arguments.zone, plans.iter().find(|plan| !plan.is_new)) {
            let what =
                format!("--zone {zone} applies to new tenants only, and {} already exists", plan.tenant);
            return Err(CommandFailure::usage(what).hint("remove --zone; nothing was changed"));
        }
        // Shown before it is done: whoever is overtaken sees what they meant to change.
        let mut planned = FolderPlanReport { plans: plans.clone(), applied: true, logins: Vec::new() };
        if !context.output.is_json() {
            context.output.print_result(&planned, diff::render_text)?;
        }
        let away = revoke_logins::list_removed_connectors(&db, &plans).await?;
        let going = LoginRevocationPlan::load(&config, &db, &context.clock, &away).await?;
        let zone = arguments.zone.unwrap_or_default();
        let ids = IdGenerator::system();
        munshi_tiers::apply(&db, plans, zone, by, &ids, tier_audit::build_recorder(ids.clone())).await?;
        planned.logins = going.revoke().await;
        Ok(planned)
    })?;
    context.output.print_result(&plans, render_text)
}

/// What was done, after what was to be done has been shown.
fn render_text(planned: &FolderPlanReport, _painter: TextStyler) -> String {
    let changes: usize = planned.plans.iter().map(|plan| plan.changes.len() + plan.files.len()).sum();
    if changes > 0 {
        let logins: String = planned.logins.iter().map(|gone| gone.words.as_str()).collect();
        format!("Applied {}.\n{logins}", format_count(changes as u64, "change"))
    } else if planned.plans.iter().any(|plan| plan.is_new) {
        "Created the tenant; there were no tiers to apply.\n".to_owned()
    } else {
        String::new()
    }
}
