//! `munshi diff DIR`: what `apply` would change. Changes nothing.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use munshi_store::Db;
use munshi_tiers::{ApplyPlan, FolderExtension, InstalledNames, VanishedTierPolicy, files};
use munshi_types::TenantName;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::Result;
use munshi_wiring::installation::list_installed_names;
use munshi_wiring::policy;
use munshi_wiring::revoke_logins::LoginRevocationReport;
use serde::Serialize;

use crate::context::CommandContext;
use crate::output::TextStyler;

/// Which folder, and how it is taken; `apply` takes the same.
#[derive(Debug, Args)]
pub(crate) struct TenantFolderArguments {
    /// Tenant folder with humans/, teams/, agents/, bindings/ and policy.toml, or a folder of such folders
    #[arg(value_name = "DIR")]
    path: PathBuf,
    /// Tenant. Default: the folder's name
    #[arg(long, value_name = "NAME")]
    tenant: Option<TenantName>,
    /// Archive tiers that are stored but not in the folder
    #[arg(long)]
    prune: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct FolderPlanReport {
    pub(super) plans: Vec<ApplyPlan>,
    /// Whether what the plans say was done.
    pub(super) applied: bool,
    /// What became of the logins at connectors that were taken away.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) logins: Vec<LoginRevocationReport>,
}

pub(super) fn run(context: &CommandContext, folder: &TenantFolderArguments) -> Result<()> {
    let config = context.config()?;
    let database = ConfiguredDatabase::single_connection(&config)?;
    let plans = context.block_on(async {
        let db = database.open().await?;
        folder.plan(&db, &list_installed_names(&config)?, &policy::build_folder_extensions(&config)?).await
    })?;
    context.output.print_result(&FolderPlanReport { plans, applied: false, logins: Vec::new() }, render_text)
}

impl TenantFolderArguments {
    pub(super) async fn plan(
        &self,
        db: &Db,
        installed: &InstalledNames,
        companions: &[Arc<dyn FolderExtension>],
    ) -> Result<Vec<ApplyPlan>> {
        let vanished = if self.prune { VanishedTierPolicy::Archive } else { VanishedTierPolicy::Keep };
        let folders = files::read_with_extensions(&self.path, self.tenant.as_ref(), companions)?;
        Ok(munshi_tiers::plan_folders(db, &folders, vanished, installed).await?)
    }
}

pub(super) fn render_text(planned: &FolderPlanReport, painter: TextStyler) -> String {
    planned.plans.iter().map(|plan| render_plan(plan, painter)).collect()
}

pub(super) fn render_plan(plan: &ApplyPlan, painter: TextStyler) -> String {
    plan.to_string().lines().map(|line| style_line(line, painter) + "\n").collect()
}

/// By what a line begins with, at whatever depth.
fn style_line(line: &str, painter: TextStyler) -> String {
    match line.trim_start().get(..2) {
        Some("+ ") => painter.good(line),
        Some("- ") => painter.bad(line),
        Some("~ " | "! ") => painter.doubtful(line),
        _ => line.to_owned(),
    }
}
