//! A message that is answered at the door: by a limit, or since it may not be kept.

use munshi_identity::persons::seal_by_person;
use munshi_store::Tx;

use super::draft::IngestDraft;
use super::{
    Admission, FixedReply, IngestOutcome, IngestServices, IngestStatus, RoutedMessage, attach_files,
};
use crate::decisions::{self, TurnDecision};
use crate::error::{Error, Result};
use crate::messages::{self, Message, MessageSpeaker, MessageStatus};
use crate::outbox::ReplyPlace;
use crate::sessions::{self, SessionUpdate};
use crate::state::HaltReason;
use crate::{outbox, runs};

/// What is answered without a model, and whether it leaves or only stands in the thread.
#[derive(Clone, Copy)]
pub(super) struct FixedAnswer<'a> {
    pub(super) reply: &'a FixedReply,
    pub(super) delivery: ReplyDelivery,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplyDelivery {
    Sent,
    /// It was said before.
    Kept,
}

/// Stores the message, its run and the answer, all ended. Nothing of it is billed.
pub(super) fn reject_message(
    tx: &mut Tx<'_>,
    ingest_services: &IngestServices,
    incoming: &RoutedMessage,
    new: &IngestDraft,
    halt: HaltReason,
    said: FixedAnswer<'_>,
) -> Result<IngestOutcome> {
    let (now, inbound) = (incoming.now, &incoming.inbound);
    // A limit is no reason to forget what somebody wrote.
    let standing =
        if incoming.door == Admission::Open { MessageStatus::Whole } else { MessageStatus::Refused };
    let message = new.build_message(incoming, standing);
    let by = seal_by_person(tx, new.person.id)?;
    // What is kept keeps its files, and so may only have its sender's.
    let attached = attach_files(tx, &message, new.person.id, incoming)?;
    let message = Message { attached, ..message };
    messages::add(tx, by, &message)?;
    let numbered = sessions::record_reply(tx, new.session.id, &SessionUpdate::default(), (by, now))?;
    let numbered = numbered.ok_or(Error::NoRun)?;
    let reply = Message {
        id: ingest_services.ids.next(),
        number: numbered.number,
        speaker: MessageSpeaker::Persona,
        outside_id: None,
        text: said.reply.text.clone(),
        attached: Vec::new(),
        language: said.reply.language.clone(),
        tokens: 0,
        standing: MessageStatus::Degraded,
        generation: 1,
        suggestions: said.reply.suggestions.clone(),
        ..message
    };
    runs::add_halted(tx, &new.build_run(incoming), &halt, Some(reply.id))?;
    messages::add(tx, by, &reply)?;
    if let Some(decision) = &incoming.decision {
        let about = decisions::TurnSubject {
            run: new.run,
            session: new.session.id,
            binding: incoming.binding,
            channel: inbound.channel,
        };
        let decision = TurnDecision { outcome: halt.code().to_owned(), ..decision.as_ref().clone() };
        decisions::add(tx, about, &decision, now)?;
    }
    if let (Some(to), ReplyDelivery::Sent) = (&inbound.reply_to, said.delivery) {
        let place = ReplyPlace::of(&reply, by);
        outbox::enqueue(tx, &ingest_services.queue, place, &reply.to_outbound(to), now)?;
    }
    Ok(IngestOutcome { halted: Some(halt), ..new.build_outcome(IngestStatus::Begun) })
}
