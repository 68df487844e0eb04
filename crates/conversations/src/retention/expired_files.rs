//! Files of the archive that a tenant keeps no longer. Each node has a folder of its own, so each looks through its own.

use std::fs;
use std::io;
use std::path::Path;

use munshi_types::{Id, MessageId, TenantId, Timestamp};
use serde::Deserialize;

use super::archive::ARCHIVE_FILES;
use super::expiry::find_end;
use super::{file, reader};
use crate::error::{Error, Result};

/// Deletes the lines of messages that are older, and files that have no others. Says how many lines. What can't be read stays as it is, and
/// keeps nothing else.
pub async fn expire_files(
    folder: &Path,
    tenant: TenantId,
    messages_days: Option<u32>,
    now: Timestamp,
) -> Result<u64> {
    let Some(before) = find_end(messages_days, now) else { return Ok(0) };
    let (root, of_tenant) = (folder.to_owned(), folder.join(tenant.to_string()));
    let _guard = ARCHIVE_FILES.lock().await;
    let expiring = tokio::task::spawn_blocking(move || {
        let mut expired = 0;
        for (name, path) in reader::list_files(&of_tenant)? {
            // A file is named by the day of its first message.
            if name.as_str() >= before.to_string().get(..10).unwrap_or_default() {
                break;
            }
            match expire_lines(&root, tenant, &path, before) {
                Ok(lines) => expired += lines,
                Err(error) => {
                    tracing::warn!(file = %path.display(), %error, "an archive file was left as it is");
                }
            }
        }
        Ok(expired)
    });
    let unwritten = |error: io::Error| Error::Archive(format!("{}: {error}", folder.display()));
    expiring.await.map_err(|error| Error::Archive(error.to_string()))?.map_err(unwritten)
}

/// A line, of which only the id is read: it says when the message came.
#[derive(Deserialize)]
struct DatedLine {
    id: MessageId,
}

fn expire_lines(root: &Path, tenant: TenantId, path: &Path, before: Timestamp) -> io::Result<u64> {
    let bytes = fs::read(path)?;
    let (mut kept, mut expired, mut unread) = (Vec::new(), 0, 0);
    for line in file::split_lines(&bytes) {
        let dated = serde_json::from_slice::<DatedLine>(line);
        // It is not known to be old.
        unread += u64::from(dated.is_err());
        match dated.ok().and_then(|line| find_time(line.id)) {
            Some(made_at) if made_at < before => expired += 1,
            _ => kept.push(line),
        }
    }
    if unread > 0 {
        tracing::warn!(file = %path.display(), lines = unread, "lines of an archive file can't be read; they stay");
    }
    if kept.is_empty() {
        fs::remove_file(path)?;
    } else if expired > 0 {
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        file::write_lines(root, tenant, name, &kept)?;
    }
    Ok(expired)
}

/// When an id was made; it begins with its time.
fn find_time(id: MessageId) -> Option<Timestamp> {
    let (seconds, nanos) = id.as_uuid().get_timestamp()?.to_unix();
    let micros = i64::try_from(seconds).ok()?.checked_mul(1_000_000)?;
    Some(Timestamp::from_micros(micros + i64::from(nanos / 1000)))
}
