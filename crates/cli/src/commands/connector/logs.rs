//! `munshi connector logs NAME`

use std::collections::VecDeque;

use clap::Args;
use munshi_connectors::{LOGS, build_logs_path, rows};
use munshi_types::ConnectorName;
use munshi_wiring::connectors;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::Result;
use serde_json::json;

use super::not_found_failure;
use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::output::table::sanitize_line;

#[derive(Debug, Args)]
pub(crate) struct ConnectorLogsArguments {
    name: ConnectorName,
    /// Number of lines, from the end
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    lines: u32,
    #[command(flatten)]
    of: TenantSelectorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &ConnectorLogsArguments) -> Result<()> {
    let config = context.config()?;
    let database = ConfiguredDatabase::single_connection(&config)?;
    let (tenant, is_known) = context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find(&db).await?;
        let (_, declared) = db.read(tenant.id, rows::load_entries).await?;
        Ok((tenant, declared.0.contains_key(&arguments.name)))
    })?;
    let folder = build_logs_path(&connectors::folder(&config), tenant.id, &arguments.name);
    let mut lines: VecDeque<String> = VecDeque::new();
    for file in LOGS {
        // One that is not there has said nothing.
        let text = std::fs::read(folder.join(file)).unwrap_or_default();
        for line in String::from_utf8_lossy(&text).lines() {
            if lines.len() == arguments.lines as usize {
                lines.pop_front();
            }
            lines.push_back(sanitize_line(line));
        }
    }
    let lines = Vec::from(lines);
    let name = &arguments.name;
    // What one that was taken away has said stays.
    if lines.is_empty() && !is_known {
        return Err(not_found_failure(name));
    }
    context.output.print_result(&json!({ "connector": name, "lines": lines }), |_, _| {
        match lines.is_empty() {
            true => format!("{name} has no log on this machine.\n"),
            false => lines.join("\n") + "\n",
        }
    })
}
