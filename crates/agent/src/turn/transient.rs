//! What tools said that is not kept. It is here while this process works on the turn, and in nothing that is stored: the
//! snapshot has stand-ins, and whoever takes the run up asks anew.

use std::collections::HashMap;
use std::fmt;

use munshi_conversations::snapshot::{ExchangeCall, ExchangeCallOutcome};
use munshi_llm::{ChatMessage, ModelMessagePart};
use munshi_privacy::{PseudonymRedactor, PseudonymTable};
use munshi_tools::ToolAnswer;
use munshi_types::ActId;
use serde_json::Value;

#[derive(Default)]
pub(crate) struct TransientResults {
    /// What the model is told of a call, by its act.
    told: HashMap<ActId, Value>,
    /// A model's messages with what it thought after it had heard one, by the number of their exchange: thoughts may repeat it.
    thoughts: HashMap<usize, ChatMessage>,
    /// What stood for what before the first was heard, with whom results named since that are kept.
    pseudonyms: Option<PseudonymTable>,
}

impl TransientResults {
    /// Keeps for the turn what only the turn may know.
    pub(super) fn observe(&mut self, act: ActId, answer: &ToolAnswer, redactor: &PseudonymRedactor) {
        if answer.is_transient() {
            self.pseudonyms.get_or_insert_with(|| redactor.session());
            self.told.insert(act, answer.render_for_model());
        }
    }

    /// Whether nothing was said in this turn that is not kept.
    pub(super) fn is_empty(&self) -> bool {
        self.told.is_empty()
    }

    /// Whether this process knows what an act was told.
    pub(super) fn has_heard(&self, act: ActId) -> bool {
        self.told.contains_key(&act)
    }

    /// People whom the result of a call named: hidden in later turns too, where the result is kept.
    pub(super) fn keep_names(&mut self, act: ActId, names: Vec<String>) {
        if !self.told.contains_key(&act) {
            self.pseudonyms = self.pseudonyms.take().map(|table| table.with_names(names));
        }
    }

    /// What a call came to, as the turn itself knows it; none while it is open.
    pub(super) fn find_told<'a>(&'a self, called: &'a ExchangeCall) -> Option<(bool, &'a Value)> {
        let ExchangeCallOutcome::Ended { ok, result } = &called.outcome else { return None };
        Some((*ok, self.told.get(&called.act).unwrap_or(result)))
    }

    /// The message without its thoughts, once there is something that they may repeat.
    pub(super) fn withhold_thoughts(&mut self, exchange: usize, mut asked: ChatMessage) -> ChatMessage {
        let is_thought = |part: &ModelMessagePart| {
            matches!(part, ModelMessagePart::Thinking { .. } | ModelMessagePart::SealedThinking { .. })
        };
        if !self.told.is_empty() && asked.parts.iter().any(is_thought) {
            self.thoughts.insert(exchange, asked.clone());
            asked.parts.retain(|part| !is_thought(part));
        }
        asked
    }

    /// The message of an exchange as the model sent it.
    pub(super) fn find_asked<'a>(&'a self, exchange: usize, stored: &'a ChatMessage) -> &'a ChatMessage {
        self.thoughts.get(&exchange).unwrap_or(stored)
    }

    /// What tokens stand for, as it may be stored: what came with such a result stays out, but for names that stand in texts which are
    /// stored anyway, as they stand there. A later turn reads these texts, and hides the names again.
    pub(super) fn storable_pseudonyms(
        &self,
        redactor: &PseudonymRedactor,
        stored: impl Iterator<Item = String>,
    ) -> PseudonymTable {
        match &self.pseudonyms {
            Some(kept) => kept.clone().with_names(stored.flat_map(|text| redactor.find_met_names(&text))),
            None => redactor.session(),
        }
    }
}

/// Nothing of what was said.
impl fmt::Debug for TransientResults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransientResults").field("told", &self.told.len()).finish_non_exhaustive()
    }
}
