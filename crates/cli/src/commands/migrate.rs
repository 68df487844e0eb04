//! `munshi migrate`: the database's tables brought to this version.

use clap::Args;
use munshi_store::migrate::MigrationOutcome;
use munshi_wiring::data_folder;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::Result;
use munshi_wiring::lock::DatabaseLock;
use serde_json::json;

use crate::context::CommandContext;
use crate::output::TextStyler;
use crate::output::formatting::format_count;

#[derive(Debug, Args)]
pub(crate) struct MigrateArguments {
    /// Only list pending migrations
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(context: &CommandContext, arguments: &MigrateArguments) -> Result<()> {
    let config = context.config()?;
    let database = ConfiguredDatabase::from_config(&config)?;
    context.block_on(async {
        let state = database.state().await?;
        if arguments.dry_run {
            let value = json!({ "applied": state.applied, "pending": state.pending });
            return context
                .output
                .print_result(&value, |_, _| render_plan(state.applied.len(), &state.pending));
        }
        data_folder::prepare(&config)?;
        // An older server may be at work on the tables as they are.
        let wanted = database.file().filter(|_| !state.pending.is_empty());
        let _lock = wanted.map(|file| DatabaseLock::take(file)).transpose()?;
        let outcome = database.migrate(context.now()).await?;
        context.output.print_result(&outcome, render_outcome)
    })
}

fn render_plan(applied: usize, pending: &[&str]) -> String {
    if pending.is_empty() {
        return format!("The schema is up to date: {} applied, none pending.", count_of(applied));
    }
    let list: String = pending.iter().map(|name| format!("\n  {name}")).collect();
    format!("{} applied, {} pending:{list}\nRun `munshi migrate` to apply them.", applied, pending.len())
}

fn render_outcome(outcome: &MigrationOutcome, painter: TextStyler) -> String {
    if outcome.applied.is_empty() {
        return "The schema is up to date; nothing changed.".to_owned();
    }
    let mut text = format!("Applied {}:\n", count_of(outcome.applied.len()));
    for name in &outcome.applied {
        text += &format!("  {} {name}\n", painter.good("✓"));
    }
    if let Some(backup) = &outcome.backup {
        text += &format!("Backup before the migration: {}\n", backup.display());
    }
    text
}

fn count_of(number: usize) -> String {
    format_count(number as u64, "migration")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_done_and_what_was_done() {
        let outcome = MigrationOutcome {
            applied: vec!["0003_jobs"],
            backup: Some("/srv/munshi/backups/before.db".into()),
        };
        let pages = [
            render_plan(3, &[]),
            render_plan(2, &["0003_jobs", "0004_persons"]),
            render_outcome(&MigrationOutcome::default(), TextStyler::Plain),
            render_outcome(&outcome, TextStyler::Plain),
        ];
        insta::assert_snapshot!(pages.join("\n---\n"));
    }
}
