//! `munshi approvals show ID`

use munshi_operations::approvals::{ApprovalInput, ApprovalView, ShowApproval, describe_consent_giver};
use munshi_wiring::failure::Result;

use super::labels::{reasons, render_exact, risk, state};
use super::{ApprovalSelectorArguments, describe_asker};
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::formatting::format_time;
use crate::output::table::sanitize_line;
use crate::output::{TextStyler, sanitize_text};

pub(super) fn run(context: &CommandContext, which: ApprovalSelectorArguments) -> Result<()> {
    let target = OperationTarget { of: &which.of, operator: None };
    let approval = context.run_operation::<ShowApproval>(&target, &ApprovalInput { id: which.id })?;
    context.output.print_result(&approval, render_text)
}

fn render_text(approval: &ApprovalView, painter: TextStyler) -> String {
    let door = approval.door.map(|door| format!(", through the {door} door")).unwrap_or_default();
    let question = if approval.kind == "outcome" { "Did this happen?" } else { "May this be done?" };
    let mut text = format!("{}\n{}\n\n", painter.bold(question), sanitize_text(&approval.words));
    let mut line = |label: &str, value: &str| text.push_str(&format!("{label:<11} {value}\n"));
    line("id", &approval.id.to_string());
    line("who asks", &sanitize_line(&format!("{}{door}", describe_asker(approval))));
    line("tool", &sanitize_line(&approval.tool));
    line("risk", risk(approval.question.risk).0);
    if !approval.question.reasons.is_empty() {
        line("why", &reasons(&approval.question));
    }
    line("who answers", describe_consent_giver(approval.question.needs));
    line("asked", &format!("{} UTC", format_time(approval.asked_at)));
    line("expires", &format!("{} UTC", format_time(approval.expires_at)));
    if let Some(at) = approval.escalated_at {
        let to = approval.escalated_to_names.join(", ");
        line(
            "escalated",
            &sanitize_line(&format!("{} UTC to {to}, because nobody answered", format_time(at))),
        );
    }
    let by = approval.answered_by_name.as_ref().map(|name| format!(" by {name}")).unwrap_or_default();
    line("state", &sanitize_line(&format!("{}{by}", state(approval.state))));
    line("digest", &approval.digest);
    text += &format!("\narguments\n{}\n", render_exact(&approval.arguments));
    if let Some(leaving) = &approval.leaving {
        text += &format!("\narguments after redaction\n{}\n", render_exact(leaving));
    }
    match &approval.rehearsal {
        Some(rehearsal) => text += &format!("\ndry-run result\n{}\n", render_exact(rehearsal)),
        None => text += "\nThere was no dry run.\n",
    }
    text
}
