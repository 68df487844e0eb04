//! What a run takes with it over a crash.

use std::collections::BTreeSet;
use std::time::Duration;

use munshi_llm::gateway::CallSpend;
use munshi_llm::pricing::Cost;
use munshi_llm::{ChatMessage, ModelMessagePart, ModelRole, ToolCall};
use munshi_pack::StepOutcome;
use munshi_safety::audit::to_canonical_json;
use munshi_safety::budget::{BudgetAmount, RunBudget, RunUse};
use munshi_safety::pipeline::{RefusalCode, Taint, TaintSource};
use munshi_tiers::ActivePlace;
use munshi_tools::{ActDropReason, LOGIN_NEEDED, ResultOrigin, ToolAnswer};
use munshi_types::{ActId, ApprovalId, HolderId, MessageId, RunId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::event::{RunEvent, UndoOffer};
use crate::marks::ReplyMark;
use crate::state::HaltReason;

/// What a limit stands in the way of is tried again this often, also where it frees later: limits are raised, too.
const AGAIN: Duration = Duration::from_secs(15 * 60);
/// So long it is waited for that somebody logs in; as long as a link leads there.
const LOGIN: Duration = Duration::from_secs(24 * 3600);

/// Everything that was paid for or done so far, and nothing that can be looked up again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunSnapshot {
    /// What the model asked of tools and what they answered, the oldest first.
    pub exchanges: Vec<ToolExchange>,
    pub used: RunUse,
    /// What the runs had used whose work this one took over: it counts against the limit, and was told as theirs.
    pub before: RunUse,
    /// What the run itself has read.
    pub taint: Taint,
    /// Whose words stood in what it was told of the conversation.
    pub inherited: BTreeSet<TaintSource>,
    /// What the model has said before its last call: words that came with calls of tools, before any rule saw them.
    pub said: String,
    /// What stood between those words.
    pub marks: Vec<ReplyMark>,
    /// What the tokens in those words and calls stand for, where a model elsewhere was asked.
    pub masked: Option<Value>,
    /// What was taken out of the message's reservation.
    pub drawn: ReservationUse,
    /// Of the tokens used, those that a model wrote; and whether some call had no price.
    pub output: u64,
    pub is_unpriced: bool,
    /// Calls of tools so far, and how often which failed, by tool and canonical arguments.
    pub calls: u32,
    pub failures: Vec<(String, u32)>,
    /// How many model calls were made, and how often something was refused.
    pub model_calls: u32,
    pub denials: u32,
    /// A pack read the message by itself: no model beyond this machine is asked.
    pub is_read: bool,
    /// Which beginning of the reply this is.
    pub generation: u32,
    pub started_at: Option<Timestamp>,
    /// The epoch in which it last came further, or to a pause: what was taken up before that broke nobody.
    pub rested: i64,
    /// The epochs in which it went on alone, since it made no progress beside others.
    pub alone: Vec<i64>,
    /// Which process marked the last of them.
    pub alone_in: Option<HolderId>,
    /// How often a process lived on that had lost the run under its marker, since it last came further.
    pub survived: u32,
    /// Acts of which the person has heard that they wait for a limit.
    pub told_delayed: Vec<ActId>,
    /// Whether this run may wait until somebody has logged in at a connector's service.
    pub may_wait: bool,
    /// Connectors of which somebody has heard that they want a login, and when.
    pub told_logins: Vec<(String, Timestamp)>,
    /// Acts of which they have heard that their time is over.
    pub told_expired: Vec<ActId>,
    /// Acts of which they have heard, at a pause, that they are done.
    pub told_done: Vec<ActId>,
    /// Decided, and only this phrase is left to be said.
    pub phrase: Option<String>,
    /// Decided, and only the reply is left to be made.
    pub halt: Option<HaltReason>,
    /// Where its conversation was when it began, or was handed on to by it; none before it is prepared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<ActivePlace>,
    /// Where it has been, where it was handed on at all: a run goes nowhere twice.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<ActivePlace>,
    /// How far work has come that nobody typed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work: Option<WorkProgress>,
    /// Acts whose tools said what is not kept: here stands that they were asked, and whoever goes on with the run asks anew.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_kept: Vec<ActId>,
    /// How often such calls were made anew.
    #[serde(skip_serializing_if = "is_zero")]
    pub reopened: u32,
    /// Messages that joined the turn, the oldest first: their own runs have ended, and this one answers them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub joined: Vec<MessageId>,
    /// How often the turn began to think anew since some joined.
    #[serde(skip_serializing_if = "is_zero")]
    pub rethought: u32,
}

/// Most runs never call such a tool.
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// How far a run of a pack's kind has come; a part of the snapshot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkProgress {
    /// What it was begun with.
    pub input: Value,
    /// What came of its steps but the calls of tools, by how many of those came before.
    pub outcomes: Vec<(usize, StepOutcome)>,
    /// The runs that it waits for, in the order they were begun.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<RunId>,
    /// Questions that were put before those who may answer them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<ApprovalId>,
    /// The time that it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// What it may use, where another run began it: its share of what that one had left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<RunBudget>,
    /// What the runs have used that it began; of those that it does not wait for and that go on, all that they may use.
    #[serde(default)]
    pub used_by_children: RunUse,
}

/// What the calls took out of the message's reservation; a part of the snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReservationUse {
    pub tokens: u64,
    pub output: u64,
    pub money: Cost,
    /// Some call had no price; all of it then counts at the worst one.
    pub is_unpriced: bool,
}

/// What two runs, one after the other, have used; the time is the second's own.
pub fn sum(one: RunUse, other: RunUse) -> RunUse {
    let iterations = one.iterations.saturating_add(other.iterations);
    RunUse { iterations, ..one.with_call(other.tokens, other.money) }
}

impl ReservationUse {
    pub fn plus(self, spent: CallSpend) -> Self {
        Self {
            tokens: self.tokens.saturating_add(spent.tokens),
            output: self.output.saturating_add(spent.output),
            money: self.money.plus(spent.cost.unwrap_or_default()),
            is_unpriced: self.is_unpriced || (spent.cost.is_none() && spent.tokens > 0),
        }
    }

    /// What the reservation is settled with.
    pub fn amount(self) -> BudgetAmount {
        let money = (!self.is_unpriced).then_some(self.money);
        BudgetAmount { tokens: self.tokens, output: self.output, money, ..BudgetAmount::interaction() }
    }
}

/// Where a call stands: in which exchange, and which of its calls.
pub type CallIndex = (usize, usize);

impl RunSnapshot {
    pub fn find_call(&self, (exchange, call): CallIndex) -> Option<&ExchangeCall> {
        self.exchanges.get(exchange)?.calls.get(call)
    }

    /// What it has used, by what it knows and by the calls of models that are stored: a process that died has stored its calls, and perhaps
    /// not that it made them.
    pub fn use_with_calls(&self, called: CallSpend) -> RunUse {
        RunUse {
            tokens: self.used.tokens.max(called.tokens),
            money: self.used.money.max(called.cost.unwrap_or_default()),
            ..self.used
        }
    }

    /// All calls, the oldest first.
    pub fn iter_calls(&self) -> impl Iterator<Item = &ExchangeCall> {
        self.exchanges.iter().flat_map(|exchange| &exchange.calls)
    }

    /// The questions that wait, as far as this knows.
    pub fn pending_approvals(&self) -> Vec<ApprovalId> {
        let waiting = |called: &ExchangeCall| match called.outcome {
            ExchangeCallOutcome::Waiting { approval, .. } => Some(approval),
            _ => None,
        };
        self.iter_calls().filter_map(waiting).collect()
    }

    /// The connectors that want a login before this goes on, each once.
    pub fn connectors_awaiting_login(&self) -> Vec<String> {
        let mut shut: Vec<String> = Vec::new();
        for called in self.iter_calls() {
            if let ExchangeCallOutcome::Login { connector, .. } = &called.outcome
                && !shut.contains(connector)
            {
                shut.push(connector.clone());
            }
        }
        shut
    }

    /// This run's beginning with what another had done, whose work it takes over.
    pub fn inherit_from(self, theirs: Self) -> Self {
        Self {
            exchanges: theirs.exchanges,
            calls: theirs.calls,
            failures: theirs.failures,
            denials: theirs.denials,
            model_calls: theirs.model_calls,
            is_read: theirs.is_read || self.is_read,
            before: sum(sum(self.before, theirs.before), theirs.used),
            taint: merge_taint(self.taint, theirs.taint),
            inherited: self.inherited.into_iter().chain(theirs.inherited).collect(),
            told_expired: theirs.told_expired,
            told_done: theirs.told_done,
            not_kept: theirs.not_kept,
            place: theirs.place.or(self.place),
            places: theirs.places,
            ..self
        }
    }

    /// The calls of the last exchange that the program is to make.
    pub fn client_calls(&self) -> impl Iterator<Item = (usize, &ExchangeCall)> {
        let calls = self.exchanges.last().into_iter().flat_map(|exchange| &exchange.calls);
        calls.filter_map(|called| match called.outcome {
            ExchangeCallOutcome::Handed { number } => Some((number, called)),
            _ => None,
        })
    }

    /// Whose words an act of it may rest on.
    pub fn whole_taint(&self) -> Taint {
        let mut whole = self.taint.clone();
        whole.sources.extend(&self.inherited);
        whole
    }

    /// What a pause keeps: what was said is a message of its own, and what was set aside is settled.
    pub fn for_pause(&self, epoch: i64) -> Self {
        let (said, marks) = (String::new(), Vec::new());
        Self { said, marks, drawn: ReservationUse::default(), rested: epoch, survived: 0, ..self.clone() }
    }

    /// Every place there is.
    pub fn call_indexes(&self) -> Vec<CallIndex> {
        let exchanges = self.exchanges.iter().enumerate();
        exchanges.flat_map(|(at, exchange)| (0..exchange.calls.len()).map(move |call| (at, call))).collect()
    }

    /// It came further in this epoch, or to a pause: how it failed before no longer counts.
    pub fn note_progress(&mut self, epoch: i64) {
        (self.rested, self.survived) = (epoch, 0);
    }

    /// Writes down what came of a call, and what follows from it for the calls to come. The same answer noted by the
    /// act's own transaction and by the turn leaves the same behind.
    pub fn record_answer(&mut self, (exchange, call): CallIndex, answer: &ToolAnswer, when: EpochStamp) {
        let called = self.exchanges.get_mut(exchange).and_then(|exchange| exchange.calls.get_mut(call));
        let Some(called) = called else { return };
        let outcome = match (self.may_wait, derive_login_wait(&called.outcome, answer, when.now)) {
            (true, Some(shut)) => shut,
            _ => outcome(&called.outcome, answer, when.now),
        };
        if called.outcome != outcome && outcome != ExchangeCallOutcome::Open {
            (self.rested, self.survived) = (when.epoch, 0);
        }
        let ended = match &outcome {
            ExchangeCallOutcome::Ended { ok, result } => Some((*ok, result.clone())),
            _ => None,
        };
        called.outcome = outcome;
        if answer.is_transient() && matches!(ended, Some((true, _))) && !self.not_kept.contains(&called.act) {
            self.not_kept.push(called.act);
        }
        let (tool, key, call) =
            (called.tool.clone(), call_key(&called.tool, &called.arguments), called.call_id.clone());
        self.taint.sources.extend(answer.taint_sources());
        self.taint.holds_private |= answer.reveals_data();
        let Some((ok, result)) = ended else { return };
        if is_denied(answer) {
            self.denials += 1;
        } else if !ok && !is_expired(&result) {
            self.count_failure(key);
            self.count_failure(tool.clone());
        }
        let offset = self.marks.last().map_or(0, |mark| mark.offset);
        self.marks.push(ReplyMark {
            number: 0,
            offset,
            event: RunEvent::ToolResult {
                call,
                tool,
                ok,
                result,
                undo: UndoOffer::from_answer(answer, when.now),
            },
        });
    }

    /// Sets what came of a call, and gives it as it is then.
    pub fn set_outcome(
        &mut self,
        (exchange, call): CallIndex,
        outcome: ExchangeCallOutcome,
    ) -> Option<ExchangeCall> {
        let called = self.exchanges.get_mut(exchange)?.calls.get_mut(call)?;
        called.outcome = outcome;
        Some(called.clone())
    }

    /// Ends the calls of a tool that were not begun and are no longer wanted.
    pub fn supersede_open(&mut self, tool: &str) {
        let calls = self.exchanges.iter_mut().flat_map(|exchange| &mut exchange.calls);
        for called in
            calls.filter(|called| called.tool == tool && called.outcome == ExchangeCallOutcome::Open)
        {
            let result = json!({ "ok": false, "code": "superseded", "retryable": false });
            called.outcome = ExchangeCallOutcome::Ended { ok: false, result };
        }
    }

    fn count_failure(&mut self, key: String) {
        match self.failures.iter_mut().find(|(known, _)| *known == key) {
            Some((_, count)) => *count += 1,
            None => self.failures.push((key, 1)),
        }
    }

    pub fn failures_of(&self, key: &str) -> u32 {
        self.failures.iter().find(|(known, _)| known == key).map_or(0, |(_, count)| *count)
    }
}

/// Read by either, said to either, the older first.
pub fn merge_taint(mine: Taint, theirs: Taint) -> Taint {
    let sources = mine.sources.into_iter().chain(theirs.sources).collect();
    let own_words = theirs.own_words.into_iter().chain(mine.own_words).collect();
    let holds_private = mine.holds_private || theirs.holds_private;
    Taint {
        sources,
        own_words,
        holds_private,
        leaked_bits: mine.leaked_bits.saturating_add(theirs.leaked_bits),
    }
}

/// A tool and its arguments as one name. Two calls that mean the same have the same; no tool is called so.
pub fn call_key(tool: &str, arguments: &Value) -> String {
    format!("{tool} {}", to_canonical_json(arguments))
}

/// When something is noted, and by which take-up of the run.
#[derive(Clone, Copy, Debug)]
pub struct EpochStamp {
    pub epoch: i64,
    pub now: Timestamp,
}

/// What is kept of an answer. What a person has agreed to is not refused by what passes by itself: it waits for that.
fn outcome(before: &ExchangeCallOutcome, answer: &ToolAnswer, now: Timestamp) -> ExchangeCallOutcome {
    match (before, answer) {
        (_, ToolAnswer::Waiting(approval)) => {
            ExchangeCallOutcome::Waiting { approval: approval.id, again_at: None, is_away: false }
        }
        (_, ToolAnswer::Running { .. }) => ExchangeCallOutcome::Open,
        (ExchangeCallOutcome::Waiting { approval, .. }, ToolAnswer::Refused(refusal))
            if refusal.code.is_transient() || refusal.code == RefusalCode::UnknownTool =>
        {
            let latest = now.plus(AGAIN);
            let again_at = Some(refusal.again_at.map_or(latest, |at| at.min(latest)));
            let is_away = refusal.code == RefusalCode::UnknownTool;
            ExchangeCallOutcome::Waiting { approval: *approval, again_at, is_away }
        }
        (_, answer) => ExchangeCallOutcome::Ended {
            ok: matches!(answer, ToolAnswer::Done(_) | ToolAnswer::Rehearsed(_) | ToolAnswer::Working { .. }),
            result: answer.render_for_record(),
        },
    }
}

/// What was not done because nobody is logged in at its service waits for that, for a day at most.
fn derive_login_wait(
    before: &ExchangeCallOutcome,
    answer: &ToolAnswer,
    now: Timestamp,
) -> Option<ExchangeCallOutcome> {
    let ToolAnswer::Failed { code, label: ResultOrigin::Foreign { connector, .. }, .. } = answer else {
        return None;
    };
    let until = match before {
        ExchangeCallOutcome::Login { until, .. } => *until,
        _ => now.plus(LOGIN),
    };
    let waits = code == LOGIN_NEEDED && now < until;
    waits.then(|| ExchangeCallOutcome::Login { connector: connector.clone(), since: now, until })
}

/// Whether it was not the tool that said no. Arguments that were wrong can be put right: that is a failure.
fn is_denied(answer: &ToolAnswer) -> bool {
    match answer {
        ToolAnswer::Refused(refusal) => refusal.code.phrase() == "not-permitted",
        ToolAnswer::Dropped { why, .. } => *why == ActDropReason::Refused,
        _ => false,
    }
}

/// Whether nobody answered in time, or a yes came to nothing in its time: no mistake of the model's.
fn is_expired(result: &Value) -> bool {
    result["code"] == ActDropReason::Expired.code()
}

/// One model call that led to acts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolExchange {
    /// The model's own message: it goes back unchanged.
    pub asked: ChatMessage,
    pub calls: Vec<ExchangeCall>,
}

/// The id of a call that no provider made.
pub const OWN_CALL: &str = "call-0";

/// A model's message that calls one tool, made here.
pub fn build_call_message(tool: &str, arguments: Value) -> ChatMessage {
    let call = ToolCall { id: OWN_CALL.to_owned(), name: tool.to_owned(), arguments };
    ChatMessage { role: ModelRole::Assistant, parts: vec![ModelMessagePart::ToolCall(call)] }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExchangeCall {
    /// The provider's id of the call.
    pub call_id: String,
    pub tool: String,
    /// As the tool gets them: real values.
    pub arguments: Value,
    /// Given before anything is done, and the same after a crash: by it the act happens once.
    pub act: ActId,
    pub outcome: ExchangeCallOutcome,
}

impl ExchangeCall {
    /// The tool and what it said, where it said something.
    pub fn find_result(&self) -> Option<(String, Value)> {
        match &self.outcome {
            ExchangeCallOutcome::Ended { ok: true, result } => {
                Some((self.tool.clone(), result.get("result").cloned().unwrap_or_default()))
            }
            _ => None,
        }
    }

    /// Whether its question, or the yes to it, has run out of time.
    pub fn has_expired(&self) -> bool {
        matches!(&self.outcome, ExchangeCallOutcome::Ended { result, .. } if is_expired(result))
    }

    /// Whether somebody has to log in first.
    pub const fn needs_login(&self) -> bool {
        matches!(self.outcome, ExchangeCallOutcome::Login { .. })
    }

    /// Whether somebody agreed, and a limit stands in the way or the tool is away.
    pub const fn is_delayed(&self) -> bool {
        matches!(self.outcome, ExchangeCallOutcome::Waiting { again_at: Some(_), .. })
    }

    /// Whether somebody agreed, and the tool is away.
    pub const fn is_tool_away(&self) -> bool {
        matches!(self.outcome, ExchangeCallOutcome::Waiting { is_away: true, .. })
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum ExchangeCallOutcome {
    /// Not begun, or begun and its end not known here.
    Open,
    Waiting {
        approval: ApprovalId,
        /// When it is tried next, where somebody has agreed and a limit stands in the way, or its tool is away.
        #[serde(default)]
        again_at: Option<Timestamp>,
        /// Whether its tool was away, and not a limit in the way: it is tried as soon as the tool is back.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_away: bool,
    },
    /// Somebody has to log in at the connector's service first. It is asked for again when somebody has, or at the end.
    Login { connector: String, since: Timestamp, until: Timestamp },
    /// A tool of the program that brought it: that one calls it, and may come back with the answer. Which of those that
    /// were handed out together.
    Handed { number: usize },
    /// What the model is told of it.
    Ended { ok: bool, result: Value },
}
