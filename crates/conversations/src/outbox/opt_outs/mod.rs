//! Who asked to be sent nothing but answers, and by which words.
//!
//! It holds for an address, not for a person: who writes STOP from a phone has said so of that phone. [`words`] knows the words. Who was
//! sent a mail may say the same by its [`UnsubscribeToken`], also where nobody knows whose the address is.

mod links;
pub mod words;

use munshi_identity::PersonalData;
use munshi_safety::acts::DeferredAuditEntries;
use munshi_safety::audit::{self, AuditActor, AuditActorKind, AuditEvent, NewAuditEntry};
use munshi_safety::consents::{self, NewMessagesConsent};
use munshi_store::{Result, Tx, params};
use munshi_types::tier::LanguageCode;
use munshi_types::{IdGenerator, MessageId, PersonId, ReplyAddress, Timestamp};
use serde_json::{Value, json};
use uuid::Uuid;

use super::recipient::hash_recipient;

pub use links::{UnsubscribeToken, UnsubscribeWish, unsubscribe};
pub use words::SubscriptionWord;

/// Somebody has written one of the words.
#[derive(Clone, Copy, Debug)]
pub struct SubscriptionChange<'a> {
    pub word: SubscriptionWord,
    pub person: PersonId,
    /// Where they are written to.
    pub at: &'a ReplyAddress,
    /// By which message they said so.
    pub message: MessageId,
    pub now: Timestamp,
}

/// Since when only answers go to an address; the last time where it was asked for more than once.
pub(super) fn find_time(tx: &mut Tx<'_>, recipient: Uuid) -> Result<Option<Timestamp>> {
    let times: Vec<Timestamp> = tx.all(
        "SELECT opted_out_at FROM opt_outs WHERE tenant_id = $1 AND recipient = $2 AND opened_at IS NULL
         UNION ALL SELECT opted_out_at FROM address_opt_outs WHERE tenant_id = $1 AND recipient = $2",
        params![recipient],
        |row| row.get(0),
    )?;
    // Whoever takes back a consent to be written to there, on whatever page, has said the same.
    let withdrawn = consents::find_messages_withdrawal(tx, recipient)?;
    Ok(times.into_iter().chain(withdrawn).max())
}

/// Keeps the word as a consent for the address, given or taken back: beside the row that rules look at, and in its transaction. `shown` is
/// what they were told of it. The audit is to be told at the end.
pub fn record_consent(
    tx: &mut Tx<'_>,
    change: &SubscriptionChange<'_>,
    (shown, language): (&str, Option<&LanguageCode>),
    ids: &IdGenerator,
) -> Result<DeferredAuditEntries, munshi_safety::Error> {
    let recipient = hash_recipient(tx, change.at)?;
    match change.word {
        SubscriptionWord::Stop => {
            let actor = AuditActor::new(AuditActorKind::Person, change.person.to_string());
            consents::end_messages(tx, recipient, (&actor, "chat"), change.now)
        }
        SubscriptionWord::Start => {
            let new = NewMessagesConsent {
                person: change.person,
                recipient,
                words: shown,
                language: language.cloned(),
                message: Some((change.message, change.at.channel)),
                via: "chat",
                now: change.now,
            };
            consents::give_messages(tx, ids, &new)
        }
    }
}

/// Somebody has proved an address, after they were shown that they may be written to there from then on. Who has said otherwise of it says
/// START, and gives none by this.
pub(crate) fn record_proof(
    tx: &mut Tx<'_>,
    (person, at): (PersonId, &ReplyAddress),
    (shown, language): (&str, Option<&LanguageCode>),
    (ids, now): (&IdGenerator, Timestamp),
) -> Result<DeferredAuditEntries, munshi_safety::Error> {
    let recipient = hash_recipient(tx, at)?;
    if find_time(tx, recipient)?.is_some() {
        return Ok(DeferredAuditEntries::default());
    }
    let new = NewMessagesConsent {
        person,
        recipient,
        words: shown,
        language: language.cloned(),
        message: None,
        via: "code",
        now,
    };
    consents::give_messages(tx, ids, &new)
}

/// The same, of an address in plain.
pub fn is_opted_out_at(tx: &mut Tx<'_>, at: &ReplyAddress) -> Result<bool> {
    let recipient = hash_recipient(tx, at)?;
    Ok(find_time(tx, recipient)?.is_some())
}

/// Stores what somebody asked for. False where it was so already: then it is not confirmed again.
pub fn record(tx: &mut Tx<'_>, change: &SubscriptionChange<'_>) -> Result<bool> {
    let recipient = hash_recipient(tx, change.at)?;
    let channel = change.at.channel.as_str();
    if change.word == SubscriptionWord::Stop {
        // Said again it is said as of now: what was written before it is answered no more.
        tx.execute(
            "UPDATE opt_outs SET opted_out_at = $3 WHERE tenant_id = $1 AND recipient = $2 AND opened_at IS NULL",
            params![recipient, change.now],
        )?;
    }
    let changed = match change.word {
        SubscriptionWord::Stop => tx.execute(
            "INSERT INTO opt_outs (tenant_id, recipient, person_id, channel, message_id, opted_out_at)
             VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (tenant_id, recipient) DO UPDATE SET person_id = excluded.person_id,
               message_id = excluded.message_id, opted_out_at = excluded.opted_out_at, opened_at = NULL
             WHERE opt_outs.opened_at IS NOT NULL",
            params![recipient, change.person, channel, change.message, change.now],
        )?,
        SubscriptionWord::Start => {
            let reopened = tx.execute(
                "UPDATE opt_outs SET opened_at = $3 WHERE tenant_id = $1 AND recipient = $2 AND opened_at IS NULL",
                params![recipient, change.now],
            )?;
            reopened + links::withdraw(tx, recipient)?
        }
    };
    Ok(changed > 0)
}

/// Tells the audit. Call it last in its transaction.
pub fn record_audit(
    tx: &mut Tx<'_>,
    change: &SubscriptionChange<'_>,
    ids: &IdGenerator,
) -> Result<(), munshi_safety::Error> {
    let event = match change.word {
        SubscriptionWord::Stop => AuditEvent::RECIPIENT_OPTED_OUT,
        SubscriptionWord::Start => AuditEvent::RECIPIENT_OPTED_IN,
    };
    let actor = AuditActor::new(AuditActorKind::Person, change.person.to_string());
    let payload = json!({ "channel": change.at.channel, "message": change.message });
    let entry = NewAuditEntry { actor, event, subject: change.person.to_string(), payload };
    audit::append(tx, &entry, change.now, ids).map(drop)
}

/// What is told to somebody, and goes with them.
pub(crate) const OPT_OUT_DATA: PersonalData =
    PersonalData { name: "opt-outs", list_next: list_by_person, show, erase };

fn list_by_person(tx: &mut Tx<'_>, person: PersonId, after: Uuid, limit: u32) -> Result<Vec<Uuid>> {
    tx.all(
        "SELECT recipient FROM opt_outs WHERE tenant_id = $1 AND person_id = $2 AND recipient > $3
         ORDER BY recipient LIMIT $4",
        params![person, after, limit],
        |row| row.get(0),
    )
}

fn show(tx: &mut Tx<'_>, recipient: Uuid) -> Result<Option<Value>> {
    tx.optional(
        "SELECT channel, message_id, opted_out_at, opened_at FROM opt_outs WHERE tenant_id = $1 AND recipient = $2",
        params![recipient],
        |row| {
            let (channel, message): (String, MessageId) = (row.get(0)?, row.get(1)?);
            let (opted_out_at, opened_at): (Timestamp, Option<Timestamp>) = (row.get(2)?, row.get(3)?);
            Ok(json!({ "channel": channel, "message": message, "opted_out_at": opted_out_at, "opened_at": opened_at }))
        },
    )
}

fn erase(tx: &mut Tx<'_>, recipients: &[Uuid]) -> Result<u64> {
    let mut erased = 0;
    for recipient in recipients {
        erased +=
            tx.execute("DELETE FROM opt_outs WHERE tenant_id = $1 AND recipient = $2", params![*recipient])?;
    }
    Ok(erased)
}
