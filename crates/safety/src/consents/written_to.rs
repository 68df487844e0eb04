//! Consent to be written to without having asked, at one address: given by proving it, or by the word that opens it again; ended by the
//! word that closes it, by the link of a mail, or as any other consent.
//!
//! It says on what a message went, and that somebody took it back. Who never gave one may be written to as far as other rules let it.

use std::time::Duration;

use munshi_store::{Result as StoreResult, Tx, params};
use munshi_types::tier::{Channel, LanguageCode};
use munshi_types::{ConsentId, ConsentPurposeName, IdGenerator, MessageId, PersonId, Timestamp};
use serde_json::json;
use uuid::Uuid;

use super::{PurposeConsent, store};
use crate::acts::DeferredAuditEntries;
use crate::audit::{AuditActor, AuditActorKind, AuditEvent, NewAuditEntry};
use crate::error::{Error, Result};

/// The purpose that such a consent names, in every tenant.
pub const MESSAGES: &str = "messages";

/// Until it is asked for again.
const HOLDS_FOR: Duration = Duration::from_secs(3_650 * 24 * 3_600);

/// Somebody agrees to be written to.
#[derive(Clone, Debug)]
pub struct NewMessagesConsent<'a> {
    pub person: PersonId,
    /// What stands for the address.
    pub recipient: Uuid,
    /// What they were shown, to the letter.
    pub words: &'a str,
    pub language: Option<LanguageCode>,
    /// With which message of theirs, on which channel; none where they proved the address.
    pub message: Option<(MessageId, Channel)>,
    /// Through what: `chat`, `code`.
    pub via: &'a str,
    pub now: Timestamp,
}

/// Stores it, unless one holds already. The audit is to be told at the end of the transaction.
pub fn give_messages(
    tx: &mut Tx<'_>,
    ids: &IdGenerator,
    new: &NewMessagesConsent<'_>,
) -> Result<DeferredAuditEntries> {
    if find_messages(tx, new.recipient, new.now)?.is_some() {
        return Ok(DeferredAuditEntries::default());
    }
    let consent = build_consent(ids, new)?;
    store::insert(tx, &consent)?;
    let entry = NewAuditEntry {
        actor: AuditActor::new(AuditActorKind::Person, new.person.to_string()),
        event: AuditEvent::CONSENT_GIVEN,
        subject: consent.id.to_string(),
        payload: json!({
            "purpose": MESSAGES, "until": consent.ends_at, "via": new.via, "message": consent.message,
        }),
    };
    Ok(DeferredAuditEntries::from_entry(entry))
}

fn build_consent(ids: &IdGenerator, new: &NewMessagesConsent<'_>) -> Result<PurposeConsent> {
    let purpose: ConsentPurposeName =
        MESSAGES.parse().map_err(|_| Error::Invalid(format!("`{MESSAGES}` is no purpose")))?;
    let (message, channel) = new.message.unzip();
    Ok(PurposeConsent {
        id: ids.next(),
        person: new.person,
        purpose,
        words: new.words.to_owned(),
        language: new.language.clone(),
        wording: None,
        approval: None,
        recipient: Some(new.recipient),
        message,
        given_via: new.via.to_owned(),
        channel,
        key: None,
        given_at: new.now,
        ends_at: new.now.plus(HOLDS_FOR),
        withdrawn_at: None,
        withdrawn_via: None,
    })
}

/// The consent on which somebody is written to at an address, where they gave one that holds.
pub fn find_messages(tx: &mut Tx<'_>, recipient: Uuid, now: Timestamp) -> StoreResult<Option<ConsentId>> {
    tx.optional(
        "SELECT id FROM consents
         WHERE tenant_id = $1 AND recipient = $2 AND purpose = 'messages' AND withdrawn_at IS NULL AND ends_at > $3
         ORDER BY given_at DESC, id DESC LIMIT 1",
        params![recipient, now],
        |row| row.get(0),
    )
}

/// When the last consent for an address was taken back; none where none was, or one was given since.
pub fn find_messages_withdrawal(tx: &mut Tx<'_>, recipient: Uuid) -> StoreResult<Option<Timestamp>> {
    let newest = tx.optional(
        // Of two of one instant the one that holds is the newer: ids of one instant have no order.
        "SELECT withdrawn_at FROM consents WHERE tenant_id = $1 AND recipient = $2 AND purpose = 'messages'
         ORDER BY given_at DESC, (withdrawn_at IS NULL) DESC, id DESC LIMIT 1",
        params![recipient],
        |row| row.get::<Option<Timestamp>>(0),
    )?;
    Ok(newest.flatten())
}

/// Ends what holds for an address, and says what the audit is to be told at the end of the transaction: whose word it was is the caller's
/// to know.
pub fn end_messages(
    tx: &mut Tx<'_>,
    recipient: Uuid,
    (actor, via): (&AuditActor, &str),
    now: Timestamp,
) -> Result<DeferredAuditEntries> {
    let Some(newest) = find_messages(tx, recipient, now)? else { return Ok(DeferredAuditEntries::default()) };
    let ended = tx.execute(
        "UPDATE consents SET withdrawn_at = $3, withdrawn_via = $4
         WHERE tenant_id = $1 AND recipient = $2 AND purpose = 'messages' AND withdrawn_at IS NULL AND ends_at > $3",
        params![recipient, now, via],
    )?;
    let entry = NewAuditEntry {
        actor: actor.clone(),
        event: AuditEvent::CONSENT_WITHDRAWN,
        subject: newest.to_string(),
        payload: json!({ "purpose": MESSAGES, "ended": ended, "via": via }),
    };
    Ok(DeferredAuditEntries::from_entry(entry))
}
