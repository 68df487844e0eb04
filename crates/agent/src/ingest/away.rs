//! A message that is answered at the door: by a limit, or since it may not be kept.

use munshi_store::Tx;
use munshi_types::Outbound;

use super::new::New;
use super::{Desk, Door, Fate, Incoming, Ingested, Said};
use crate::decisions::{self, Decision};
use crate::error::{Error, Result};
use crate::messages::{self, Message, Speaker, Standing};
use crate::sessions::{self, Learned};
use crate::state::Halt;
use crate::{outbox, runs};

/// Stores the message, its run and the answer, all ended. Nothing of it is billed.
pub(super) fn turn_away(
    tx: &mut Tx<'_>,
    desk: &Desk,
    incoming: &Incoming,
    new: &New,
    halt: Halt,
    said: &Said,
) -> Result<Ingested> {
    let (now, inbound) = (incoming.now, &incoming.inbound);
    // A limit is no reason to forget what somebody wrote.
    let standing = if incoming.door == Door::Open { Standing::Whole } else { Standing::Refused };
    let message = new.message(incoming, standing);
    messages::add(tx, &message)?;
    let numbered = sessions::answer(tx, new.session.id, &Learned::default(), now)?.ok_or(Error::NoRun)?;
    let reply = Message {
        id: desk.ids.next(),
        number: numbered.number,
        speaker: Speaker::Persona,
        outside_id: None,
        text: said.text.clone(),
        attached: Vec::new(),
        language: said.language.clone(),
        tokens: 0,
        standing: Standing::Degraded,
        generation: 1,
        suggestions: said.suggestions.clone(),
        ..message
    };
    runs::add_halted(tx, &new.run(incoming), &halt, reply.id)?;
    messages::add(tx, &reply)?;
    if let Some(decision) = &incoming.decision {
        let about = decisions::About {
            run: new.run,
            session: new.session.id,
            binding: incoming.binding,
            channel: inbound.channel,
        };
        let decision = Decision { outcome: halt.code().to_owned(), ..decision.as_ref().clone() };
        decisions::add(tx, about, &decision, now)?;
    }
    if let Some(to) = &inbound.reply_to {
        let outbound = Outbound {
            id: reply.id,
            to: to.clone(),
            text: reply.text,
            suggestions: reply.suggestions,
            language: reply.language,
        };
        outbox::put(tx, &desk.queue, new.session.id, &outbound, now)?;
    }
    Ok(Ingested { halted: Some(halt), ..new.ingested(Fate::Begun) })
}
