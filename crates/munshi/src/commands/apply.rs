//! `munshi apply DIR`: a tenant brought to what its folder says, in one transaction.

use clap::Args;
use munshi_tiers::Authorship;
use munshi_types::{Ids, Zone};

use super::diff::{self, Planned};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::output::Painter;
use crate::output::shown::count;
use crate::wiring::database::Database;
use crate::wiring::given_back::{self, Going};
use crate::wiring::installed::installed;
use crate::wiring::{policy, tiers};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    folder: diff::Folder,
    #[command(flatten)]
    by: By,
    /// The time zone of a tenant that is made
    #[arg(long)]
    zone: Option<Zone>,
}

/// What stands in the history.
#[derive(Debug, Args)]
pub(crate) struct By {
    /// Who does it, for the history
    #[arg(long, value_name = "NAME", env = "USER", hide_env = true, default_value = "somebody")]
    author: String,
    /// Why, for the history
    #[arg(long, value_name = "TEXT", default_value = "")]
    note: String,
}

impl By {
    pub(super) fn authorship(self, context: &Context, otherwise: impl FnOnce() -> String) -> Authorship {
        let note = if self.note.is_empty() { otherwise() } else { self.note };
        Authorship { author: self.author, note, made_at: context.now() }
    }
}

pub(super) fn run(context: &Context, arguments: Arguments) -> Result<()> {
    let config = context.config()?;
    let database = Database::for_one_question(&config)?;
    let by = arguments.by.authorship(context, String::new);
    let plans = context.block_on(async {
        let db = database.open_or_create(&config, context.now()).await?;
        let plans = arguments.folder.plan(&db, &installed(&config)?, &policy::companions(&config)?).await?;
        if let (Some(zone), Some(plan)) = (&arguments.zone, plans.iter().find(|plan| !plan.is_new)) {
            let what =
                format!("--zone {zone} is for a tenant that is made, and {} is there already", plan.tenant);
            return Err(Failure::usage(what).hint("leave --zone out; nothing was changed"));
        }
        // Shown before it is done: whoever is overtaken sees what they meant to change.
        let mut planned = Planned { plans: plans.clone(), applied: true, logins: Vec::new() };
        if !context.output.is_json() {
            context.output.answer(&planned, diff::words)?;
        }
        let away = given_back::taken_away(&db, &plans).await?;
        let going = Going::of((context, &config), &db, &away).await?;
        let zone = arguments.zone.unwrap_or_default();
        let ids = Ids::system();
        munshi_tiers::apply(&db, plans, zone, by, &ids, tiers::tell(ids.clone())).await?;
        planned.logins = going.give_back().await;
        Ok(planned)
    })?;
    context.output.answer(&plans, words)
}

/// What was done, after what was to be done has been shown.
fn words(planned: &Planned, _painter: Painter) -> String {
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
