//! `munshi person forget PERSON`

use clap::Args;
use munshi_operations::erasures::ErasureView;
use munshi_operations::persons::{ForgetPerson, ForgetPersonInput};
use munshi_wiring::failure::Result;

use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::{ConfirmationPrompt, TextStyler};

#[derive(Debug, Args)]
pub(crate) struct PersonForgetArguments {
    /// Name, phone, e-mail, @handle or id; or a pack's record of somebody, such as a contact of the books
    person: String,
    /// Where contacts share a phone: the id of the person or contact who is meant too, or none
    #[arg(long, value_name = "ID")]
    with: Option<String>,
    /// Also where something is open with them, such as money they owe
    #[arg(long)]
    despite_open_matters: bool,
    /// Skip the confirmation
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: PersonForgetArguments) -> Result<()> {
    let about = format!(
        "This forgets {} for good, in conversations and in packs such as the books alike; a contact takes along the person \
         whom its phone belongs to. What they wrote can be read by nobody afterwards, in no backup either.",
        arguments.person
    );
    ConfirmationPrompt { about, word: "forget", given: arguments.yes }.ask(&context.output)?;
    let target = OperationTarget { of: &arguments.of, operator: Some(&arguments.operator) };
    let input = ForgetPersonInput {
        id: arguments.person,
        with: arguments.with,
        despite_open_matters: arguments.despite_open_matters.then_some(true),
    };
    let receipt = context.run_operation::<ForgetPerson>(&target, &input)?;
    context.output.print_result(&receipt, render_text)
}

fn render_text(receipt: &ErasureView, _: TextStyler) -> String {
    let mut text = match receipt.ended_at {
        Some(_) => format!("Forgotten. The receipt is {}.\n", receipt.id),
        None => format!("Being forgotten; a server goes on with it. The receipt is {}.\n", receipt.id),
    };
    let removed: Vec<String> =
        receipt.removed.iter().map(|kind| format!("{} {}", kind.rows, kind.kind)).collect();
    if !removed.is_empty() {
        text += &format!("Removed or emptied: {}; {} keys destroyed.\n", removed.join(", "), receipt.keys);
    }
    text += "What stayed:\n";
    for kept in &receipt.kept {
        text += &format!("- {}: {}\n", kept.what, kept.why);
    }
    text
}
