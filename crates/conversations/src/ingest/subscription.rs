//! A message that is nothing but STOP, or START after that. Programs and pages have no need of it: only who can be written to unasked.

use munshi_identity::Person;
use munshi_safety::acts::DeferredAuditEntries;
use munshi_safety::approvals;
use munshi_store::Tx;
use munshi_types::{BindingId, Id, PersonId, Timestamp};

use super::draft::IngestDraft;
use super::rejection::{FixedAnswer, ReplyDelivery, reject_message};
use super::{IngestOutcome, IngestServices, RoutedMessage, SubscriptionRequest};
use crate::error::Result;
use crate::marks::ReplyMarks;
use crate::messages::{self, MessageSpeaker};
use crate::outbox::opt_outs::{self, SubscriptionChange, SubscriptionWord};
use crate::state::HaltReason;
use crate::{commit, sessions};

/// Replies of ours that may stand behind each other before an answer.
const LATEST: u32 = 8;

/// What a message asks for, where it means that: "start" is an ordinary word to somebody who never wrote STOP, and who works here and was just
/// asked something says no to that with "stop".
pub(super) fn find_request(
    tx: &mut Tx<'_>,
    incoming: &RoutedMessage,
    person: &Person,
) -> Result<Option<SubscriptionRequest>> {
    let (Some(request), Some(at)) = (&incoming.subscription, &incoming.inbound.reply_to) else {
        return Ok(None);
    };
    let means_it = match request.word {
        SubscriptionWord::Stop if request.is_refusal && is_member(person) => {
            !is_asked(tx, incoming.binding, person.id)?
        }
        SubscriptionWord::Stop => true,
        SubscriptionWord::Start => opt_outs::is_opted_out_at(tx, at)?,
    };
    Ok(means_it.then(|| request.clone()))
}

fn is_member(person: &Person) -> bool {
    person.role.is_some() && person.left_at.is_none()
}

/// Whether a question waits in their conversation, or the last thing that was said there asks one, such as whether somebody else may.
fn is_asked(tx: &mut Tx<'_>, binding: BindingId, person: PersonId) -> Result<bool> {
    let Some(session) = sessions::find_by_person(tx, binding, person)? else { return Ok(false) };
    if !approvals::list_pending(tx, session.id.as_uuid())?.is_empty() {
        return Ok(true);
    }
    let said = messages::list_newest(tx, session.id, i64::MAX, LATEST)?;
    let ours = said.into_iter().rev().take_while(|said| said.speaker == MessageSpeaker::Persona);
    let mut marks = ours.filter_map(|said| serde_json::from_value::<ReplyMarks>(said.marks).ok());
    Ok(marks.any(|marks| marks.asks_something() || !marks.asks.is_empty() || marks.which.is_some()))
}

/// Stores the wish with the message, its run and the answer. The answer leaves once: who writes STOP again is not written to again.
pub(super) fn apply(
    tx: &mut Tx<'_>,
    ingest_services: &IngestServices,
    incoming: &RoutedMessage,
    new: &IngestDraft,
    request: &SubscriptionRequest,
) -> Result<IngestOutcome> {
    let Some(at) = &incoming.inbound.reply_to else { return Err(crate::error::Error::NoRun) };
    let change = SubscriptionChange {
        word: request.word,
        person: new.person.id,
        at,
        message: new.message,
        now: incoming.now,
    };
    // START opens what a consent that was taken back has closed, too.
    let is_new = opt_outs::record(tx, &change)? || request.word == SubscriptionWord::Start;
    let confirmed = &request.confirmation;
    let shown = (confirmed.text.as_str(), confirmed.language.as_ref());
    let consent = opt_outs::record_consent(tx, &change, shown, &ingest_services.ids)?;
    let untold = match request.is_refusal {
        true => consent.merge(take_back(tx, new, incoming.now)?),
        false => consent,
    };
    let halt = match request.word {
        SubscriptionWord::Stop => HaltReason::OptedOut,
        SubscriptionWord::Start => HaltReason::OptedIn,
    };
    let delivery = if is_new { ReplyDelivery::Sent } else { ReplyDelivery::Kept };
    let said = FixedAnswer { reply: &request.confirmation, delivery };
    let outcome = reject_message(tx, ingest_services, incoming, new, halt, said)?;
    if is_new {
        opt_outs::record_audit(tx, &change, &ingest_services.ids)?;
    }
    untold.record_with_ids(tx, &ingest_services.ids, incoming.now)?;
    Ok(outcome)
}

/// The same word is a no to whatever of theirs waits for a yes.
fn take_back(tx: &mut Tx<'_>, new: &IngestDraft, now: Timestamp) -> Result<DeferredAuditEntries> {
    let waiting = approvals::list_pending(tx, new.session.id.as_uuid())?;
    let theirs = waiting.into_iter().filter(|approval| approval.asked_by == Some(new.person.id));
    let questions: Vec<_> = theirs.map(|approval| approval.id).collect();
    commit::withdraw(tx, &questions, HaltReason::OptedOut.code(), now)
}
