//! A contact who is forgotten: the account stays, with its amounts; every name, phone and word of theirs goes.

use munshi_store::{Tx, params};
use munshi_types::{Id, Timestamp};

use super::find_row;
use crate::books::head;
use crate::books::ids::ContactId;
use crate::error::{Error, Result};

/// Letters of a pseudonym's code; two contacts of a shop that share one are still told apart by their accounts.
const CODE: usize = 6;

/// Takes from a contact what it is found by, its names, its phone and its e-mail, and drops its reminders. Says how many rows that were. One that is
/// not there is nobody.
pub fn detach(tx: &mut Tx<'_>, id: ContactId, now: Timestamp) -> Result<u64> {
    if find_row(tx, id)?.is_none() {
        return Ok(0);
    }
    head::lock(tx)?;
    let pseudonym = build_pseudonym(id);
    let mut changed = tx.execute(
        "UPDATE ledger_contacts SET name = $3, phone = NULL, forgotten_at = COALESCE(forgotten_at, $4)
         WHERE tenant_id = $1 AND id = $2 AND (forgotten_at IS NULL OR name <> $3 OR phone IS NOT NULL)",
        params![id, pseudonym, now],
    )?;
    changed += tx.execute(
        "UPDATE ledger_contact_details SET email = NULL
         WHERE tenant_id = $1 AND contact_id = $2 AND email IS NOT NULL",
        params![id],
    )?;
    changed += tx.execute(
        "DELETE FROM ledger_names WHERE tenant_id = $1 AND kind = 'contact' AND subject_id = $2",
        params![id],
    )?;
    changed += tx.execute(
        "UPDATE ledger_reminders SET words = $3, state = CASE state WHEN 'waiting' THEN 'dropped' ELSE state END,
                ended_at = COALESCE(ended_at, $4)
         WHERE tenant_id = $1 AND contact_id = $2 AND words <> $3",
        params![id, pseudonym, now],
    )?;
    Ok(changed)
}

/// Overwrites what names a contact and says how many rows that were. Merged contacts are forgotten each by itself. One that is not there
/// is nobody.
pub fn forget(tx: &mut Tx<'_>, id: ContactId, now: Timestamp) -> Result<u64> {
    if find_row(tx, id)?.is_none() {
        return Ok(0);
    }
    let (mut changed, pseudonym) = (detach(tx, id, now)?, build_pseudonym(id));
    changed += tx.execute(
        "UPDATE ledger_entries SET words = $3, words_key = NULL, reason = CASE WHEN reason IS NULL THEN NULL ELSE $3 END
         WHERE tenant_id = $1 AND contact_id = $2 AND (words <> $3 OR words_key IS NOT NULL OR reason <> $3)",
        params![id, pseudonym],
    )?;
    changed += tx.execute(
        "UPDATE ledger_contact_details SET language = NULL, gstin = NULL
         WHERE tenant_id = $1 AND contact_id = $2 AND (language IS NOT NULL OR gstin IS NOT NULL)",
        params![id],
    )?;
    Ok(changed)
}

/// Nothing new is known of somebody who was forgotten.
pub(super) fn check_not_forgotten(tx: &mut Tx<'_>, id: ContactId) -> Result<()> {
    let forgotten = tx.optional(
        "SELECT 1 FROM ledger_contacts WHERE tenant_id = $1 AND id = $2 AND forgotten_at IS NOT NULL",
        params![id],
        |_| Ok(()),
    )?;
    match forgotten {
        None => Ok(()),
        Some(()) => Err(Error::invalid("this contact was forgotten: add a new one")),
    }
}

/// What stands in place of the name, of the entries' words and of reasons.
fn build_pseudonym(id: ContactId) -> String {
    let digits = id.as_uuid().simple().to_string();
    // An id begins with its time: the end tells two of one moment apart.
    let code = digits.get(digits.len() - CODE..).unwrap_or(&digits);
    format!("Forgotten {}", code.to_uppercase())
}
