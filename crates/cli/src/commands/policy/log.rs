//! `munshi policy log`

use clap::Args;
use munshi_operations::policy::{LogPolicy, LogPolicyInput, PolicyLogView};
use munshi_wiring::failure::Result;

use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::list_arguments::ListOrderArguments;
use crate::operation_client::OperationTarget;
use crate::output::TextStyler;
use crate::output::formatting::format_time;
use crate::output::table::sanitize_line;

#[derive(Debug, Args)]
pub(crate) struct PolicyLogArguments {
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    sorting: ListOrderArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &PolicyLogArguments) -> Result<()> {
    let target = OperationTarget { of: &arguments.of, operator: None };
    let input = LogPolicyInput { order: arguments.sorting.order };
    let log = context.run_operation::<LogPolicy>(&target, &input)?;
    context.output.print_result(&log, render_text)
}

fn render_text(log: &PolicyLogView, painter: TextStyler) -> String {
    if log.versions.is_empty() {
        return format!(
            "{} has no policy yet. Add a policy.toml to its folder and run `munshi apply`.",
            log.tenant
        );
    }
    let mut text = String::new();
    let newest = log.versions.iter().map(|version| version.version).max();
    for version in &log.versions {
        let in_force = if Some(version.version) == newest { " (in force)" } else { "" };
        let head = painter.bold(&format!("version {}{in_force}", version.version));
        text += &format!(
            "{head}  {}  {}\n",
            painter.dim(&format_time(version.made_at)),
            sanitize_line(&version.author)
        );
        if !version.note.is_empty() {
            text += &format!("    {}\n", sanitize_line(&version.note));
        }
        version.changes.iter().for_each(|change| text += &change.render_full());
    }
    text
}
