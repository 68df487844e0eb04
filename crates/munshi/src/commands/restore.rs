//! `munshi restore FILE`: a backup put in the database's place. What was there is kept.

use std::path::{Path, PathBuf};

use clap::Args;
use munshi_store::care;
use serde::Serialize;

use crate::context::CommandContext;
use crate::failure::{CommandFailure, Result};
use crate::output::{ConfirmationPrompt, TextStyler};
use crate::wiring::database::ConfiguredDatabase;
use crate::wiring::folder;
use crate::wiring::lock::DatabaseLock;

#[derive(Debug, Args)]
pub(crate) struct RestoreArguments {
    /// The backup
    file: PathBuf,
    /// Don't ask
    #[arg(long)]
    yes: bool,
}

#[derive(Debug, Serialize)]
struct Restored {
    database: PathBuf,
    /// Where the database that was there is now.
    moved_to: Option<PathBuf>,
    /// What the backup lacks of this version's tables.
    pending: Vec<&'static str>,
}

pub(super) fn run(context: &CommandContext, arguments: RestoreArguments) -> Result<()> {
    let config = context.config()?;
    let database = ConfiguredDatabase::of(&config)?;
    let target = target(&database)?;
    if !arguments.file.is_file() {
        return Err(CommandFailure::not_found(format!("there is no file {}", arguments.file.display()))
            .hint(format!("backups made without a name are in {}", folder::backups(&config).display())));
    }
    if same_file(&arguments.file, &target) {
        return Err(CommandFailure::refused(format!("{} is the database itself", arguments.file.display()))
            .hint("name a backup of it"));
    }
    folder::prepare(&config)?;
    let _lock = DatabaseLock::take(&target)?;
    confirm(context, &target, &arguments)?;
    let bar = context.output.bar("Restoring");
    let restored = context.block_on(restore(context, &database, arguments.file, target, bar.mover()));
    drop(bar);
    context.output.answer(&restored?, words)
}

async fn restore(
    context: &CommandContext,
    database: &ConfiguredDatabase,
    source: PathBuf,
    target: PathBuf,
    progress: impl FnMut(care::BackupProgress) + Send + 'static,
) -> Result<Restored> {
    let ConfiguredDatabase { address, options, migrations, .. } = database;
    let restored = care::restore(address, source, options, migrations, context.now(), progress).await;
    let moved_to = restored.map_err(|error| match error {
        munshi_store::Error::Address(what) => {
            CommandFailure::refused(what).hint("name a file that `munshi backup` made")
        }
        error => error.into(),
    })?;
    let pending = database.state().await?.pending;
    Ok(Restored { database: target, moved_to, pending })
}

fn target(database: &ConfiguredDatabase) -> Result<PathBuf> {
    database.file().cloned().ok_or_else(|| {
        CommandFailure::refused("Postgres has its own tools for restoring")
            .hint("run `pg_restore --clean --if-exists` as the server's administrator")
    })
}

fn same_file(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

fn confirm(context: &CommandContext, target: &Path, arguments: &RestoreArguments) -> Result<()> {
    if !target.exists() {
        return Ok(());
    }
    let about = format!("This puts {} in the place of {}.", arguments.file.display(), target.display());
    ConfirmationPrompt { about, word: "restore", given: arguments.yes }.ask(&context.output)
}

fn words(restored: &Restored, _: TextStyler) -> String {
    let mut text = format!("Restored: {}\n", restored.database.display());
    if let Some(kept) = &restored.moved_to {
        text += &format!("What was there is now {}; delete it when you no longer need it.\n", kept.display());
    }
    text += match restored.pending.len() {
        0 => "Start the server again with `munshi serve`.\n",
        _ => "The backup is from an older Munshi: `munshi serve` or `munshi migrate` brings it up to date.\n",
    };
    text
}
