//! The folder for everything Munshi keeps.

use std::fs::DirBuilder;
use std::path::{Path, PathBuf};

use munshi_config::Config;

use crate::failure::{CommandFailure, Result};

/// Makes the data folder on first run, for nobody else to read.
pub fn prepare(config: &Config) -> Result<()> {
    create_private(&config.data.dir).map_err(|error| unusable_failure(&config.data.dir, &error))
}

pub fn create_private(folder: &Path) -> std::io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

pub fn backups(config: &Config) -> PathBuf {
    config.data.dir.join("backups")
}

/// Written anew with each backup that is made to another place than the usual one.
pub fn backup_trace(config: &Config) -> PathBuf {
    config.data.dir.join("backup-elsewhere")
}

/// Copies of the keys; never among the backups, which they open.
pub fn key_copies(config: &Config) -> PathBuf {
    config.data.dir.join("key-copies")
}

pub(crate) fn unusable_failure(folder: &Path, error: &std::io::Error) -> CommandFailure {
    CommandFailure::refused(format!("can't create the data folder {}: {error}", folder.display()))
        .hint("choose another with data.dir (MUNSHI__DATA__DIR), or let this user create it")
}
