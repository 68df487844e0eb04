//! `munshi restore FILE`: a backup put in the database's place. What was there is kept.

use std::path::{Path, PathBuf};

use clap::Args;
use munshi_store::maintenance;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};
use munshi_wiring::lock::DatabaseLock;
use munshi_wiring::{data_folder, erasure};
use serde::Serialize;

use crate::context::CommandContext;
use crate::output::{ConfirmationPrompt, TextStyler};

#[derive(Debug, Args)]
pub(crate) struct RestoreArguments {
    /// Backup file
    file: PathBuf,
    /// Skip the confirmation
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
    /// How many people who were forgotten since are forgotten again; none where that is left to the next start.
    forgotten_again: Option<usize>,
}

pub(super) fn run(context: &CommandContext, arguments: RestoreArguments) -> Result<()> {
    let config = context.config()?;
    let database = ConfiguredDatabase::from_config(&config)?;
    let target = target(&database)?;
    if !arguments.file.is_file() {
        return Err(CommandFailure::not_found(format!("there is no file {}", arguments.file.display()))
            .hint(format!("the default folder of backups is {}", data_folder::backups(&config).display())));
    }
    if is_same_file(&arguments.file, &target) {
        return Err(CommandFailure::refused(format!("{} is the database itself", arguments.file.display()))
            .hint("name a backup file instead"));
    }
    data_folder::prepare(&config)?;
    let _lock = DatabaseLock::take(&target)?;
    confirm(context, &target, &arguments)?;
    let bar = context.output.start_progress("Restoring");
    let restored =
        context.block_on(restore(context, &database, arguments.file, target, bar.progress_callback()));
    drop(bar);
    context.output.print_result(&restored?, render_text)
}

async fn restore(
    context: &CommandContext,
    database: &ConfiguredDatabase,
    source: PathBuf,
    target: PathBuf,
    progress: impl FnMut(maintenance::BackupProgress) + Send + 'static,
) -> Result<Restored> {
    let ConfiguredDatabase { address, options, migrations, .. } = database;
    let restored = maintenance::restore(address, source, options, migrations, context.now(), progress).await;
    let moved_to = restored.map_err(|error| match error {
        munshi_store::Error::Address(what) => {
            CommandFailure::refused(what).hint("name a file created by `munshi backup`")
        }
        error => error.into(),
    })?;
    let pending = database.state().await?.pending;
    let forgotten_again = match pending.is_empty() {
        true => forget_again(context, database).await,
        false => None,
    };
    Ok(Restored { database: target, moved_to, pending, forgotten_again })
}

/// Needs the store of keys, which may come back later; the server does it before it serves.
async fn forget_again(context: &CommandContext, database: &ConfiguredDatabase) -> Option<usize> {
    let replayed = async { erasure::replay(&database.open_unreplayed().await?, &context.clock).await };
    match replayed.await {
        Ok(people) => Some(people),
        Err(failure) => {
            tracing::debug!(error = failure.message, "forgetting again is left to the next start");
            None
        }
    }
}

fn target(database: &ConfiguredDatabase) -> Result<PathBuf> {
    database.file().cloned().ok_or_else(|| {
        CommandFailure::refused("`munshi restore` does not support Postgres")
            .hint("run `pg_restore --clean --if-exists` as the server's administrator")
    })
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

fn confirm(context: &CommandContext, target: &Path, arguments: &RestoreArguments) -> Result<()> {
    if !target.exists() {
        return Ok(());
    }
    let about = format!("This replaces {1} with {0}.", arguments.file.display(), target.display());
    ConfirmationPrompt { about, word: "restore", given: arguments.yes }.ask(&context.output)
}

fn render_text(restored: &Restored, _: TextStyler) -> String {
    let mut text = format!("Restored: {}\n", restored.database.display());
    if let Some(kept) = &restored.moved_to {
        text += &format!(
            "The previous database is now {}; delete it when you no longer need it.\n",
            kept.display()
        );
    }
    match restored.forgotten_again {
        Some(0) => {}
        Some(people) => text += &format!("People who were forgotten since are forgotten again: {people}.\n"),
        None => text += "People who were forgotten since are forgotten again at the next start.\n",
    }
    text += match restored.pending.len() {
        0 => "Start the server again with `munshi serve`.\n",
        _ => "The backup is from an older version: run `munshi serve` or `munshi migrate` to migrate it.\n",
    };
    text
}
