//! `munshi tier show TENANT KIND NAME[@VERSION]`

use clap::Args;
use munshi_operations::tiers::{ShowTier, ShowTierInput, TierDetailView};
use munshi_tiers::files;
use munshi_tiers::merge::{ADDED, AgentValueOrigin};
use munshi_types::TenantName;
use munshi_types::tier::{TierKind, TierRef};
use munshi_wiring::failure::Result;
use serde_json::Value;

use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell};
use crate::output::{TextStyler, sanitize_text};

/// As much of a value as a row shows; `--json` has all of it.
const VALUE_COLUMNS: usize = 70;

#[derive(Debug, Args)]
pub(crate) struct TierShowArguments {
    /// Tenant
    tenant: TenantName,
    /// human, team, agent or binding
    kind: TierKind,
    /// Name with an optional version: meera, meera@3
    #[arg(value_name = "NAME[@VERSION]")]
    tier: TierRef,
    /// Show an agent's own file, without what it extends
    #[arg(long)]
    written: bool,
}

pub(super) fn run(context: &CommandContext, arguments: TierShowArguments) -> Result<()> {
    let TierShowArguments { tenant, kind, tier, written } = arguments;
    let of = TenantSelectorArguments::named(tenant);
    let target = OperationTarget { of: &of, operator: None };
    let input = ShowTierInput { kind, name: tier.name, version: tier.version };
    let shown = context.run_operation::<ShowTier>(&target, &input)?;
    context.output.print_result(&shown, |shown, painter| render_text(shown, written, painter))
}

fn render_text(shown: &TierDetailView, written: bool, painter: TextStyler) -> String {
    let TierDetailView { kind, name, status, version, latest, tokens, .. } = shown;
    let mut head = format!("{kind} {name}, {status}, version {version} of {latest}");
    if *tokens > 0 {
        head += &format!(", {tokens} tokens");
    }
    let body = match kind {
        TierKind::Agent if !written => origins(shown, painter),
        kind => sanitize_text(&files::render(*kind, &shown.body)),
    };
    format!("{}\n\n{body}", painter.dim(&format!("# {head}")))
}

/// Every value of an agent, and who said it.
fn origins(shown: &TierDetailView, painter: TextStyler) -> String {
    let mut table = OutputTable::new(&["KEY", "VALUE", "FROM"]);
    for (path, origin) in &shown.origins {
        let (from, tone) = match origin {
            AgentValueOrigin::Default => ("default".to_owned(), OutputCellStyle::Dim),
            AgentValueOrigin::Agent(name) => (name.to_string(), OutputCellStyle::Plain),
        };
        let value = value_at(&shown.values, path);
        table.add_row([
            path.as_str().into(),
            OutputTableCell::truncated(&value, VALUE_COLUMNS, OutputCellStyle::Plain),
            OutputTableCell::new(from, tone),
        ]);
    }
    table.render(painter)
}

/// A rule stands by its id, everything else by its path.
fn value_at(values: &Value, path: &str) -> String {
    let at = |path: &str| path.split('.').fold(values, |value, key| &value[key]);
    let listed = ADDED.iter().find_map(|list| Some((list, path.strip_prefix(list)?.strip_prefix('.')?)));
    if let Some((list, id)) = listed {
        let rule = at(list).as_array().into_iter().flatten().find(|rule| rule["id"] == id);
        return rule.map_or_else(|| "on".to_owned(), ToString::to_string);
    }
    let value = at(path);
    if value.is_null() { "-".to_owned() } else { value.to_string() }
}
