//! What a file hangs on.

use munshi_store::{RowId, SealedColumn, Tx, params};
use munshi_types::{AttachedFile, BlobId, Id, MessageId, PersonId, Timestamp};
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::rows::{self, Blob};

const NAME: SealedColumn = SealedColumn::new("blob_references", "name").forgotten_as_null();
/// What the reference of an attached file begins with, where it is one of ours.
const SCHEME: &str = "blob:";
/// Letters of a name that are kept.
const LONGEST_NAME: usize = 120;

/// Something that keeps a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlobHolder {
    /// The upload that brought it, by whose it is.
    Upload(Option<PersonId>),
    Message(MessageId),
}

impl BlobHolder {
    const fn kind(self) -> &'static str {
        match self {
            Self::Upload(_) => "upload",
            Self::Message(_) => "message",
        }
    }

    fn id(self) -> Uuid {
        match self {
            Self::Upload(person) => person.map_or(Uuid::nil(), Id::as_uuid),
            Self::Message(message) => message.as_uuid(),
        }
    }

    fn row(self, blob: BlobId) -> RowId {
        RowId::named(&[&blob.to_string(), self.kind(), &self.id().to_string()])
    }
}

/// A file that is kept by something.
pub(crate) struct NewReference<'a> {
    pub(crate) holder: BlobHolder,
    pub(crate) name: Option<&'a str>,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) now: Timestamp,
}

/// Adds a reference. The same once more gets the newer name, the later end and the later time.
pub(crate) fn add(tx: &mut Tx<'_>, blob: &Blob, reference: &NewReference<'_>) -> munshi_store::Result<()> {
    let NewReference { holder, name, expires_at, now } = reference;
    let by = rows::seal_by(tx, blob)?;
    let name = name.map(|name| tx.seal(by, NAME.cell(holder.row(blob.id)), name)).transpose()?;
    tx.execute(
        "INSERT INTO blob_references (tenant_id, blob_id, holder, holder_id, name, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (tenant_id, blob_id, holder, holder_id)
         DO UPDATE SET name = excluded.name, created_at = excluded.created_at, expires_at = excluded.expires_at",
        params![blob.id, holder.kind(), holder.id(), name, *now, *expires_at],
    )?;
    Ok(())
}

/// Hangs a file of this person on their message. Somebody else's is as unknown as one that was never there.
pub fn attach(
    tx: &mut Tx<'_>,
    id: BlobId,
    (person, message): (PersonId, MessageId),
    now: Timestamp,
) -> Result<AttachedFile> {
    let blob = rows::find_own(tx, id, person)?.ok_or(Error::Unknown(id))?;
    let name = find_name(tx, id, BlobHolder::Upload(blob.person))?;
    let holder = BlobHolder::Message(message);
    add(tx, &blob, &NewReference { holder, name: name.as_deref(), expires_at: None, now })?;
    Ok(AttachedFile { media_type: blob.media_type.to_string(), name, reference: format!("{SCHEME}{id}") })
}

/// Takes away what something kept; the sweep takes the files that nothing else keeps.
pub fn release(tx: &mut Tx<'_>, holder: BlobHolder) -> munshi_store::Result<u64> {
    tx.execute(
        "DELETE FROM blob_references WHERE tenant_id = $1 AND holder = $2 AND holder_id = $3",
        params![holder.kind(), holder.id()],
    )
}

/// Whether a message carries a file.
pub fn is_attached(tx: &mut Tx<'_>, id: BlobId, message: MessageId) -> munshi_store::Result<bool> {
    let found = tx.optional(
        "SELECT 1 FROM blob_references
         WHERE tenant_id = $1 AND blob_id = $2 AND holder = 'message' AND holder_id = $3",
        params![id, message],
        |_| Ok(()),
    )?;
    Ok(found.is_some())
}

/// What a file is called where it hangs. A name that can't be read is none: it keeps nobody from the rest of a conversation.
pub fn find_name(tx: &mut Tx<'_>, id: BlobId, holder: BlobHolder) -> munshi_store::Result<Option<String>> {
    let found = tx.optional(
        "SELECT name FROM blob_references WHERE tenant_id = $1 AND blob_id = $2 AND holder = $3 AND holder_id = $4",
        params![id, holder.kind(), holder.id()],
        |row| row.get_sealed("name", NAME.cell(holder.row(id))),
    );
    match found {
        Err(error) if error.is_unreadable() => {
            tracing::warn!(%error, file = %id, "the name of a file can't be read");
            Ok(None)
        }
        found => found.map(Option::flatten),
    }
}

/// What a file is called, wherever it hangs, each name once.
pub(crate) fn list_names(tx: &mut Tx<'_>, id: BlobId) -> munshi_store::Result<Vec<String>> {
    let found: Vec<(String, Uuid)> = tx.all(
        "SELECT holder, holder_id FROM blob_references WHERE tenant_id = $1 AND blob_id = $2 ORDER BY created_at, holder_id",
        params![id],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let mut names = Vec::new();
    for (kind, holder) in found {
        let holder = match kind.as_str() {
            "message" => BlobHolder::Message(MessageId::from_uuid(holder)),
            _ => BlobHolder::Upload((!holder.is_nil()).then(|| PersonId::from_uuid(holder))),
        };
        names.extend(find_name(tx, id, holder)?.filter(|name| !names.contains(name)));
    }
    Ok(names)
}

/// Ends uploads that no message took.
pub(crate) fn remove_expired(tx: &mut Tx<'_>, now: Timestamp) -> munshi_store::Result<u64> {
    tx.execute("DELETE FROM blob_references WHERE tenant_id = $1 AND expires_at < $2", params![now])
}

/// How a message names a file of ours before it is looked at. What it says of the file is taken from the file.
pub fn refer(id: BlobId) -> AttachedFile {
    AttachedFile { media_type: String::new(), name: None, reference: format!("{SCHEME}{id}") }
}

/// The file that an attachment refers to, where it is one of ours.
pub fn parse_reference(reference: &str) -> Option<BlobId> {
    reference.strip_prefix(SCHEME)?.parse().ok()
}

/// A name as it is kept: the last part of a path, without controls and what turns its letters round, and not too long.
pub fn clean_name(name: &str) -> Option<String> {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let shown = last.chars().filter(|letter| !letter.is_control() && !munshi_types::is_invisible(*letter));
    let kept: String = shown.take(LONGEST_NAME).collect();
    let kept = kept.trim().trim_start_matches('.').trim();
    (!kept.is_empty()).then(|| kept.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_its_last_part_and_nothing_that_deceives() {
        for (given, kept) in [
            ("bill.jpg", Some("bill.jpg")),
            ("../../etc/passwd", Some("passwd")),
            ("C:\\Users\\x\\बिल 5.pdf", Some("बिल 5.pdf")),
            ("photo\u{202e}gpj.exe", Some("photogpj.exe")),
            ("a\r\nSet-Cookie: b", Some("aSet-Cookie: b")),
            ("..", None),
            ("", None),
        ] {
            assert_eq!(clean_name(given).as_deref(), kept);
        }
        assert_eq!(clean_name(&"क".repeat(500)).unwrap().chars().count(), LONGEST_NAME);
    }
}
