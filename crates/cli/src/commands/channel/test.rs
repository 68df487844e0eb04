//! `munshi channel test NAME`

use std::process::ExitCode;

use clap::Args;
use munshi_channels::accounts::ChannelAccountName;
use munshi_operations::channels::{ChannelTestView, TestChannel, TestChannelInput};
use munshi_wiring::failure::{Exit, Result};

use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::TextStyler;
use crate::output::table::sanitize_line;

use super::setup::render_setup;

#[derive(Debug, Args)]
pub(crate) struct ChannelTestArguments {
    name: ChannelAccountName,
    /// Whom a message goes to: an e-mail, a number, or what the channel calls somebody. Default: a mail goes to the channel's own
    /// address, and by other channels none is sent
    #[arg(long, value_name = "ADDRESS")]
    to: Option<String>,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: ChannelTestArguments) -> Result<ExitCode> {
    let ChannelTestArguments { name, to, of, operator } = arguments;
    let target = OperationTarget { of: &of, operator: Some(&operator) };
    let report = context.run_operation::<TestChannel>(&target, &TestChannelInput { name, to })?;
    context.output.print_result(&report, render_text)?;
    Ok(if report.passed { ExitCode::SUCCESS } else { Exit::Refused.into() })
}

fn render_text(report: &ChannelTestView, painter: TextStyler) -> String {
    let name = &report.channel;
    if report.steps.is_empty() && report.to.is_none() {
        let mut text = match report.to_do.is_empty() && report.webhook.is_none() {
            true => {
                format!("The channel {name} sends nothing: what would leave is shown in the server's log.\n")
            }
            false => String::new(),
        };
        text += &render_setup(report.webhook.as_deref(), &report.to_do, painter);
        return text;
    }
    let to = report.to.as_deref().map(sanitize_line);
    let title = match &to {
        Some(to) => format!("{name}: a message to {to}"),
        None => name.to_string(),
    };
    let mut text = format!("{}\n", painter.bold(&title));
    for step in &report.steps {
        let mark = if step.passed { painter.good("pass") } else { painter.bad("FAIL") };
        text += &format!("  {mark} {:<12} {}\n", sanitize_line(&step.step), sanitize_line(&step.detail));
    }
    if let Some(advice) = &report.advice {
        text += &format!("       {:<12} {}\n", "", painter.dim(&format!("→ {}", sanitize_line(advice))));
    }
    text += &render_setup(report.webhook.as_deref(), &report.to_do, painter);
    text += &match (report.passed, to) {
        (true, Some(to)) => format!(
            "The provider has the message. Look whether it arrived at {to}; a mail may be in the folder of spam.\n"
        ),
        (true, None) => "All of it works. Send a message with --to to see one arrive.\n".to_owned(),
        (false, _) => "It does not work yet: mend what is marked FAIL, then try again.\n".to_owned(),
    };
    text
}
