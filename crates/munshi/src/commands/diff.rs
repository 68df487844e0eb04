//! `munshi diff DIR`: what `apply` would change. Changes nothing.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use munshi_store::Db;
use munshi_tiers::{Companion, Installed, Plan, Vanished, files};
use munshi_types::TenantName;
use serde::Serialize;

use crate::context::Context;
use crate::failure::Result;
use crate::output::Painter;
use crate::wiring::database::Database;
use crate::wiring::given_back::Gone;
use crate::wiring::installed::installed;
use crate::wiring::policy;

/// Which folder, and how it is taken; `apply` takes the same.
#[derive(Debug, Args)]
pub(crate) struct Folder {
    /// A tenant's folder, with humans/, teams/, agents/, bindings/ and policy.toml in it; or a folder of such folders
    #[arg(value_name = "DIR")]
    path: PathBuf,
    /// The tenant, where it is not called like the folder
    #[arg(long, value_name = "NAME")]
    tenant: Option<TenantName>,
    /// Archive what is stored but not in the folder
    #[arg(long)]
    prune: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct Planned {
    pub(super) plans: Vec<Plan>,
    /// Whether what the plans say was done.
    pub(super) applied: bool,
    /// What became of the logins at connectors that were taken away.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) logins: Vec<Gone>,
}

pub(super) fn run(context: &Context, folder: &Folder) -> Result<()> {
    let config = context.config()?;
    let database = Database::for_one_question(&config)?;
    let plans = context.block_on(async {
        let db = database.open().await?;
        folder.plan(&db, &installed(&config)?, &policy::companions(&config)?).await
    })?;
    context.output.answer(&Planned { plans, applied: false, logins: Vec::new() }, words)
}

impl Folder {
    pub(super) async fn plan(
        &self,
        db: &Db,
        installed: &Installed,
        companions: &[Arc<dyn Companion>],
    ) -> Result<Vec<Plan>> {
        let vanished = if self.prune { Vanished::Archive } else { Vanished::Keep };
        let folders = files::read_with(&self.path, self.tenant.as_ref(), companions)?;
        Ok(munshi_tiers::plan_folders(db, &folders, vanished, installed).await?)
    }
}

pub(super) fn words(planned: &Planned, painter: Painter) -> String {
    planned.plans.iter().map(|plan| painted_plan(plan, painter)).collect()
}

pub(super) fn painted_plan(plan: &Plan, painter: Painter) -> String {
    plan.to_string().lines().map(|line| painted(line, painter) + "\n").collect()
}

/// By what a line begins with, at whatever depth.
fn painted(line: &str, painter: Painter) -> String {
    match line.trim_start().get(..2) {
        Some("+ ") => painter.good(line),
        Some("- ") => painter.bad(line),
        Some("~ " | "! ") => painter.doubtful(line),
        _ => line.to_owned(),
    }
}
