//! `munshi diff DIR`: what `apply` would change. Changes nothing.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use munshi_store::Db;
use munshi_tiers::{ApplyPlan, FolderExtension, InstalledNames, VanishedTierPolicy, files};
use munshi_types::TenantName;
use serde::Serialize;

use crate::context::CommandContext;
use crate::failure::Result;
use crate::output::TextStyler;
use crate::wiring::database::ConfiguredDatabase;
use crate::wiring::given_back::LoginRevocationReport;
use crate::wiring::installed::installed;
use crate::wiring::policy;

/// Which folder, and how it is taken; `apply` takes the same.
#[derive(Debug, Args)]
pub(crate) struct TenantFolderArguments {
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
    let database = ConfiguredDatabase::for_one_question(&config)?;
    let plans = context.block_on(async {
        let db = database.open().await?;
        folder.plan(&db, &installed(&config)?, &policy::companions(&config)?).await
    })?;
    context.output.answer(&FolderPlanReport { plans, applied: false, logins: Vec::new() }, words)
}

impl TenantFolderArguments {
    pub(super) async fn plan(
        &self,
        db: &Db,
        installed: &InstalledNames,
        companions: &[Arc<dyn FolderExtension>],
    ) -> Result<Vec<ApplyPlan>> {
        let vanished = if self.prune { VanishedTierPolicy::Archive } else { VanishedTierPolicy::Keep };
        let folders = files::read_with(&self.path, self.tenant.as_ref(), companions)?;
        Ok(munshi_tiers::plan_folders(db, &folders, vanished, installed).await?)
    }
}

pub(super) fn words(planned: &FolderPlanReport, painter: TextStyler) -> String {
    planned.plans.iter().map(|plan| painted_plan(plan, painter)).collect()
}

pub(super) fn painted_plan(plan: &ApplyPlan, painter: TextStyler) -> String {
    plan.to_string().lines().map(|line| painted(line, painter) + "\n").collect()
}

/// By what a line begins with, at whatever depth.
fn painted(line: &str, painter: TextStyler) -> String {
    match line.trim_start().get(..2) {
        Some("+ ") => painter.good(line),
        Some("- ") => painter.bad(line),
        Some("~ " | "! ") => painter.doubtful(line),
        _ => line.to_owned(),
    }
}
