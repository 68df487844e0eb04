//! A decision as it is shown.

use munshi_safety::pipeline::{ActVerdict, CallerAudience, CompiledTool, DecisionTrace, STAGES};
use serde::Serialize;
use serde_json::{Value, json};

use crate::commands::approvals::labels::{describe_consent_giver, describe_reason, render_exact, risk};
use crate::output::TextStyler;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell, sanitize_line};

#[derive(Debug, Serialize)]
pub(super) struct PolicyTestReport {
    tool: String,
    connector: Option<String>,
    scope: String,
    #[serde(rename = "as")]
    whom: String,
    door: CallerAudience,
    stages: Vec<StageShown>,
    /// `apply`, `rehearse`, `ask` or `refuse`.
    decision: &'static str,
    /// What comes with it: the refusal, the question, or the arguments as they leave.
    detail: Value,
    #[serde(skip)]
    sentence: String,
    /// The arguments as they leave, where something is hidden.
    #[serde(skip)]
    leaving: Option<Value>,
}

#[derive(Debug, Serialize)]
struct StageShown {
    stage: &'static str,
    outcome: &'static str,
    why: String,
}

impl PolicyTestReport {
    pub(super) fn new(
        tool: &str,
        known: Option<&CompiledTool>,
        whom: &str,
        door: CallerAudience,
        given: &Value,
        trace: DecisionTrace,
    ) -> Self {
        let (decision, detail, sentence) = describe_verdict(&trace.verdict);
        let leaving = match &trace.verdict {
            ActVerdict::Apply(cleared) | ActVerdict::Rehearse(cleared) if cleared.arguments != *given => {
                Some(cleared.arguments.clone())
            }
            _ => None,
        };
        Self {
            tool: tool.to_owned(),
            connector: known.map(|known| known.connector.name.clone()),
            stages: stages(&trace, &sentence),
            scope: trace.scope,
            whom: whom.to_owned(),
            door,
            decision,
            detail,
            sentence,
            leaving,
        }
    }
}

fn stages(trace: &DecisionTrace, sentence: &str) -> Vec<StageShown> {
    let all = STAGES.iter().enumerate().map(|(at, stage)| {
        let passed = trace.passed.get(at);
        let (outcome, why) = match passed {
            Some(passed) => ("passed", passed.why.clone()),
            None if trace.stopped == Some(stage.name) => ("stopped", sentence.to_owned()),
            None => ("not_reached", String::new()),
        };
        StageShown { stage: stage.name.as_str(), outcome, why }
    });
    all.collect()
}

/// The word for it, what comes with it, and a sentence.
fn describe_verdict(verdict: &ActVerdict) -> (&'static str, Value, String) {
    match verdict {
        ActVerdict::Apply(cleared) => {
            let detail = json!({ "arguments": cleared.arguments, "autonomy": cleared.autonomy });
            ("apply", detail, "It would be executed.".to_owned())
        }
        ActVerdict::Rehearse(cleared) => {
            let detail = json!({ "arguments": cleared.arguments, "autonomy": cleared.autonomy });
            ("rehearse", detail, "It would be run as a dry run.".to_owned())
        }
        ActVerdict::Ask(question) => {
            let reasons: Vec<&str> = question.reasons.iter().map(|reason| describe_reason(*reason)).collect();
            let (risk, who) = (risk(question.risk).0, describe_consent_giver(question.needs));
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

pub(super) fn render_text(shown: &PolicyTestReport, painter: TextStyler) -> String {
    let mut table = OutputTable::new(&["STAGE", "", "WHY"]);
    for StageShown { stage, outcome, why } in &shown.stages {
        let (word, tone) = match *outcome {
            "passed" => ("passed", OutputCellStyle::Good),
            "stopped" if shown.decision == "refuse" => ("refuses", OutputCellStyle::Bad),
            "stopped" => ("asks", OutputCellStyle::Doubtful),
            _ => ("-", OutputCellStyle::Dim),
        };
        let why = if *outcome == "stopped" { String::new() } else { why.clone() };
        table.add_row([(*stage).into(), OutputTableCell::new(word, tone), why.into()]);
    }
    let mut text = table.render(painter);
    text += &format!("{}\n", sanitize_line(&shown.sentence));
    if shown.connector.is_none() {
        text += "`--spec FILE` describes a tool that is not installed.\n";
    }
    if let Some(leaving) = &shown.leaving {
        text += &format!("{} would receive\n{}\n", sanitize_line(&shown.tool), render_exact(leaving));
    }
    text + "Nothing was done.\n"
}
