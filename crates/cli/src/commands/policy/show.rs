//! `munshi policy show`

use munshi_operations::policy::{PolicyInput, PolicyView, ShowPolicy};
use munshi_wiring::failure::Result;

use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::TextStyler;
use crate::output::formatting::format_time;
use crate::output::table::sanitize_line;

pub(super) fn run(context: &CommandContext, of: &TenantSelectorArguments) -> Result<()> {
    let target = OperationTarget { of, operator: None };
    let shown = context.run_operation::<ShowPolicy>(&target, &PolicyInput {})?;
    context.output.print_result(&shown, render_text)
}

fn render_text(shown: &PolicyView, painter: TextStyler) -> String {
    let tenant = &shown.tenant;
    let (Some(author), Some(made_at)) = (&shown.author, shown.made_at) else {
        return format!(
            "{tenant} has no policy: built-in packs use their defaults, everything else is denied.\n"
        );
    };
    let (version, author, when) = (shown.version, sanitize_line(author), format_time(made_at));
    let head = painter.dim(&format!("# Policy of {tenant}, version {version}, by {author}, {when} UTC"));
    format!("{head}\n{}", shown.file)
}
