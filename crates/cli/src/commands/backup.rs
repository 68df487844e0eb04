//! `munshi backup [FILE]`: a checked copy of the database, also while the server runs.

use std::path::{Path, PathBuf};

use clap::Args;
use munshi_config::Config;
use munshi_operations::backups::{BackupView, MakeBackup, MakeBackupInput};
use munshi_store::maintenance;
use munshi_wiring::data_folder;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};

use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::TextStyler;
use crate::output::formatting::format_size;

#[derive(Debug, Args)]
pub(crate) struct BackupArguments {
    /// Target file. Default: a timestamped file in the data folder's backups
    file: Option<PathBuf>,
}

pub(super) fn run(context: &CommandContext, arguments: BackupArguments) -> Result<()> {
    if context.server.is_some() {
        return run_on_server(context, arguments.file.as_deref());
    }
    let config = context.config()?;
    let database = ConfiguredDatabase::from_config(&config)?;
    let source = source(&database)?;
    if let Some(folder) = arguments.file.as_deref().and_then(missing_folder) {
        // Made by us, it would hide a disk that is not mounted.
        return Err(CommandFailure::not_found(format!("there is no folder {}", folder.display()))
            .hint("create it first, or check that its disk is mounted"));
    }
    let target = arguments.file.unwrap_or_else(|| default_target(context, &config));
    if target.is_dir() {
        return Err(CommandFailure::already_there(format!("{} is a folder", target.display()))
            .hint("name a file in it, or omit FILE for a timestamped one"));
    }
    if target.exists() {
        return Err(CommandFailure::already_there(format!("{} already exists", target.display()))
            .hint("choose another name; nothing was overwritten"));
    }
    if !source.exists() {
        return Err(CommandFailure::not_found(format!("there is no database at {}", source.display()))
            .hint("`munshi serve` creates one; check --config and data.dir"));
    }
    let bar = context.output.start_progress("Copying");
    let copied = context.block_on(async {
        Ok(maintenance::backup(&database.address, target.clone(), &database.options, bar.progress_callback())
            .await?)
    });
    drop(bar);
    copied?;
    let about = std::fs::metadata(&target)
        .map_err(|error| CommandFailure::failed(format!("can't read {} again: {error}", target.display())))?;
    context.output.print_result(&BackupView::new(&target, &about), render_text)
}

/// A server keeps its copies on its own machine.
fn run_on_server(context: &CommandContext, file: Option<&Path>) -> Result<()> {
    if file.is_some() {
        return Err(CommandFailure::usage("a server names its backups itself")
            .hint("omit FILE: the copy goes to the backups of the server's data folder"));
    }
    let view =
        context.run_operation::<MakeBackup>(&OperationTarget::installation(None), &MakeBackupInput {})?;
    context.output.print_result(&view, render_text)
}

fn render_text(backup: &BackupView, _: TextStyler) -> String {
    format!("Backed up and verified: {} ({})", backup.file, format_size(backup.bytes))
}

fn missing_folder(file: &Path) -> Option<&Path> {
    file.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir())
}

fn source(database: &ConfiguredDatabase) -> Result<PathBuf> {
    database.file().cloned().ok_or_else(|| {
        CommandFailure::refused("`munshi backup` does not support Postgres").hint(
            "run pg_dump as a login with BYPASSRLS (the owner's can't), or use your provider's snapshots",
        )
    })
}

fn default_target(context: &CommandContext, config: &Config) -> PathBuf {
    data_folder::backups(config).join(format!("munshi-{}.db", maintenance::format_timestamp(context.now())))
}
