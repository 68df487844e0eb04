//! `munshi approvals show ID`

use munshi_safety::acts;
use munshi_safety::approvals::ApprovalKind;
use munshi_safety::pipeline::CallerAudience;
use serde::Serialize;

use super::words::{exactly, needs_words, reasons, risk, state};
use super::{ApprovalSelectorArguments, Named, find};
use crate::context::CommandContext;
use crate::failure::{CommandFailure, Result};
use crate::output::shown::moment;
use crate::output::table::harmless;
use crate::output::{TextStyler, without_commands};
use crate::wiring::database::ConfiguredDatabase;

#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    named: Named,
    door: Option<CallerAudience>,
}

pub(super) fn run(context: &CommandContext, which: ApprovalSelectorArguments) -> Result<()> {
    let database = ConfiguredDatabase::for_one_question(&context.config()?)?;
    let shown = context.block_on(async {
        let db = database.open().await?;
        let tenant = which.of.find(&db).await?;
        let unit = move |tx: &mut munshi_store::Tx<'_>| -> Result<Shown, CommandFailure> {
            let approval = find(tx, &which.id)?;
            let door = acts::find(tx, approval.act)?.map(|act| act.rests_on.caller.door);
            Ok(Shown { named: Named::of(tx, approval)?, door })
        };
        db.read(tenant.id, unit).await
    })?;
    context.output.answer(&shown, words)
}

fn words(shown: &Shown, painter: TextStyler) -> String {
    let approval = &shown.named.approval;
    let door = shown.door.map(|door| format!(", through the {door} door")).unwrap_or_default();
    let question = match approval.kind {
        ApprovalKind::Act => "May this be done?",
        ApprovalKind::Outcome => "Did this happen?",
    };
    let mut text = format!("{}\n{}\n\n", painter.bold(question), without_commands(&approval.words));
    let mut line = |label: &str, value: &str| text.push_str(&format!("{label:<11} {value}\n"));
    line("id", &approval.id.to_string());
    line("who asks", &harmless(&format!("{}{door}", shown.named.asker())));
    line("tool", &harmless(&approval.tool));
    line("risk", risk(approval.question.risk).0);
    if !approval.question.reasons.is_empty() {
        line("why", &reasons(&approval.question));
    }
    line("who answers", needs_words(approval.question.needs));
    line("asked", &format!("{} UTC", moment(approval.asked_at)));
    line("expires", &format!("{} UTC", moment(approval.expires_at)));
    if let Some(at) = approval.escalated_at {
        let to = shown.named.escalated_to_names.join(", ");
        line("escalated", &harmless(&format!("{} UTC, since nobody had answered, to {to}", moment(at))));
    }
    let by = shown.named.answered_by_name.as_ref().map(|name| format!(" by {name}")).unwrap_or_default();
    line("state", &harmless(&format!("{}{by}", state(approval.state))));
    line("digest", &approval.digest.to_string());
    text += &format!("\narguments\n{}\n", exactly(&approval.arguments));
    if let Some(leaving) = &approval.leaving {
        text += &format!("\nwhat the tool would be given\n{}\n", exactly(leaving));
    }
    match &approval.rehearsal {
        Some(rehearsal) => text += &format!("\nwhat a rehearsal gave\n{}\n", exactly(rehearsal)),
        None => text += "\nIt was not rehearsed.\n",
    }
    text
}
