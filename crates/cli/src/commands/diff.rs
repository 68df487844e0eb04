//! `munshi diff DIR`: what `apply` would change. Changes nothing.

use std::path::PathBuf;

use clap::Args;
use munshi_operations::folders::{
    CHANNELS_FILE, CONNECTORS_FILE, DiffFolder, DiffFolderInput, FolderFileInput, FolderInput,
    FolderPlansView, POLICY_FILE,
};
use munshi_tiers::ApplyPlan;
use munshi_tiers::files::{self, CollectedFolders, FolderSource};
use munshi_types::TenantName;
use munshi_wiring::failure::{CommandFailure, Result};
use munshi_wiring::policy;

use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
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
    pub(super) prune: bool,
}

pub(super) fn run(context: &CommandContext, arguments: &TenantFolderArguments) -> Result<()> {
    let input = DiffFolderInput { folders: arguments.read(context)?, prune: Some(arguments.prune) };
    let plans = context.run_operation::<DiffFolder>(&OperationTarget::installation(None), &input)?;
    context.output.print_result(&plans, render_text)
}

impl TenantFolderArguments {
    /// The files as they are sent.
    pub(super) fn read(&self, context: &CommandContext) -> Result<Vec<FolderInput>> {
        let found =
            files::collect(&self.path, self.tenant.as_ref(), &[CHANNELS_FILE, CONNECTORS_FILE, POLICY_FILE]);
        if !found.problems.is_empty() {
            return Err(describe_problems(context, found)?);
        }
        Ok(found.folders.into_iter().map(to_input).collect())
    }
}

/// With what can't be read, what is wrong in the other files, as far as it can be found out here.
fn describe_problems(context: &CommandContext, mut found: CollectedFolders) -> Result<CommandFailure> {
    let companions = match &context.server {
        None => policy::build_folder_extensions(&context.config()?)?,
        Some(_) => {
            let is_tier =
                |path: &String| ![POLICY_FILE, CONNECTORS_FILE, CHANNELS_FILE].contains(&path.as_str());
            found.folders.iter_mut().for_each(|folder| folder.files.retain(|path, _| is_tier(path)));
            Vec::new()
        }
    };
    let parsed = files::parse_sources(&found.folders, &companions, found.problems);
    Ok(parsed.err().map_or_else(|| CommandFailure::failed("the folder can't be read"), CommandFailure::from))
}

fn to_input(source: FolderSource) -> FolderInput {
    let files = source.files.into_iter().map(|(path, text)| FolderFileInput { path, text });
    FolderInput { tenant: Some(source.tenant), place: Some(source.place), files: files.collect() }
}

pub(super) fn render_text(planned: &FolderPlansView, painter: TextStyler) -> String {
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
