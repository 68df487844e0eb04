//! Taking a consent back.

use munshi_store::Tx;
use munshi_types::{ConsentId, Timestamp};

use super::{PurposeConsent, store};
use crate::error::Result;

/// Ends what a person has agreed to for the purpose of this consent, at once: nothing rests on it from here on, and what waits or is about
/// to be done for that purpose is not done. Says how many ended; none where there is no such consent.
pub fn withdraw(
    tx: &mut Tx<'_>,
    id: ConsentId,
    via: &str,
    now: Timestamp,
) -> Result<Option<(PurposeConsent, u64)>> {
    let Some(consent) = store::find_for_update(tx, id)? else { return Ok(None) };
    let ended = store::end_all(tx, (consent.person, &consent.purpose), via, now)?;
    let consent = store::find(tx, id)?.unwrap_or(consent);
    Ok(Some((consent, ended)))
}
