//! Reading back what one person said from the archive's files.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use munshi_store::{Tx, find_named_key, params};
use munshi_types::{DataKeyId, MessageId, PersonId, SessionId, TenantId};
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

/// A line that is somebody's, or may be.
#[derive(Clone, Debug, PartialEq)]
pub enum ArchivedLine {
    Message(Box<Message>),
    Unreadable(UnreadableLine),
}

/// A damaged line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableLine {
    /// Of the first message in its file: `2026-01-31`.
    pub day: String,
    /// None where nothing of it can be read, so that it may be anybody's.
    pub message: Option<MessageId>,
}

/// Some of somebody's archived messages, the oldest first.
#[derive(Clone, Debug, PartialEq)]
pub struct ArchivePart {
    pub lines: Vec<ArchivedLine>,
    /// None at the end.
    pub next: Option<ArchivePosition>,
}

/// Reads on in the files of a tenant. It looks through so many files at once, so that a part may have no message and not be the last.
/// A line that can't be read is told of in its place.
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
    let mut found = Vec::new();
    for (name, path) in files.iter().take(FILES) {
        let passed = from.filter(|from| from.file == *name).map_or(0, |from| from.lines);
        let lines = BufReader::new(File::open(path).map_err(unread)?).split(b'\n');
        for (at, line) in lines.enumerate().skip(passed) {
            if found.len() >= limit {
                return Ok(ArchivePart {
                    lines: found,
                    next: Some(ArchivePosition { file: name.clone(), lines: at }),
                });
            }
            found.extend(read_own(tx, owner, (name, &line.map_err(unread)?))?);
        }
    }
    let next = files.get(FILES).map(|(name, _)| ArchivePosition { file: name.clone(), lines: 0 });
    Ok(ArchivePart { lines: found, next })
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

/// A line that is theirs, as far as can be told. Lines from before they were sealed are known by their conversation.
fn read_own(
    tx: &mut Tx<'_>,
    owner: ArchiveOwner<'_>,
    (file, line): (&str, &[u8]),
) -> Result<Option<ArchivedLine>> {
    let unreadable = |message: Option<MessageId>| {
        let day = file.get(..10).unwrap_or(file).to_owned();
        Ok(Some(ArchivedLine::Unreadable(UnreadableLine { day, message })))
    };
    if line.is_empty() {
        return Ok(None);
    }
    let Ok(text) = str::from_utf8(line) else { return unreadable(None) };
    let (message, is_own) = if let Ok(sealed) = serde_json::from_str::<SealedLine>(text) {
        let Some(key) = find_named_key(sealed.text()) else { return unreadable(Some(sealed.id())) };
        (sealed.id(), owner.keys.contains(&key))
    } else if let Ok(plain) = serde_json::from_str::<PlainLine>(text) {
        let person = find_person(tx, plain.session)?;
        (plain.id, person.is_some_and(|person| owner.persons.contains(&person)))
    } else {
        return unreadable(None);
    };
    if !is_own {
        return Ok(None);
    }
    match file::read_line(tx, text) {
        Err(error) if error.is_unreadable() => unreadable(Some(message)),
        read => Ok(Some(ArchivedLine::Message(Box::new(read?)))),
    }
}

fn find_person(tx: &mut Tx<'_>, session: SessionId) -> Result<Option<PersonId>> {
    Ok(tx.optional(
        "SELECT person_id FROM sessions WHERE tenant_id = $1 AND id = $2",
        params![session],
        |row| row.get(0),
    )?)
}

#[derive(Deserialize)]
struct PlainLine {
    id: MessageId,
    session: SessionId,
}
