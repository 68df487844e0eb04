//! `munshi tier log TENANT KIND NAME`

use munshi_tiers::TierEvent;
use munshi_tiers::history::{self, TierHistory, TierHistoryEntry};
use munshi_types::Timestamp;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::Result;

use super::TierSelectorArguments;
use crate::context::CommandContext;
use crate::output::TextStyler;
use crate::output::formatting::format_time;
use crate::output::table::sanitize_line;

pub(super) fn run(context: &CommandContext, which: &TierSelectorArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let log = context.block_on(async {
        let db = database.open().await?;
        Ok(history::load(&db, &which.tenant, which.kind, &which.name).await?)
    })?;
    context.output.print_result(&log, render_text)
}

fn render_text(log: &TierHistory, painter: TextStyler) -> String {
    let mut text = format!("{} {}, {}\n", log.kind, painter.bold(log.name.as_str()), log.status);
    let versions = log.versions.iter().map(|entry| (entry.version.made_at, version(entry, painter)));
    let events = log.events.iter().map(|event| (event.made_at, render_event(event, painter)));
    // What happened comes after the version it happened with; the newest is told first.
    let mut lines: Vec<(Timestamp, String)> = events.chain(versions).collect();
    lines.sort_by_key(|(made_at, _)| std::cmp::Reverse(*made_at));
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

fn version(entry: &TierHistoryEntry, painter: TextStyler) -> String {
    let about = &entry.version;
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
        entry.changes.iter().for_each(|change| text += &change.to_string());
    }
    text
}
