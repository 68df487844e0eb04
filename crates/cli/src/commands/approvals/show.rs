//! `munshi approvals show ID`

use munshi_safety::acts;
use munshi_safety::approvals::ApprovalKind;
use munshi_safety::pipeline::CallerAudience;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};
use serde::Serialize;

use super::labels::{describe_consent_giver, reasons, render_exact, risk, state};
use super::{ApprovalSelectorArguments, Named, find};
use crate::context::CommandContext;
use crate::output::formatting::format_time;
use crate::output::table::sanitize_line;
use crate::output::{TextStyler, sanitize_text};

#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    named: Named,
    door: Option<CallerAudience>,
}

pub(super) fn run(context: &CommandContext, which: ApprovalSelectorArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let shown = context.block_on(async {
        let db = database.open().await?;
        let tenant = which.of.find(&db).await?;
        let unit = move |tx: &mut munshi_store::Tx<'_>| -> Result<Shown, CommandFailure> {
            let approval = find(tx, &which.id)?;
            let door = acts::find(tx, approval.act)?.map(|act| act.rests_on.caller.door);
            Ok(Shown { named: Named::load(tx, approval)?, door })
        };
        db.read(tenant.id, unit).await
    })?;
    context.output.print_result(&shown, render_text)
}

fn render_text(shown: &Shown, painter: TextStyler) -> String {
    let approval = &shown.named.approval;
    let door = shown.door.map(|door| format!(", through the {door} door")).unwrap_or_default();
    let question = match approval.kind {
        ApprovalKind::Act => "May this be done?",
        ApprovalKind::Outcome => "Did this happen?",
    };
    let mut text = format!("{}\n{}\n\n", painter.bold(question), sanitize_text(&approval.words));
    let mut line = |label: &str, value: &str| text.push_str(&format!("{label:<11} {value}\n"));
    line("id", &approval.id.to_string());
    line("who asks", &sanitize_line(&format!("{}{door}", shown.named.asker())));
    line("tool", &sanitize_line(&approval.tool));
    line("risk", risk(approval.question.risk).0);
    if !approval.question.reasons.is_empty() {
        line("why", &reasons(&approval.question));
    }
    line("who answers", describe_consent_giver(approval.question.needs));
    line("asked", &format!("{} UTC", format_time(approval.asked_at)));
    line("expires", &format!("{} UTC", format_time(approval.expires_at)));
    if let Some(at) = approval.escalated_at {
        let to = shown.named.escalated_to_names.join(", ");
        line(
            "escalated",
            &sanitize_line(&format!("{} UTC to {to}, because nobody answered", format_time(at))),
        );
    }
    let by = shown.named.answered_by_name.as_ref().map(|name| format!(" by {name}")).unwrap_or_default();
    line("state", &sanitize_line(&format!("{}{by}", state(approval.state))));
    line("digest", &approval.digest.to_string());
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
