//! `munshi audit tail`

use clap::Args;
use munshi_safety::audit::{self, AuditEntry};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};
use serde::Serialize;
use serde_json::Value;

use super::TenantScopeArguments;
use crate::context::CommandContext;
use crate::output::TextStyler;
use crate::output::formatting::format_time;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell};

/// As much of a payload as a row shows; `--json` has it all.
const PAYLOAD_COLUMNS: usize = 60;

#[derive(Debug, Args)]
pub(crate) struct AuditTailArguments {
    #[command(flatten)]
    whose: TenantScopeArguments,
    /// Maximum number of entries
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
}

#[derive(Serialize)]
struct Listing {
    /// As `audit export` writes them.
    items: Vec<Value>,
}

pub(super) fn run(context: &CommandContext, arguments: &AuditTailArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let limit = arguments.limit;
    let entries = context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.whose.find(&db).await?;
        Ok(db.read(tenant, move |tx| audit::tail(tx, limit)).await?)
    })?;
    let items = entries.iter().map(|entry| serde_json::from_str(&entry.to_line()));
    let unreadable = |error| {
        CommandFailure::failed(format!("an entry is not valid JSON ({error})"))
            .hint("run `munshi audit verify`")
    };
    let listing = Listing { items: items.collect::<std::result::Result<_, _>>().map_err(unreadable)? };
    context.output.print_result(&listing, |_, painter| render_text(&entries, painter))
}

fn render_text(entries: &[AuditEntry], painter: TextStyler) -> String {
    if entries.is_empty() {
        return "The audit log is empty.".to_owned();
    }
    let mut table = OutputTable::new(&["SEQ", "TIME (UTC)", "WHO", "EVENT", "ABOUT", "WHAT"]);
    for entry in entries {
        let mut payload: String = entry.payload.chars().take(PAYLOAD_COLUMNS).collect();
        if payload.len() < entry.payload.len() {
            payload.push('…');
        }
        table.add_row([
            entry.seq.to_string().into(),
            format_time(entry.made_at).into(),
            format!("{} {}", entry.actor_kind, entry.actor_id).into(),
            entry.event.as_str().into(),
            entry.subject.as_str().into(),
            OutputTableCell::new(payload, OutputCellStyle::Dim),
        ]);
    }
    table.render(painter)
}
