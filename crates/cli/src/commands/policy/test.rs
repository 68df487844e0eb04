//! `munshi policy test TOOL`: what would be decided, and why. Nothing is done.

use clap::Args;
use munshi_operations::policy::{TestPolicy, TestPolicyInput};
use munshi_safety::pipeline::CallerAudience;
use munshi_types::tier::TierName;
use munshi_wiring::failure::{CommandFailure, Result};
use serde_json::Value;

use super::report;
use super::spec::ToolSpecArguments;
use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;

#[derive(Debug, Args)]
pub(crate) struct PolicyTestArguments {
    /// Tool name
    tool: String,
    /// Caller: name, phone, e-mail, @handle or id of a person, or `anonymous`
    #[arg(long = "as", value_name = "PERSON")]
    person: String,
    /// private, work, public, distribution or agents. Default: the binding's
    #[arg(long, required_unless_present = "binding")]
    door: Option<CallerAudience>,
    /// Arguments of the call
    #[arg(long = "args", value_name = "JSON", default_value = "{}")]
    arguments: String,
    /// Binding whose agent's tools and policy apply. Default: an agent without restrictions
    #[arg(long, value_name = "NAME")]
    binding: Option<TierName>,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    described: ToolSpecArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &PolicyTestArguments) -> Result<()> {
    let given: Value = serde_json::from_str(&arguments.arguments).map_err(|error| {
        CommandFailure::usage(format!("--args is not valid JSON: {error}"))
            .hint("write it as --args '{\"amount\": 500}'")
    })?;
    let input = TestPolicyInput {
        tool: arguments.tool.clone(),
        person: arguments.person.clone(),
        door: arguments.door,
        arguments: Some(given.clone()),
        binding: arguments.binding.clone(),
        spec: arguments.described.read()?,
    };
    let target = OperationTarget { of: &arguments.of, operator: None };
    let shown = context.run_operation::<TestPolicy>(&target, &input)?;
    context.output.print_result(&shown, |shown, painter| report::render_text(shown, &given, painter))
}
