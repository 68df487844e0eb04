//! What stood before the person when they wrote. A question counts as asked only when it was shown: a bare yes, no or
//! number is an answer to the newest of our words that were, and to nothing that came into the conversation unseen.

use std::time::Duration;

use munshi_conversations::marks::ReplyMarks;
use munshi_conversations::messages::{Message, MessageSpeaker};
use munshi_types::{ClientScreen, Timestamp};
use serde::Deserialize;

use super::setup::TurnSetup;

/// Channels tell the time to the second, and by clocks of their own.
const CLOCK_ERROR: Duration = Duration::from_secs(3);

impl TurnSetup {
    /// What stood in the last of our words that the person had before them.
    pub(super) fn last_shown_marks(&self) -> Option<ReplyMarks> {
        serde_json::from_value(self.last_shown()?.marks.clone()).ok()
    }

    /// Whether the last thing that was said is ours and stood there when the person wrote.
    pub(crate) fn has_seen_last(&self) -> bool {
        let last = self.prepared.history.last().map(|last| last.id);
        last.is_some() && last == self.last_shown().map(|shown| shown.id)
    }

    /// The newest of our words that were shown, where the person has said nothing since.
    fn last_shown(&self) -> Option<&Message> {
        let ours =
            self.prepared.history.iter().rev().take_while(|said| said.speaker == MessageSpeaker::Persona);
        ours.into_iter().find(|said| self.was_shown(said))
    }

    fn was_shown(&self, said: &Message) -> bool {
        let own = &self.prepared.message;
        if said.number >= own.number || self.prepared.unsent.contains(&said.id) {
            return false;
        }
        // A message that was long on its way was written before what it seems to answer.
        let sent_at: Option<Timestamp> = serde_json::from_value(own.marks["sent_at"].clone()).ok().flatten();
        if sent_at.is_some_and(|sent| sent.plus(CLOCK_ERROR) < said.said_at) {
            return false;
        }
        match (screen_of(own).seen, &self.prepared.client_context) {
            // What it tells of the conversation is what it has shown.
            (_, Some(_)) => true,
            (Some(seen), None) => {
                let newest = self.prepared.history.iter().find(|known| known.id == seen);
                newest.is_some_and(|newest| said.number <= newest.number)
            }
            // Where answers are sent, what has left was shown.
            (None, None) => self.conversation.reply_to.is_some() || self.was_answered_with(said),
        }
    }

    /// Whether it is what the client was answered when it spoke last. A question was shown only if it is noted that a
    /// response carried it. Of other words, the first of that very turn were: what others put into the conversation, and
    /// what a turn said after it had waited, was heard by nobody for all we know.
    fn was_answered_with(&self, said: &Message) -> bool {
        let own = &self.prepared.message;
        let history = &self.prepared.history;
        let first = history.iter().find(|one| one.run == said.run && one.speaker == MessageSpeaker::Persona);
        let is_first = first.is_some_and(|first| first.id == said.id);
        let asked = history.iter().find(|one| one.run == said.run && one.speaker == MessageSpeaker::Person);
        let marks = ReplyMarks::deserialize(&said.marks).unwrap_or_default();
        // Replies from before this was noted have no such end: they count as they did.
        let is_noted = marks.asks_something();
        asked.is_some_and(|asked| {
            let screen = screen_of(asked);
            let is_carried = match is_noted {
                true => screen.answered == Some(said.id),
                false => is_first && asked.marks["screen"]["unanswered"] != true,
            };
            is_carried && asked.channel == own.channel && screen.client == screen_of(own).client
        })
    }
}

fn screen_of(message: &Message) -> ClientScreen {
    serde_json::from_value(message.marks["screen"].clone()).unwrap_or_default()
}
