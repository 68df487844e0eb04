//! A message that comes while somebody of the business has the conversation in hand: it is stored, and nothing is said to it.
//! Whoever takes their consents back is heard all the same.

use munshi_identity::persons::seal_by_person;
use munshi_lang::consent_withdrawal::{WithdrawalIntent, classify_consent_withdrawal};
use munshi_safety::consents;
use munshi_store::Tx;

use super::draft::IngestDraft;
use super::{IngestOutcome, IngestServices, IngestStatus, RoutedMessage, attach_files};
use crate::error::Result;
use crate::messages::{self, Message, MessageStatus};
use crate::session_waits::{self, HeldConversation};
use crate::sessions::ReplyPosition;
use crate::state::HaltReason;
use crate::{holds, presence, runs};

/// Whether somebody takes back what they have consented to, and there is something to end: that waits for nobody's hand, and needs no
/// model to be understood.
pub(super) fn takes_back_consent(
    tx: &mut Tx<'_>,
    incoming: &RoutedMessage,
    new: &IngestDraft,
) -> Result<bool> {
    let is_program = incoming.key_use.as_ref().is_some_and(|used| used.program_key().is_some());
    let is_meant = new.reservation.is_some()
        && !is_program
        && incoming.client_context.is_none()
        && classify_consent_withdrawal(&incoming.inbound.text) == WithdrawalIntent::Clear;
    Ok(is_meant && !consents::list_open(tx, new.person.id, incoming.now)?.is_empty())
}

/// Stores the message with a run that has ended. Nothing is billed, and no model is asked.
pub(super) fn store_unanswered(
    tx: &mut Tx<'_>,
    ingest_services: &IngestServices,
    incoming: &RoutedMessage,
    new: &IngestDraft,
) -> Result<IngestOutcome> {
    if let Some(id) = new.reservation {
        ingest_services.governor.release(tx, id)?;
    }
    let halt = HaltReason::Held;
    runs::add_halted(tx, &new.build_run(incoming), &halt, None)?;
    let by = seal_by_person(tx, new.person.id)?;
    let message = new.build_message(incoming, MessageStatus::Whole);
    let attached = attach_files(tx, &message, new.person.id, incoming)?;
    messages::add(tx, by, &Message { attached, ..message })?;
    presence::stop_typing(tx, new.session.id, new.person.id)?;
    let position = ReplyPosition {
        session: new.session.id,
        number: new.session.messages,
        summarised: new.session.summarised,
    };
    holds::enqueue_upkeep(tx, &ingest_services.queue, position)?;
    if let Some(held) = HeldConversation::of(&new.session) {
        let (queue, now) = (&ingest_services.queue, incoming.now);
        session_waits::begin(tx, queue, held, (now, now))?;
        session_waits::enqueue_draft(tx, queue, held, now)?;
    }
    Ok(IngestOutcome { halted: Some(halt), ..new.build_outcome(IngestStatus::Begun) })
}
