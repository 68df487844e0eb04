//! Reading back what one person said from the archive's files.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use munshi_store::{Tx, find_named_key, params};
use munshi_types::{DataKeyId, PersonId, TenantId};
use serde::Deserialize;

use super::file::{self, SealedLine};
use crate::error::{Error, Result};
use crate::messages::Message;

/// So many files are looked through for one part.
const FILES: usize = 16;

/// Whose messages are looked for: a line names the key it is sealed by, so that nobody else's is opened.
#[derive(Clone, Copy, Debug)]
pub struct ArchiveOwner<'a> {
    pub persons: &'a [PersonId],
    pub keys: &'a [DataKeyId],
}

/// Where a reader is: behind so many lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivePosition {
    pub file: String,
    pub lines: usize,
}

/// Some of somebody's archived messages, the oldest first.
#[derive(Clone, Debug, PartialEq)]
pub struct ArchivePart {
    pub messages: Vec<Message>,
    /// None at the end.
    pub next: Option<ArchivePosition>,
}

/// Reads on in the files of a tenant. It looks through so many files at once, so that a part may have no message and not be the last.
pub fn read_part(
    tx: &mut Tx<'_>,
    (folder, tenant): (&Path, TenantId),
    owner: ArchiveOwner<'_>,
    from: Option<&ArchivePosition>,
    limit: usize,
) -> Result<ArchivePart> {
    let unread = |error: io::Error| Error::Archive(format!("{}: {error}", folder.display()));
    let mut files = list_files(&folder.join(tenant.to_string())).map_err(unread)?;
    files.retain(|(name, _)| from.is_none_or(|from| *name >= from.file));
    let mut messages = Vec::new();
    for (name, path) in files.iter().take(FILES) {
        let passed = from.filter(|from| from.file == *name).map_or(0, |from| from.lines);
        let lines = BufReader::new(File::open(path).map_err(unread)?).lines();
        for (at, line) in lines.enumerate().skip(passed) {
            if messages.len() >= limit {
                return Ok(ArchivePart {
                    messages,
                    next: Some(ArchivePosition { file: name.clone(), lines: at }),
                });
            }
            messages.extend(read_own(tx, owner, &line.map_err(unread)?)?);
        }
    }
    let next = files.get(FILES).map(|(name, _)| ArchivePosition { file: name.clone(), lines: 0 });
    Ok(ArchivePart { messages, next })
}

/// By name, which begins with the day.
pub(super) fn list_files(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(files),
        found => {
            for entry in found? {
                let path = entry?.path();
                let name = path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
                let name = name.filter(|_| path.extension().is_some_and(|extension| extension == "jsonl"));
                files.extend(name.map(|name| (name, path)));
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The message of a line that is theirs. Lines from before they were sealed are known by their conversation.
fn read_own(tx: &mut Tx<'_>, owner: ArchiveOwner<'_>, line: &str) -> Result<Option<Message>> {
    if let Ok(sealed) = serde_json::from_str::<SealedLine>(line) {
        let is_own = find_named_key(sealed.text()).is_some_and(|key| owner.keys.contains(&key));
        return if is_own { Ok(Some(file::read_line(tx, line)?)) } else { Ok(None) };
    }
    let Ok(plain) = serde_json::from_str::<PlainLine>(line) else {
        return Err(Error::Archive("a line of the archive can't be read".to_owned()));
    };
    let person: Option<PersonId> = tx.optional(
        "SELECT person_id FROM sessions WHERE tenant_id = $1 AND id = $2",
        params![plain.session],
        |row| row.get(0),
    )?;
    let is_own = person.is_some_and(|person| owner.persons.contains(&person));
    if is_own { Ok(Some(file::read_line(tx, line)?)) } else { Ok(None) }
}

#[derive(Deserialize)]
struct PlainLine {
    session: munshi_types::SessionId,
}
