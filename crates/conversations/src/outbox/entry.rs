//! Writing a message down to be sent, with the job that does it.

use munshi_identity::persons;
use munshi_jobs::JobQueue;
use munshi_store::{SealedBy, Tx, params};
use munshi_types::{BindingId, Id, OutboundMessage, PersonId, SessionId, Timestamp};
use uuid::Uuid;

use super::delivery_job::enqueue_job;
use super::recipient::{hash_about, hash_lane, hash_recipient};
use super::rows::{BODY, OutboxHold};
use crate::messages::Message;
use crate::sealing::seal_by_owner;

/// Where a message of a conversation stands in it: it leaves in that order.
#[derive(Clone, Copy, Debug)]
pub struct ReplyPlace {
    pub session: SessionId,
    pub binding: BindingId,
    pub number: i64,
    /// The key of the conversation's person.
    pub by: SealedBy,
}

impl ReplyPlace {
    pub const fn of(message: &Message, by: SealedBy) -> Self {
        Self { session: message.session, binding: message.binding, number: message.number, by }
    }
}

/// Something that leaves outside of a conversation.
#[derive(Clone, Debug)]
pub struct NewNotice {
    pub outbound: OutboundMessage,
    /// Whom it is sent to, where they are a person of the tenant: their key seals it.
    pub person: Option<PersonId>,
    /// The record of a pack that it is sent to, such as a customer of the books: it goes when that is forgotten.
    pub subject: Option<Uuid>,
    /// In whose name; none for what the tenant itself says.
    pub binding: Option<BindingId>,
    /// What it is about and with whom, such as `ledger/contact/ID`: nobody is reminded of that twice in a few days.
    pub about: Option<String>,
    pub not_before: Option<Timestamp>,
}

/// Writes a message of a conversation down to be sent. Its address stands in the sealed body, and nothing reads it anywhere else: its own
/// column stays empty.
pub fn enqueue(
    tx: &mut Tx<'_>,
    queue: &JobQueue,
    place: ReplyPlace,
    outbound: &OutboundMessage,
    now: Timestamp,
) -> crate::Result<()> {
    let body = tx.seal_json(place.by, BODY.cell(outbound.id), outbound)?;
    let recipient = hash_recipient(tx, &outbound.to)?;
    tx.execute(
        "INSERT INTO outbox (tenant_id, message_id, session_id, binding_id, channel, address, purpose, recipient, lane, number,
           body, state, attempts, made_at)
         VALUES ($1, $2, $3, $4, $5, '', $6, $7, $3, $8, $9, 'waiting', 0, $10)",
        params![
            outbound.id,
            place.session,
            place.binding,
            outbound.to.channel.as_str(),
            outbound.purpose.as_str(),
            recipient,
            place.number,
            body,
            now
        ],
    )?;
    enqueue_job(tx, queue, (outbound.id, place.session.as_uuid()), None)
}

/// Writes something down that leaves outside of a conversation. It is the last in its lane: what two nodes write for one address at the
/// same moment has no order. Nobody writes to somebody who was forgotten: then nothing is written down.
pub fn enqueue_notice(
    tx: &mut Tx<'_>,
    queue: &JobQueue,
    notice: &NewNotice,
    now: Timestamp,
) -> crate::Result<()> {
    let NewNotice { outbound, person, subject, binding, about, not_before } = notice;
    let person = match person {
        Some(person) => match persons::find_living(tx, *person)? {
            Some(living) => Some(living.id),
            None => return Ok(()),
        },
        None => None,
    };
    let by = seal_by_owner(tx, person)?;
    let body = tx.seal_json(by, BODY.cell(outbound.id), outbound)?;
    let recipient = hash_recipient(tx, &outbound.to)?;
    let lane = hash_lane(tx, &outbound.to, *binding)?;
    let about = about.as_deref().map(|about| hash_about(tx, about)).transpose()?;
    let not_before = not_before.filter(|time| *time > now);
    tx.execute(
        "INSERT INTO outbox (tenant_id, message_id, person_id, subject_id, binding_id, channel, address, purpose, recipient,
           about, lane, number, body, state, attempts, not_before, waits_for, made_at)
         VALUES ($1, $2, $3, $4, $5, $6, '', $7, $8, $9, $10,
           (SELECT COALESCE(MAX(o.number), 0) + 1 FROM outbox o
            WHERE o.tenant_id = $1 AND o.lane = $10 AND o.state IN ('waiting', 'sending')),
           $11, 'waiting', 0, $12, $13, $14)",
        params![
            outbound.id,
            person,
            *subject,
            *binding,
            outbound.to.channel.as_str(),
            outbound.purpose.as_str(),
            recipient,
            about,
            lane,
            body,
            not_before,
            not_before.map(|_| OutboxHold::Time.as_str()),
            now
        ],
    )?;
    enqueue_job(tx, queue, (outbound.id, lane), not_before)
}
