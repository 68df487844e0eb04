//! Saying something in a conversation by ourselves, with no message before it: stored, and sent where the person is met.

use std::collections::BTreeSet;

use munshi_conversations::marks::ReplyMarks;
use munshi_conversations::messages::{self, Message, MessageSpeaker, MessageStatus};
use munshi_conversations::outbox::ReplyPlace;
use munshi_conversations::runs::Run;
use munshi_conversations::sessions::{self, Session, SessionUpdate};
use munshi_conversations::{Result, outbox, retention, taint_bits};
use munshi_identity::persons;
use munshi_lang::Locale;
use munshi_safety::pipeline::TaintSource;
use munshi_store::Tx;
use munshi_tiers::prompt::UtteranceText;
use munshi_types::{OutboundMessage, OutboundPurpose, PersonId, RunId};

use crate::engine::TurnEngineInner;
use crate::reply_language::resolve_locale;

/// What is said.
#[derive(Debug, Default)]
pub(crate) struct ConversationNotice {
    pub(crate) text: String,
    pub(crate) suggestions: Vec<String>,
    pub(crate) marks: ReplyMarks,
    /// Whose words stand in it, beside our own.
    pub(crate) tainted: BTreeSet<TaintSource>,
    /// Whether it answers them or is told them: the rules about hours and opting out go by it.
    pub(crate) purpose: OutboundPurpose,
}

/// In which voice the person of a conversation is spoken to, who has written nothing just now.
pub(crate) fn find_voice(tx: &mut Tx<'_>, session: &Session) -> Result<Locale> {
    let profile = persons::find(tx, session.person)?.and_then(|person| person.language);
    Ok(resolve_locale(session.language.as_ref(), profile))
}

/// Whoever asked for the work of a run is answered; anybody else is told something that needs their eyes.
pub(crate) fn choose_purpose(run: &Run, to: PersonId) -> OutboundPurpose {
    let asked = run.person() == Some(to) || run.delegator().is_some_and(|by| by.person == to);
    if asked { OutboundPurpose::Reply } else { OutboundPurpose::Alert }
}

/// Says it, in the name of the run that it comes from.
pub(crate) fn post_notice(
    tx: &mut Tx<'_>,
    inner: &TurnEngineInner,
    session: &Session,
    run: RunId,
    told: ConversationNotice,
) -> Result<()> {
    let ConversationNotice { text, suggestions, marks, tainted, purpose } = told;
    let marks = ReplyMarks { tainted: Some(taint_bits::bits(&tainted)), ..marks };
    let now = inner.clock.now();
    let by = persons::seal_by_person(tx, session.person)?;
    let nothing = SessionUpdate::default();
    let Some(position) = sessions::record_reply(tx, session.id, &nothing, (by, now))? else {
        return Ok(());
    };
    let message = Message {
        id: inner.ids.next(),
        session: session.id,
        number: position.number,
        run,
        binding: session.binding,
        speaker: MessageSpeaker::Persona,
        channel: session.channel,
        outside_id: None,
        tokens: UtteranceText::new(&text).tokens(),
        text,
        attached: Vec::new(),
        language: session.language.clone(),
        standing: MessageStatus::Whole,
        generation: 1,
        marks: serde_json::to_value(&marks).unwrap_or_default(),
        suggestions,
        said_at: now,
    };
    messages::add(tx, by, &message)?;
    if let Some(to) = &session.reply_to {
        let place = ReplyPlace::of(&message, by);
        let outbound = OutboundMessage { purpose, ..message.to_outbound(to) };
        outbox::enqueue(tx, &inner.ingest_services.queue, place, &outbound, now)?;
    }
    if retention::is_summary_due(position.number, position.summarised) {
        retention::enqueue_summary(tx, &inner.ingest_services.queue, session.id)?;
    }
    Ok(())
}
