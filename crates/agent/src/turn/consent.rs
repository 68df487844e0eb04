//! A message that answers a question of this conversation: yes, no, or which one.

use std::sync::Arc;

use munshi_conversations::commit::{self, RunProgress};
use munshi_conversations::error::Rollback;
use munshi_conversations::marks::{PendingApprovalChoice, ReplyMarks, ShownApproval};
use munshi_conversations::messages::{self, MessageSpeaker};
use munshi_conversations::runs::{self, Run, RunLease};
use munshi_conversations::sessions;
use munshi_conversations::snapshot::{
    ExchangeCall, ExchangeCallOutcome, OWN_CALL, ToolExchange, build_call_message, merge_taint,
};
use munshi_conversations::{Result, RunSnapshot, RunState};
use munshi_identity::Principal;
use munshi_lang::yes_no::{self, YesNoAnswer};
use munshi_safety::acts::{self, Act, ActServices};
use munshi_safety::approvals::{
    self, AnswerSource, Approval, ApprovalAnswer, ApprovalAnswerOutcome, ApprovalCoverage, ApprovalDecision,
    ApprovalKind,
};
use munshi_store::Tx;
use munshi_types::{ActId, ApprovalId, Id, KeyId, PersonId, RunId, SessionId, Timestamp};
use uuid::Uuid;

use super::notes::{QuestionNotes, StageNotes};
use super::setup::TurnSetup;
use super::{Turn, TurnOutcome};
use crate::engine::TurnEngine;

/// More are not offered to choose from.
const MOST: usize = 9;

/// Why an answer was not taken; everything of it is undone.
type Stop = Rollback<ApprovalAnswerOutcome>;

/// A question that the message answers, as it was shown.
struct AnsweredQuestion {
    approval: Approval,
    shown: ShownApproval,
    decision: ApprovalDecision,
}

/// What is recorded of an answer, in the transaction of what follows from it.
struct ChatAnswer {
    approval: ApprovalId,
    /// The conversation that it was asked in.
    session: Option<Uuid>,
    /// Of what the person was shown.
    digest: String,
    decision: ApprovalDecision,
    who: Principal,
    key: Option<KeyId>,
    source: AnswerSource,
    act_services: Arc<ActServices>,
    now: Timestamp,
}

impl ChatAnswer {
    /// Tells whoever follows the conversation. Comes first in the transaction.
    fn touch_session(&self, tx: &mut Tx<'_>) -> Result<(), Stop> {
        Ok(sessions::touch_asked(tx, self.session, self.now)?)
    }

    fn record(&self, tx: &mut Tx<'_>) -> Result<(), Stop> {
        let said = ApprovalAnswer {
            who: &self.who,
            answer: self.decision,
            shown: Some(self.digest.as_str()),
            covers: ApprovalCoverage::Act,
            via: "chat",
            key: self.key,
            source: self.source,
        };
        match approvals::answer(tx, &self.act_services, self.approval, &said, self.now)? {
            ApprovalAnswerOutcome::Granted(_) | ApprovalAnswerOutcome::Refused(_) => Ok(()),
            other => Err(Stop::Because(other)),
        }
    }
}

/// Stores what was answered, before what follows from it is told.
pub(super) fn save_answered(
    tx: &mut Tx<'_>,
    (lease, person): (RunLease, Option<PersonId>),
    snapshot: &RunSnapshot,
) -> Result<()> {
    let progress = RunProgress { lease, person, state: RunState::Acting, snapshot, steps: &[], calls: &[] };
    commit::save_progress(tx, &progress)
}

impl Turn {
    /// Answers the question there is, and takes over what waited for it. None where the message is something else.
    pub(crate) async fn consent(&mut self, notes: &mut StageNotes) -> Result<Option<TurnOutcome>> {
        let now = self.setup.engine.clock.now();
        let open = |approval: &&Approval| approval.expires_at > now;
        let mut pending: Vec<Approval> = self.setup.prepared.pending.iter().filter(open).cloned().collect();
        pending.sort_by_key(|approval| (approval.asked_at, approval.id));
        let Some(marks) = self.setup.last_shown_marks() else { return Ok(None) };
        let text = self.setup.prepared.message.text.clone();
        if let Some(answered) = find_chosen(&marks, &pending, &text) {
            return self.answer_question(answered, notes).await;
        }
        let decision = match yes_no::classify_reply(&text) {
            YesNoAnswer::Yes => ApprovalDecision::Yes,
            YesNoAnswer::No => ApprovalDecision::No,
            YesNoAnswer::Other => return Ok(None),
        };
        // What else waits was not spoken of last: whoever says yes to a question says it to that one.
        pending.retain(|approval| marks.find_approval(approval.id).is_some());
        match pending.as_slice() {
            [] => Ok(None),
            [one] => match marks.find_approval(one.id).cloned() {
                Some(shown) => {
                    let answered = AnsweredQuestion { approval: one.clone(), shown, decision };
                    self.answer_question(answered, notes).await
                }
                None => Ok(None),
            },
            several => {
                notes.questions.is_answer = true;
                self.ask_which(several, decision, notes);
                Ok(Some(TurnOutcome::Replied))
            }
        }
    }

    /// Says what was decided, where nothing else is left to be done. Of what was stopped halfway it tells what is done.
    pub(crate) fn say_decided(&mut self) -> Option<TurnOutcome> {
        let phrase = self.state.snapshot.phrase.clone()?;
        let words = self.setup.phrase(&phrase, &[]);
        let done = self.describe_done(0);
        self.reply.say(&[words].into_iter().chain(done).collect::<Vec<_>>().join("\n"));
        Some(TurnOutcome::Replied)
    }

    fn ask_which(&mut self, pending: &[Approval], decision: ApprovalDecision, notes: &mut StageNotes) {
        let mut words = self.setup.phrase("ask-which-approval", &[]);
        for (at, approval) in pending.iter().take(MOST).enumerate() {
            words.push_str(&format!("\n{}. {}", at + 1, self.describe_approval(approval, notes)));
        }
        self.reply.say(&words);
        let offered = pending.iter().take(MOST);
        let others = offered.clone().filter(|one| !self.setup.is_own(one));
        notes.questions.asks = others.map(ShownApproval::from).collect();
        let approvals = offered.map(ShownApproval::from).collect();
        let is_yes = decision == ApprovalDecision::Yes;
        notes.questions.which = Some(PendingApprovalChoice { is_yes, approvals });
    }

    /// Puts before whoever may answer it whether something happened that broke off in this turn.
    pub(crate) async fn ask_outcomes(&mut self, questions: &mut QuestionNotes) -> Result<()> {
        let unknown = |called: &ExchangeCall| match &called.outcome {
            ExchangeCallOutcome::Ended { result, .. } if result["code"] == "unknown_outcome" => {
                Some(called.act)
            }
            _ => None,
        };
        let acts: Vec<ActId> = self.state.snapshot.iter_calls().filter_map(unknown).collect();
        if acts.is_empty() {
            return Ok(());
        }
        let session = self.setup.conversation.session.as_uuid();
        let read = move |tx: &mut Tx<'_>| -> Result<_> { Ok(approvals::list_pending(tx, session)?) };
        let pending = self.setup.engine.db.read(self.setup.tenant(), read).await?;
        let about = |one: &&Approval| one.kind == ApprovalKind::Outcome && acts.contains(&one.act);
        for question in pending.iter().filter(about) {
            if self.setup.can_approve(question) {
                self.reply.say(&question.words);
                questions.asks.push(ShownApproval::from(question));
            }
        }
        Ok(())
    }

    async fn answer_question(
        &mut self,
        answered: AnsweredQuestion,
        notes: &mut StageNotes,
    ) -> Result<Option<TurnOutcome>> {
        notes.questions.is_answer = true;
        let (approval, decision) = (&answered.approval, answered.decision);
        if decision == ApprovalDecision::Yes && !self.is_asker(approval).await? {
            // The question still stands before whoever it is for.
            let words = self.setup.phrase("waiting-approval", &[]);
            let question = self.describe_approval(approval, notes);
            self.reply.say(&format!("{words}\n{question}"));
            notes.questions.asks.push(answered.shown);
            return Ok(Some(TurnOutcome::Replied));
        }
        // A program may take back what it asked for; all else is for a person to say.
        let program = self.setup.run.program_key();
        if let Some(program) = program
            && !(decision == ApprovalDecision::No && self.may_take_back(approval, program).await?)
        {
            self.say_phrase("waiting-approval", &[]);
            return Ok(Some(TurnOutcome::Replied));
        }
        let stored = match self.setup.is_own(approval) {
            true => self.take_over(&answered).await,
            false => self.answer_other(&answered).await,
        };
        match stored {
            Ok(snapshot) => {
                self.state.snapshot = snapshot;
                self.setup.budget.set_previous_use(self.state.snapshot.before);
                notes.acts.take_up(&self.state.snapshot);
                Ok(self.say_decided())
            }
            // Somebody else's to answer: they are told that it waits, once more.
            Err(Stop::Because(
                ApprovalAnswerOutcome::NotYours { .. }
                | ApprovalAnswerOutcome::OwnWish
                | ApprovalAnswerOutcome::NotTheirWord,
            )) => {
                self.say_phrase("waiting-approval", &[]);
                Ok(Some(TurnOutcome::Replied))
            }
            Err(Stop::Because(_)) => Ok(None),
            Err(Stop::Failed(error)) => Err(error),
        }
    }

    /// Whether the yes may be theirs who asked for it. Several write as one in a group, and one of them does not agree to what another asked
    /// for; to stop it is anybody's.
    async fn is_asker(&self, approval: &Approval) -> Result<bool> {
        let prepared = &self.setup.prepared;
        if !prepared.is_in_group() {
            return Ok(true);
        }
        // A member whom the channel does not name is nobody in particular.
        let Some(member) = prepared.message.marks["member"].as_str().map(str::to_owned) else {
            return Ok(false);
        };
        let act = approval.act;
        let read = move |tx: &mut Tx<'_>| -> Result<_> {
            let Some(run) = acts::find(tx, act)?.and_then(|act| act.rests_on.caller.run) else {
                return Ok(false);
            };
            let said = messages::list_by_run(tx, run)?;
            let mut asked = said.iter().filter(|said| said.speaker == MessageSpeaker::Person).peekable();
            Ok(asked.peek().is_some() && asked.all(|said| said.marks["member"] == member.as_str()))
        };
        self.setup.engine.db.read(self.setup.tenant(), read).await
    }

    async fn may_take_back(&self, approval: &Approval, program: KeyId) -> Result<bool> {
        let approval = approval.clone();
        let read =
            move |tx: &mut Tx<'_>| -> Result<_> { Ok(approvals::may_take_back(tx, &approval, program)?) };
        self.setup.engine.db.read(self.setup.tenant(), read).await
    }

    /// Somebody else's act, or whether something happened: the answer is noted, and the run that waits for it goes on
    /// in its own conversation.
    async fn answer_other(&mut self, answered: &AnsweredQuestion) -> Result<RunSnapshot, Stop> {
        self.sync();
        let (lease, said) = (self.setup.lease, self.setup.build_chat_answer(answered));
        let (act, person) = (answered.approval.act, self.setup.run.person());
        let snapshot = RunSnapshot { phrase: Some("noted".to_owned()), ..self.state.snapshot.clone() };
        let unit = move |tx: &mut Tx<'_>| -> Result<(RunSnapshot, Option<RunId>), Stop> {
            said.touch_session(tx)?;
            save_answered(tx, (lease, person), &snapshot)?;
            let waiting = acts::find(tx, act)?.and_then(|act| act.rests_on.caller.run);
            said.record(tx)?;
            Ok((snapshot, waiting))
        };
        let (snapshot, waiting) = self.setup.engine.db.write(self.setup.tenant(), unit).await?;
        if let Some(run) = waiting.filter(|run| *run != lease.run) {
            // Found by the next sweep where this fails: the answer stands.
            let engine = TurnEngine { inner: self.setup.engine.clone() };
            if let Err(error) = engine.resume(self.setup.tenant(), run).await {
                tracing::warn!(%run, %error, "resuming run after approval failed");
            }
        }
        Ok(snapshot)
    }

    /// The answer, the end of the run that waited, and this run's beginning with its work: all or nothing.
    async fn take_over(&mut self, answered: &AnsweredQuestion) -> Result<RunSnapshot, Stop> {
        self.sync();
        let (lease, said) = (self.setup.lease, self.setup.build_chat_answer(answered));
        let (mine, act) = (self.state.snapshot.clone(), answered.approval.act);
        let (engine, session) = (self.setup.engine.clone(), self.setup.conversation.session);
        let person = self.setup.run.person();
        let unit = move |tx: &mut Tx<'_>| -> Result<RunSnapshot, Stop> {
            said.touch_session(tx)?;
            let act = acts::find(tx, act)?.ok_or(Stop::Because(ApprovalAnswerOutcome::Unknown))?;
            let waiting = find_waiting_run(tx, session, &act, said.approval)?;
            let waiting = waiting.filter(|run| run.id != lease.run);
            let has_written =
                waiting.as_ref().is_some_and(|run| engine.has_written(lease.tenant, &run.snapshot));
            let theirs = waiting.map(|run| supersede_waiting_run(tx, &run, &said)).transpose()?.flatten();
            let snapshot = match (said.decision, theirs) {
                (ApprovalDecision::Yes, theirs) => adopt_snapshot(mine, theirs, act, said.approval),
                (ApprovalDecision::No, Some(theirs)) if has_written => {
                    RunSnapshot { phrase: Some("stopped".to_owned()), ..mine.inherit_from(theirs) }
                }
                // It goes on with what else it waits for, and tells itself what it has done.
                (ApprovalDecision::No, None) if has_written => {
                    RunSnapshot { phrase: Some("noted".to_owned()), ..mine }
                }
                (ApprovalDecision::No, _) => RunSnapshot { phrase: Some("cancelled".to_owned()), ..mine },
            };
            save_answered(tx, (lease, person), &snapshot)?;
            said.record(tx)?;
            Ok(snapshot)
        };
        self.setup.engine.db.write(self.setup.tenant(), unit).await
    }
}

impl TurnSetup {
    fn build_chat_answer(&self, answered: &AnsweredQuestion) -> ChatAnswer {
        ChatAnswer {
            approval: answered.approval.id,
            session: answered.approval.session,
            digest: answered.shown.digest.clone(),
            decision: answered.decision,
            who: self.prepared.principal.clone(),
            key: self.run.key_use.as_ref().map(|used| used.key),
            source: match self.prepared.is_program || self.prepared.is_vouched() {
                true => AnswerSource::Other,
                false => AnswerSource::Message {
                    message: self.prepared.message.id,
                    channel: self.conversation.channel,
                },
            },
            act_services: self.engine.act_services.clone(),
            now: self.engine.clock.now(),
        }
    }

    /// Whether this conversation goes on with it: an act that was asked for here.
    pub(super) fn is_own(&self, approval: &Approval) -> bool {
        approval.kind == ApprovalKind::Act && self.prepared.is_pending_here(approval)
    }
}

/// The one of several that a number picks, where the last thing we said was to name one.
fn find_chosen(marks: &ReplyMarks, pending: &[Approval], text: &str) -> Option<AnsweredQuestion> {
    let which = marks.which.as_ref()?;
    let shown = which.approvals.get(number(text)?.checked_sub(1)?)?;
    let approval = pending.iter().find(|approval| approval.id == shown.approval)?.clone();
    let decision = if which.is_yes { ApprovalDecision::Yes } else { ApprovalDecision::No };
    Some(AnsweredQuestion { approval, shown: shown.clone(), decision })
}

/// The run that waits for the answer: the one that asked, or one that has taken its work over since.
fn find_waiting_run(
    tx: &mut Tx<'_>,
    session: SessionId,
    act: &Act,
    approval: ApprovalId,
) -> Result<Option<Run>> {
    if let Some(asked) = act.rests_on.caller.run
        && let Some(run) = runs::find(tx, asked)?.filter(|run| run.ended_at.is_none())
    {
        return Ok(Some(run));
    }
    let waits = |run: &Run| run.snapshot.pending_approvals().contains(&approval);
    Ok(runs::list_open(tx, session)?.into_iter().find(waits))
}

/// Ends the run that waits, unless it waits for more than a no has decided; gives what it carried.
fn supersede_waiting_run(tx: &mut Tx<'_>, run: &Run, said: &ChatAnswer) -> Result<Option<RunSnapshot>, Stop> {
    let others = run.snapshot.iter_calls().any(
        |called| matches!(called.outcome, ExchangeCallOutcome::Waiting { approval, .. } if approval != said.approval),
    );
    if said.decision == ApprovalDecision::No && others {
        return Ok(None);
    }
    Ok(runs::supersede(tx, run.id, said.now)?.map(|run| run.snapshot))
}

/// What this run goes on with: all that the other had done, or the one act where the other is gone.
fn adopt_snapshot(
    mine: RunSnapshot,
    theirs: Option<RunSnapshot>,
    act: Act,
    approval: ApprovalId,
) -> RunSnapshot {
    let Some(theirs) = theirs.filter(|theirs| theirs.iter_calls().any(|called| called.act == act.id)) else {
        let asked = build_call_message(&act.tool, act.arguments.clone());
        // What a pack read is nobody's own words.
        let is_program = act.rests_on.caller.key.is_some();
        let is_read = (act.rests_on.taint.own_words.is_empty() && !is_program) || mine.is_read;
        let taint = merge_taint(mine.taint, act.rests_on.taint);
        let outcome = ExchangeCallOutcome::Waiting { approval, again_at: None, is_away: false };
        let (tool, arguments) = (act.tool, act.arguments);
        let called = ExchangeCall { call_id: OWN_CALL.to_owned(), tool, arguments, act: act.id, outcome };
        let exchanges = vec![ToolExchange { asked, calls: vec![called] }];
        return RunSnapshot { exchanges, calls: 1, is_read, taint, ..mine };
    };
    mine.inherit_from(theirs)
}

/// A message that is a number and nothing more, in any script.
fn number(text: &str) -> Option<usize> {
    let trimmed = text.trim().trim_end_matches(['.', ')', '।']);
    if trimmed.chars().count() > 20 {
        return None;
    }
    let found = munshi_lang::understand(trimmed, &munshi_lang::UnderstandingContext::default()).numbers;
    let [one] = found.as_slice() else { return None };
    usize::try_from(one.value.as_whole()?).ok()
}
