//! Questions of work that nobody typed are put before those who may answer; and those that nobody answered in time: those whom it concerns are told in their conversations, in the transaction
//! that notes it, and whoever is asked next finds the question in theirs.

use std::collections::BTreeSet;
use std::sync::Arc;

use munshi_conversations::marks::{ReplyMarks, ShownApproval};
use munshi_conversations::runs::{self, Run};
use munshi_conversations::sessions::{self, Session};
use munshi_conversations::{Error, Result};
use munshi_identity::persons;
use munshi_safety::acts::{self, Act, ActDecision};
use munshi_safety::approvals::{
    self, Approval, ApprovalExpiry, ApprovalExpiryOutcome, ApprovalKind, ApprovalStatus, ApproverChain,
};
use munshi_safety::pipeline::TaintSource;
use munshi_store::{PageRequest, Tx};
use munshi_tools::{ActJournal, ActSweepReport, ToolAnswer};
use munshi_types::{ApprovalId, PersonId, SessionId, Timestamp};

use crate::deferred_results;
use crate::engine::{TurnEngine, TurnEngineInner};
use crate::notify::{self, ConversationNotice};
use crate::phrases::log_unrendered;

impl TurnEngine {
    /// Takes up acts whose process died and questions nobody answered in time, and goes on at once with the runs that
    /// waited for them.
    pub async fn sweep_acts(&self) -> Result<ActSweepReport> {
        let journal = Arc::new(ConversationJournal(self.inner.clone()));
        let swept = self.inner.dispatcher.sweep(journal).await;
        // Whatever failed, others may have come to an end.
        self.sweep_answered().await?;
        Ok(swept?)
    }
}

/// The journal of acts outside their run: it only tells conversations. The run's own progress is written by its holder.
pub(crate) struct ConversationJournal(pub(crate) Arc<TurnEngineInner>);

impl ActJournal for ConversationJournal {
    fn record_decision(&self, _tx: &mut Tx<'_>, _begun: &ActDecision) -> munshi_store::Result<()> {
        Ok(())
    }

    /// What a turn no longer waits for is told in its conversation.
    fn record_answer(&self, tx: &mut Tx<'_>, answer: &ToolAnswer) -> munshi_store::Result<()> {
        deferred_results::notify_result(tx, &self.0, answer).map(drop).map_err(Error::into_store)
    }

    fn prepare_expiry(
        &self,
        tx: &mut Tx<'_>,
        approval: &Approval,
        above: &[PersonId],
    ) -> munshi_store::Result<()> {
        hold_conversations(tx, approval, (above, self.0.clock.now())).map_err(Error::into_store)
    }

    fn record_expiry(&self, tx: &mut Tx<'_>, expiry: &ApprovalExpiry) -> munshi_store::Result<()> {
        notify_expiry(tx, &self.0, expiry).map_err(Error::into_store)
    }
}

/// What is said in one conversation.
struct Notice {
    session: Session,
    /// The phrase before the words of the question, and the one after them.
    phrases: (&'static str, Option<&'static str>),
    /// Whether its person may answer with a yes or a no.
    asks: bool,
}

/// Holds each conversation that an expiry may be told in until the transaction ends: in one order, and before the question, as whoever
/// answers it or merges conversations does.
fn hold_conversations(
    tx: &mut Tx<'_>,
    approval: &Approval,
    (above, now): (&[PersonId], Timestamp),
) -> Result<()> {
    let mut held: BTreeSet<SessionId> = approval.session.map(SessionId::from_uuid).into_iter().collect();
    if let Some((_, run)) = find_asking(tx, approval)? {
        held.extend(find_current_session(tx, &run)?.map(|session| session.id));
        for person in above {
            held.extend(find_conversation(tx, &run, *person)?.map(|session| session.id));
        }
    }
    Ok(held.into_iter().try_for_each(|session| sessions::touch(tx, session, now))?)
}

/// The act that a question is about, and the run that wants it; none where no turn does.
fn find_asking(tx: &mut Tx<'_>, approval: &Approval) -> Result<Option<(Act, Run)>> {
    let Some(act) = acts::find(tx, approval.act)? else { return Ok(None) };
    let Some(run) = act.rests_on.caller.run else { return Ok(None) };
    Ok(runs::find(tx, run)?.map(|run| (act, run)))
}

fn notify_expiry(tx: &mut Tx<'_>, inner: &TurnEngineInner, expiry: &ApprovalExpiry) -> Result<()> {
    let approval = &expiry.approval;
    // What no turn wanted is told in no conversation.
    let Some((act, run)) = find_asking(tx, approval)? else { return Ok(()) };
    // Its words are those of whoever asked, and of what their turn had read.
    let mut tainted = act.rests_on.taint.sources;
    let asker = run.person().map(|person| persons::find(tx, person)).transpose()?.flatten();
    if asker.is_none_or(|asker| asker.role.is_none()) {
        tainted.insert(TaintSource::Visitor);
    }
    let notices = match &expiry.outcome {
        ApprovalExpiryOutcome::Dropped => build_dropped_notices(tx, approval, &run)?,
        ApprovalExpiryOutcome::Escalated(to) => build_escalation_notices(tx, approval, &run, to)?,
    };
    notices.iter().try_for_each(|notice| send_notice(tx, inner, (approval, &tainted), &run, notice))
}

/// Whoever asked hears that it is not done: from the run that waits for it and is woken, or from here where none does.
/// Whether something happened that nobody could see is not known any better for nobody having answered.
fn build_dropped_notices(tx: &mut Tx<'_>, approval: &Approval, run: &Run) -> Result<Vec<Notice>> {
    let session = find_current_session(tx, run)?;
    let is_told = match &session {
        Some(session) => runs::list_open(tx, session.id)?
            .iter()
            .any(|open| open.snapshot.pending_approvals().contains(&approval.id)),
        None => false,
    };
    if approval.kind == ApprovalKind::Outcome || approval.answered_via.is_some() || is_told {
        return Ok(Vec::new());
    }
    let notice = |session| Notice { session, phrases: ("approval-expired", None), asks: false };
    Ok(session.map(notice).into_iter().collect())
}

fn build_escalation_notices(
    tx: &mut Tx<'_>,
    approval: &Approval,
    run: &Run,
    to: &[PersonId],
) -> Result<Vec<Notice>> {
    let mut notices = Vec::new();
    if let Some(session) = find_current_session(tx, run)? {
        notices.push(Notice { session, phrases: ("approval-escalated", None), asks: false });
    }
    // Whether it happened is asked in the words of the question itself.
    let after = (approval.kind == ApprovalKind::Act).then_some("ask-go-ahead");
    for person in to.iter().filter(|person| Some(**person) != run.person()) {
        if let Some(session) = find_conversation(tx, run, *person)? {
            notices.push(Notice { session, phrases: ("approval-asked", after), asks: true });
        }
    }
    Ok(notices)
}

/// Puts the questions of work that nobody typed before those who may answer them, in the conversations they have: those of
/// the lowest role first, and those above where none of them is met anywhere. Whoever is met nowhere finds them in the list.
pub(crate) fn notify_asked(
    tx: &mut Tx<'_>,
    inner: &TurnEngineInner,
    run: &Run,
    asked: &[ApprovalId],
) -> Result<()> {
    let mut notices = Vec::new();
    for id in asked {
        let Some(approval) = approvals::find(tx, *id)?.filter(|one| one.state == ApprovalStatus::Pending)
        else {
            continue;
        };
        let ApproverChain { first, above } =
            approvals::resolve_approvers(tx, &inner.act_services, &approval)?;
        let after = (approval.kind == ApprovalKind::Act).then_some("ask-go-ahead");
        let tainted = acts::find(tx, approval.act)?.map(|act| act.rests_on.taint.sources).unwrap_or_default();
        let known = notices.len();
        for people in [first, above] {
            for person in people {
                if let Some(session) = find_conversation(tx, run, person)? {
                    let notice = Notice { session, phrases: ("approval-asked", after), asks: true };
                    notices.push((approval.clone(), tainted.clone(), notice));
                }
            }
            if notices.len() > known {
                break;
            }
        }
    }
    // One order for all who hold more than one session.
    notices.sort_by_key(|(_, _, notice)| notice.session.id);
    let send = |(approval, tainted, notice): &(Approval, BTreeSet<TaintSource>, Notice)| {
        send_notice(tx, inner, (approval, tainted), run, notice)
    };
    notices.iter().try_for_each(send)
}

/// The conversation a run takes part in by now, or that it was begun from; none where there is none.
fn find_current_session(tx: &mut Tx<'_>, run: &Run) -> Result<Option<Session>> {
    let session = run.session().or_else(|| run.delegator()?.session);
    Ok(session.map(|session| sessions::find_current(tx, session)).transpose()?.flatten())
}

/// Where somebody is met: where they asked for the work, with the same binding, or where they spoke last.
pub(crate) fn find_conversation(tx: &mut Tx<'_>, run: &Run, person: PersonId) -> Result<Option<Session>> {
    let began = run.delegator().filter(|by| by.person == person).and_then(|by| by.session);
    if let Some(session) = began.map(|session| sessions::find_current(tx, session)).transpose()?.flatten() {
        return Ok(Some(session));
    }
    if let Some(binding) = run.binding()
        && let Some(session) = sessions::find_by_person(tx, binding, person)?
    {
        return Ok(Some(session));
    }
    let newest = PageRequest::new(None, 1);
    Ok(sessions::list(tx, sessions::SessionFilter::Person(person), &newest)?.items.into_iter().next())
}

fn send_notice(
    tx: &mut Tx<'_>,
    inner: &TurnEngineInner,
    (approval, tainted): (&Approval, &BTreeSet<TaintSource>),
    run: &Run,
    notice: &Notice,
) -> Result<()> {
    let Notice { session, phrases: (before, after), asks } = notice;
    let voice = notify::find_voice(tx, session)?;
    let phrase =
        |name: &str| log_unrendered(inner.phrasebook.render(name, voice, &[]), name).unwrap_or_default();
    let mut text = format!("{}\n{}", phrase(before), approval.words);
    if let Some(after) = after {
        text = format!("{text}\n{}", phrase(after));
    }
    let marks = ReplyMarks {
        asks: asks.then(|| ShownApproval::from(approval)).into_iter().collect(),
        ..ReplyMarks::default()
    };
    let suggestions = if *asks { vec![phrase("say-yes"), phrase("say-no")] } else { Vec::new() };
    let purpose = notify::choose_purpose(run, session.person);
    let notice = ConversationNotice { text, suggestions, marks, tainted: tainted.clone(), purpose };
    notify::post_notice(tx, inner, session, run.id, notice)
}
