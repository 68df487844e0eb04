//! Taking a consent back.

use std::collections::BTreeSet;

use munshi_identity::persons;
use munshi_store::Tx;
use munshi_types::{ConsentId, PersonId, Timestamp};
use serde_json::json;

use super::{PurposeConsent, store};
use crate::acts::ActServices;
use crate::audit::{self, AuditActor, AuditActorKind, AuditEvent, NewAuditEntry};
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

/// The same for the person themself, told to the audit; none where the consent is not theirs.
pub fn withdraw_own(
    tx: &mut Tx<'_>,
    act_services: &ActServices,
    (person, id): (PersonId, ConsentId),
    via: &str,
    now: Timestamp,
) -> Result<Option<PurposeConsent>> {
    let Some(consent) = store::find_for_update(tx, id)? else { return Ok(None) };
    if consent.person != living(tx, person)? {
        return Ok(None);
    }
    let ended = store::end_all(tx, (consent.person, &consent.purpose), via, now)?;
    if ended > 0 {
        record_withdrawal(tx, act_services, (&consent, ended), via, now)?;
    }
    Ok(Some(store::find(tx, id)?.unwrap_or(consent)))
}

/// Ends all that a person has agreed to, for whatever purpose; gives what held until now, the newest for each.
pub fn withdraw_all(
    tx: &mut Tx<'_>,
    act_services: &ActServices,
    person: PersonId,
    via: &str,
    now: Timestamp,
) -> Result<Vec<PurposeConsent>> {
    let person = living(tx, person)?;
    let (mut seen, mut withdrawn) = (BTreeSet::new(), Vec::new());
    for consent in store::list_open(tx, person, now)? {
        if !seen.insert(consent.purpose.clone()) {
            continue;
        }
        let ended = store::end_all(tx, (person, &consent.purpose), via, now)?;
        record_withdrawal(tx, act_services, (&consent, ended), via, now)?;
        withdrawn.push(consent);
    }
    Ok(withdrawn)
}

fn living(tx: &mut Tx<'_>, person: PersonId) -> Result<PersonId> {
    Ok(persons::find_living(tx, person)?.map_or(person, |living| living.id))
}

fn record_withdrawal(
    tx: &mut Tx<'_>,
    act_services: &ActServices,
    (consent, ended): (&PurposeConsent, u64),
    via: &str,
    now: Timestamp,
) -> Result<()> {
    let entry = NewAuditEntry {
        actor: AuditActor::new(AuditActorKind::Person, consent.person.to_string()),
        event: AuditEvent::CONSENT_WITHDRAWN,
        subject: consent.id.to_string(),
        payload: json!({ "purpose": consent.purpose, "person": consent.person, "ended": ended, "via": via }),
    };
    audit::append(tx, &entry, now, &act_services.ids)?;
    Ok(())
}
