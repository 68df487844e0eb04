//! What stood between the words of a reply, kept with it, so that a broken stream is taken up from the store.

use std::collections::VecDeque;

use munshi_safety::approvals::Approval;
use munshi_types::{ApprovalId, MessageId};
use serde::{Deserialize, Serialize};

use crate::event::{EventId, RunEvent};

/// Everything of a stream that is not its words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReplyMarks {
    pub events: Vec<ReplyMark>,
    /// What the model wants back with its message, such as the offline model's open question.
    pub state: Vec<String>,
    /// The questions that stood in the reply: a yes right after it is for these and for nothing else.
    pub asked: Vec<ShownApproval>,
    /// Which questions were offered to choose from.
    pub which: Option<PendingApprovalChoice>,
    /// Questions of others, or of what may have happened, that this put before the person: a yes or a no right after it
    /// answers them.
    pub asks: Vec<ShownApproval>,
    /// Whether all that the person has consented to is to end: a yes right after it ends it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ends_consents: bool,
    /// A pack read the message by itself: neither it nor this is told to a model beyond this machine, now or later.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stays: bool,
    /// Messages that it answers beside its run's own: they had joined the turn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub joined: Vec<MessageId>,
    /// Whose words beside the person's own it may hold, as bits; none where it was stored before this was told.
    pub tainted: Option<i64>,
}

/// A question as it was put: for which act, in the very state that stood before the person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownApproval {
    pub approval: ApprovalId,
    pub digest: String,
}

impl From<&Approval> for ShownApproval {
    fn from(approval: &Approval) -> Self {
        Self { approval: approval.id, digest: approval.digest.to_string() }
    }
}

/// Several things wait, and the person is to say which one they mean.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingApprovalChoice {
    /// What they have said already.
    pub is_yes: bool,
    pub approvals: Vec<ShownApproval>,
}

/// An event and its place: how many events came before it, and how many bytes of the reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplyMark {
    pub number: u32,
    pub offset: u32,
    pub event: RunEvent,
}

impl ReplyMarks {
    /// Whether the reply asks something that the next message may answer, as its end says. Whoever shows it notes it.
    pub fn asks_something(&self) -> bool {
        self.events.last().is_some_and(|last| matches!(last.event, RunEvent::Done { asks: true, .. }))
    }

    /// Whether a question stood in the reply, in full or to choose from.
    pub fn find_approval(&self, approval: ApprovalId) -> Option<&ShownApproval> {
        let offered = self.which.iter().flat_map(|which| &which.approvals);
        self.asked.iter().chain(&self.asks).chain(offered).find(|shown| shown.approval == approval)
    }

    /// The stream of a stored reply, from behind `after` on. Words that came in pieces come as one.
    pub fn replay(
        &self,
        text: &str,
        generation: u32,
        after: Option<EventId>,
    ) -> VecDeque<(EventId, RunEvent)> {
        let mut out = VecDeque::new();
        let same = after.filter(|after| after.generation == generation);
        if after.is_some() && same.is_none() {
            let why = "the reply was restarted".to_owned();
            out.push_back((EventId { generation, number: 0, offset: 0 }, RunEvent::Reset { why }));
        }
        let (seen, mut offset) = same.map_or((0, 0), |after| (after.number, after.offset));
        // A reset that opened this beginning was said above, or nobody saw what it takes back.
        let behind = |mark: &&ReplyMark| mark.number > seen && !matches!(mark.event, RunEvent::Reset { .. });
        for mark in self.events.iter().filter(behind) {
            push_text(&mut out, text, generation, (&mut offset, mark.offset), mark.number.saturating_sub(1));
            let id = EventId { generation, number: mark.number, offset };
            out.push_back((id, mark.event.clone()));
        }
        let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
        if !self.events.last().is_some_and(|mark| mark.event.is_last()) {
            push_text(&mut out, text, generation, (&mut offset, end), u32::MAX);
        }
        out
    }
}

/// The words between two places, if any.
fn push_text(
    out: &mut VecDeque<(EventId, RunEvent)>,
    text: &str,
    generation: u32,
    (from, to): (&mut u32, u32),
    number: u32,
) {
    let piece = text.get(*from as usize..to as usize).unwrap_or_default();
    if !piece.is_empty() {
        *from = to;
        out.push_back((
            EventId { generation, number, offset: to },
            RunEvent::Token { text: piece.to_owned() },
        ));
    }
}
