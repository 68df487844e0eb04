//! `munshi export TENANT DIR`: the tenant's tiers as files.

use std::path::PathBuf;

use clap::Args;
use munshi_operations::folders::{
    CHANNELS_FILE, CONNECTORS_FILE, ExportFolder, ExportFolderInput, POLICY_FILE,
};
use munshi_tiers::files::{self, FolderExport};
use munshi_tiers::import::ExistingFilePolicy;
use munshi_types::TenantName;
use munshi_wiring::failure::Result;

use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::formatting::format_count;

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// Tenant
    tenant: TenantName,
    /// Target folder for humans/, teams/, agents/, bindings/, policy.toml, connectors.toml and channels.toml
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Overwrite files that differ
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &ExportArguments) -> Result<()> {
    let of = TenantSelectorArguments::named(arguments.tenant.clone());
    let target = OperationTarget { of: &of, operator: Some(&arguments.operator) };
    let taken = context.run_operation::<ExportFolder>(&target, &ExportFolderInput {})?;
    let beside: Vec<&str> = [POLICY_FILE, CONNECTORS_FILE, CHANNELS_FILE]
        .into_iter()
        .filter(|name| !taken.withheld.iter().any(|withheld| withheld == name))
        .collect();
    let files: Vec<(String, String)> = taken.files.into_iter().map(|file| (file.path, file.text)).collect();
    let existing = if arguments.replace { ExistingFilePolicy::Replace } else { ExistingFilePolicy::Keep };
    let exported = files::export(&arguments.folder, &files, &beside, existing)?;
    for name in &taken.withheld {
        context.output.print_note(|_| format!("{name} is left out: this key has no access to it"));
    }
    context.output.print_result(&exported, |exported, _| render_text(exported, arguments))
}

fn render_text(exported: &FolderExport, arguments: &ExportArguments) -> String {
    let (tenant, folder) = (&arguments.tenant, arguments.folder.display());
    let written = format_count(exported.written.len() as u64, "file");
    let mut text = format!("Wrote {written} to {folder}; {} unchanged.\n", exported.unchanged);
    for other in &exported.others {
        text += &format!("{} does not belong to the tenant and was left alone.\n", other.display());
    }
    let called = arguments.folder.canonicalize().ok().and_then(|path| Some(path.file_name()?.to_owned()));
    if called.is_none_or(|name| name.to_string_lossy() != tenant.as_str()) {
        text += &format!("Apply them with `munshi apply {folder} --tenant {tenant}`.\n");
    }
    text
}
