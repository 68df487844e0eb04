//! One run of the background, from where it is to its next pause or its end.

mod packs;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use munshi_conversations::background::record::WorkStep;
use munshi_conversations::background::store::{self, EndedChild, RunPause, RunResult, enqueue_run};
use munshi_conversations::runs::{Run, RunCause, RunLane, RunLease, ServicePrincipal};
use munshi_conversations::sealing::seal_by_owner;
use munshi_conversations::snapshot::{
    CallIndex, EpochStamp, ExchangeCall, ExchangeCallOutcome, ToolExchange, build_call_message, merge_taint,
    sum,
};
use munshi_conversations::steps::{self, NewRunStep};
use munshi_conversations::{BegunRun, Error, HaltReason, Result, RunSnapshot, RunState};
use munshi_identity::{Principal, keys, persons};
use munshi_llm::gateway::CallSpend;
use munshi_pack::operation::PackServices;
use munshi_pack::{ChildRun, NextStep, RunAccount, RunDelegator, RunHistory, RunKind, RunMeter, StepOutcome};
use munshi_safety::budget::{RunBudget, RunExhaustion, RunUse};
use munshi_safety::pipeline::{ActCaller, CallerAudience, ProposalMode, Taint, TaintSource};
use munshi_store::{PlatformTx, Tx};
use munshi_tools::{ToolAnswer, ToolCallRequest};
use munshi_types::{ActId, Conduct, Effect, TenantPacks, ToolName};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::act_takeover::TakeoverPace;
use crate::background::begin::{NewBackgroundRun, RunOrigin, find_limit};
use crate::background::billing::RunBill;
use crate::background::ending::RunEnding;
use crate::engine::TurnEngineInner;
use crate::expired_approvals::notify_asked;
use crate::turn::{CallJournal, journal_body};

/// So many steps a run takes at most: more is a kind that never comes to its end.
const MOST_STEPS: usize = 500;
/// So many runs one step begins at most.
const MOST_CHILDREN: usize = 200;
/// So long a kind may take to say what comes next.
const STEP_TIMEOUT: Duration = Duration::from_secs(60);
/// How often one asks for an act that somebody else is doing, and for how long.
const PAUSE: Duration = Duration::from_millis(250);
const ACT_TIMEOUT: Duration = Duration::from_secs(900);

pub(super) struct BackgroundWalk {
    engine: Arc<TurnEngineInner>,
    lease: RunLease,
    run: Run,
    principal: ServicePrincipal,
    snapshot: RunSnapshot,
    /// What was not written down yet.
    steps: Vec<NewRunStep>,
    /// Acts that may stand in the books: those of an earlier process, and those begun here.
    begun: BTreeSet<ActId>,
    stop: CancellationToken,
    /// What its kind may ask while it says what comes next.
    services: PackServices,
    /// The packs the tenant has, as they were before the step.
    packs: TenantPacks,
}

/// What a kind says comes next.
enum AskedStep {
    Step(NextStep),
    /// It was stopped, or the step was left out.
    None,
    /// It wanted more than it may use.
    Halt(HaltReason),
}

/// What came of the calls that were open.
enum CallProgress {
    On,
    Waiting,
    /// Whoever it acts for is no longer known.
    PersonGone,
}

impl BackgroundWalk {
    pub(super) fn new(
        engine: Arc<TurnEngineInner>,
        (run, called): (Run, CallSpend),
        lease: RunLease,
        stop: CancellationToken,
        services: PackServices,
    ) -> Result<Self> {
        let principal = run.principal.clone();
        let principal = principal.ok_or_else(|| Error::Unfit(format!("run {} acts as nobody", run.id)))?;
        let begun = run.snapshot.iter_calls().map(|called| called.act).collect();
        let snapshot = RunSnapshot { used: run.snapshot.use_with_calls(called), ..run.snapshot.clone() };
        Ok(Self {
            engine,
            lease,
            run,
            principal,
            snapshot,
            steps: Vec::new(),
            begun,
            stop,
            services,
            packs: TenantPacks::all(),
        })
    }

    pub(super) async fn walk(mut self) -> Result<()> {
        let Some(kind) = self.engine.packs.find_run_kind(&self.run.kind).cloned() else {
            let what = format!("no pack has a run kind `{}`", self.run.kind);
            return self.halt(HaltReason::Broken(what)).await;
        };
        self.settle_wait().await?;
        loop {
            if self.stop.is_cancelled() {
                return self.halt(HaltReason::Cancelled).await;
            }
            if let Some(missing) = self.load_packs(kind.pack).await? {
                return self.halt(missing).await;
            }
            match self.make_calls().await? {
                CallProgress::On => {}
                CallProgress::Waiting => {
                    return self
                        .pause(RunPause { state: RunState::WaitingApproval, due_at: None }, &[])
                        .await;
                }
                CallProgress::PersonGone => return self.halt(HaltReason::PersonGone).await,
            }
            if self.stop.is_cancelled() {
                return self.halt(HaltReason::Cancelled).await;
            }
            let step = match self.ask_kind(kind.what.as_ref()).await? {
                AskedStep::None => continue,
                AskedStep::Halt(halt) => return self.halt(halt).await,
                AskedStep::Step(step) => step,
            };
            match step {
                // What was optional is a plain step by now.
                NextStep::Optional { .. } => {}
                NextStep::Call { tool, arguments } => self.queue_call(tool, arguments)?,
                NextStep::WaitUntil(until) => {
                    self.note(&WorkStep::WaitsUntil(until))?;
                    self.work_mut().until = Some(until);
                    let waits = RunPause { state: RunState::WaitingTimer, due_at: Some(until) };
                    return self.pause(waits, &[]).await;
                }
                NextStep::Begin(children) if children.len() > MOST_CHILDREN => {
                    let what = format!("a step begins more than {MOST_CHILDREN} runs");
                    return self.halt(HaltReason::RunSpent(what)).await;
                }
                NextStep::Begin(children) => {
                    if let Some(unknown) = children.iter().find(|child| !self.has_kind(child)) {
                        let what = format!("no pack has a run kind `{}`", unknown.kind);
                        return self.halt(HaltReason::Broken(what)).await;
                    }
                    let waits = RunPause { state: RunState::WaitingChild, due_at: None };
                    return self.pause(waits, &children).await;
                }
                NextStep::End(result) => return self.end(None, true, result).await,
                NextStep::Fail(why) => {
                    let result = json!({ "code": "failed", "reason": why });
                    return self.end(Some(HaltReason::Broken(why)), false, result).await;
                }
            }
        }
    }

    /// Asks the kind what comes next, and notes what that cost.
    async fn ask_kind(&mut self, kind: &dyn RunKind) -> Result<AskedStep> {
        let history = self.build_history();
        if history.outcomes.len() >= MOST_STEPS {
            let what = format!("more than {MOST_STEPS} steps");
            return Ok(AskedStep::Halt(HaltReason::RunSpent(what)));
        }
        let meter = Arc::new(RunMeter::new(self.limit(), sum_use(&self.snapshot)));
        let services = self.services.clone().for_run(self.build_account(&meter));
        let asked = tokio::select! {
            () = self.stop.cancelled() => None,
            step = tokio::time::timeout(STEP_TIMEOUT, kind.next_step_with(&history, &services)) => Some(step),
        };
        if let Some(spent) = self.settle_use(&meter) {
            return Ok(AskedStep::Halt(HaltReason::RunSpent(spent.to_string())));
        }
        if services.has_read_foreign() {
            self.snapshot.taint.sources.insert(TaintSource::Connector);
        }
        let step = match asked {
            None => None,
            Some(Ok(Ok(step))) => self.skip_optional(step)?,
            Some(Ok(Err(why))) => Some(NextStep::Fail(why)),
            Some(Err(_)) => Some(NextStep::Fail("no next step came in time".to_owned())),
        };
        Ok(step.map_or(AskedStep::None, AskedStep::Step))
    }

    fn limit(&self) -> RunBudget {
        find_limit(&self.snapshot, &self.engine.act_services.governor)
    }

    fn build_account(&self, meter: &Arc<RunMeter>) -> RunAccount {
        RunAccount {
            run: self.lease.run,
            person: self.run.person(),
            binding: self.run.binding(),
            meter: meter.clone(),
        }
    }

    /// Notes what the last step used. Some where it wanted more than the run may use.
    fn settle_use(&mut self, meter: &RunMeter) -> Option<RunExhaustion> {
        let children = self.work_mut().used_by_children;
        let used = meter.used();
        self.snapshot.used.tokens = used.tokens.saturating_sub(children.tokens);
        self.snapshot.used.money = used.money.minus(children.money);
        meter.exhaustion()
    }

    /// The step, or none where it can be done without and too many others wait.
    fn skip_optional(&mut self, step: NextStep) -> Result<Option<NextStep>> {
        let NextStep::Optional { what, step } = step else { return Ok(Some(step)) };
        if !self.engine.waiting.is_busy(RunLane::Background) {
            return self.skip_optional(*step);
        }
        let calls = self.snapshot.exchanges.len();
        self.note(&WorkStep::Skipped(what.clone()))?;
        self.work_mut().outcomes.push((calls, StepOutcome::Skipped { what }));
        Ok(None)
    }

    /// Writes it into the record with what is stored next.
    fn note(&mut self, step: &WorkStep) -> Result<()> {
        self.steps.push(step.build(self.engine.clock.now())?);
        Ok(())
    }

    fn work_mut(&mut self) -> &mut munshi_conversations::snapshot::WorkProgress {
        self.snapshot.work.get_or_insert_default()
    }

    /// What was waited for is there: it becomes the outcome of its step.
    async fn settle_wait(&mut self) -> Result<()> {
        let calls = self.snapshot.exchanges.len();
        let work = self.work_mut();
        if work.until.take().is_some() {
            work.outcomes.push((calls, StepOutcome::Waited));
        }
        let children = std::mem::take(&mut work.children);
        self.sum_children().await?;
        if children.is_empty() || self.stop.is_cancelled() {
            return Ok(());
        }
        let read = move |tx: &mut Tx<'_>| store::collect_children(tx, &children);
        let ended = self.engine.db.read(self.lease.tenant, read).await?;
        let open = || munshi_store::Error::Busy("a run that is waited for has not ended".to_owned());
        let mut outcomes = Vec::new();
        for EndedChild { outcome, taint } in ended.ok_or_else(open)? {
            let own = std::mem::take(&mut self.snapshot.taint);
            self.snapshot.taint = merge_taint(own, taint);
            outcomes.push(outcome);
        }
        self.work_mut().outcomes.push((calls, StepOutcome::Ended(outcomes)));
        Ok(())
    }

    /// Notes what those have used that it began: it waited for some, and its tools began others.
    async fn sum_children(&mut self) -> Result<()> {
        let run = self.lease.run;
        let read = move |tx: &mut Tx<'_>| store::sum_use_of_children(tx, run);
        self.work_mut().used_by_children = self.engine.db.read(self.lease.tenant, read).await?;
        Ok(())
    }

    /// The outcomes of all steps in their order.
    fn build_history(&self) -> RunHistory {
        let work = self.snapshot.work.clone().unwrap_or_default();
        let mut others = work.outcomes.into_iter().peekable();
        let mut outcomes = Vec::new();
        for (at, exchange) in self.snapshot.exchanges.iter().enumerate() {
            outcomes
                .extend(std::iter::from_fn(|| others.next_if(|(calls, _)| *calls <= at)).map(|(_, of)| of));
            let ended = exchange.calls.iter().filter_map(|called| match &called.outcome {
                ExchangeCallOutcome::Ended { ok, result } => {
                    Some(StepOutcome::Called { ok: *ok, result: result.clone() })
                }
                _ => None,
            });
            outcomes.extend(ended);
        }
        outcomes.extend(others.map(|(_, outcome)| outcome));
        let (tenant, run, now) = (self.lease.tenant, self.lease.run, self.engine.clock.now());
        RunHistory { tenant, run, input: work.input, outcomes, now }
    }

    fn queue_call(&mut self, tool: String, arguments: Value) -> Result<()> {
        self.snapshot.calls += 1;
        let act = self.engine.ids.next();
        self.note(&WorkStep::Call { act, tool: tool.clone(), arguments: arguments.clone() })?;
        let asked = build_call_message(&tool, arguments.clone());
        let called = ExchangeCall {
            call_id: format!("step-{}", self.snapshot.calls),
            tool,
            arguments,
            act,
            outcome: ExchangeCallOutcome::Open,
        };
        self.snapshot.exchanges.push(ToolExchange { asked, calls: vec![called] });
        Ok(())
    }

    /// Makes every call that has not ended.
    async fn make_calls(&mut self) -> Result<CallProgress> {
        for index in self.snapshot.call_indexes() {
            let Some(called) = self.snapshot.find_call(index).cloned() else { continue };
            if matches!(called.outcome, ExchangeCallOutcome::Ended { .. }) {
                continue;
            }
            let Some(caller) = self.load_caller().await? else { return Ok(CallProgress::PersonGone) };
            let since = Instant::now();
            let (answer, is_stored) = self.call(index, &called, &caller).await?;
            let stamp = EpochStamp { epoch: self.lease.epoch, now: self.engine.clock.now() };
            self.snapshot.record_answer(index, &answer, stamp);
            self.snapshot.marks.clear();
            let Some(called) = self.snapshot.find_call(index) else { continue };
            if !is_stored {
                let micros = i64::try_from(since.elapsed().as_micros()).unwrap_or(i64::MAX);
                let body = journal_body(called);
                self.steps.push(NewRunStep { state: RunState::Observing, body, micros, at: stamp.now });
            }
            if !matches!(called.outcome, ExchangeCallOutcome::Ended { .. }) {
                return Ok(CallProgress::Waiting);
            }
            self.sum_children().await?;
        }
        Ok(CallProgress::On)
    }

    /// Asks until it is no longer being done. Says too whether the answer is stored with its step.
    async fn call(
        &mut self,
        index: CallIndex,
        called: &ExchangeCall,
        caller: &ActCaller,
    ) -> Result<(ToolAnswer, bool)> {
        let (began, mut takeover) = (Instant::now(), TakeoverPace::default());
        loop {
            let (answer, is_stored) = self.dispatch(index, called, caller).await?;
            if !matches!(answer, ToolAnswer::Running { .. }) {
                return Ok((answer, is_stored));
            }
            if takeover.is_due() && self.engine.take_over_left(self.lease.tenant, called.act).await {
                continue;
            }
            if began.elapsed() > ACT_TIMEOUT {
                let what = format!("act {} is still running", called.act);
                return Err(munshi_store::Error::Busy(what).into());
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn dispatch(
        &mut self,
        index: CallIndex,
        called: &ExchangeCall,
        caller: &ActCaller,
    ) -> Result<(ToolAnswer, bool)> {
        let (tenant, dispatcher) = (self.lease.tenant, self.engine.dispatcher.clone());
        let journal = self.build_journal(index, called);
        let agent = Arc::new(self.build_conduct());
        let tools: Vec<ToolName> = called.tool.parse().into_iter().collect();
        let mut answer = None;
        // Its connector may be about to start.
        if self.find_tool(&called.tool).is_none() {
            tokio::select! {
                () = self.stop.cancelled() => {}
                () = dispatcher.wait_for_connectors(tenant) => {}
            }
        }
        if self.begun.contains(&called.act) {
            dispatcher.wait_for_tool(tenant, called.act).await?;
            answer = dispatcher.resume(tenant, called.act, agent.clone(), &tools, journal.clone()).await?;
        }
        let answered = match answer {
            Some(answer) => Ok(answer),
            None => {
                let want = self.build_request(called, caller.clone(), agent);
                dispatcher.call(want, journal.clone()).await
            }
        };
        if journal.lost.load(Ordering::SeqCst) {
            return Err(Error::LostRun(self.lease.run));
        }
        if !journal.written.load(Ordering::SeqCst) {
            self.steps.splice(0..0, journal.steps.iter().cloned());
        }
        self.begun.insert(called.act);
        Ok((answered?, journal.observed.load(Ordering::SeqCst)))
    }

    fn build_request(
        &self,
        called: &ExchangeCall,
        caller: ActCaller,
        agent: Arc<Conduct>,
    ) -> ToolCallRequest {
        ToolCallRequest {
            act: called.act,
            name: self.identify_tool(&called.tool),
            arguments: called.arguments.clone(),
            offered: true,
            wanted: ProposalMode::Act,
            caller,
            agent,
            taint: self.build_taint(called),
            concerns: Vec::new(),
        }
    }

    /// For whom an act is done: the work itself, or the person on whose behalf it goes on, as they are now. None where nobody knows them
    /// any more.
    async fn load_caller(&self) -> Result<Option<ActCaller>> {
        let (run, scopes) = (self.lease.run, self.principal.scopes.clone());
        let delegator = self.principal.delegator.clone();
        let is_key_revoked = self.is_key_revoked().await?;
        let read = move |tx: &mut Tx<'_>| -> Result<Option<ActCaller>> {
            let zone = munshi_store::tenants::find_zone(tx)?;
            let own = ActCaller {
                principal: Principal::service(tx.tenant(), scopes),
                door: CallerAudience::Work,
                binding: None,
                run: Some(run),
                session: None,
                zone,
                language: None,
                background: true,
                key: None,
                ceiling: None,
            };
            let Some(by) = delegator else { return Ok(Some(own)) };
            let Some(person) = persons::find_living(tx, by.person)? else { return Ok(None) };
            let rights =
                if is_key_revoked { Principal::anonymous(tx.tenant()) } else { person.principal(tx) };
            // Who has left is nobody: the act is theirs still, and is refused where it is not open to anybody.
            let principal = Principal { person: Some(person.id), ..rights };
            let principal = match &by.ceiling {
                Some(ceiling) => ceiling.cap(principal),
                None => principal,
            };
            let language = person.language.and_then(|language| language.code().parse().ok());
            let RunDelegator { door, binding, key, ceiling, .. } = by;
            Ok(Some(ActCaller { principal, door, binding, key, ceiling, language, ..own }))
        };
        self.engine.db.read(self.lease.tenant, read).await
    }

    /// Whether the key was taken back that the person came through: nobody acts through it any more. One that was made for a single use
    /// and removed after it was not taken back.
    async fn is_key_revoked(&self) -> Result<bool> {
        let key = self.principal.delegator.as_ref().and_then(|by| by.key);
        let Some(key) = key else { return Ok(false) };
        let found = self.engine.db.read(self.lease.tenant, move |tx| keys::find(tx, key)).await?;
        if let Some(found) = found {
            return Ok(found.revoked_at.is_some());
        }
        let find = move |tx: &mut PlatformTx<'_>| keys::find_keeper_key(tx, &key.to_string());
        let found = self.engine.db.platform(keys::KEYS).read(find).await?;
        Ok(found.is_some_and(|found| found.revoked_at.is_some()))
    }

    /// What the pack declares for its work, and nothing beside it.
    fn build_conduct(&self) -> Conduct {
        let scopes = self.principal.scopes.clone();
        Conduct {
            autonomy: self.principal.autonomy,
            read: scopes.clone(),
            write: scopes,
            ..Conduct::default()
        }
    }

    fn build_taint(&self, called: &ExchangeCall) -> Taint {
        let mut taint = self.snapshot.whole_taint();
        let before = self.snapshot.iter_calls().take_while(|before| before.act != called.act);
        for before in before {
            match self.find_tool(&before.tool) {
                Some(tool) => taint.record_choices(&before.arguments, &tool.known),
                None => taint.record_unknown_call(),
            }
        }
        taint
    }

    fn build_journal(&mut self, index: CallIndex, called: &ExchangeCall) -> Arc<CallJournal> {
        let tool = self.find_tool(&called.tool);
        let is_inside = tool.is_some_and(|tool| tool.known.spec.effect == Effect::Inside);
        Arc::new(CallJournal {
            lease: self.lease,
            person: self.run.person(),
            snapshot: self.snapshot.clone(),
            call_index: index,
            steps: std::mem::take(&mut self.steps),
            calls: Vec::new(),
            is_inside,
            lost: AtomicBool::new(false),
            written: Arc::default(),
            observed: Arc::default(),
            clock: self.engine.clock.clone(),
            since: Instant::now(),
        })
    }

    /// Stores what it waits for, and begins what is waited for. The run is nobody's after that.
    async fn pause(mut self, waits: RunPause, children: &[ChildRun]) -> Result<()> {
        let (engine, lease, mut steps) = (self.engine.clone(), self.lease, std::mem::take(&mut self.steps));
        let (mut snapshot, children) = (self.snapshot.for_pause(lease.epoch), children.to_vec());
        let run = self.run.clone();
        let share = self.limit().share(&sum_use(&self.snapshot), children.len());
        let unit = move |tx: &mut Tx<'_>| -> Result<()> {
            let (mut begun, run_queue) = (Vec::new(), engine.run_starter());
            for child in &children {
                let new = NewBackgroundRun {
                    kind: child.kind.clone(),
                    cause: RunCause::Run,
                    cause_key: None,
                    input: child.input.clone(),
                };
                let origin = RunOrigin {
                    parent: Some(lease.run),
                    taint: Taint { own_words: Vec::new(), ..snapshot.whole_taint() },
                    delegator: run.delegator().cloned(),
                    is_part: true,
                    share: Some(share),
                };
                let run = run_queue.begin_for(tx, &new, origin)?.run;
                begun.push(BegunRun { run, kind: child.kind.clone() });
            }
            let children: Vec<_> = begun.iter().map(|child| child.run).collect();
            if waits.state == RunState::WaitingChild {
                steps.push(WorkStep::Begun(begun).build(engine.clock.now())?);
            }
            let has_children = !children.is_empty();
            let mut untold = snapshot.pending_approvals();
            if let Some(work) = &mut snapshot.work {
                work.children = children;
                untold.retain(|id| !work.told.contains(id));
                work.told.extend(&untold);
            }
            // Sessions are held before the run, as everywhere.
            notify_asked(tx, &engine, &run, &untold)?;
            let held = (lease, seal_by_owner(tx, run.person())?);
            let is_stopped = store::pause(tx, held, &snapshot, &waits)?;
            steps::add_shared(tx, held, &steps)?;
            let queue = &engine.ingest_services.queue;
            if is_stopped {
                enqueue_run(tx, queue, lease.run, "cancel", None)?;
            }
            match waits.due_at {
                Some(due) => enqueue_run(tx, queue, lease.run, &format!("due/{}", lease.epoch), Some(due)),
                // Of none it is done with at once.
                None if waits.state == RunState::WaitingChild && !has_children => {
                    enqueue_run(tx, queue, lease.run, &format!("none/{}", lease.epoch), None)
                }
                None => Ok(()),
            }
        };
        self.engine.db.write(lease.tenant, unit).await
    }

    async fn halt(self, halt: HaltReason) -> Result<()> {
        let result = json!({ "code": halt.code() });
        self.end(Some(halt), false, result).await
    }

    async fn end(mut self, halt: Option<HaltReason>, ok: bool, result: Value) -> Result<()> {
        let taint = Taint { own_words: Vec::new(), ..self.snapshot.whole_taint() };
        let ending = RunEnding {
            lease: self.lease,
            person: self.run.person(),
            parent: self.run.parent,
            bill: RunBill::find(&self.run),
            halt,
            result: RunResult { ok, result, taint, used: sum_use(&self.snapshot) },
            steps: std::mem::take(&mut self.steps),
            questions: self.snapshot.pending_approvals(),
        };
        self.engine.store_ending(ending).await
    }
}

/// What a run and those it began have used on models.
fn sum_use(snapshot: &RunSnapshot) -> RunUse {
    sum(snapshot.used, snapshot.work.as_ref().map(|work| work.used_by_children).unwrap_or_default())
}
