//! A decision as it is printed.

use munshi_operations::policy::PolicyDecisionView;
use serde_json::Value;

use crate::commands::approvals::labels::render_exact;
use crate::output::TextStyler;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell, sanitize_line};

pub(super) fn render_text(shown: &PolicyDecisionView, given: &Value, painter: TextStyler) -> String {
    let mut table = OutputTable::new(&["STAGE", "", "WHY"]);
    for stage in &shown.stages {
        let outcome = stage.outcome.as_str();
        let (word, tone) = match outcome {
            "passed" => ("passed", OutputCellStyle::Good),
            "stopped" if shown.decision == "refuse" => ("refuses", OutputCellStyle::Bad),
            "stopped" => ("asks", OutputCellStyle::Doubtful),
            _ => ("-", OutputCellStyle::Dim),
        };
        let why = if outcome == "stopped" { "" } else { stage.why.as_str() };
        table.add_row([stage.stage.as_str().into(), OutputTableCell::new(word, tone), why.into()]);
    }
    let mut text = table.render(painter);
    text += &format!("{}\n", sanitize_line(shown.describe()));
    if shown.connector.is_none() {
        text += "`--spec FILE` describes a tool that is not installed.\n";
    }
    if let Some(leaving) = find_leaving(shown).filter(|leaving| *leaving != given) {
        text += &format!("{} would receive\n{}\n", sanitize_line(&shown.tool), render_exact(leaving));
    }
    text + "Nothing was done.\n"
}

/// The arguments as they leave, where it would be called.
fn find_leaving(shown: &PolicyDecisionView) -> Option<&Value> {
    let is_called = ["apply", "rehearse"].contains(&shown.decision.as_str());
    shown.detail.get("arguments").filter(|_| is_called)
}
