//! Giving a consent: what follows from a person's yes to the question.

use std::time::Duration;

use munshi_store::Tx;
use munshi_types::{PersonId, Timestamp};
use serde_json::json;

use super::{PurposeConsent, PurposeQuestion, store};
use crate::acts::ActServices;
use crate::approvals::{Approval, ApprovalAnswer};
use crate::audit::{self, AuditActor, AuditActorKind, AuditEvent, NewAuditEntry};
use crate::error::{Error, Result};

/// Stores that somebody agreed to what was put to them, in the transaction of their yes.
pub(crate) fn give(
    tx: &mut Tx<'_>,
    act_services: &ActServices,
    (approval, question): (&Approval, &PurposeQuestion),
    said: &ApprovalAnswer<'_>,
    now: Timestamp,
) -> Result<PurposeConsent> {
    let nobody = || Error::Invalid("a consent is given by a person".to_owned());
    let person: PersonId = said.who.person.ok_or_else(nobody)?;
    let consent = PurposeConsent {
        id: act_services.ids.next(),
        person,
        purpose: question.purpose.clone(),
        words: question.words.clone(),
        language: question.language.clone(),
        wording: Some(question.wording()),
        approval: Some(approval.id),
        recipient: None,
        message: said.source.message(),
        given_via: said.via.to_owned(),
        channel: said.source.channel(),
        key: said.key,
        given_at: now,
        ends_at: now.plus(Duration::from_secs(u64::from(question.days) * 24 * 3600)),
        withdrawn_at: None,
        withdrawn_via: None,
    };
    store::insert(tx, &consent)?;
    let entry = NewAuditEntry {
        actor: AuditActor::new(AuditActorKind::Person, person.to_string()),
        event: AuditEvent::CONSENT_GIVEN,
        subject: consent.id.to_string(),
        payload: json!({
            "purpose": consent.purpose, "approval": approval.id, "until": consent.ends_at, "via": said.via,
            "key": said.key,
        }),
    };
    audit::append(tx, &entry, now, &act_services.ids)?;
    Ok(consent)
}
