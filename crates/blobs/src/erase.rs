//! The files of somebody who is forgotten: out of sight at once, and gone from the store with the next sweep. What is left of
//! their bytes anywhere opens no more, since the key of a file is sealed by its person's. One that is being written loses its key and is
//! never published: its writer gives it up, and knows when its bytes are all there to be removed.

use munshi_identity::PersonalData;
use munshi_store::{Result, Tx, params};
use munshi_types::{BlobId, PersonId, Timestamp};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{references, rows};

pub const PERSONAL_DATA: &[PersonalData] =
    &[PersonalData { name: "files", list_next: list_files, show: show_file, erase: erase_files }];

/// The bytes themselves are fetched by the file's id.
fn show_file(tx: &mut Tx<'_>, id: Uuid) -> Result<Option<Value>> {
    let Some(blob) = rows::find(tx, BlobId::from_uuid(id))? else { return Ok(None) };
    let names = references::list_names(tx, blob.id)?;
    Ok(Some(json!({
        "names": names,
        "media_type": blob.media_type,
        "size": blob.size,
        "created_at": blob.created_at,
    })))
}

fn list_files(tx: &mut Tx<'_>, person: PersonId, after: Uuid, limit: u32) -> Result<Vec<Uuid>> {
    tx.all(
        "SELECT id FROM blobs WHERE tenant_id = $1 AND id > $3 AND person_id = $2 AND state <> 'deleting'
         ORDER BY id LIMIT $4",
        params![person, after, limit],
        |row| row.get(0),
    )
}

fn erase_files(tx: &mut Tx<'_>, files: &[Uuid]) -> Result<u64> {
    let mut erased = 0;
    for file in files {
        tx.send("DELETE FROM blob_references WHERE tenant_id = $1 AND blob_id = $2", params![*file])?;
        erased += tx.execute(
            "UPDATE blobs SET state = CASE state WHEN 'writing' THEN state ELSE 'deleting' END, content_key = ''
             WHERE tenant_id = $1 AND id = $2 AND (state = 'ready' OR (state = 'writing' AND content_key <> ''))",
            params![*file],
        )?;
    }
    Ok(erased)
}

/// Takes files out of sight that were last given before a time, whoever gave them, and says how many; the next sweep removes them. The same
/// content given again is the same file, and counts from then on.
pub fn expire(tx: &mut Tx<'_>, before: Timestamp, limit: u32) -> Result<u64> {
    // Whoever gives one again holds its row: it is young when they are done, so it is passed over.
    let found: Vec<BlobId> = tx.all(
        (
            "SELECT b.id FROM blobs b WHERE b.tenant_id = $1 AND b.created_at < $2 AND b.state = 'ready'
               AND NOT EXISTS (SELECT 1 FROM blob_references r WHERE r.tenant_id = $1 AND r.blob_id = b.id AND r.created_at >= $2)
             ORDER BY b.id LIMIT $3",
            "SELECT b.id FROM blobs b WHERE b.tenant_id = $1 AND b.created_at < $2 AND b.state = 'ready'
               AND NOT EXISTS (SELECT 1 FROM blob_references r WHERE r.tenant_id = $1 AND r.blob_id = b.id AND r.created_at >= $2)
             ORDER BY b.id LIMIT $3 FOR UPDATE OF b SKIP LOCKED",
        ),
        params![before, limit],
        |row| row.get(0),
    )?;
    let mut expired = 0;
    for file in found {
        // Looked at again, by a statement that sees what came before the row was held.
        let retired = tx.execute(
            "UPDATE blobs SET state = 'deleting', content_key = '' WHERE tenant_id = $1 AND id = $2 AND state = 'ready'
               AND NOT EXISTS (SELECT 1 FROM blob_references r WHERE r.tenant_id = $1 AND r.blob_id = $2 AND r.created_at >= $3)",
            params![file, before],
        )?;
        if retired > 0 {
            tx.send("DELETE FROM blob_references WHERE tenant_id = $1 AND blob_id = $2", params![file])?;
            expired += retired;
        }
    }
    Ok(expired)
}
