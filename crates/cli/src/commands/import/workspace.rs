//! `munshi import workspace DIR`: a human, a team, an agent and a binding from seven markdown files.

use std::path::{Path, PathBuf};

use clap::Args;
use munshi_tiers::files::{self, TenantFolder};
use munshi_tiers::import::{
    self, ExistingFilePolicy, ImportedWorkspace, WorkspaceImportReport, WrittenFiles, slugify,
};
use munshi_tiers::{ApplyPlan, VanishedTierPolicy};
use munshi_types::tier::{TierKind, TierName};
use munshi_types::{IdGenerator, TenantName, Zone};
use munshi_wiring::apply_plans::apply_plans;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Exit, Result};
use munshi_wiring::installation::list_installed_names;
use serde::Serialize;

use crate::commands::apply::ChangeNoteArguments;
use crate::commands::diff;
use crate::context::CommandContext;
use crate::output::TextStyler;
use crate::output::formatting::format_count;
use crate::output::table::sanitize_line;

#[derive(Debug, Args)]
pub(crate) struct ImportWorkspaceArguments {
    /// Workspace folder; file names are case-insensitive
    #[arg(value_name = "DIR")]
    workspace: PathBuf,
    /// Tenant. Default: the workspace folder's name
    #[arg(long, value_name = "NAME")]
    tenant: Option<TenantName>,
    /// Target folder. Default: tenants/NAME
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Overwrite files that differ
    #[arg(long)]
    replace: bool,
    /// Also apply the four tiers, and create the tenant if needed
    #[arg(long)]
    apply: bool,
    #[command(flatten)]
    by: ChangeNoteArguments,
    /// Time zone of a new tenant
    #[arg(long, default_value_t)]
    zone: Zone,
}

#[derive(Debug, Serialize)]
struct Outcome {
    tenant: TenantName,
    folder: PathBuf,
    /// What all four tiers are called.
    name: TierName,
    #[serde(flatten)]
    files: WrittenFiles,
    report: WorkspaceImportReport,
    /// How many entries of the report want a human eye.
    concerns: usize,
    /// What was applied; null where that was not asked for.
    applied: Option<ApplyPlan>,
}

pub(super) fn run(context: &CommandContext, arguments: ImportWorkspaceArguments) -> Result<()> {
    let (tenant, fallback) = names(&arguments)?;
    let files = import::read(&arguments.workspace)?;
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let imported = import::import(&fallback, &files).map_err(|error| {
        CommandFailure::new(Exit::Files, format!("{}: {error}", arguments.workspace.display()))
    })?;
    let folder = arguments.out.clone().unwrap_or_else(|| Path::new("tenants").join(tenant.as_str()));
    let existing = if arguments.replace { ExistingFilePolicy::Replace } else { ExistingFilePolicy::Keep };
    let write = || imported.write(&folder, existing);
    let (written, applied) = if arguments.apply {
        let (written, plan) = apply(context, arguments, &tenant, &folder, &imported, write)?;
        (written, Some(plan))
    } else {
        (write()?, None)
    };
    let outcome = Outcome {
        tenant,
        name: imported.name,
        files: written,
        concerns: imported.report.concerns().count(),
        report: imported.report,
        applied,
        folder,
    };
    context.output.print_result(&outcome, render_text)
}

/// The tenant's name, and what the tiers are called where no file says it.
fn names(arguments: &ImportWorkspaceArguments) -> Result<(TenantName, TierName)> {
    let real = arguments.workspace.canonicalize().unwrap_or_else(|_| arguments.workspace.clone());
    let called = real.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let short = slugify(&called);
    let tenant = arguments.tenant.clone().or_else(|| short.as_ref()?.as_str().parse().ok());
    let tenant = tenant.ok_or_else(|| {
        CommandFailure::usage(format!(
            "the folder name `{}` is not a valid tenant name",
            sanitize_line(&called)
        ))
        .hint("pass a name with --tenant: lowercase letters, digits and hyphens")
    })?;
    let fallback = short.or_else(|| tenant.as_str().parse().ok());
    fallback.map(|fallback| (tenant, fallback)).ok_or_else(|| CommandFailure::failed("no free name found"))
}

/// Sees first that the tiers may be applied, then writes the files, then applies: what is refused leaves no trace.
fn apply(
    context: &CommandContext,
    arguments: ImportWorkspaceArguments,
    tenant: &TenantName,
    folder: &Path,
    imported: &ImportedWorkspace,
    write: impl FnOnce() -> munshi_tiers::Result<WrittenFiles>,
) -> Result<(WrittenFiles, ApplyPlan)> {
    let config = context.config()?;
    let database = ConfiguredDatabase::single_connection(&config)?;
    let workspace = arguments.workspace.display().to_string();
    let by = arguments.by.authorship(context, || format!("imported from {workspace}"));
    let drafts = drafts(folder, imported)?;
    context.block_on(async {
        let db = database.open().await?;
        let said = TenantFolder { tenant: tenant.clone(), drafts, beside: Vec::new() };
        let plan =
            munshi_tiers::plan_folder(&db, &said, VanishedTierPolicy::Keep, &list_installed_names(&config)?)
                .await?;
        let written = write()?;
        let ids = IdGenerator::system();
        apply_plans::<CommandFailure>(&db, vec![plan.clone()], arguments.zone, by, &ids).await?;
        Ok((written, plan))
    })
}

/// The files as they will be read again.
fn drafts(folder: &Path, imported: &ImportedWorkspace) -> Result<Vec<munshi_tiers::TierDraft>> {
    let files = imported.files().into_iter().zip(TierKind::ALL);
    let drafts = files.map(|((path, text), kind)| {
        let shown = folder.join(path).display().to_string();
        files::parse(kind, imported.name.clone(), &shown, text.as_bytes()).map_err(|problems| {
            let all = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
            CommandFailure::new(Exit::Files, all)
        })
    });
    drafts.collect()
}

fn render_text(outcome: &Outcome, painter: TextStyler) -> String {
    let Outcome { tenant, folder, name, files, report, concerns, applied } = outcome;
    let mut text = format!("{} of {tenant}:\n", painter.bold(name.as_str()));
    for entry in report.entries.iter().filter(|entry| entry.concern.is_none()) {
        text += &format!("  {}\n", sanitize_line(&entry.to_string()));
    }
    if *concerns > 0 {
        text += &format!("\n{}\n", painter.doubtful("Needs review:"));
        for entry in report.concerns() {
            text += &format!("  {}\n", painter.doubtful(&sanitize_line(&entry.to_string())));
        }
    }
    let written = format_count(files.written.len() as u64, "file");
    text += &format!("\nWrote {written} to {}; {} unchanged.\n", folder.display(), files.unchanged);
    for path in &files.replaced {
        text += &format!("{} was overwritten.\n", path.display());
    }
    match applied {
        Some(plan) => text + &diff::render_plan(plan, painter),
        None => text + &format!("Next: {}\n", render_next_step(tenant, folder)),
    }
}

/// How it is applied. The tenant is named where the folder is called otherwise.
fn render_next_step(tenant: &TenantName, folder: &Path) -> String {
    let shown = folder.display();
    let is_called_so = folder.file_name().is_some_and(|name| name.to_string_lossy() == tenant.as_str());
    if is_called_so {
        format!("munshi apply {shown}")
    } else {
        format!("munshi apply {shown} --tenant {tenant}")
    }
}
