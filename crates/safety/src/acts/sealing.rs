//! What of an act is sealed at rest, and with whose key.

use munshi_identity::persons::seal_by_person;
use munshi_store::{JsonText, PlainColumn, SealedBy, SealedColumn, SealedKey, SealedTable, Tx, params};
use munshi_types::{ActId, Id, PersonId};

use crate::error::Result;

pub(crate) const ARGUMENTS: SealedColumn = SealedColumn::new("acts", "arguments").forgotten_as("{}");
pub(crate) const LEAVING: SealedColumn = SealedColumn::new("acts", "leaving").forgotten_as_null();
pub(super) const PROPOSAL: SealedColumn = SealedColumn::new("acts", "proposal").forgotten_as("null");
pub(super) const RESULT: SealedColumn = SealedColumn::new("acts", "result").forgotten_as_null();
pub(super) const UNDO: SealedColumn = SealedColumn::new("acts", "undo").forgotten_as_null();

/// Acts from before they were sealed.
pub(crate) const ACTS_OF_BEFORE: SealedTable = SealedTable {
    name: "acts",
    key: SealedKey::Id,
    next: (
        "SELECT id AS row_id, person_id AS person, arguments, leaving, proposal, result, undo FROM acts
         WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3",
        "SELECT id AS row_id, person_id AS person, arguments, leaving, proposal, result, undo FROM acts
         WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3 FOR NO KEY UPDATE",
    ),
    update: "UPDATE acts SET arguments = $3, leaving = $4, proposal = $5, result = $6, undo = $7
             WHERE tenant_id = $1 AND id = $2",
    columns: &[
        PlainColumn::Json(ARGUMENTS),
        PlainColumn::Json(LEAVING),
        PlainColumn::Json(PROPOSAL),
        PlainColumn::Json(RESULT),
        PlainColumn::Json(UNDO),
    ],
};

/// By the key of the person it is done for; where there is none, by the tenant's.
pub(crate) fn seal_by(tx: &mut Tx<'_>, person: Option<PersonId>) -> Result<SealedBy> {
    Ok(person.map_or(Ok(SealedBy::Tenant), |person| seal_by_person(tx, person))?)
}

/// As the act is sealed that is written now: its end may come in the same transaction, which then need not look it up.
pub(super) fn remember(tx: &mut Tx<'_>, act: ActId, by: SealedBy) -> Result<()> {
    match by {
        SealedBy::Person(key) => Ok(tx.remember_owner_key(act.as_uuid(), key)?),
        SealedBy::Tenant => Ok(()),
    }
}

/// As an act is sealed that is there.
pub(crate) fn seal_by_act(tx: &mut Tx<'_>, act: ActId) -> Result<SealedBy> {
    if let Some(known) = tx.find_owner_key(act.as_uuid())? {
        return Ok(SealedBy::Person(known));
    }
    let person: Option<Option<PersonId>> =
        tx.optional("SELECT person_id FROM acts WHERE tenant_id = $1 AND id = $2", params![act], |row| {
            row.get(0)
        })?;
    seal_by(tx, person.flatten())
}

/// A value of an act, sealed as the act is.
pub(super) fn seal_of_act(
    tx: &mut Tx<'_>,
    act: ActId,
    column: SealedColumn,
    json: Option<JsonText>,
) -> Result<Option<JsonText>> {
    let Some(json) = json else { return Ok(None) };
    let by = seal_by_act(tx, act)?;
    Ok(Some(tx.seal_written(by, column.cell(act), &json)?))
}
