//! The consents of somebody who asks what is known, or is forgotten.

use munshi_identity::PersonalData;
use munshi_store::{Error as StoreError, Result, Tx, params};
use munshi_types::{ConsentId, PersonId};
use serde_json::Value;
use uuid::Uuid;

use super::store::find;
use crate::error::Error;

pub const PERSONAL_DATA: &[PersonalData] =
    &[PersonalData { name: "consents", list_next: list_consents, show: show_consent, erase: erase_consents }];

fn list_consents(tx: &mut Tx<'_>, person: PersonId, after: Uuid, limit: u32) -> Result<Vec<Uuid>> {
    tx.all(
        "SELECT id FROM consents WHERE tenant_id = $1 AND id > $3 AND person_id = $2 ORDER BY id LIMIT $4",
        params![person, after, limit],
        |row| row.get(0),
    )
}

/// What they agreed to, and until when.
fn show_consent(tx: &mut Tx<'_>, id: Uuid) -> Result<Option<Value>> {
    let consent = find(tx, ConsentId::from_uuid(id)).map_err(|error| match error {
        Error::Store(error) => error,
        other => StoreError::Decode(other.to_string()),
    })?;
    consent
        .map(|consent| serde_json::to_value(consent).map_err(|error| StoreError::Decode(error.to_string())))
        .transpose()
}

fn erase_consents(tx: &mut Tx<'_>, consents: &[Uuid]) -> Result<u64> {
    let mut erased = 0;
    for id in consents {
        erased += tx.execute("DELETE FROM consents WHERE tenant_id = $1 AND id = $2", params![*id])?;
    }
    Ok(erased)
}
