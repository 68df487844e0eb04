//! `channels.toml` as the store keeps it.

use munshi_store::{JsonText, Tx, params};
use munshi_types::Timestamp;

use crate::accounts::{ChannelAccountName, ChannelAccounts};
use crate::error::Result;
use crate::listen::rows::follow_accounts;

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

/// No more versions are looked at for when an account was declared.
const MOST_VERSIONS: i64 = 500;

/// Since when there is an account of this name and kind without a break; none where there is none.
pub(crate) fn find_declared_at(tx: &mut Tx<'_>, name: &ChannelAccountName) -> Result<Option<Timestamp>> {
    let versions = tx.all(
        "SELECT body, made_at FROM channel_files WHERE tenant_id = $1 ORDER BY version DESC LIMIT $2",
        params![MOST_VERSIONS],
        |row| Ok((row.get::<JsonText>(0)?, row.get::<Timestamp>(1)?)),
    )?;
    let (mut kind, mut since) = (None, None);
    for (body, made_at) in versions {
        let declared: ChannelAccounts = body.read()?;
        let Some(account) = declared.0.get(name) else { break };
        if *kind.get_or_insert(account.kind) != account.kind {
            break;
        }
        since = Some(made_at);
    }
    Ok(since)
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
    follow_accounts(tx, &known, declared)?;
    Ok(version + 1)
}
