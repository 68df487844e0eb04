//! What is decided before the first stage: whose turn it is, who is hidden, what it may cost, what the rules know.

use std::sync::Arc;

use munshi_conversations::runs::{self, Run, RunConversation, RunLease};
use munshi_conversations::taint_bits::{self, WindowTaint};
use munshi_conversations::{Result, RunSnapshot};
use munshi_guardrails::GuardrailContext;
use munshi_llm::gateway::{InMemoryCallLog, ModelRoute};
use munshi_privacy::{PseudonymRedactor, PseudonymTable};
use munshi_safety::budget::{BudgetLane, RunBudget};
use munshi_safety::pipeline::{Taint, TaintSource};
use munshi_tiers::{ActivePlace, BindingResolution};
use munshi_types::TenantId;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::prepare::PreparedTurn;
use super::reply::ReplySettings;
use super::reply_scene::{self, ReplyScene};
use crate::engine::TurnEngineInner;
use crate::entities::{EntityWindow, SessionEntities};
use crate::model_routing::{self, CallPayer};
use crate::rules::BindingRules;
use crate::turn_budget::TurnBudget;

/// What is decided before the first stage. It is the same in every stage; what is shared with calls of models (budget,
/// call log, redactor) counts by itself.
pub(crate) struct TurnSetup {
    pub(crate) engine: Arc<TurnEngineInner>,
    pub(crate) lease: RunLease,
    /// As it was read, with the snapshot that the turn goes on from.
    pub(crate) run: Run,
    pub(crate) conversation: RunConversation,
    pub(crate) binding: Arc<BindingResolution>,
    pub(crate) rules: BindingRules,
    pub(crate) prepared: PreparedTurn,
    /// The models that may be asked, unless a pack read the message by itself.
    route: Arc<ModelRoute>,
    pub(crate) limit: RunBudget,
    /// Whose words stand in what the turn is told of the conversation.
    pub(crate) window: WindowTaint,
    pub(crate) budget: Arc<TurnBudget>,
    pub(crate) call_log: Arc<InMemoryCallLog>,
    pub(crate) redactor: PseudonymRedactor,
    /// Cancelled when the turn is no longer wanted.
    pub(crate) stop: CancellationToken,
}

/// What was read, and what the turn was handed.
pub(super) struct TurnInput {
    pub(super) lease: RunLease,
    pub(super) run: Run,
    pub(super) binding: Arc<BindingResolution>,
    pub(super) prepared: PreparedTurn,
    pub(super) stop: CancellationToken,
}

impl TurnSetup {
    /// With what the turn goes on from: the snapshot, and what the conversation has spoken of.
    pub(super) fn build(
        engine: Arc<TurnEngineInner>,
        input: TurnInput,
    ) -> Result<(Self, RunSnapshot, SessionEntities)> {
        let TurnInput { lease, run, binding, mut prepared, stop } = input;
        let rules = engine.rules.get_or_build(&binding)?;
        let mut snapshot = begin_snapshot(&engine, &run, &mut prepared);
        let front = ActivePlace { binding: run.conversation()?.binding, team: None };
        snapshot.place = Some(binding.place.clone().unwrap_or(front));
        let (entities, window) = load_entities(&prepared, &mut snapshot);
        let limit = engine.act_services.governor.settings().run;
        let seconds = limit.seconds.min(u64::from(binding.agent.body.limits.turn_seconds));
        let setup = Self {
            budget: Arc::new(build_budget(&engine, &run, &binding, &prepared, &snapshot)),
            route: Arc::new(engine.resolve_permitted_route(&binding, prepared.plan, &prepared.residency)),
            redactor: build_redactor(&engine, &prepared, &snapshot)?,
            limit: RunBudget { seconds, ..limit },
            call_log: Arc::default(),
            conversation: run.conversation()?.clone(),
            engine,
            lease,
            run,
            binding,
            rules,
            prepared,
            window,
            stop,
        };
        Ok((setup, snapshot, entities))
    }

    pub(crate) const fn tenant(&self) -> TenantId {
        self.lease.tenant
    }

    /// The models that may be asked now: where a pack read the message by itself, the model of this machine alone.
    pub(super) fn route_for(&self, snapshot: &RunSnapshot) -> Arc<ModelRoute> {
        match snapshot.is_read {
            true => Arc::new(model_routing::restrict_to_local(&self.route, self.engine.local_model())),
            false => self.route.clone(),
        }
    }

    pub(super) fn build_reply_settings(&self) -> ReplySettings {
        ReplySettings {
            phrasebook: self.engine.phrasebook.clone(),
            voice: self.prepared.reply_language.voice,
            rules: reply_scene::choose_rules(&self.rules.set, &self.prepared.whispers),
            context: self.build_guardrail_context(),
        }
    }

    fn build_guardrail_context(&self) -> GuardrailContext {
        let prepared = &self.prepared;
        let scene = ReplyScene {
            engine: &self.engine,
            binding: &self.binding,
            rules: &self.rules.set,
            history: &prepared.history,
            said: &prepared.message.text,
            person_name: prepared.person.as_ref().map(|person| person.name.as_str()),
            language: prepared.reply_language.voice.language,
            whispers: &prepared.whispers,
        };
        scene.build_guardrail_context()
    }
}

/// The run's own as it was stored, or what a program's answers go on from.
fn begin_snapshot(engine: &TurnEngineInner, run: &Run, prepared: &mut PreparedTurn) -> RunSnapshot {
    let mut snapshot = run.snapshot.clone();
    snapshot.started_at.get_or_insert(run.began_at);
    if snapshot.taint == Taint::default() {
        snapshot.taint = compute_initial_taint(prepared);
    } else if !snapshot.joined.is_empty() {
        // What is recalled for all of the words may be more than for the first.
        snapshot.taint.sources.extend(compute_initial_taint(prepared).sources);
    }
    if let (Some(resumed), Some(client_context), true) =
        (prepared.resumed.take(), &prepared.client_context, snapshot.exchanges.is_empty())
    {
        snapshot = resumed.into_snapshot(snapshot, client_context, &engine.ids);
    }
    snapshot.void_not_kept();
    snapshot.may_wait = run.kind == runs::MESSAGE && engine.dispatcher.supports_login_links();
    snapshot
}

/// A member's own message does not taint. A visitor's does, and so do recalled passages and what a client program sent. A
/// message that a program wrote is nobody's own words, whomever its key stands for. Context from packs and results of our
/// own tools don't taint.
pub(super) fn compute_initial_taint(prepared: &PreparedTurn) -> Taint {
    let mut taint = match prepared.is_program {
        false => Taint::from_own_words(prepared.message.text.as_str()),
        true => Taint { sources: [TaintSource::Connector].into(), ..Taint::default() },
    };
    if prepared.principal.role().is_none() {
        taint.sources.insert(TaintSource::Visitor);
    }
    if !prepared.contributions.recall.is_empty() {
        taint.sources.insert(TaintSource::Document);
    }
    taint.sources.extend(&prepared.client_taint);
    taint.holds_private = has_private_context(prepared);
    taint
}

/// The conversation's entities, and the taint of its messages in the prompt, including those that came while the run
/// waited.
fn load_entities(prepared: &PreparedTurn, snapshot: &mut RunSnapshot) -> (SessionEntities, WindowTaint) {
    let mut entities = SessionEntities::from_stored(&prepared.session.entities);
    let window = WindowTaint::from_history(&prepared.session, &prepared.history);
    let (session, number) = (&prepared.session, prepared.message.number);
    let (tainted, summarised) = (session.tainted, session.summarised);
    let named = entities.refresh_taint(&EntityWindow { tainted, summarised, number });
    if let Some(active) = &prepared.session.active {
        snapshot.inherited.extend(taint_bits::sources(active.tainted));
    }
    snapshot.inherited.extend(window.sources());
    snapshot.inherited.extend(taint_bits::sources(named));
    snapshot.taint.holds_private |= has_private_context(prepared);
    entities.resolve_and_learn(&prepared.message.text);
    (entities, window)
}

/// Whether the prompt holds what is not for everybody, before any tool was called: facts, or what was said before.
fn has_private_context(prepared: &PreparedTurn) -> bool {
    let contributions = &prepared.contributions;
    let told = !contributions.profile.is_empty()
        || !contributions.facts.is_empty()
        || !contributions.recall.is_empty();
    let said = !prepared.history.is_empty() || prepared.session.whole_summary().is_some();
    told || said || !prepared.client_taint.is_empty()
}

/// The conversation's own tokens, as far as they were stored. Those of the run stand in what it said before, so they
/// come first; what others had hidden meanwhile comes behind them and is not forgotten.
fn build_redactor(
    engine: &TurnEngineInner,
    prepared: &PreparedTurn,
    snapshot: &RunSnapshot,
) -> Result<PseudonymRedactor> {
    let (tenant, person) = (prepared.principal.tenant, prepared.session.person);
    let read = |stored: &Option<Value>| -> Option<PseudonymTable> {
        let session: PseudonymTable = serde_json::from_value(stored.clone()?).ok()?;
        (session.tenant() == tenant).then_some(session)
    };
    let session = match (read(&snapshot.masked), read(&prepared.session.masked)) {
        (Some(own), Some(all)) => own.merge(all),
        (own, all) => own.or(all).unwrap_or_else(|| PseudonymTable::new(tenant, person)),
    };
    let known = engine.people.get_or_build(tenant, &prepared.people);
    let script = prepared.reply_language.script();
    PseudonymRedactor::new(known, session, script)
        .map_err(|crossed| munshi_safety::Error::Invalid(crossed.to_string()).into())
}

/// What was set aside is read back and not reckoned anew: prices, models and the agent may be others by now.
fn build_budget(
    engine: &TurnEngineInner,
    run: &Run,
    binding: &BindingResolution,
    prepared: &PreparedTurn,
    snapshot: &RunSnapshot,
) -> TurnBudget {
    let payer = CallPayer { person: run.person(), lane: BudgetLane::People, run: Some(run.id) };
    let more = engine.build_durable_budget(binding, payer);
    TurnBudget::new(more, engine.act_services.governor.settings().run, prepared.reservation, snapshot)
}
