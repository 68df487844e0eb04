//! What is stored of a turn: its snapshot with every act, its steps with the run, what it spoke of with the session.

use std::time::Duration;

use munshi_conversations::snapshot::{ExchangeCall, ExchangeCallOutcome};
use munshi_conversations::steps::NewRunStep;
use munshi_conversations::{HaltReason, RunSnapshot, RunState, taint_bits};
use munshi_llm::ModelMessagePart;
use munshi_safety::pipeline::{ConnectorOrigin, TaintSource};
use munshi_tools::ToolAnswer;
use munshi_types::{ActId, Timestamp};
use serde_json::Value;

use super::setup::TurnSetup;
use super::transient::TransientResults;
use crate::entities::SessionEntities;
use crate::mask_people;

/// The same call is not tried a third time.
pub(super) const SAME: u32 = 2;
/// A denied wish is replanned once.
const DENIALS: u32 = 2;

/// What a turn has come to, on its way and at its end.
#[derive(Debug)]
pub(crate) struct TurnState {
    pub(crate) snapshot: RunSnapshot,
    /// What the conversation has spoken of.
    pub(crate) entities: SessionEntities,
    /// Those that are not stored yet.
    pub(crate) steps: Vec<NewRunStep>,
    /// What is never stored.
    pub(crate) transient: TransientResults,
}

impl TurnState {
    pub(super) fn new(snapshot: RunSnapshot, entities: SessionEntities) -> Self {
        Self { snapshot, entities, steps: Vec::new(), transient: TransientResults::default() }
    }

    /// Takes in what the tools of this turn have named, also those of a process that died.
    pub(super) fn restore_entities(&mut self, setup: &TurnSetup) {
        setup.redactor.add_names(mask_people::list_known_people(&self.entities));
        for called in self.snapshot.iter_calls() {
            setup.hide_people(called, &mut self.transient);
        }
        for (tool, result) in self.list_results() {
            self.observe_entities(setup, &tool, &result);
        }
    }

    pub(super) fn observe_entities(&mut self, setup: &TurnSetup, tool: &str, result: &Value) {
        if let Some(tool) = setup.tool(tool) {
            self.entities.observe(&tool.known.spec, result);
            if tool.known.connector.origin == ConnectorOrigin::Foreign {
                let bits = taint_bits::bits(&[TaintSource::Connector].into());
                self.entities.add_taint(bits, setup.prepared.message.number);
            }
        }
    }

    pub(super) fn add_step(&mut self, state: RunState, body: Value, took: Duration, at: Timestamp) {
        let micros = i64::try_from(took.as_micros()).unwrap_or(i64::MAX);
        self.steps.push(NewRunStep { state, body, micros, at });
    }

    /// What the model has written on the way and is stored: words beside its calls, and what it called tools with.
    pub(super) fn list_stored_texts(&self) -> impl Iterator<Item = String> {
        self.snapshot.exchanges.iter().flat_map(|exchange| {
            let words = exchange.asked.parts.iter().filter_map(|part| match part {
                ModelMessagePart::Text { text } => Some(text.clone()),
                _ => None,
            });
            words.chain(exchange.calls.iter().map(|called| called.arguments.to_string()))
        })
    }

    /// What the tools of this turn said, as they said it.
    pub(super) fn list_results(&self) -> Vec<(String, Value)> {
        self.snapshot.iter_calls().filter_map(ExchangeCall::find_result).collect()
    }

    /// The same with what is not kept of them, for what is looked at while the turn lasts.
    pub(super) fn list_heard_results(&self) -> Vec<Value> {
        let heard = self.snapshot.iter_calls().filter_map(|called| self.transient.find_told(called));
        let done = heard.filter(|(ok, _)| *ok);
        done.map(|(_, told)| told.get("result").cloned().unwrap_or_default()).collect()
    }

    pub(super) fn find_entity_name(&self, id: &Value) -> Option<String> {
        let id = id.as_str()?;
        self.entities.known().find(|known| known.id == id).map(|known| known.name)
    }

    /// Whether going on would be trying the same for ever.
    pub(super) fn check_stuck(&self, tool: &str, most_failures: u32) -> Option<HaltReason> {
        let same = self.snapshot.failures.iter().any(|(key, count)| key.contains(' ') && *count >= SAME);
        if same || self.snapshot.failures_of(tool) >= most_failures.max(1) {
            return Some(HaltReason::Stuck(tool.to_owned()));
        }
        (self.snapshot.denials >= DENIALS).then(|| HaltReason::Stuck("the call was refused twice".to_owned()))
    }

    /// Whether all that was asked for last goes on by itself: then there is nothing to tell but that.
    pub(super) fn is_detached(&self) -> bool {
        let is_left = |called: &ExchangeCall| matches!(&called.outcome, ExchangeCallOutcome::Ended { result, .. } if result["code"] == ToolAnswer::WORKING);
        !self.last_calls().is_empty() && self.last_calls().iter().all(is_left)
    }

    /// Whether nothing is left to say but that a question ran out of time: no model has to be asked for that.
    pub(super) fn has_only_expired(&self) -> bool {
        self.last_calls().iter().any(|called| self.is_unreported_expiry(called))
            && self.last_calls().iter().all(ExchangeCall::has_expired)
    }

    /// Acts whose time is over, of which the person has not heard.
    pub(super) fn list_unreported_expiries(&self) -> Vec<ActId> {
        let untold = self.snapshot.iter_calls().filter(|called| self.is_unreported_expiry(called));
        untold.map(|called| called.act).collect()
    }

    fn is_unreported_expiry(&self, called: &ExchangeCall) -> bool {
        called.has_expired() && !self.snapshot.told_expired.contains(&called.act)
    }

    fn last_calls(&self) -> &[ExchangeCall] {
        self.snapshot.exchanges.last().map_or(&[], |exchange| exchange.calls.as_slice())
    }
}
