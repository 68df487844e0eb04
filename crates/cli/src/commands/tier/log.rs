//! `munshi tier log TENANT KIND NAME`

use clap::Args;
use munshi_operations::tiers::{LogTier, LogTierInput, TierVersionEntryView};
use munshi_store::SortOrder;
use munshi_tiers::TierEvent;
use munshi_types::Timestamp;
use munshi_types::tier::{TierKind, TierName, TierStatus};
use munshi_wiring::failure::Result;
use serde::Serialize;

use super::{PAGE, TierSelectorArguments};
use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::list_arguments::ListOrderArguments;
use crate::operation_client::OperationTarget;
use crate::output::TextStyler;
use crate::output::formatting::format_time;
use crate::output::table::sanitize_line;

/// All of its versions, as one history.
#[derive(Debug, Serialize)]
struct TierLog {
    kind: TierKind,
    name: TierName,
    status: TierStatus,
    versions: Vec<TierVersionEntryView>,
    events: Vec<TierEvent>,
}

#[derive(Debug, Args)]
pub(crate) struct TierLogArguments {
    #[command(flatten)]
    which: TierSelectorArguments,
    #[command(flatten)]
    sorting: ListOrderArguments,
}

pub(super) fn run(context: &CommandContext, arguments: TierLogArguments) -> Result<()> {
    let TierSelectorArguments { tenant, kind, name } = arguments.which;
    let order = arguments.sorting.order;
    let of = TenantSelectorArguments::named(tenant);
    let target = OperationTarget { of: &of, operator: None };
    let mut input = LogTierInput { kind, name, after: None, limit: Some(PAGE), order };
    let mut page = context.run_operation::<LogTier>(&target, &input)?;
    while let Some(next) = page.next.take() {
        input.after = Some(next);
        let more = context.run_operation::<LogTier>(&target, &input)?;
        page.items.extend(more.items);
        page.next = more.next;
    }
    let log = TierLog {
        kind: page.kind,
        name: page.name,
        status: page.status,
        versions: page.items,
        events: page.events,
    };
    context.output.print_result(&log, |log, painter| render_text(log, order, painter))
}

fn render_text(log: &TierLog, order: Option<SortOrder>, painter: TextStyler) -> String {
    let mut text = format!("{} {}, {}\n", log.kind, painter.bold(log.name.as_str()), log.status);
    let versions = log.versions.iter().map(|entry| (entry.made_at, version(entry, painter)));
    let events = log.events.iter().map(|event| (event.made_at, render_event(event, painter)));
    // What happened comes after the version it happened with; the newest is told first unless asked otherwise.
    let mut lines: Vec<(Timestamp, String)> = match order {
        Some(SortOrder::Ascending) => versions.chain(events).collect(),
        _ => events.chain(versions).collect(),
    };
    match order {
        Some(SortOrder::Ascending) => lines.sort_by_key(|(made_at, _)| *made_at),
        _ => lines.sort_by_key(|(made_at, _)| std::cmp::Reverse(*made_at)),
    }
    lines.iter().for_each(|(_, line)| text += line);
    text
}

fn render_event(event: &TierEvent, painter: TextStyler) -> String {
    let when = painter.dim(&format_time(event.made_at));
    let mut text =
        format!("\n{}  {when}  {}\n", painter.bold(&event.to_string()), sanitize_line(&event.author));
    if !event.note.is_empty() {
        text += &format!("    {}\n", sanitize_line(&event.note));
    }
    text
}

fn version(about: &TierVersionEntryView, painter: TextStyler) -> String {
    let mut head = format!("version {}", about.version);
    if about.is_current {
        head += " (in force)";
    }
    let mut text = format!(
        "\n{}  {}  {}\n",
        painter.bold(&head),
        painter.dim(&format_time(about.made_at)),
        sanitize_line(&about.author)
    );
    if !about.note.is_empty() {
        text += &format!("    {}\n", sanitize_line(&about.note));
    }
    // The first version has nothing before it that it could differ from.
    if about.version > 1 {
        about.changes.iter().for_each(|change| text += &change.to_string());
    }
    text
}
