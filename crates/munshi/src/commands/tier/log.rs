//! `munshi tier log TENANT KIND NAME`

use munshi_tiers::TierEvent;
use munshi_tiers::history::{self, TierHistory, TierHistoryEntry};
use munshi_types::Timestamp;

use super::TierSelectorArguments;
use crate::context::CommandContext;
use crate::failure::Result;
use crate::output::TextStyler;
use crate::output::shown::moment;
use crate::output::table::harmless;
use crate::wiring::database::ConfiguredDatabase;

pub(super) fn run(context: &CommandContext, which: &TierSelectorArguments) -> Result<()> {
    let database = ConfiguredDatabase::for_one_question(&context.config()?)?;
    let log = context.block_on(async {
        let db = database.open().await?;
        Ok(history::log(&db, &which.tenant, which.kind, &which.name).await?)
    })?;
    context.output.answer(&log, words)
}

fn words(log: &TierHistory, painter: TextStyler) -> String {
    let mut text = format!("{} {}, {}\n", log.kind, painter.bold(log.name.as_str()), log.status);
    let versions = log.versions.iter().map(|entry| (entry.version.made_at, version(entry, painter)));
    let events = log.events.iter().map(|event| (event.made_at, happened(event, painter)));
    // What happened comes after the version it happened with; the newest is told first.
    let mut lines: Vec<(Timestamp, String)> = events.chain(versions).collect();
    lines.sort_by_key(|(made_at, _)| std::cmp::Reverse(*made_at));
    lines.iter().for_each(|(_, line)| text += line);
    text
}

fn happened(event: &TierEvent, painter: TextStyler) -> String {
    let when = painter.dim(&moment(event.made_at));
    let mut text = format!("\n{}  {when}  {}\n", painter.bold(&event.to_string()), harmless(&event.author));
    if !event.note.is_empty() {
        text += &format!("    {}\n", harmless(&event.note));
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
        painter.dim(&moment(about.made_at)),
        harmless(&about.author)
    );
    if !about.note.is_empty() {
        text += &format!("    {}\n", harmless(&about.note));
    }
    // The first version has nothing before it that it could differ from.
    if about.version > 1 {
        entry.changes.iter().for_each(|change| text += &change.to_string());
    }
    text
}
