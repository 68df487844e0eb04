//! `munshi audit tail`

use clap::Args;
use munshi_operations::audit::{AuditEntryView, ListAudit, ListAuditInput};
use munshi_pack::operation::ListView;
use munshi_wiring::failure::Result;

use super::TenantScopeArguments;
use crate::context::CommandContext;
use crate::operation_client::{LARGEST_PAGE, OperationTarget};
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

pub(super) fn run(context: &CommandContext, arguments: &AuditTailArguments) -> Result<()> {
    let of = arguments.whose.selector();
    let target = OperationTarget { of: &of, operator: None };
    let mut listing = ListView { items: Vec::new(), next: None };
    loop {
        let left = arguments.limit.saturating_sub(u32::try_from(listing.items.len()).unwrap_or(u32::MAX));
        let (after, limit) = (listing.next.take(), Some(left.min(LARGEST_PAGE)));
        let input = ListAuditInput { after, limit, ..ListAuditInput::default() };
        let page = context.run_operation::<ListAudit>(&target, &input)?;
        listing.items.extend(page.items);
        listing.next = page.next;
        if listing.next.is_none() || listing.items.len() >= arguments.limit as usize {
            break;
        }
    }
    // As a file's tail: the newest entry last.
    listing.items.reverse();
    listing.next = None;
    context.output.print_result(&listing, |listing, painter| render_text(&listing.items, painter))
}

fn render_text(entries: &[AuditEntryView], painter: TextStyler) -> String {
    if entries.is_empty() {
        return "The audit log is empty.".to_owned();
    }
    let mut table = OutputTable::new(&["SEQ", "TIME (UTC)", "WHO", "EVENT", "ABOUT", "WHAT"]);
    for entry in entries {
        let whole = entry.payload.to_string();
        let mut payload: String = whole.chars().take(PAYLOAD_COLUMNS).collect();
        if payload.len() < whole.len() {
            payload.push('…');
        }
        table.add_row([
            entry.seq.to_string().into(),
            format_time(entry.at).into(),
            format!("{} {}", entry.actor.kind, entry.actor.id).into(),
            entry.event.as_str().into(),
            entry.subject.as_str().into(),
            OutputTableCell::new(payload, OutputCellStyle::Dim),
        ]);
    }
    table.render(painter)
}
