//! `munshi export TENANT DIR`: the tenant's tiers as files.

use std::path::PathBuf;

use clap::Args;
use munshi_tiers::files::{self, Exported};
use munshi_tiers::history;
use munshi_tiers::import::Existing;
use munshi_types::TenantName;
use munshi_types::tier::TierStatus;

use crate::context::Context;
use crate::failure::Result;
use crate::output::shown::count;
use crate::wiring::database::Database;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Which tenant
    tenant: TenantName,
    /// Where to; humans/, teams/, agents/ and bindings/ are made in it
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Write over files that say something else
    #[arg(long)]
    replace: bool,
}

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<()> {
    let database = Database::for_one_question(&context.config()?)?;
    let tiers = context.block_on(async {
        let db = database.open().await?;
        Ok(history::tiers(&db, &arguments.tenant).await?)
    })?;
    let active = tiers.into_iter().filter(|tier| tier.status == TierStatus::Active);
    let tiers: Vec<_> = active.map(|tier| (tier.kind, tier.name, tier.body)).collect();
    let existing = if arguments.replace { Existing::Replace } else { Existing::Keep };
    let exported = files::export(&arguments.folder, &tiers, existing)?;
    context.output.answer(&exported, |exported, _| words(exported, arguments))
}

fn words(exported: &Exported, arguments: &Arguments) -> String {
    let (tenant, folder) = (&arguments.tenant, arguments.folder.display());
    let written = count(exported.written.len() as u64, "file");
    let mut text = format!("Wrote {written} to {folder}; {} said so already.\n", exported.unchanged);
    for other in &exported.others {
        text += &format!("{} is none of the tenant's tiers and was left alone.\n", other.display());
    }
    let called = arguments.folder.canonicalize().ok().and_then(|path| Some(path.file_name()?.to_owned()));
    if called.is_none_or(|name| name.to_string_lossy() != tenant.as_str()) {
        text += &format!("`munshi apply {folder} --tenant {tenant}` takes them back.\n");
    }
    text
}
