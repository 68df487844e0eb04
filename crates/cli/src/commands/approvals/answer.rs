//! `munshi approvals grant ID` and `munshi approvals refuse ID`

use clap::Args;
use munshi_operations::approvals::{
    AnsweredApprovalView, ApprovalInput, GrantApproval, GrantApprovalInput, GrantCoverage, RefuseApproval,
    RefuseApprovalInput, ShowApproval,
};
use munshi_wiring::failure::{CommandFailure, Result};

use super::ApprovalSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;

#[derive(Debug, Args)]
pub(crate) struct ApprovalGrantArguments {
    #[command(flatten)]
    answer: ApprovalRefuseArguments,
    /// Don't ask again for this tool in this conversation. Ignored for money, messages and dangerous tools
    #[arg(long)]
    session: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ApprovalRefuseArguments {
    #[command(flatten)]
    which: ApprovalSelectorArguments,
    /// Who answers: name, phone, e-mail, @handle or id. Default: the only owner. On a server the key says who
    #[arg(long = "as", value_name = "PERSON")]
    person: Option<String>,
    /// Expected digest; the answer is rejected if the act has changed
    #[arg(long, value_name = "DIGEST")]
    shown: Option<String>,
    /// Author, for the audit log
    #[arg(long, value_name = "NAME", env = "USER", hide_env = true, default_value = "somebody")]
    author: String,
}

pub(super) fn grant(context: &CommandContext, arguments: ApprovalGrantArguments) -> Result<()> {
    let ApprovalGrantArguments { answer, session } = arguments;
    let covers = if session { GrantCoverage::Session } else { GrantCoverage::Act };
    let operator = OperatorArguments::new(&answer.author);
    let target = OperationTarget { of: &answer.which.of, operator: Some(&operator) };
    let digest = resolve_digest(context, &target, &answer)?;
    let input = GrantApprovalInput { id: answer.which.id, digest, covers, person: answer.person };
    let answered = context.run_operation::<GrantApproval>(&target, &input)?;
    context.output.print_result(&answered, |answered, _| {
        let (by, tool) = (describe_answerer(answered), &answered.approval.tool);
        let text = match answered.approval.kind.as_str() {
            _ if !answered.changed => return ALREADY.to_owned(),
            "outcome" => format!("Recorded by {by}: {tool} did happen."),
            _ => format!("Granted by {by}. {tool} may be called once, exactly as shown."),
        };
        match (session, answered.covers.as_deref()) {
            (true, Some("session")) => text + " It won't ask again in this conversation.",
            (true, _) => text + " It will ask again: this kind of act needs approval every time.",
            (false, _) => text,
        }
    })
}

pub(super) fn refuse(context: &CommandContext, answer: ApprovalRefuseArguments) -> Result<()> {
    let operator = OperatorArguments::new(&answer.author);
    let target = OperationTarget { of: &answer.which.of, operator: Some(&operator) };
    let digest = resolve_digest(context, &target, &answer)?;
    let input = RefuseApprovalInput { id: answer.which.id, digest, person: answer.person };
    let answered = context.run_operation::<RefuseApproval>(&target, &input)?;
    context.output.print_result(&answered, |answered, _| {
        let (by, tool) = (describe_answerer(answered), &answered.approval.tool);
        match answered.approval.kind.as_str() {
            _ if !answered.changed => ALREADY.to_owned(),
            "outcome" => format!("Recorded by {by}: {tool} did not happen."),
            _ => format!("Refused by {by}. {tool} is not called."),
        }
    })
}

const ALREADY: &str = "Already answered this way; nothing changed.";

/// A server wants to be told what the answer is about; without a word on it that is the act as it is now, as it is here.
fn resolve_digest(
    context: &CommandContext,
    target: &OperationTarget<'_>,
    answer: &ApprovalRefuseArguments,
) -> Result<Option<String>> {
    if context.server.is_some() && answer.person.is_some() {
        return Err(CommandFailure::usage("--as can't be used with --server: the key says who answers"));
    }
    if context.server.is_none() || answer.shown.is_some() {
        return Ok(answer.shown.clone());
    }
    let input = ApprovalInput { id: answer.which.id.clone() };
    Ok(Some(context.run_operation::<ShowApproval>(target, &input)?.digest))
}

fn describe_answerer(answered: &AnsweredApprovalView) -> &str {
    let approval = &answered.approval;
    approval.answered_by_name.as_deref().or(approval.answered_via.as_deref()).unwrap_or("somebody")
}
