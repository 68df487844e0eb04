//! What the database knows of a file.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use munshi_identity::persons::{check_not_forgotten, seal_by_person};
use munshi_keys::SealKey;
use munshi_store::{Row, SealedBy, SealedColumn, Tx, params};
use munshi_types::{BlobId, DataKeyId, PersonId, Timestamp};
use serde::Serialize;
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::media_type::MediaType;
use crate::usage::{self, to_column, to_count};

const CONTENT_KEY: SealedColumn = SealedColumn::new("blobs", "content_key");
/// What content is hashed for.
const CONTENT: &str = "blob content";

/// A file that is whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Blob {
    pub id: BlobId,
    /// Whose it is; none for the tenant's own.
    pub person: Option<PersonId>,
    pub media_type: MediaType,
    pub size: u64,
    pub preview: Option<PreviewSize>,
    pub created_at: Timestamp,
}

/// In pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PreviewSize {
    pub width: u32,
    pub height: u32,
}

/// A file whose bytes are sealed and not stored yet.
#[derive(Debug)]
pub(crate) struct BlobDraft {
    pub(crate) blob: Blob,
    /// SHA-256 of the plain content. Only a keyed hash of it is stored.
    pub(crate) digest: [u8; 32],
    /// With the preview, sealed.
    pub(crate) stored_size: u64,
}

/// What content is known by: its key, and a hash within it.
pub(crate) struct ContentId {
    by: SealedBy,
    key: Uuid,
    hash: [u8; 32],
}

impl ContentId {
    /// Gives the person a key if this is the first that is theirs. Refused for somebody who was forgotten; others are held, so that a file
    /// which is begun is seen by whoever forgets them.
    pub(crate) fn of(tx: &mut Tx<'_>, person: Option<PersonId>, digest: &[u8; 32]) -> Result<Self> {
        if let Some(person) = person {
            check_not_forgotten(tx, person)?;
        }
        let by = person.map_or(Ok(SealedBy::Tenant), |person| seal_by_person(tx, person))?;
        let key = match by {
            SealedBy::Person(key) => munshi_types::Id::as_uuid(key),
            SealedBy::Tenant => Uuid::nil(),
        };
        let hash = tx.keyring()?.hash_by(tx.tenant(), by, CONTENT, digest)?;
        Ok(Self { by, key, hash })
    }
}

/// The same content within the same key, if it is there.
pub(crate) fn find_by_content(tx: &mut Tx<'_>, content: &ContentId) -> munshi_store::Result<Option<Blob>> {
    tx.optional(
        (
            "SELECT id, person_id, media_type, size, preview_width, preview_height, created_at FROM blobs
             WHERE tenant_id = $1 AND key_id = $2 AND content_hash = $3 AND state = 'ready'",
            "SELECT id, person_id, media_type, size, preview_width, preview_height, created_at FROM blobs
             WHERE tenant_id = $1 AND key_id = $2 AND content_hash = $3 AND state = 'ready' FOR SHARE",
        ),
        params![content.key, &content.hash[..]],
        read,
    )
}

/// Writes a file down before its bytes are stored.
pub(crate) fn begin(
    tx: &mut Tx<'_>,
    draft: &BlobDraft,
    content: &ContentId,
    file_key: &SealKey,
) -> munshi_store::Result<()> {
    let blob = &draft.blob;
    let key = STANDARD_NO_PAD.encode(file_key.bytes());
    let key = tx.seal(content.by, CONTENT_KEY.cell(blob.id), &key)?;
    let (width, height) = blob.preview.map(|size| (i64::from(size.width), i64::from(size.height))).unzip();
    tx.execute(
        "INSERT INTO blobs (tenant_id, id, person_id, key_id, content_hash, content_key, media_type, size, stored_size,
                            preview_width, preview_height, state, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'writing', $12)",
        params![
            blob.id,
            blob.person,
            content.key,
            &content.hash[..],
            key,
            blob.media_type.as_str(),
            to_column(blob.size),
            to_column(draft.stored_size),
            width,
            height,
            blob.created_at
        ],
    )?;
    Ok(())
}

/// Makes a file visible; false where it was swept meanwhile, or whoever gave it was forgotten.
pub(crate) fn publish(tx: &mut Tx<'_>, id: BlobId) -> munshi_store::Result<bool> {
    let sql = "UPDATE blobs SET state = 'ready'
               WHERE tenant_id = $1 AND id = $2 AND state = 'writing' AND content_key <> ''";
    Ok(tx.execute(sql, params![id])? > 0)
}

pub fn find(tx: &mut Tx<'_>, id: BlobId) -> munshi_store::Result<Option<Blob>> {
    tx.optional(
        "SELECT id, person_id, media_type, size, preview_width, preview_height, created_at FROM blobs
         WHERE tenant_id = $1 AND id = $2 AND state = 'ready'",
        params![id],
        read,
    )
}

/// A file of this person, or of somebody who turned out to be them. Held until the end of the unit, so that no sweep takes it.
pub fn find_own(tx: &mut Tx<'_>, id: BlobId, person: PersonId) -> munshi_store::Result<Option<Blob>> {
    tx.optional(
        (
            "SELECT id, person_id, media_type, size, preview_width, preview_height, created_at FROM blobs
             WHERE tenant_id = $1 AND id = $2 AND state = 'ready'
               AND (person_id = $3 OR person_id IN (SELECT p.id FROM persons p WHERE p.tenant_id = $1 AND p.merged_into = $3))",
            "SELECT id, person_id, media_type, size, preview_width, preview_height, created_at FROM blobs
             WHERE tenant_id = $1 AND id = $2 AND state = 'ready'
               AND (person_id = $3 OR person_id IN (SELECT p.id FROM persons p WHERE p.tenant_id = $1 AND p.merged_into = $3))
             FOR SHARE",
        ),
        params![id, person],
        read,
    )
}

/// The same for looking at it alone.
pub fn find_theirs(tx: &mut Tx<'_>, id: BlobId, person: PersonId) -> munshi_store::Result<Option<Blob>> {
    tx.optional(
        "SELECT id, person_id, media_type, size, preview_width, preview_height, created_at FROM blobs
         WHERE tenant_id = $1 AND id = $2 AND state = 'ready'
           AND (person_id = $3 OR person_id IN (SELECT p.id FROM persons p WHERE p.tenant_id = $1 AND p.merged_into = $3))",
        params![id, person],
        read,
    )
}

/// The key that a file's bytes are sealed by.
pub(crate) fn find_file_key(tx: &mut Tx<'_>, id: BlobId) -> Result<Option<SealKey>> {
    let found: Option<String> = tx.optional(
        "SELECT content_key FROM blobs WHERE tenant_id = $1 AND id = $2 AND state = 'ready'",
        params![id],
        |row| row.get_sealed("content_key", CONTENT_KEY.cell(id)),
    )?;
    let parse = |text: String| {
        let bytes = STANDARD_NO_PAD.decode(text).ok()?;
        SealKey::from_bytes(&bytes)
    };
    found.map(|text| parse(text).ok_or(Error::Damaged(id))).transpose()
}

fn read(row: &Row<'_>) -> munshi_store::Result<Blob> {
    let side = |column: &str| -> munshi_store::Result<Option<u32>> {
        Ok(row.get::<Option<i64>>(column)?.and_then(|length| u32::try_from(length).ok()))
    };
    let preview = side("preview_width")?.zip(side("preview_height")?);
    Ok(Blob {
        id: row.get("id")?,
        person: row.get("person_id")?,
        media_type: row.get::<String>("media_type")?.parse().map_err(munshi_store::Error::Decode)?,
        size: to_count(row.get("size")?),
        preview: preview.map(|(width, height)| PreviewSize { width, height }),
        created_at: row.get("created_at")?,
    })
}

/// Which files are to go: those that nothing hangs on.
pub(crate) fn list_unreferenced(tx: &mut Tx<'_>, limit: u32) -> munshi_store::Result<Vec<BlobId>> {
    tx.all(
        "SELECT b.id FROM blobs b WHERE b.tenant_id = $1 AND b.state = 'ready'
           AND NOT EXISTS (SELECT 1 FROM blob_references r WHERE r.tenant_id = $1 AND r.blob_id = b.id)
         ORDER BY b.id LIMIT $2",
        params![i64::from(limit)],
        |row| row.get(0),
    )
}

/// Takes a file out of sight, unless something hangs on it by now. Whoever is attaching it holds its row: that is waited for, and the look
/// after it is another statement's.
pub(crate) fn retire_unreferenced(tx: &mut Tx<'_>, id: BlobId) -> munshi_store::Result<()> {
    tx.optional(
        (
            "SELECT 1 FROM blobs WHERE tenant_id = $1 AND id = $2",
            "SELECT 1 FROM blobs WHERE tenant_id = $1 AND id = $2 FOR UPDATE",
        ),
        params![id],
        |_| Ok(()),
    )?;
    tx.execute(
        "UPDATE blobs SET state = 'deleting' WHERE tenant_id = $1 AND id = $2 AND state = 'ready'
           AND NOT EXISTS (SELECT 1 FROM blob_references r WHERE r.tenant_id = $1 AND r.blob_id = $2)",
        params![id],
    )?;
    Ok(())
}

/// Gives up files whose writer has gone.
pub(crate) fn retire_abandoned(tx: &mut Tx<'_>, before: Timestamp) -> munshi_store::Result<u64> {
    tx.execute(
        "UPDATE blobs SET state = 'deleting' WHERE tenant_id = $1 AND state = 'writing' AND created_at < $2",
        params![before],
    )
}

/// Gives up one that is being written, by its writer; false where it is none of those any more.
pub(crate) fn retire_unpublished(tx: &mut Tx<'_>, id: BlobId) -> munshi_store::Result<bool> {
    let sql = "UPDATE blobs SET state = 'deleting' WHERE tenant_id = $1 AND id = $2 AND state = 'writing'";
    Ok(tx.execute(sql, params![id])? > 0)
}

/// Those behind this one, in the order of their ids.
pub(crate) fn list_retired(tx: &mut Tx<'_>, after: BlobId, limit: u32) -> munshi_store::Result<Vec<BlobId>> {
    tx.all(
        "SELECT id FROM blobs WHERE tenant_id = $1 AND state = 'deleting' AND id > $2 ORDER BY id LIMIT $3",
        params![after, i64::from(limit)],
        |row| row.get(0),
    )
}

/// The row goes last, when the bytes are gone.
pub(crate) fn remove_retired(tx: &mut Tx<'_>, id: BlobId) -> munshi_store::Result<()> {
    let stored: Option<i64> = tx.optional(
        (
            "SELECT stored_size FROM blobs WHERE tenant_id = $1 AND id = $2 AND state = 'deleting'",
            "SELECT stored_size FROM blobs WHERE tenant_id = $1 AND id = $2 AND state = 'deleting' FOR UPDATE",
        ),
        params![id],
        |row| row.get(0),
    )?;
    let Some(stored) = stored else { return Ok(()) };
    tx.execute("DELETE FROM blobs WHERE tenant_id = $1 AND id = $2 AND state = 'deleting'", params![id])?;
    usage::give_back(tx, to_count(stored))
}

/// Whose key a file's names are sealed by: as its content is.
pub(crate) fn seal_by(tx: &mut Tx<'_>, blob: &Blob) -> munshi_store::Result<SealedBy> {
    let key: Option<Uuid> =
        tx.optional("SELECT key_id FROM blobs WHERE tenant_id = $1 AND id = $2", params![blob.id], |row| {
            row.get(0)
        })?;
    Ok(match key {
        Some(key) if !key.is_nil() => SealedBy::Person(DataKeyId::from_uuid(key)),
        _ => SealedBy::Tenant,
    })
}
