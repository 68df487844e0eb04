//! Taking a consent back.
//!
//! Whoever takes consents back holds the living person first and then all that they have consented to, as a merge does: nothing is given to
//! another row behind its back, and two who do it at once wait for each other in one order. The audit is told last.

use std::collections::BTreeSet;

use munshi_identity::persons;
use munshi_store::Tx;
use munshi_types::tier::Channel;
use munshi_types::{ConsentId, KeyId, MessageId, PersonId, Timestamp};
use serde_json::json;

use super::{PurposeConsent, store};
use crate::acts::{ActServices, DeferredAuditEntries};
use crate::approvals::{AnswerSource, is_own_word};
use crate::audit::{AuditActor, AuditActorKind, AuditEvent, NewAuditEntry};
use crate::error::Result;

/// Who takes back what they have agreed to, and through what. It is done whoever says it in their name; the audit tells whose word it was.
#[derive(Clone, Copy, Debug)]
pub struct WithdrawalRequest<'a> {
    pub person: PersonId,
    /// Through what: `chat`, `web`.
    pub via: &'a str,
    /// With which message, on which channel; none where a button was pressed.
    pub message: Option<(MessageId, Channel)>,
    /// The API key through which it came.
    pub key: Option<KeyId>,
    /// Only a host says that it is them.
    pub is_vouched: bool,
}

/// What ended, and what the audit is to be told of it at the end of the transaction.
#[derive(Debug, Default)]
pub struct WithdrawnConsents {
    /// What held until now, the newest for each purpose.
    pub consents: Vec<PurposeConsent>,
    pub audit: DeferredAuditEntries,
}

/// Ends what a person has agreed to for the purpose of this consent, at once: nothing rests on it from here on, and what waits or is about
/// to be done for that purpose is not done. Says how many ended; none where there is no such consent.
pub fn withdraw(
    tx: &mut Tx<'_>,
    id: ConsentId,
    via: &str,
    now: Timestamp,
) -> Result<Option<(PurposeConsent, u64)>> {
    let Some(consent) = store::find(tx, id)? else { return Ok(None) };
    hold(tx, consent.person)?;
    // It may be another's since: they have turned out to be one.
    let consent = store::find(tx, id)?.unwrap_or(consent);
    let ended = store::end_all(tx, (consent.person, &consent.purpose), via, now)?;
    let consent = store::find(tx, id)?.unwrap_or(consent);
    Ok(Some((consent, ended)))
}

/// The same for the person themself, told to the audit; none where the consent is not theirs.
pub fn withdraw_own(
    tx: &mut Tx<'_>,
    act_services: &ActServices,
    id: ConsentId,
    request: &WithdrawalRequest<'_>,
    now: Timestamp,
) -> Result<Option<PurposeConsent>> {
    let person = hold(tx, request.person)?;
    let Some(consent) = store::find(tx, id)?.filter(|consent| consent.person == person) else {
        return Ok(None);
    };
    let ended = store::end_all(tx, (consent.person, &consent.purpose), request.via, now)?;
    let withdrawn = store::find(tx, id)?.unwrap_or_else(|| consent.clone());
    if ended > 0 {
        let actor = resolve_actor(tx, request, consent.person)?;
        let entry = build_entry(&actor, request, &consent, ended);
        DeferredAuditEntries::from_entry(entry).record(tx, act_services, now)?;
    }
    Ok(Some(withdrawn))
}

/// Ends all that a person has agreed to, for whatever purpose.
pub fn withdraw_all(
    tx: &mut Tx<'_>,
    request: &WithdrawalRequest<'_>,
    now: Timestamp,
) -> Result<WithdrawnConsents> {
    let person = hold(tx, request.person)?;
    let open = store::list_open(tx, person, now)?;
    if open.is_empty() {
        return Ok(WithdrawnConsents::default());
    }
    store::end_open(tx, person, request.via, now)?;
    let actor = resolve_actor(tx, request, person)?;
    let mut audit = DeferredAuditEntries::default();
    for consent in pick_newest(&open) {
        let ended = open.iter().filter(|other| other.purpose == consent.purpose).count() as u64;
        let entry = build_entry(&actor, request, consent, ended);
        audit = audit.merge(DeferredAuditEntries::from_entry(entry));
    }
    let consents = pick_newest(&open).cloned().collect();
    Ok(WithdrawnConsents { consents, audit })
}

/// What somebody has agreed to that has neither ended nor been withdrawn, the newest for each purpose.
pub fn list_open(tx: &mut Tx<'_>, person: PersonId, now: Timestamp) -> Result<Vec<PurposeConsent>> {
    let person = persons::find_living(tx, person)?.map_or(person, |living| living.id);
    let open = store::list_open(tx, person, now)?;
    Ok(pick_newest(&open).cloned().collect())
}

fn pick_newest(open: &[PurposeConsent]) -> impl Iterator<Item = &PurposeConsent> {
    let mut seen = BTreeSet::new();
    open.iter().filter(move |consent| seen.insert(&consent.purpose))
}

/// The living person and all that they have agreed to, until the transaction ends.
fn hold(tx: &mut Tx<'_>, person: PersonId) -> Result<PersonId> {
    let person = persons::lock_living(tx, person)?.map_or(person, |living| living.id);
    store::lock(tx, person, person)?;
    Ok(person)
}

/// The person where it is surely their own word, else through what it was said in their name.
fn resolve_actor(tx: &mut Tx<'_>, request: &WithdrawalRequest<'_>, person: PersonId) -> Result<AuditActor> {
    let source = match request.message {
        _ if request.is_vouched => AnswerSource::Other,
        Some((message, channel)) => AnswerSource::Message { message, channel },
        None => AnswerSource::Page,
    };
    if is_own_word(tx, Some(person), source, request.key)? {
        return Ok(AuditActor::new(AuditActorKind::Person, person.to_string()));
    }
    let said_by = match (request.key, request.message) {
        (Some(key), _) => format!("api key {key}"),
        (None, _) if request.is_vouched => "host".to_owned(),
        (None, Some((_, channel))) => channel.to_string(),
        (None, None) => request.via.to_owned(),
    };
    Ok(AuditActor::new(AuditActorKind::Operator, said_by))
}

fn build_entry(
    actor: &AuditActor,
    request: &WithdrawalRequest<'_>,
    consent: &PurposeConsent,
    ended: u64,
) -> NewAuditEntry {
    let (message, channel) = request.message.unzip();
    NewAuditEntry {
        actor: actor.clone(),
        event: AuditEvent::CONSENT_WITHDRAWN,
        subject: consent.id.to_string(),
        payload: json!({
            "purpose": consent.purpose, "person": consent.person, "ended": ended, "via": request.via,
            "message": message, "channel": channel, "key": request.key,
        }),
    }
}
