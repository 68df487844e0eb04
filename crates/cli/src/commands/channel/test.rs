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

#[derive(Debug, Args)]
pub(crate) struct ChannelTestArguments {
    name: ChannelAccountName,
    /// Whom the message goes to. Default: the channel's own address
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
    let Some(to) = report.to.as_deref().map(sanitize_line) else {
        return format!("The channel {name} sends nothing: what would leave is shown in the server's log.\n");
    };
    let mut text = format!("{}\n", painter.bold(&format!("{name}: a mail to {to}")));
    for step in &report.steps {
        let mark = if step.passed { painter.good("pass") } else { painter.bad("FAIL") };
        text += &format!("  {mark} {:<12} {}\n", step.step.as_str(), sanitize_line(&step.detail));
    }
    if let Some(advice) = &report.advice {
        text += &format!("       {:<12} {}\n", "", painter.dim(&format!("→ {}", sanitize_line(advice))));
    }
    text += &match report.passed {
        true => {
            format!("The server has the mail. Look whether it arrived at {to}, in the folder of spam too.\n")
        }
        false => "The mail did not leave.\n".to_owned(),
    };
    text
}
