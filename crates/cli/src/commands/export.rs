//! `munshi export TENANT DIR`: the tenant's tiers as files.

use std::path::PathBuf;

use clap::Args;
use munshi_connectors::{entries, rows};
use munshi_safety::policy;
use munshi_store::Db;
use munshi_tiers::files::{self, FolderExport};
use munshi_tiers::history;
use munshi_tiers::import::ExistingFilePolicy;
use munshi_types::TenantName;
use munshi_types::tier::TierStatus;
use munshi_wiring::connectors::CONNECTORS_FILE;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::Result;
use munshi_wiring::policy::POLICY_FILE;

use crate::commands::tenant;
use crate::context::CommandContext;
use crate::output::formatting::format_count;

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// Tenant
    tenant: TenantName,
    /// Target folder for humans/, teams/, agents/, bindings/, policy.toml and connectors.toml
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Overwrite files that differ
    #[arg(long)]
    replace: bool,
}

pub(super) fn run(context: &CommandContext, arguments: &ExportArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let (tiers, beside) = context.block_on(async {
        let db = database.open().await?;
        let tiers = history::list_tiers(&db, &arguments.tenant).await?;
        Ok((tiers, load_extension_files(&db, &arguments.tenant).await?))
    })?;
    let active = tiers.into_iter().filter(|tier| tier.status == TierStatus::Active);
    let tiers: Vec<_> = active.map(|tier| (tier.kind, tier.name, tier.body)).collect();
    let existing = if arguments.replace { ExistingFilePolicy::Replace } else { ExistingFilePolicy::Keep };
    let exported = files::export(&arguments.folder, &tiers, &beside, existing)?;
    context.output.print_result(&exported, |exported, _| render_text(exported, arguments))
}

/// The policy and the connectors in force as their files; none where there is none.
async fn load_extension_files(db: &Db, name: &TenantName) -> Result<[(&'static str, Option<String>); 2]> {
    let tenant = tenant::get_by_name(db, name).await?;
    let (version, policy) = db.read(tenant.id, policy::load_current).await?;
    let policy = if version == 0 { None } else { Some(policy::to_toml(&policy)?) };
    let (version, connectors) = db.read(tenant.id, rows::load_entries).await?;
    let connectors = if version == 0 { None } else { Some(entries::to_toml(&connectors)?) };
    Ok([(POLICY_FILE, policy), (CONNECTORS_FILE, connectors)])
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
