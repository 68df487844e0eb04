//! `munshi backup [FILE]`: a checked copy of the database, also while the server runs.

use std::path::{Path, PathBuf};

use clap::Args;
use munshi_config::Config;
use munshi_operations::backups::{BackupView, MakeBackup, MakeBackupInput};
use munshi_store::{DatabaseAddress, StoreOptions, maintenance};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};
use munshi_wiring::{data_folder, key_copies};

use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::TextStyler;
use crate::output::formatting::format_size;

#[derive(Debug, Args)]
pub(crate) struct BackupArguments {
    /// Target file. Default: a timestamped file in the data folder's backups
    file: Option<PathBuf>,
    /// Copy the keys that text is encrypted with, instead of the database. Keep it apart from backups of the database, and for no
    /// longer than 30 days: until then it still opens what people wrote who were forgotten since
    #[arg(long)]
    keys: bool,
}

pub(super) fn run(context: &CommandContext, arguments: BackupArguments) -> Result<()> {
    if context.server.is_some() {
        if arguments.keys {
            return Err(CommandFailure::usage("keys are copied on the machine itself")
                .hint("run `munshi backup --keys` there, without --server"));
        }
        return run_on_server(context, arguments.file.as_deref());
    }
    let config = context.config()?;
    let database = ConfiguredDatabase::from_config(&config)?;
    let which = if arguments.keys { BackupSource::Keys } else { BackupSource::Database };
    let (address, options) = which.place(&database);
    let source = which.file(&database)?;
    if let Some(folder) = arguments.file.as_deref().and_then(missing_folder) {
        // Made by us, it would hide a disk that is not mounted.
        return Err(CommandFailure::not_found(format!("there is no folder {}", folder.display()))
            .hint("create it first, or check that its disk is mounted"));
    }
    let is_elsewhere = arguments.file.is_some() && !arguments.keys;
    let target = arguments.file.unwrap_or_else(|| which.default_target(context, &config));
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
        Ok(maintenance::backup(address, target.clone(), options, bar.progress_callback()).await?)
    });
    drop(bar);
    copied?;
    if arguments.keys {
        remove_old_copies(context, &config)?;
    }
    if is_elsewhere {
        leave_trace(&config, &target);
    }
    let about = std::fs::metadata(&target)
        .map_err(|error| CommandFailure::failed(format!("can't read {} again: {error}", target.display())))?;
    let view = BackupView::new(&target, &about);
    if arguments.keys {
        return context.output.print_result(&view, render_keys);
    }
    context.output.print_result(&view, render_text)?;
    context.output.print_note(|_| {
        "What people wrote is encrypted in it, and can't be read without the vault's key and the store of keys: copy these \
         elsewhere, with `munshi backup --keys`."
            .to_owned()
    });
    Ok(())
}

/// What is copied.
#[derive(Clone, Copy)]
enum BackupSource {
    Database,
    Keys,
}

impl BackupSource {
    fn place(self, database: &ConfiguredDatabase) -> (&DatabaseAddress, &StoreOptions) {
        match self {
            Self::Database => (&database.address, &database.options),
            Self::Keys => (&database.keys.address, &database.keys.options),
        }
    }

    fn file(self, database: &ConfiguredDatabase) -> Result<PathBuf> {
        let (file, hint) = match self {
            Self::Database => (
                database.file(),
                "run pg_dump as a login with BYPASSRLS (the owner's can't), or use your provider's snapshots",
            ),
            Self::Keys => (
                database.keys.file(),
                "run pg_dump on the database of the keys, and keep its dumps for 30 days at most",
            ),
        };
        file.cloned()
            .ok_or_else(|| CommandFailure::refused("`munshi backup` does not support Postgres").hint(hint))
    }

    fn default_target(self, context: &CommandContext, config: &Config) -> PathBuf {
        let now = context.now();
        match self {
            Self::Database => {
                let time = maintenance::format_timestamp(now);
                data_folder::backups(config).join(format!("munshi-{time}.db"))
            }
            Self::Keys => data_folder::key_copies(config).join(key_copies::name_copy(now)),
        }
    }
}

/// So that whoever is told of old backups is not told that there is none. The copy is made, also where this can't be.
fn leave_trace(config: &Config, target: &Path) {
    let trace = data_folder::backup_trace(config);
    if let Err(error) = std::fs::write(&trace, target.display().to_string()) {
        tracing::warn!(trace = %trace.display(), %error, "that a backup was made elsewhere can't be noted");
    }
}

fn remove_old_copies(context: &CommandContext, config: &Config) -> Result<()> {
    let folder = data_folder::key_copies(config);
    let removed = key_copies::remove_old(&folder, context.now());
    removed.map(drop).map_err(|error| {
        CommandFailure::failed(format!("old copies in {} can't be removed: {error}", folder.display()))
    })
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

fn render_keys(backup: &BackupView, _: TextStyler) -> String {
    format!(
        "Copied the keys: {} ({}). With the vault's key they open everything: keep them apart from the backups, and delete them \
         after 30 days.",
        backup.file,
        format_size(backup.bytes)
    )
}

fn missing_folder(file: &Path) -> Option<&Path> {
    file.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir())
}
