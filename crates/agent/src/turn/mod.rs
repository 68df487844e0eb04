//! One turn, from the stored message to the stored answer.
//!
//! The stages are methods of [`Turn`], a file each: [`prepare`] reads, [`think`] asks a model, [`act`] calls tools,
//! [`check`] looks at the reply, [`respond`] stores it. [`consent`] is for messages that answer a question, [`halt`] for
//! turns that end otherwise. Nothing here is written but in the transactions of acts ([`journal`]) and of the reply.

mod act;
mod approval_questions;
mod check;
mod choose;
mod close;
mod connector_tools;
mod consent;
mod detach;
mod evidence;
mod halt;
mod journal;
mod logins;
pub(crate) mod mask_people;
mod pause;
mod prepare;
mod proposed_act;
mod reply;
mod reply_language;
mod respond;
mod screen;
mod setup;
mod think;
mod timings;
pub(crate) mod turn_metrics;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use munshi_llm::gateway::{InMemoryCallLog, ModelRoute};
use munshi_pack::PackReading;
use munshi_privacy::PseudonymRedactor;
use munshi_safety::budget::RunBudget;
use munshi_safety::pipeline::{ActConcern, Taint, TaintSource};
use munshi_tiers::BindingResolution;
use munshi_tiers::prompt::PromptReport;
use munshi_tools::FailureHint;
use munshi_types::{ActId, TenantId};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub(crate) use close::resolve_locale;
pub(crate) use consent::build_call_message;
pub(crate) use reply::first_generation;
pub(crate) use reply_language::ReplyLanguage;
pub(crate) use timings::TurnStopwatch;
pub use timings::TurnTimings;

use self::act::ActStageOutcome;
use self::pause::TurnPause;
use self::prepare::PreparedTurn;
use self::reply::{ReplySettings, ReplyWriter};
use self::think::ThinkStageOutcome;
use crate::choices::ChoiceQuestion;
use crate::engine::TurnEngineInner;
use crate::entities::SessionEntities;
use crate::error::{Error, Result};
use crate::event::RunEvent;
use crate::marks::{PendingApprovalChoice, ShownApproval};
use crate::rules::BindingRules;
use crate::run_channels::RunChannel;
use crate::runs::{self, Run, RunLease};
use crate::snapshot::{ExchangeCall, ExchangeCallOutcome, RunSnapshot};
use crate::state::{HaltReason, RunState};
use crate::steps::NewRunStep;
use crate::taint_bits::WindowTaint;
use crate::turn_budget::{TurnBudget, sum};

/// How a turn came to its end, for now or for good.
#[derive(Debug)]
pub(crate) enum TurnOutcome {
    Replied,
    Waiting(TurnPause),
    /// The program is to call tools of its own; whoever comes back with their answers goes on.
    Handed,
    Halted(HaltReason),
}

/// A turn under way, in one process.
pub(crate) struct Turn {
    engine: Arc<TurnEngineInner>,
    tenant: TenantId,
    held: RunLease,
    run: Run,
    place: Arc<BindingResolution>,
    rules: BindingRules,
    prepared: PreparedTurn,
    route: Arc<ModelRoute>,
    snapshot: RunSnapshot,
    reply: ReplyWriter,
    purse: Arc<TurnBudget>,
    tab: Arc<InMemoryCallLog>,
    veil: PseudonymRedactor,
    /// What was not stored yet.
    steps: Vec<NewRunStep>,
    entered: (RunState, Instant),
    timings: TurnStopwatch,
    report: PromptReport,
    /// Who answered last.
    target: Option<String>,
    /// What the model wants back with the reply.
    state: Vec<String>,
    /// The model was cut off by the length it may have.
    is_cut: bool,
    /// No model was asked yet by this process.
    is_first_asked: bool,
    /// Acts that this process began, and those it found begun.
    begun: HashSet<ActId>,
    /// What packs want confirmed of an act, in their own words.
    concerned: HashMap<ActId, Vec<ActConcern>>,
    taken_up: HashSet<ActId>,
    /// Calls that followers have seen.
    shown: HashSet<ActId>,
    /// What the conversation has spoken of.
    entities: SessionEntities,
    /// Whose words stand in what it is told of the conversation.
    window: WindowTaint,
    /// How many exchanges a model has seen, as far as this process knows.
    heard: usize,
    /// A call that found nothing, what may help, and the search that is made for it.
    searching: Option<(ExchangeCall, FailureHint, ActId)>,
    /// What the model thinks may come next.
    proposed: Vec<String>,
    /// What the person is to choose from, where the reply asks which.
    which: Option<PendingApprovalChoice>,
    /// What the person has just picked, and what it was called.
    picked: Option<(Value, String)>,
    /// Choices that the message has passed by.
    passed_by: Option<ChoiceQuestion>,
    /// The message answers a question of ours.
    is_answer: bool,
    /// Questions that the reply puts before the person, beside those of the run's own acts.
    asks: Vec<ShownApproval>,
    /// What was found wrong beside what the rules found.
    objections: Vec<String>,
    limit: RunBudget,
    stop: CancellationToken,
}

impl Turn {
    /// Reads what the turn needs, on one snapshot.
    pub(crate) async fn prepare(
        engine: Arc<TurnEngineInner>,
        held: RunLease,
        place: Arc<BindingResolution>,
        room: Arc<RunChannel>,
        stop: CancellationToken,
    ) -> Result<Self> {
        let begun = Instant::now();
        let now = engine.clock.now();
        let (house, office, at) = (engine.house.clone(), engine.office.clone(), place.clone());
        let leaves = engine.gateway.targets().iter().any(|target| !target.is_local());
        let everybody = engine.clone();
        let read = move |tx: &mut munshi_store::Tx<'_>| -> Result<_> {
            let run = runs::find(tx, held.run)?.ok_or(Error::NoRun)?;
            if run.epoch != held.epoch || run.ended_at.is_some() {
                return Err(Error::LostRun(held.run));
            }
            let mut prepared = prepare::read(tx, &run, &at, (&house, &office), now)?;
            if leaves {
                prepared.load_known_people(tx, &everybody.people)?;
            }
            let is_left = held.epoch > 1 && munshi_safety::budget::has_open_reservations(tx, held.run)?;
            Ok((run, prepared, is_left))
        };
        let (run, prepared, is_left) = engine.db.read(held.tenant, read).await?;
        if is_left {
            let governor = engine.desk.governor.clone();
            engine.db.write(held.tenant, move |tx| governor.release_run(tx, held.run)).await?;
        }
        if run.cancel_asked {
            stop.cancel();
        }
        let mut turn = Self::new(engine, held, (run, prepared, place), (room, stop), begun)?;
        turn.snapshot.may_wait =
            turn.run.kind == runs::MESSAGE && turn.engine.dispatcher.supports_login_links();
        Ok(turn)
    }

    fn new(
        engine: Arc<TurnEngineInner>,
        held: RunLease,
        (run, mut prepared, place): (Run, PreparedTurn, Arc<BindingResolution>),
        (room, stop): (Arc<RunChannel>, CancellationToken),
        begun: Instant,
    ) -> Result<Self> {
        let rules = engine.rules.get_or_build(&place)?;
        let mut snapshot = run.snapshot.clone();
        snapshot.started_at.get_or_insert(run.began_at);
        if snapshot.taint == Taint::default() {
            snapshot.taint = setup::compute_initial_taint(&prepared);
        }
        if let (Some(resumed), Some(brought), true) =
            (prepared.resumed.take(), &prepared.brought, snapshot.exchanges.is_empty())
        {
            snapshot = resumed.into_snapshot(snapshot, brought, &engine.ids);
        }
        let (entities, window) = setup::load_entities(&prepared, &mut snapshot);
        let manner = ReplySettings {
            book: engine.book.clone(),
            voice: prepared.tongue.voice,
            rules: rules.set.clone(),
            context: setup::context(&engine, &prepared, &place, &rules.set),
        };
        let mut reply = ReplyWriter::begin(room, held, manner);
        reply.replay(&snapshot.said, &snapshot.marks);
        let purse = Arc::new(setup::build_budget(&engine, &run, &place, (prepared.aside, &snapshot)));
        let route = Arc::new(setup::build_route(&engine, &prepared, &place, &snapshot));
        let veil = setup::build_redactor(&engine, &prepared, &snapshot)?;
        let known: HashSet<ActId> = snapshot.iter_calls().map(|called| called.act).collect();
        let limit = engine.office.governor.settings().run;
        let seconds = limit.seconds.min(u64::from(place.agent.body.limits.turn_seconds));
        let mut turn = Self {
            engine,
            tenant: held.tenant,
            held,
            run,
            place,
            rules,
            prepared,
            route,
            snapshot,
            reply,
            purse,
            tab: Arc::default(),
            veil,
            steps: Vec::new(),
            entered: (RunState::Preparing, begun),
            timings: TurnStopwatch::begin(begun),
            report: PromptReport::default(),
            target: None,
            state: Vec::new(),
            is_cut: false,
            is_first_asked: true,
            begun: HashSet::new(),
            concerned: HashMap::new(),
            taken_up: known.clone(),
            shown: known,
            entities,
            window,
            heard: 0,
            searching: None,
            proposed: Vec::new(),
            which: None,
            picked: None,
            passed_by: None,
            is_answer: false,
            asks: Vec::new(),
            objections: Vec::new(),
            limit: RunBudget { seconds, ..limit },
            stop,
        };
        turn.restore_entities();
        Ok(turn)
    }

    /// How long storing the message took, where this process did that.
    pub(crate) fn set_ingest_time(&mut self, ingest: Duration) {
        self.timings.ingest = ingest;
    }

    /// Walks the stages until there is something to store.
    pub(crate) async fn run_stages(&mut self) -> Result<TurnOutcome> {
        self.timings.mark_prepared();
        if let Some(halt) = self.snapshot.halt.clone() {
            return Ok(TurnOutcome::Halted(halt));
        }
        if self.snapshot.exchanges.is_empty() {
            if let Some(end) = self.accept_login_code().await? {
                return Ok(end);
            }
            if let Some(end) = self.consent().await? {
                return Ok(end);
            }
            if let Some(end) = self.begin_without_model() {
                return Ok(end);
            }
        }
        loop {
            if let Some(halt) = self.check_limits() {
                return Ok(TurnOutcome::Halted(halt));
            }
            match self.act().await? {
                ActStageOutcome::On if self.has_only_expired() => return Ok(TurnOutcome::Replied),
                ActStageOutcome::On if self.is_detached() => {
                    self.say_working();
                    return Ok(TurnOutcome::Replied);
                }
                ActStageOutcome::On => {}
                ActStageOutcome::Asked => return Ok(TurnOutcome::Replied),
                ActStageOutcome::Waiting(pause) => return Ok(TurnOutcome::Waiting(pause)),
                ActStageOutcome::Handed => return Ok(TurnOutcome::Handed),
                ActStageOutcome::Halted(halt) => return Ok(TurnOutcome::Halted(halt)),
            }
            if let Some(halt) = self.check_limits() {
                return Ok(TurnOutcome::Halted(halt));
            }
            if self.snapshot.is_read && self.engine.local_model().is_none() {
                self.say_done();
                return Ok(TurnOutcome::Replied);
            }
            match self.think().await? {
                ThinkStageOutcome::Said => return Ok(TurnOutcome::Replied),
                ThinkStageOutcome::Halted(halt) => return Ok(TurnOutcome::Halted(halt)),
                ThinkStageOutcome::Wants(message) => {
                    if let Some(halt) = self.queue_tool_calls(message) {
                        return Ok(TurnOutcome::Halted(halt));
                    }
                }
            }
        }
    }

    /// What needs no model to be understood: a pick among choices, or what a pack reads by itself.
    fn begin_without_model(&mut self) -> Option<TurnOutcome> {
        let is_fresh = |turn: &Self| turn.snapshot.exchanges.is_empty() && turn.snapshot.model_calls == 0;
        if !is_fresh(self) {
            return None;
        }
        let end = self.handle_pick();
        if end.is_none() && is_fresh(self) { self.try_pack_readers() } else { end }
    }

    /// Every transition asks: is it still wanted, and is there anything left to go on with?
    fn check_limits(&mut self) -> Option<HaltReason> {
        if self.stop.is_cancelled() {
            return Some(HaltReason::Cancelled);
        }
        let money = self.purse.used();
        let used = self.snapshot.used.with_iteration();
        self.snapshot.used =
            munshi_safety::budget::RunUse { tokens: money.tokens, money: money.money, ..used }
                .with_elapsed(self.timings.work_time());
        let used = sum(self.snapshot.used, self.snapshot.before);
        self.limit.check(&used).err().map(|spent| HaltReason::RunSpent(spent.to_string()))
    }

    /// How long the turn may still take.
    fn time_left(&self) -> Duration {
        Duration::from_secs(self.limit.seconds).saturating_sub(self.timings.work_time())
    }

    /// A pack may know what the message is without any model.
    fn try_pack_readers(&mut self) -> Option<TurnOutcome> {
        let scene = self.prepared.scene.clone();
        let reading = self.engine.house.readers.iter().find_map(|reader| reader.read(&scene))?;
        self.snapshot.is_read = true;
        match reading {
            PackReading::Say { phrase, slots } => {
                let words = self.phrase(&phrase, &slots);
                self.reply.say(&words);
                Some(TurnOutcome::Replied)
            }
            PackReading::Call { tool, arguments } => {
                self.snapshot.taint.sources.insert(TaintSource::Document);
                self.snapshot.taint.own_words.clear();
                self.route = Arc::new(think::restrict_to_local(&self.route, self.engine.local_model()));
                self.queue_tool_calls(consent::build_call_message(&tool, arguments)).map(TurnOutcome::Halted)
            }
        }
    }

    /// What a pack had done, where no model of this machine can tell of it.
    fn say_done(&mut self) {
        let is_ok =
            |called: &ExchangeCall| matches!(called.outcome, ExchangeCallOutcome::Ended { ok: true, .. });
        if self.snapshot.iter_calls().all(is_ok) {
            let words = self.phrase("done", &[]);
            return self.reply.say(&words);
        }
        self.excuse(&HaltReason::Broken(String::new()));
    }

    /// A new state, and how long the last one took.
    fn enter(&mut self, state: RunState) {
        if self.entered.0 == state {
            return;
        }
        let (before, since) = std::mem::replace(&mut self.entered, (state, Instant::now()));
        self.step(before, Value::Null, since.elapsed());
        let what = state.as_str().to_owned();
        self.reply.emit_transient(RunEvent::Thinking { what });
    }

    fn step(&mut self, state: RunState, body: Value, took: Duration) {
        let micros = i64::try_from(took.as_micros()).unwrap_or(i64::MAX);
        self.steps.push(NewRunStep { state, body, micros, at: self.engine.clock.now() });
    }

    /// What the tokens of models elsewhere stand for; it is kept wherever an answer of theirs is.
    fn encode_pseudonyms(&self) -> Option<Value> {
        let session = self.veil.session();
        (!session.is_empty()).then(|| serde_json::to_value(&session).ok()).flatten()
    }

    /// Brings the snapshot up to what was said and spent.
    fn sync(&mut self) {
        self.snapshot.said = self.reply.raw().to_owned();
        self.snapshot.marks = self.reply.marks().to_vec();
        self.snapshot.drawn = self.purse.drawn();
        (self.snapshot.output, self.snapshot.is_unpriced) = (self.purse.output(), !self.purse.is_priced());
        self.snapshot.generation = self.reply.generation();
        self.snapshot.masked = self.encode_pseudonyms();
        let used = self.purse.used();
        (self.snapshot.used.tokens, self.snapshot.used.money) = (used.tokens, used.money);
    }
}
