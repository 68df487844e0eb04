//! What the stages of a turn hand to each other. It ends with the process that works on the turn: what must outlast it is
//! in [`TurnState`](super::state::TurnState).

use std::collections::{HashMap, HashSet};

use munshi_conversations::RunSnapshot;
use munshi_conversations::marks::{PendingApprovalChoice, ShownApproval};
use munshi_safety::approvals::Approval;
use munshi_safety::pipeline::ActConcern;
use munshi_tiers::prompt::PromptReport;
use munshi_types::ActId;
use serde_json::Value;

use super::prepare::PreparedTurn;
use crate::choices::ChoiceQuestion;

/// What one stage leaves for those behind it.
#[derive(Debug, Default)]
pub(crate) struct StageNotes {
    pub(crate) model: LastModelCall,
    pub(crate) acts: KnownActs,
    pub(crate) questions: QuestionNotes,
}

/// How a model was asked last, and what it left beside its words.
#[derive(Debug, Default)]
pub(crate) struct LastModelCall {
    pub(crate) report: PromptReport,
    /// Who answered.
    pub(crate) target: Option<String>,
    /// What the model wants back with the reply.
    pub(crate) state: Vec<String>,
    /// It was cut off by the length it may have.
    pub(crate) is_cut: bool,
    /// A model has answered this process to the end.
    pub(crate) has_answered: bool,
    /// What the model thinks may come next.
    pub(crate) proposed: Vec<String>,
    /// How many exchanges a model has seen, as far as this process knows.
    pub(crate) heard: usize,
}

/// The acts of the turn, as far as this process had to do with them.
#[derive(Debug, Default)]
pub(crate) struct KnownActs {
    /// Those it began.
    pub(crate) begun: HashSet<ActId>,
    /// Those it found, which a process that died may have begun.
    pub(crate) taken_up: HashSet<ActId>,
    /// Calls that followers have seen.
    pub(crate) shown: HashSet<ActId>,
    /// What packs say of those it asked for.
    pub(crate) details: HashMap<ActId, ActDetails>,
}

/// What packs say of an act, in their own words.
#[derive(Debug, Default)]
pub(crate) struct ActDetails {
    /// What they want confirmed.
    pub(crate) concerns: Vec<ActConcern>,
    /// What a question about it should name.
    pub(crate) target_descriptions: Vec<ActConcern>,
}

impl KnownActs {
    /// Those that stand in a snapshot were taken up, and were shown before.
    pub(crate) fn take_up(&mut self, snapshot: &RunSnapshot) {
        self.taken_up.extend(snapshot.iter_calls().map(|called| called.act));
        self.shown.extend(snapshot.iter_calls().map(|called| called.act));
    }

    /// Whether it may stand in the books: it was begun by this or by another process.
    pub(crate) fn may_have_begun(&self, act: ActId) -> bool {
        self.begun.contains(&act) || self.taken_up.contains(&act)
    }

    /// What packs name of an act, as it was asked for here or when the question was put.
    pub(crate) fn find_named<'a>(
        &'a self,
        approval: &Approval,
        prepared: &'a PreparedTurn,
    ) -> Option<&'a [ActConcern]> {
        let own = self.details.get(&approval.act).map(|details| &details.target_descriptions);
        own.or_else(|| prepared.target_descriptions.get(&approval.act)).map(Vec::as_slice)
    }
}

/// What the message has to do with questions of ours, and what the reply asks.
#[derive(Debug, Default)]
pub(crate) struct QuestionNotes {
    /// The message answers a question of ours.
    pub(crate) is_answer: bool,
    /// What the person has just picked.
    pub(crate) picked: Option<PickedChoice>,
    /// Choices that the message has passed by.
    pub(crate) passed_by: Option<ChoiceQuestion>,
    /// What the person is to choose from, where the reply asks which.
    pub(crate) which: Option<PendingApprovalChoice>,
    /// The reply asks whether all consents are to end.
    pub(crate) ends_consents: bool,
    /// Questions that the reply puts before the person, beside those of the run's own acts.
    pub(crate) asks: Vec<ShownApproval>,
}

/// A choice as the tool gets it, and as the person has read it.
#[derive(Debug)]
pub(crate) struct PickedChoice {
    pub(crate) value: Value,
    pub(crate) label: String,
}
