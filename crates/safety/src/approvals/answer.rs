//! Saying yes or no.

use munshi_identity::{Principal, Role, keys};
use munshi_store::Tx;
use munshi_types::{ApprovalId, KeyId, Timestamp};
use serde_json::json;

use super::{Approval, Kind, State, row, whom};
use crate::acts::{self, Digest, Office};
use crate::audit::{self, Actor, ActorKind, Event, NewEntry};
use crate::error::Result;

/// What somebody said, and what they had before them.
#[derive(Clone, Debug)]
pub struct Said<'a> {
    /// As the channel, the session or the key proved it.
    pub who: &'a Principal,
    pub answer: Answer,
    /// What they were shown; none where the whole act stood before them.
    pub shown: Option<&'a str>,
    pub covers: Covers,
    /// Through what: `chat`, `cli`, `api`.
    pub via: &'a str,
    /// The API key through which they said it, or the browser's own id; none where it came by no key.
    pub key: Option<KeyId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Yes,
    No,
}

/// How far a yes goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covers {
    Act,
    /// "Don't ask again" in this conversation. Never for money, messages and what is dangerous.
    Session,
}

impl Covers {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Act => "act",
            Self::Session => "session",
        }
    }
}

/// What an answer did.
#[derive(Clone, Debug, PartialEq)]
pub enum Answered {
    Granted(Box<Approval>),
    Refused(Box<Approval>),
    /// Somebody answered before; this is how.
    Already(Box<Approval>),
    /// Not theirs to answer; who could.
    NotYours {
        ask: Role,
    },
    /// It is what this key itself wants, or another of its maker: somebody else has to say yes.
    OwnWish,
    /// What they saw is not what would be done.
    Changed {
        now: Digest,
    },
    Expired,
    Unknown,
}

/// Answers a question. Answering twice answers once.
pub fn answer(
    tx: &mut Tx<'_>,
    office: &Office,
    id: ApprovalId,
    said: &Said<'_>,
    now: Timestamp,
) -> Result<Answered> {
    let Some(approval) = row::find(tx, id)? else { return Ok(Answered::Unknown) };
    if !whom::is_for(tx, office, &approval, said.who)? {
        return Ok(Answered::NotYours { ask: Role::Admin });
    }
    if approval.state != State::Pending {
        return Ok(Answered::Already(Box::new(approval)));
    }
    if approval.expires_at <= now {
        return Ok(Answered::Expired);
    }
    if said.shown.is_some_and(|shown| shown != approval.digest.to_string()) {
        return Ok(Answered::Changed { now: approval.digest });
    }
    if is_own_wish(tx, &approval, said)? {
        return Ok(Answered::OwnWish);
    }
    let waivable =
        approval.kind == Kind::Act && approval.question.reasons.iter().all(|reason| reason.is_waivable());
    let covers = if waivable { said.covers } else { Covers::Act };
    let (state, event) = match said.answer {
        Answer::Yes => (State::Granted, Event::APPROVAL_GRANTED),
        Answer::No => (State::Refused, Event::APPROVAL_REFUSED),
    };
    if !row::set_answer(tx, id, state, &Said { covers, ..said.clone() }, now)? {
        let current = row::find(tx, id)?.map(Box::new);
        return Ok(current.map_or(Answered::Unknown, Answered::Already));
    }
    settle(tx, &approval, said.answer, now)?;
    if (approval.kind, said.answer) == (Kind::Act, Answer::No) {
        office.tell_no(tx, approval.act, now)?;
    }
    tell(tx, office, &approval, said, event, now)?;
    let current = Box::new(row::find(tx, id)?.unwrap_or(approval));
    Ok(match said.answer {
        Answer::Yes => Answered::Granted(current),
        Answer::No => Answered::Refused(current),
    })
}

/// Whether a program answers about its own call, with its key or with another that has the same maker. It may take the
/// call back; all else is a person's to say, and a program that is told what to answer has nobody before it who saw the
/// question.
fn is_own_wish(tx: &mut Tx<'_>, approval: &Approval, said: &Said<'_>) -> Result<bool> {
    let takes_back = (approval.kind, said.answer) == (Kind::Act, Answer::No);
    let (Some(key), false) = (said.key, takes_back) else { return Ok(false) };
    let act = acts::find(tx, approval.act)?;
    match act.and_then(|act| act.rests_on.caller.key) {
        None => Ok(false),
        Some(asked) => Ok(keys::share_maker(tx, asked, key)?),
    }
}

/// What the answer means for the act itself.
fn settle(tx: &mut Tx<'_>, approval: &Approval, answer: Answer, now: Timestamp) -> Result<()> {
    use acts::State as Act;
    let (from, to) = match (approval.kind, answer) {
        (Kind::Act, Answer::Yes) => return Ok(()),
        (Kind::Act, Answer::No) => (Act::Waiting, Act::Dropped),
        (Kind::Outcome, Answer::Yes) => (Act::Unknown, Act::Applied),
        (Kind::Outcome, Answer::No) => (Act::Unknown, Act::Failed),
    };
    acts::note_answer(tx, approval.act, from, to, now)?;
    Ok(())
}

fn tell(
    tx: &mut Tx<'_>,
    office: &Office,
    approval: &Approval,
    said: &Said<'_>,
    event: Event,
    now: Timestamp,
) -> Result<()> {
    let actor = match said.who.person {
        Some(person) => Actor::new(ActorKind::Person, person.to_string()),
        None => Actor::new(ActorKind::Operator, said.via),
    };
    let payload = json!({
        "approval": approval.id, "tool": approval.tool, "kind": approval.kind, "via": said.via,
        "digest": approval.digest.to_string(),
    });
    let entry = NewEntry { actor, event, subject: approval.act.to_string(), payload };
    audit::append(tx, &entry, now, &office.ids)?;
    Ok(())
}
