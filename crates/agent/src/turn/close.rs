//! Ending a run of which nothing can be prepared any more: its binding is gone, or reading it breaks whoever tries.

use std::sync::Arc;

use munshi_conversations::commit::{ReplyRecord, TurnCommit, TurnStatus};
use munshi_conversations::marks::ReplyMarks;
use munshi_conversations::messages::MessageStatus;
use munshi_conversations::runs::{self, Run, RunLease};
use munshi_conversations::sessions::{self, SessionUpdate};
use munshi_conversations::snapshot::ReservationUse;
use munshi_conversations::{Error, HaltReason, Result, late_acts, taint_bits};
use munshi_safety::acts::{self, Act, ActState, in_plain_words};
use munshi_safety::approvals;
use munshi_types::{ActId, ApprovalId, TenantId};

use super::reply::first_generation;
use crate::deferred_results;
use crate::engine::TurnEngineInner;
use crate::reply_language::resolve_locale;

impl TurnEngineInner {
    /// Says what was done, or else that something went wrong or that it is stopped, in the language the session was in, and
    /// ends the run. Nobody is billed.
    pub(crate) async fn close_run(
        self: &Arc<Self>,
        lease: RunLease,
        halt: HaltReason,
    ) -> Result<Option<RunLease>> {
        let read = move |tx: &mut munshi_store::Tx<'_>| -> Result<_> {
            let found = match runs::find(tx, lease.run) {
                Err(error) if error.is_unreadable() => runs::find_without_snapshot(tx, lease.run),
                found => found,
            };
            let run = found?.ok_or(Error::NoRun)?;
            let session = sessions::find(tx, run.conversation()?.session)?;
            let acts = acts_of(tx, &run)?;
            let open = OpenActs::find(tx, &run, &acts)?;
            Ok((run, acts, open, session.and_then(|session| session.language)))
        };
        let (run, acts, open, language) = self.db.read(lease.tenant, read).await?;
        let written = self.describe_written(lease.tenant, &acts);
        let phrase = match &halt {
            _ if written.is_some() => "stopped",
            HaltReason::Cancelled => "cancelled",
            _ => "error",
        };
        let text = self.phrasebook.render(phrase, resolve_locale(language.as_ref(), None), &[]);
        let text = text.map_err(|error| munshi_safety::Error::Invalid(error.to_string()))?;
        let standing = if written.is_some() { MessageStatus::Whole } else { MessageStatus::Degraded };
        // The lines hold arguments of a run that may have read anything.
        let read = acts.iter().flat_map(|act| &act.rests_on.taint.sources);
        let read = read.chain(&run.snapshot.taint.sources).copied().collect();
        let joined = run.snapshot.joined.clone();
        let marks = ReplyMarks { joined, tainted: Some(taint_bits::bits(&read)), ..ReplyMarks::default() };
        let lines = [text].into_iter().chain(written.unwrap_or_default());
        let reply = ReplyRecord {
            id: self.ids.next(),
            text: lines.collect::<Vec<_>>().join("\n"),
            language,
            tokens: 0,
            standing,
            generation: self.run_channels.next_generation(lease, first_generation(lease)),
            marks: serde_json::to_value(&marks).unwrap_or_default(),
            suggestions: Vec::new(),
        };
        let conversation = run.conversation()?.clone();
        let response = TurnCommit {
            lease,
            session: conversation.session,
            person: conversation.person,
            binding: conversation.binding,
            channel: conversation.channel,
            ending: TurnStatus::Halted(halt),
            is_read: run.snapshot.is_read,
            reply: Some(reply),
            deliver: conversation.reply_to,
            settle: run.reservation.map(|id| (id, degraded_amount(run.snapshot.drawn))),
            learned: SessionUpdate::default(),
            steps: Vec::new(),
            calls: Vec::new(),
            violations: Vec::new(),
            decision: None,
            questions: open.questions,
            unfinished: open.unfinished,
            join_check: None,
            whispers: Vec::new(),
            finished: None,
            client_resume: Some(None),
            now: self.clock.now(),
        };
        let inner = self.clone();
        let unit = move |tx: &mut munshi_store::Tx<'_>| deferred_results::save_turn(tx, &inner, &response);
        Ok(self.db.write(lease.tenant, unit).await?.next)
    }
}

/// The acts of a run as they stand in their own table: its snapshot may be older, or unreadable. One that an earlier run
/// asked about, and this one performed, is still that run's in the table.
fn acts_of(tx: &mut munshi_store::Tx<'_>, run: &Run) -> Result<Vec<Act>> {
    if run.kind == runs::REHEARSAL {
        return Ok(Vec::new());
    }
    let mut all = acts::list_by_run(tx, run.id)?;
    for called in run.snapshot.iter_calls() {
        if all.iter().all(|act| act.id != called.act) {
            all.extend(acts::find(tx, called.act)?);
        }
    }
    Ok(all)
}

/// What of a run's acts is left open by its end.
struct OpenActs {
    /// Of those that wait for a person, also where the snapshot can't be read.
    questions: Vec<ApprovalId>,
    /// Those that may be happening. Of one that was left to itself before, whoever ends it tells.
    unfinished: Vec<ActId>,
}

impl OpenActs {
    fn find(tx: &mut munshi_store::Tx<'_>, run: &Run, acts: &[Act]) -> Result<Self> {
        let mut questions = run.snapshot.pending_approvals();
        let mut unfinished = Vec::new();
        for act in acts {
            if act.state == ActState::Waiting {
                let asked = approvals::find_by_act(tx, act.id)?.map(|asked| asked.id);
                questions.extend(asked.filter(|asked| !questions.contains(asked)));
            }
            let may_happen = act.effect.writes() && act.state == ActState::Intended;
            if may_happen && late_acts::find(tx, act.id)?.is_none() {
                unfinished.push(act.id);
            }
        }
        Ok(Self { questions, unfinished })
    }
}

impl TurnEngineInner {
    /// What was written, a line each; none where surely nothing was. What may have happened has no line.
    fn describe_written(&self, tenant: TenantId, acts: &[Act]) -> Option<Vec<String>> {
        let writes = acts.iter().filter(|act| act.effect.writes());
        let touched: Vec<&Act> = writes
            .filter(|act| matches!(act.state, ActState::Applied | ActState::Unknown | ActState::Intended))
            .collect();
        let words = |act: &Act| match self.dispatcher.find_tool_of_act(tenant, act) {
            Some(tool) => in_plain_words(&tool.known.spec, &act.arguments),
            // Its connector is not back yet.
            None => format!("{} {}", act.tool.replace('_', " "), act.arguments),
        };
        let applied = touched.iter().copied().filter(|act| act.state == ActState::Applied);
        let lines = applied.map(words).collect();
        (!touched.is_empty()).then_some(lines)
    }
}

fn degraded_amount(drawn: ReservationUse) -> munshi_safety::budget::BudgetAmount {
    drawn.amount().without_billing()
}
