//! Archive files from before their lines were sealed.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use munshi_store::{Db, SealedBy, Tx, params};
use munshi_types::{MessageId, SessionId, TenantId};
use serde::Deserialize;
use serde_json::Value;

use super::archive::ARCHIVE_FILES;
use super::file::{self, SealedLine};
use crate::error::{Error, Result};
use crate::sealing::seal_by_owner;

/// Lies in a tenant's folder once every file in it is sealed. Each node has a folder of its own.
const MARK: &str = ".sealed";

/// What a plain line says of itself.
#[derive(Deserialize)]
struct PlainLine {
    id: MessageId,
    session: SessionId,
}

/// Seals the lines of a tenant's archive files that are plain, a file at a time: whole and under its name, or as it was. Lines of
/// somebody who was forgotten meanwhile go, and with them a file that has no others. A file or a line that can't be read is left as it is, with
/// a warning that names the file, and looked at again the next time. Says how many files were written anew or went.
pub async fn seal_files_of_before(db: &Db, folder: &Path, tenant: TenantId) -> Result<u64> {
    let of_tenant = folder.join(tenant.to_string());
    let (mut written, mut left) = (0, 0);
    for path in run_blocking(&of_tenant, list_files).await? {
        match seal_file(db, (folder, tenant), &path).await {
            Ok(FileSealing { is_new, unread }) => {
                written += u64::from(is_new);
                if unread > 0 {
                    left += 1;
                    tracing::warn!(file = %path.display(), lines = unread, "lines of an archive file can't be read; they stay as they are");
                }
            }
            Err(error) => {
                left += 1;
                tracing::warn!(file = %path.display(), %error, "an archive file was left as it is");
            }
        }
    }
    if left == 0 {
        run_blocking(&of_tenant, write_mark).await?;
    }
    Ok(written)
}

async fn run_blocking<T: Send + 'static>(path: &Path, work: fn(&Path) -> io::Result<T>) -> Result<T> {
    let path = path.to_owned();
    let outcome = tokio::task::spawn_blocking(move || {
        work(&path).map_err(|error| Error::Archive(format!("{}: {error}", path.display())))
    });
    outcome.await.map_err(|error| Error::Archive(error.to_string()))?
}

/// The files of a tenant; none where they were all sealed before, or where there are none.
fn list_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    if folder.join(MARK).exists() || !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut files = entries.collect::<io::Result<Vec<PathBuf>>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    Ok(files)
}

fn write_mark(folder: &Path) -> io::Result<()> {
    if folder.is_dir() { fs::write(folder.join(MARK), "") } else { Ok(()) }
}

/// What became of a file.
#[derive(Clone, Copy, Debug, Default)]
struct FileSealing {
    /// It was written anew, or went.
    is_new: bool,
    /// Lines that are neither sealed nor plain ones.
    unread: u64,
}

async fn seal_file(db: &Db, (folder, tenant): (&Path, TenantId), path: &Path) -> Result<FileSealing> {
    let name = path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned);
    let name = name.ok_or_else(|| Error::Archive("its name is no text".to_owned()))?;
    // Whoever archives meanwhile may write this very file anew.
    let _guard = ARCHIVE_FILES.lock().await;
    let bytes = run_blocking(path, |path| fs::read(path)).await?;
    if !file::split_lines(&bytes).any(is_plain) {
        return Ok(FileSealing::default());
    }
    let (sealing, lines) = db.write(tenant, move |tx| seal_lines(tx, &bytes)).await?;
    if lines.is_empty() {
        run_blocking(path, |path| fs::remove_file(path)).await?;
    } else if sealing.is_new {
        let folder = folder.to_owned();
        let write = move || file::write_lines(&folder, tenant, &name, &lines);
        let wrote = tokio::task::spawn_blocking(write).await;
        let unwritten = |error: io::Error| Error::Archive(error.to_string());
        wrote.map_err(|error| Error::Archive(error.to_string()))?.map_err(unwritten)?;
    }
    Ok(sealing)
}

fn is_plain(line: &[u8]) -> bool {
    serde_json::from_slice::<SealedLine>(line).is_err()
}

/// Without those of somebody who was forgotten.
fn seal_lines(tx: &mut Tx<'_>, bytes: &[u8]) -> Result<(FileSealing, Vec<Vec<u8>>)> {
    let mut owners: HashMap<SessionId, SealedBy> = HashMap::new();
    let (mut sealing, mut lines) = (FileSealing::default(), Vec::new());
    for line in file::split_lines(bytes) {
        if !is_plain(line) {
            lines.push(line.to_vec());
            continue;
        }
        let Some((PlainLine { id, session }, whole)) = parse_plain(line) else {
            sealing.unread += 1;
            lines.push(line.to_vec());
            continue;
        };
        sealing.is_new = true;
        let by = match owners.get(&session) {
            Some(known) => *known,
            None => find_owner(tx, session)?,
        };
        owners.insert(session, by);
        match SealedLine::seal(tx, by, (id, &whole)) {
            // Nobody reads them again: their key was destroyed.
            Err(munshi_store::Error::Forgotten(_)) => {}
            line => {
                let line = serde_json::to_vec(&line?);
                lines.push(line.map_err(|error| Error::Archive(error.to_string()))?);
            }
        }
    }
    Ok((sealing, lines))
}

/// None where it is damaged.
fn parse_plain(line: &[u8]) -> Option<(PlainLine, Value)> {
    let whole: Value = serde_json::from_slice(line).ok()?;
    Some((PlainLine::deserialize(&whole).ok()?, whole))
}

fn find_owner(tx: &mut Tx<'_>, session: SessionId) -> Result<SealedBy> {
    let person = tx.optional(
        "SELECT person_id FROM sessions WHERE tenant_id = $1 AND id = $2",
        params![session],
        |row| row.get(0),
    )?;
    Ok(seal_by_owner(tx, person)?)
}
