//! The one way to an act: stages in their order, each a file. A stage lets pass, or refuses and says why.
//!
//! The model's words are in [`PolicyRequest::arguments`] and nowhere else. Everything that decides is the tenant's, the
//! installation's or the channel's: who asks, through which door, what the policy says, what a person approved.
//!
//! # To add a stage
//! A file with a function of the type [`Run`], its line in [`STAGES`], and an invariant in `docs/safety.md` with the
//! hostile test that fails without it.

mod autonomy;
mod compiled_tool;
mod consent;
mod decision_store;
mod door;
pub(crate) mod egress;
mod limits;
mod numbers;
mod open_tools;
mod permission;
mod purpose;
mod redaction;
mod refusal;
mod request;
mod schema;
mod scope;
mod taint;
#[cfg(test)]
mod tests;
mod trace;

use munshi_types::{ApprovalId, Autonomy, ConsentId};
use serde::Serialize;
use serde_json::Value;

pub use compiled_tool::{CompiledTool, ConnectorOrigin, InvalidTool, ToolConnector};
pub use consent::{ConsentGiver, ConsentQuestion, ConsentReason, Risk};
pub use decision_store::{ConsentGrant, DecisionStore, ExhaustedLimit};
pub use door::CallerAudience;
pub use open_tools::is_open;
pub use purpose::PurposeStanding;
pub use refusal::{ActRefusal, RefusalCode};
pub use request::{ActCaller, ActConcern, CheckedArguments, PolicyRequest, Proposal, ProposalMode};
pub use taint::{Taint, TaintSource};
pub use trace::{DecisionTrace, PassedStage, trace};

use crate::error::Result;

/// One step of the way. The name stands in refusals, in the audit and in `munshi policy test`.
pub struct PipelineStage {
    pub name: StageName,
    run: Run,
}

type Run = fn(&PolicyRequest<'_>, &mut Draft, &mut dyn DecisionStore) -> Result<Step>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StageName {
    Schema,
    Permission,
    Door,
    Scope,
    Autonomy,
    Limits,
    Redaction,
    Consent,
}

impl StageName {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Schema => "schema",
            Self::Permission => "permission",
            Self::Door => "door",
            Self::Scope => "scope",
            Self::Autonomy => "autonomy",
            Self::Limits => "limits",
            Self::Redaction => "redaction",
            Self::Consent => "consent",
        }
    }
}

/// The order. What costs nothing and tells nothing comes first; what is set aside comes late.
pub const STAGES: [PipelineStage; 8] = [
    PipelineStage { name: StageName::Schema, run: schema::run },
    PipelineStage { name: StageName::Permission, run: permission::run },
    PipelineStage { name: StageName::Door, run: door::run },
    PipelineStage { name: StageName::Scope, run: scope::run },
    PipelineStage { name: StageName::Autonomy, run: autonomy::run },
    PipelineStage { name: StageName::Limits, run: limits::run },
    PipelineStage { name: StageName::Redaction, run: redaction::run },
    PipelineStage { name: StageName::Consent, run: consent::run },
];

enum Step {
    On,
    Stop(ActVerdict),
}

/// What stages found out for those after them.
struct Draft {
    scope: String,
    autonomy: Autonomy,
    leaving: Value,
    consent: Option<ApprovalId>,
    /// What the person agreed to, where the tool needs that.
    purpose: Option<ConsentId>,
}

/// What was decided.
#[derive(Clone, Debug, PartialEq)]
pub enum ActVerdict {
    /// May be done, with these arguments.
    Apply(ActClearance),
    /// May be tried out, with these arguments.
    Rehearse(ActClearance),
    /// A person is to be asked first.
    Ask(ConsentQuestion),
    Refuse(ActRefusal),
}

#[derive(Clone, Debug, PartialEq)]
pub struct ActClearance {
    /// The arguments as they leave.
    pub arguments: Value,
    pub autonomy: Autonomy,
    /// What a person agreed to, where that was needed.
    pub approval: Option<ApprovalId>,
    /// The consent of the person it is done for, where its tool needs one.
    pub consent: Option<ConsentId>,
}

/// Decides about one act. Reads and sets aside through `ground` only.
pub fn decide(ask: &PolicyRequest<'_>, ground: &mut dyn DecisionStore) -> Result<ActVerdict> {
    run_stages(&STAGES, ask, ground)
}

fn run_stages(
    stages: &[PipelineStage],
    ask: &PolicyRequest<'_>,
    ground: &mut dyn DecisionStore,
) -> Result<ActVerdict> {
    run_stages_observed(stages, ask, ground, &mut |_, _| {})
}

/// Walks and tells of each stage that lets pass.
fn run_stages_observed(
    stages: &[PipelineStage],
    ask: &PolicyRequest<'_>,
    ground: &mut dyn DecisionStore,
    passed: &mut dyn FnMut(StageName, &Draft),
) -> Result<ActVerdict> {
    let mut draft = Draft {
        scope: ask.tool.as_ref().map(|tool| tool.render_scope(&ask.arguments)).unwrap_or_default(),
        autonomy: Autonomy::Act,
        leaving: Value::Null,
        consent: None,
        purpose: None,
    };
    for stage in stages {
        if let Step::Stop(verdict) = (stage.run)(ask, &mut draft, ground)? {
            return Ok(verdict);
        }
        passed(stage.name, &draft);
    }
    let leaving = if draft.leaving.is_null() { (*ask.arguments).clone() } else { draft.leaving };
    Ok(ActVerdict::Apply(ActClearance {
        arguments: leaving,
        autonomy: draft.autonomy,
        approval: draft.consent,
        consent: draft.purpose,
    }))
}

fn refuse(refusal: ActRefusal) -> Result<Step> {
    Ok(Step::Stop(ActVerdict::Refuse(refusal)))
}
