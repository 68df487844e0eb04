//! A decision as it is shown.

use munshi_safety::pipeline::{ActVerdict, CallerAudience, CompiledTool, DecisionTrace, STAGES};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::approvals::{describe_consent_giver, describe_reason, describe_risk};

/// What would be decided about a call, stage by stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = PolicyDecision)]
pub struct PolicyDecisionView {
    pub tool: String,
    /// Null where there is no such tool.
    pub connector: Option<String>,
    /// What it touches with these arguments.
    pub scope: String,
    #[serde(rename = "as")]
    pub whom: String,
    #[schema(value_type = crate::schemas::DoorSchema)]
    pub door: CallerAudience,
    pub stages: Vec<DecisionStageView>,
    /// `apply`, `rehearse`, `ask` or `refuse`.
    pub decision: String,
    /// What comes with it: the refusal, the question, or the arguments as they leave.
    #[schema(value_type = Value)]
    pub detail: Value,
}

/// A stage of the decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = DecisionStage)]
pub struct DecisionStageView {
    pub stage: String,
    /// `passed`, `stopped` or `not_reached`.
    pub outcome: String,
    pub why: String,
}

impl PolicyDecisionView {
    pub(super) fn new(
        tool: &str,
        known: Option<&CompiledTool>,
        whom: &str,
        door: CallerAudience,
        trace: DecisionTrace,
    ) -> Self {
        let (decision, detail, sentence) = describe_verdict(&trace.verdict);
        Self {
            tool: tool.to_owned(),
            connector: known.map(|known| known.connector.name.clone()),
            stages: list_stages(&trace, &sentence),
            scope: trace.scope,
            whom: whom.to_owned(),
            door,
            decision: decision.to_owned(),
            detail,
        }
    }

    /// What was decided, as a sentence.
    pub fn describe(&self) -> &str {
        match self.decision.as_str() {
            "apply" => APPLIED,
            "rehearse" => REHEARSED,
            _ => {
                let stopped = self.stages.iter().find(|stage| stage.outcome == "stopped");
                stopped.map_or("", |stage| stage.why.as_str())
            }
        }
    }
}

const APPLIED: &str = "It would be executed.";
const REHEARSED: &str = "It would be run as a dry run.";

fn list_stages(trace: &DecisionTrace, sentence: &str) -> Vec<DecisionStageView> {
    let all = STAGES.iter().enumerate().map(|(at, stage)| {
        let (outcome, why) = match trace.passed.get(at) {
            Some(passed) => ("passed", passed.why.clone()),
            None if trace.stopped == Some(stage.name) => ("stopped", sentence.to_owned()),
            None => ("not_reached", String::new()),
        };
        DecisionStageView { stage: stage.name.as_str().to_owned(), outcome: outcome.to_owned(), why }
    });
    all.collect()
}

/// The word for it, what comes with it, and a sentence.
fn describe_verdict(verdict: &ActVerdict) -> (&'static str, Value, String) {
    match verdict {
        ActVerdict::Apply(cleared) => {
            let detail = json!({ "arguments": cleared.arguments, "autonomy": cleared.autonomy });
            ("apply", detail, APPLIED.to_owned())
        }
        ActVerdict::Rehearse(cleared) => {
            let detail = json!({ "arguments": cleared.arguments, "autonomy": cleared.autonomy });
            ("rehearse", detail, REHEARSED.to_owned())
        }
        ActVerdict::Ask(question) => {
            let reasons: Vec<&str> = question.reasons.iter().map(|reason| describe_reason(*reason)).collect();
            let (risk, who) = (describe_risk(question.risk), describe_consent_giver(question.needs));
            let sentence =
                format!("It would need approval: {}. Risk {risk}; {who} can approve it.", reasons.join(", "));
            ("ask", json!(question), sentence)
        }
        ActVerdict::Refuse(refusal) => {
            let ask = refusal.ask.map(|role| format!(" Ask: {role}.")).unwrap_or_default();
            let sentence =
                format!("It would be refused ({}). {}{ask}", refusal.code.as_str(), refusal.suggestion);
            ("refuse", json!(refusal), sentence)
        }
    }
}
