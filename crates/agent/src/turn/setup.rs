//! What a turn stands on: whose words it has read, who is hidden, what it may cost, what the rules know.

use std::sync::Arc;

use munshi_guardrails::{AllowedLanguage as Allowed, GuardrailContext, GuardrailRuleSet, MessageSignals};
use munshi_llm::gateway::ModelRoute;
use munshi_privacy::{PseudonymRedactor, PseudonymTable};
use munshi_safety::budget::{BudgetAccount, BudgetLane, DurableBudget, OpenReservation};
use munshi_safety::pipeline::{Taint, TaintSource};
use munshi_tiers::BindingResolution;
use munshi_types::tier::LanguageLock;
use serde_json::Value;

use super::prepare::PreparedTurn;
use super::think;
use crate::engine::TurnEngineInner;
use crate::entities::SessionEntities;
use crate::error::Result;
use crate::messages::{Message, MessageSpeaker};
use crate::model_routing;
use crate::runs::Run;
use crate::snapshot::RunSnapshot;
use crate::taint_bits::{self, WindowTaint};
use crate::turn_budget::TurnBudget;

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
    if !prepared.gathered.recall.is_empty() {
        taint.sources.insert(TaintSource::Document);
    }
    taint.sources.extend(&prepared.strange);
    taint.holds_private = has_private_context(prepared);
    taint
}

/// The conversation's entities, and the taint of its messages in the prompt, including those that came while the run
/// waited.
pub(super) fn load_entities(
    prepared: &PreparedTurn,
    snapshot: &mut RunSnapshot,
) -> (SessionEntities, WindowTaint) {
    let mut entities = SessionEntities::from_stored(&prepared.session.entities);
    let window = WindowTaint::from_history(&prepared.session, &prepared.history);
    let named = entities.refresh_taint(&prepared.session, prepared.message.number);
    snapshot.inherited.extend(window.sources());
    snapshot.inherited.extend(taint_bits::sources(named));
    snapshot.taint.holds_private |= has_private_context(prepared);
    entities.resolve_and_learn(&prepared.message.text);
    (entities, window)
}

/// Whether the prompt holds what is not for everybody, before any tool was called: facts, or what was said before.
fn has_private_context(prepared: &PreparedTurn) -> bool {
    let gathered = &prepared.gathered;
    let told = !gathered.profile.is_empty() || !gathered.facts.is_empty() || !gathered.recall.is_empty();
    let said = !prepared.history.is_empty() || prepared.session.whole_summary().is_some();
    told || said || !prepared.strange.is_empty()
}

/// The models this turn may ask: those of the agent's route that the plan and the tenant's residency permit. Where a
/// pack read the message by itself, the model of this machine alone.
pub(super) fn build_route(
    engine: &TurnEngineInner,
    prepared: &PreparedTurn,
    binding: &BindingResolution,
    snapshot: &RunSnapshot,
) -> ModelRoute {
    let route = model_routing::resolve_route(&binding.agent.body, &engine.route, engine.gateway.targets());
    let permitted = engine.settings.classes.permitted(prepared.plan);
    let route = ModelRoute { permitted, ..prepared.residency.restrict(route) };
    if snapshot.is_read { think::restrict_to_local(&route, engine.local_model()) } else { route }
}

/// The conversation's own tokens, as far as they were stored. Those of the run stand in what it said before, so they
/// come first; what others had hidden meanwhile comes behind them and is not forgotten.
pub(super) fn build_redactor(
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
    let script = prepared.tongue.script();
    PseudonymRedactor::new(known, session, script)
        .map_err(|crossed| munshi_safety::Error::Invalid(crossed.to_string()).into())
}

/// What was set aside is read back and not reckoned anew: prices, models and the agent may be others by now.
pub(super) fn build_budget(
    engine: &TurnEngineInner,
    run: &Run,
    place: &BindingResolution,
    (aside, snapshot): (Option<OpenReservation>, &RunSnapshot),
) -> TurnBudget {
    let account = BudgetAccount {
        binding: Some(run.binding),
        person: Some(run.person),
        lane: BudgetLane::People,
        zone: place.zone.clone(),
    };
    let governor = Arc::new(engine.office.governor.clone());
    let (db, clock) = (engine.db.clone(), engine.clock.clone());
    let more = DurableBudget { db, governor, tenant: place.tenant, account, run: Some(run.id), clock };
    let limit = engine.office.governor.settings().run;
    TurnBudget::new(more, limit, aside, snapshot)
}

/// So many replies back a price still counts, and so many messages back a danger that nobody was sent to help for.
const PRICES: usize = 24;
const DANGERS: usize = 6;

pub(super) fn context(
    engine: &TurnEngineInner,
    prepared: &PreparedTurn,
    place: &BindingResolution,
    rules: &GuardrailRuleSet,
) -> GuardrailContext {
    let speech = &place.human.body.speech;
    let listed = match speech.lock {
        LanguageLock::Open => &[],
        LanguageLock::Listed => speech.languages.as_slice(),
        LanguageLock::First => speech.languages.get(..1).unwrap_or_default(),
    };
    let allowed = listed.iter().filter_map(|code| {
        let form = code.is_latin().then_some(munshi_lang::ScriptForm::Latin);
        Some(Allowed { language: code.language()?, form })
    });
    let name = prepared.person.as_ref().map(|person| person.name.clone()).filter(|name| !name.is_empty());
    let has = |id: &str| rules.rules().iter().any(|rule| rule.id == id);
    let said = MessageSignals::new(&prepared.message.text);
    GuardrailContext {
        asked_if_ai: has("admits-ai") && said.asks_if_ai(),
        turns_since_price: has("price-cooldown")
            .then(|| count_turns_since_price(&prepared.history))
            .flatten(),
        asked_price: has("price-cooldown") && said.asks_price(),
        red_flag: has("red-flag") && has_unresolved_danger(&prepared.history),
        persona: Some(place.human.body.name.clone()),
        model_names: engine.remote_model_names(),
        lock: allowed.collect(),
        person_language: Some(prepared.tongue.voice.language),
        person_said: prepared.message.text.clone(),
        person_name: name,
        ..GuardrailContext::default()
    }
}

/// How many replies ago a price was named.
fn count_turns_since_price(history: &[Message]) -> Option<u32> {
    let replies = history.iter().rev().filter(|said| said.speaker == MessageSpeaker::Persona).take(PRICES);
    replies.zip(0..).find(|(said, _)| MessageSignals::new(&said.text).names_price()).map(|(_, turns)| turns)
}

/// Whether somebody told of danger and nothing that was said since has sent them to help: an excuse did not.
fn has_unresolved_danger(history: &[Message]) -> bool {
    for said in history.iter().rev().take(DANGERS) {
        let heard = MessageSignals::new(&said.text);
        match said.speaker {
            MessageSpeaker::Persona if heard.sends_to_help() => return false,
            MessageSpeaker::Person if heard.tells_of_danger() => return true,
            MessageSpeaker::Person | MessageSpeaker::Persona => {}
        }
    }
    false
}
