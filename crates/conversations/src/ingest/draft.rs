//! A message on its way to its rows.

use munshi_identity::Person;
use munshi_types::{ClientScreen, InboundMessage, MessageId, ReservationId, RunId};
use serde_json::{Value, json};

use super::{IngestOutcome, IngestStatus, RoutedMessage};
use crate::messages::{HELD, Message, MessageSpeaker, MessageStatus};
use crate::runs::NewRun;
use crate::sessions::Session;

/// What a message has become so far.
pub(super) struct IngestDraft {
    pub(super) run: RunId,
    pub(super) message: MessageId,
    pub(super) session: Session,
    pub(super) person: Person,
    pub(super) reservation: Option<ReservationId>,
}

impl IngestDraft {
    pub(super) fn build_run<'a>(&self, incoming: &'a RoutedMessage) -> NewRun<'a> {
        let inbound = &incoming.inbound;
        NewRun {
            id: self.run,
            session: self.session.id,
            number: self.session.messages,
            binding: incoming.binding,
            person: self.person.id,
            message: self.message,
            kind: incoming.kind,
            key_use: incoming.key_use.as_ref(),
            channel: inbound.channel,
            outside_id: &inbound.outside_id,
            reply_to: inbound.reply_to.as_ref(),
            reservation: self.reservation,
            holder: None,
            may_begin: incoming.may_begin,
            now: incoming.now,
        }
    }

    pub(super) fn build_message(&self, incoming: &RoutedMessage, standing: MessageStatus) -> Message {
        let inbound = &incoming.inbound;
        let keep = standing == MessageStatus::Whole;
        Message {
            id: self.message,
            session: self.session.id,
            number: self.session.messages,
            run: self.run,
            binding: incoming.binding,
            speaker: MessageSpeaker::Person,
            channel: inbound.channel,
            outside_id: Some(inbound.outside_id.clone()),
            text: if keep { inbound.text.clone() } else { String::new() },
            attached: if keep { inbound.attached.clone() } else { Vec::new() },
            language: incoming.language.clone(),
            tokens: if keep { incoming.tokens } else { 0 },
            standing,
            generation: 0,
            marks: marks(incoming, self.session.hold.is_some()),
            suggestions: Vec::new(),
            said_at: incoming.now,
        }
    }

    pub(super) fn build_outcome(&self, status: IngestStatus) -> IngestOutcome {
        IngestOutcome {
            run: self.run,
            session: self.session.id,
            message: self.message,
            person: self.person.id,
            status,
            begun: None,
            halted: None,
        }
    }
}

/// What is known of a message beside its text: how the device it came from writes dates and numbers, when the channel says
/// that it was written, what its client had shown, whether a program brought something with it, whether a program has
/// written it, whether a host alone says who did, whether it was said where others read along, and whether it came while somebody had the
/// conversation in hand.
fn marks(incoming: &RoutedMessage, is_held: bool) -> Value {
    let InboundMessage { locale, sent_at, screen, from, .. } = &incoming.inbound;
    let client_context = incoming.client_context.is_some();
    let program = incoming.key_use.as_ref().is_some_and(|used| used.program_key().is_some());
    let is_own = !client_context && !program && !from.is_vouched && !from.is_group;
    let is_plain = locale.is_none() && sent_at.is_none() && is_own && !is_held;
    if is_plain && *screen == ClientScreen::default() {
        return Value::Array(Vec::new());
    }
    let mut marks =
        json!({ "locale": locale, "sent_at": sent_at, "brought": client_context, "program": program });
    if *screen != ClientScreen::default() {
        marks["screen"] = json!(screen);
    }
    if from.is_vouched {
        marks["vouched"] = json!(true);
    }
    if is_held {
        marks[HELD] = json!(true);
    }
    if from.is_group {
        marks["group"] = json!(true);
        marks["member"] = json!(from.member);
    }
    marks
}
