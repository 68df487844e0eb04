//! `channels.toml` as the store keeps it.

use munshi_store::{JsonText, Tx, params};
use munshi_types::Timestamp;

use crate::accounts::ChannelAccounts;
use crate::error::Result;

/// What is declared, and its version; nothing and 0 where there is no file.
pub fn load_accounts(tx: &mut Tx<'_>) -> Result<(i64, ChannelAccounts)> {
    let found = tx.optional(
        "SELECT version, body FROM channel_files WHERE tenant_id = $1 ORDER BY version DESC LIMIT 1",
        &[],
        |row| Ok((row.get::<i64>(0)?, row.get::<JsonText>(1)?)),
    )?;
    match found {
        None => Ok((0, ChannelAccounts::default())),
        Some((version, body)) => Ok((version, body.read()?)),
    }
}

/// The version in force; 0 where there is no file.
pub(crate) fn load_version(tx: &mut Tx<'_>) -> Result<i64> {
    let found = tx.optional(
        "SELECT version FROM channel_files WHERE tenant_id = $1 ORDER BY version DESC LIMIT 1",
        &[],
        |row| row.get::<i64>(0),
    )?;
    Ok(found.unwrap_or(0))
}

/// Puts a file in force. Gives its version.
pub fn save_accounts(
    tx: &mut Tx<'_>,
    declared: &ChannelAccounts,
    author: &str,
    note: &str,
    now: Timestamp,
) -> Result<i64> {
    let (version, known) = load_accounts(tx)?;
    if version > 0 && known == *declared {
        return Ok(version);
    }
    tx.execute(
        "INSERT INTO channel_files (tenant_id, version, body, author, note, made_at)
         VALUES ($1, $2, $3, $4, $5, $6)",
        params![version + 1, JsonText::of(declared)?, author, note, now],
    )?;
    Ok(version + 1)
}
