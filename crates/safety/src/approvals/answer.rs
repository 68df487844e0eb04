//! Saying yes or no.

use munshi_identity::{Principal, Role, keys};
use munshi_store::Tx;
use munshi_types::tier::Channel;
use munshi_types::{ApprovalId, KeyId, MessageId, PersonId, Timestamp};
use serde_json::json;

use super::{Approval, ApprovalKind, ApprovalStatus, approvers, store};
use crate::acts::{self, ActDigest, ActServices};
use crate::audit::{self, AuditActor, AuditActorKind, AuditEvent, NewAuditEntry};
use crate::consents::{self, PurposeQuestion};
use crate::error::Result;

/// What somebody said, and what they had before them.
#[derive(Clone, Debug)]
pub struct ApprovalAnswer<'a> {
    /// As the channel, the session or the key proved it.
    pub who: &'a Principal,
    pub answer: ApprovalDecision,
    /// What they were shown; none where the whole act stood before them.
    pub shown: Option<&'a str>,
    pub covers: ApprovalCoverage,
    /// Through what: `chat`, `cli`, `api`.
    pub via: &'a str,
    /// The API key through which they said it, or the browser's own id; none where it came by no key.
    pub key: Option<KeyId>,
    /// Whose word it is.
    pub source: AnswerSource,
}

/// How an answer was given. Only the person's own word is a consent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerSource {
    /// They have written it.
    Message { message: MessageId, channel: Channel },
    /// They have pressed a button, or said it through a key that speaks as them.
    Page,
    /// A program said it, or somebody in their place, or a host that says who it is.
    Other,
}

impl AnswerSource {
    pub(crate) const fn message(self) -> Option<MessageId> {
        match self {
            Self::Message { message, .. } => Some(message),
            Self::Page | Self::Other => None,
        }
    }

    pub(crate) const fn channel(self) -> Option<Channel> {
        match self {
            Self::Message { channel, .. } => Some(channel),
            Self::Page | Self::Other => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalDecision {
    Yes,
    No,
}

/// How far a yes goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalCoverage {
    Act,
    /// "Don't ask again" in this conversation. Never for money, messages and what is dangerous.
    Session,
}

impl ApprovalCoverage {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Act => "act",
            Self::Session => "session",
        }
    }
}

/// What an answer did.
#[derive(Clone, Debug, PartialEq)]
pub enum ApprovalAnswerOutcome {
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
    /// It is for a person to consent to, in their own words or by a button of theirs.
    NotTheirWord,
    /// What they saw is not what would be done.
    Changed {
        now: ActDigest,
    },
    Expired,
    Unknown,
}

/// Answers a question. Answering twice answers once.
pub fn answer(
    tx: &mut Tx<'_>,
    act_services: &ActServices,
    id: ApprovalId,
    said: &ApprovalAnswer<'_>,
    now: Timestamp,
) -> Result<ApprovalAnswerOutcome> {
    let Some(approval) = store::find(tx, id)? else { return Ok(ApprovalAnswerOutcome::Unknown) };
    if !approvers::is_addressed_to(tx, act_services, &approval, said.who)? {
        return Ok(ApprovalAnswerOutcome::NotYours { ask: Role::Admin });
    }
    if approval.state != ApprovalStatus::Pending {
        return Ok(ApprovalAnswerOutcome::Already(Box::new(approval)));
    }
    if approval.expires_at <= now {
        return Ok(ApprovalAnswerOutcome::Expired);
    }
    if said.shown.is_some_and(|shown| shown != approval.digest.to_string()) {
        return Ok(ApprovalAnswerOutcome::Changed { now: approval.digest });
    }
    if is_self_approval(tx, &approval, said)? {
        return Ok(ApprovalAnswerOutcome::OwnWish);
    }
    let consent = approval.question.purpose.as_ref().filter(|_| said.answer == ApprovalDecision::Yes);
    if consent.is_some() && !is_own_word(tx, said.who.person, said.source, said.key)? {
        return Ok(ApprovalAnswerOutcome::NotTheirWord);
    }
    let waivable = approval.kind == ApprovalKind::Act
        && approval.question.reasons.iter().all(|reason| reason.is_waivable());
    let covers = if waivable { said.covers } else { ApprovalCoverage::Act };
    let (state, event) = match said.answer {
        ApprovalDecision::Yes => (ApprovalStatus::Granted, AuditEvent::APPROVAL_GRANTED),
        ApprovalDecision::No => (ApprovalStatus::Refused, AuditEvent::APPROVAL_REFUSED),
    };
    if !store::set_answer(tx, id, state, &ApprovalAnswer { covers, ..said.clone() }, now)? {
        let current = store::find(tx, id)?.map(Box::new);
        return Ok(current.map_or(ApprovalAnswerOutcome::Unknown, ApprovalAnswerOutcome::Already));
    }
    store::announce(tx, approval.session);
    apply_to_act(tx, &approval, said.answer, now)?;
    if let Some(question) = consent
        && is_asked_so(tx, act_services, question)?
    {
        consents::give(tx, act_services, (&approval, question), said, now)?;
    }
    if (approval.kind, said.answer) == (ApprovalKind::Act, ApprovalDecision::No) {
        act_services.notify_refused(tx, approval.act, now)?;
    }
    record_audit(tx, act_services, &approval, said, event, now)?;
    let current = Box::new(store::find(tx, id)?.unwrap_or(approval));
    Ok(match said.answer {
        ApprovalDecision::Yes => ApprovalAnswerOutcome::Granted(current),
        ApprovalDecision::No => ApprovalAnswerOutcome::Refused(current),
    })
}

/// Whether a program may say no to this: it takes back what the same key has asked for. What a person or another program asked
/// for is a person's to answer.
pub fn may_take_back(tx: &mut Tx<'_>, approval: &Approval, key: KeyId) -> Result<bool> {
    if approval.kind != ApprovalKind::Act {
        return Ok(false);
    }
    let act = acts::find(tx, approval.act)?;
    Ok(act.and_then(|act| act.rests_on.caller.key) == Some(key))
}

/// Whether a program answers about its own call, with its key or with another that has the same maker. It may take the
/// call back; all else is a person's to say, and a program that is told what to answer has nobody before it who saw the
/// question.
fn is_self_approval(tx: &mut Tx<'_>, approval: &Approval, said: &ApprovalAnswer<'_>) -> Result<bool> {
    let takes_back = (approval.kind, said.answer) == (ApprovalKind::Act, ApprovalDecision::No);
    let (Some(key), false) = (said.key, takes_back) else { return Ok(false) };
    let act = acts::find(tx, approval.act)?;
    match act.and_then(|act| act.rests_on.caller.key) {
        None => Ok(false),
        Some(asked) => Ok(keys::has_common_maker(tx, asked, key)?),
    }
}

/// Whether what was said is surely the person's own word: by a channel that proves who writes, on their page, or through a key that nobody
/// but them ever had. Somebody at the command line may call themself anybody, and so may whoever has a key of a role.
pub(crate) fn is_own_word(
    tx: &mut Tx<'_>,
    person: Option<PersonId>,
    source: AnswerSource,
    key: Option<KeyId>,
) -> Result<bool> {
    let Some(person) = person else { return Ok(false) };
    match (source, key) {
        (AnswerSource::Other, _) => Ok(false),
        (AnswerSource::Message { .. } | AnswerSource::Page, Some(key)) => Ok(keys::is_own(tx, key, person)?),
        (AnswerSource::Message { channel, .. }, None) => Ok(proves_writer(channel)),
        (AnswerSource::Page, None) => Ok(true),
    }
}

/// Whether a channel shows by itself who wrote. The sender of a mail and the number of a caller or of a text message are easily made up, a ticket is somebody
/// else's account of what was said, and programs name whom they like.
const fn proves_writer(channel: Channel) -> bool {
    match channel {
        Channel::Whatsapp | Channel::Web | Channel::Telegram | Channel::Slack | Channel::Teams => true,
        Channel::Voice | Channel::Email | Channel::A2a | Channel::Ticket | Channel::Api | Channel::Sms => {
            false
        }
    }
}

/// Whether the policy still asks for the purpose in the words that stood before them. Where it does not, their yes is no consent to what it
/// asks today: the act is not done, and they are asked anew.
fn is_asked_so(tx: &mut Tx<'_>, act_services: &ActServices, question: &PurposeQuestion) -> Result<bool> {
    let policy = act_services.load_policy(tx)?;
    Ok(policy.consent.asks_so(&question.purpose, &question.wording()))
}

/// What the answer means for the act itself.
fn apply_to_act(
    tx: &mut Tx<'_>,
    approval: &Approval,
    answer: ApprovalDecision,
    now: Timestamp,
) -> Result<()> {
    use acts::ActState;
    let (from, to) = match (approval.kind, answer) {
        (ApprovalKind::Act, ApprovalDecision::Yes) => return Ok(()),
        (ApprovalKind::Act, ApprovalDecision::No) => (ActState::Waiting, ActState::Dropped),
        (ApprovalKind::Outcome, ApprovalDecision::Yes) => (ActState::Unknown, ActState::Applied),
        (ApprovalKind::Outcome, ApprovalDecision::No) => (ActState::Unknown, ActState::Failed),
    };
    acts::record_answer(tx, approval.act, from, to, now)?;
    Ok(())
}

fn record_audit(
    tx: &mut Tx<'_>,
    act_services: &ActServices,
    approval: &Approval,
    said: &ApprovalAnswer<'_>,
    event: AuditEvent,
    now: Timestamp,
) -> Result<()> {
    let actor = match said.who.person {
        Some(person) => AuditActor::new(AuditActorKind::Person, person.to_string()),
        None => AuditActor::new(AuditActorKind::Operator, said.via),
    };
    let payload = json!({
        "approval": approval.id, "tool": approval.tool, "kind": approval.kind, "via": said.via,
        "digest": approval.digest.to_string(),
    });
    let entry = NewAuditEntry { actor, event, subject: approval.act.to_string(), payload };
    audit::append(tx, &entry, now, &act_services.ids)?;
    Ok(())
}
