//! `munshi policy log`

use munshi_operations::policy::{LogPolicy, PolicyInput, PolicyLogView};
use munshi_wiring::failure::Result;

use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::TextStyler;
use crate::output::formatting::format_time;
use crate::output::table::sanitize_line;

pub(super) fn run(context: &CommandContext, of: &TenantSelectorArguments) -> Result<()> {
    let target = OperationTarget { of, operator: None };
    let log = context.run_operation::<LogPolicy>(&target, &PolicyInput {})?;
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
    for (at, version) in log.versions.iter().enumerate() {
        let in_force = if at == 0 { " (in force)" } else { "" };
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
