//! Archive files from before their lines were sealed.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use munshi_store::{Db, SealedBy, Tx, params};
use munshi_types::{MessageId, SessionId, TenantId};
use serde::Deserialize;
use serde_json::Value;

use super::file::{self, SealedLine};
use crate::error::{Error, Result};
use crate::sealing::seal_by_owner;

/// What a plain line says of itself.
#[derive(Deserialize)]
struct PlainLine {
    id: MessageId,
    session: SessionId,
}

/// Seals the lines of a tenant's archive files that are plain, a file at a time: whole and under its name, or as it was. Says how
/// many files were written anew.
pub async fn seal_files_of_before(db: &Db, folder: &Path, tenant: TenantId) -> Result<u64> {
    let of_tenant = folder.join(tenant.to_string());
    let unreadable = move |error: io::Error| Error::Archive(format!("{}: {error}", of_tenant.display()));
    let of_tenant = folder.join(tenant.to_string());
    let files = tokio::task::spawn_blocking(move || list_files(&of_tenant)).await;
    let mut written = 0;
    for path in files.map_err(|error| Error::Archive(error.to_string()))?.map_err(&unreadable)? {
        let Some(name) = path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned) else { continue };
        let text = fs::read_to_string(&path).map_err(&unreadable)?;
        if !text.lines().any(is_plain) {
            continue;
        }
        let sealed = db.write(tenant, move |tx| seal_lines(tx, &text)).await?;
        let folder = folder.to_owned();
        let wrote = tokio::task::spawn_blocking(move || file::write(&folder, tenant, &name, &sealed)).await;
        wrote.map_err(|error| Error::Archive(error.to_string()))?.map_err(&unreadable)?;
        written += 1;
    }
    Ok(written)
}

/// The files that are whole. One that was not finished before a crash, in which the same lines stand that are still in the table, goes.
fn list_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("jsonl") => files.push(path),
            Some("part") => fs::remove_file(&path)?,
            _ => {}
        }
    }
    files.sort();
    Ok(files)
}

fn is_plain(line: &str) -> bool {
    serde_json::from_str::<SealedLine>(line).is_err()
}

fn seal_lines(tx: &mut Tx<'_>, text: &str) -> Result<Vec<SealedLine>> {
    let mut owners: HashMap<SessionId, SealedBy> = HashMap::new();
    let mut sealed = Vec::new();
    for line in text.lines() {
        if let Ok(done) = serde_json::from_str(line) {
            sealed.push(done);
            continue;
        }
        let unreadable = |error: serde_json::Error| Error::Archive(format!("invalid line: {error}"));
        let whole: Value = serde_json::from_str(line).map_err(unreadable)?;
        let PlainLine { id, session } = PlainLine::deserialize(&whole).map_err(unreadable)?;
        let by = match owners.get(&session) {
            Some(known) => *known,
            None => find_owner(tx, session)?,
        };
        owners.insert(session, by);
        sealed.push(SealedLine::seal(tx, by, (id, &whole))?);
    }
    Ok(sealed)
}

fn find_owner(tx: &mut Tx<'_>, session: SessionId) -> Result<SealedBy> {
    let person = tx.optional(
        "SELECT person_id FROM sessions WHERE tenant_id = $1 AND id = $2",
        params![session],
        |row| row.get(0),
    )?;
    Ok(seal_by_owner(tx, person)?)
}
