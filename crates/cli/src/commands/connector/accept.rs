//! `munshi connector accept NAME`

use clap::Args;
use munshi_connectors::rows;
use munshi_types::{ConnectorName, IdGenerator};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};
use serde_json::json;

use super::not_found_failure;
use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::output::table::sanitize_line;

#[derive(Debug, Args)]
pub(crate) struct ConnectorAcceptArguments {
    name: ConnectorName,
    /// Only show what changed
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &ConnectorAcceptArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let (now, only_show) = (context.now(), arguments.dry_run);
    let name = arguments.name.to_string();
    let (accepted, changed) = context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find_open(&db).await?;
        let by = arguments.operator.resolve_actor(context, &db, tenant.id).await?;
        let asked = name.clone();
        let found = db.write(tenant.id, move |tx| -> munshi_connectors::Result<_> {
            if !rows::load_entries(tx)?.1.0.keys().any(|known| known.as_str() == asked) {
                return Ok(None);
            }
            let seen = rows::list_manifests(tx, &asked)?;
            let last = seen.iter().find(|seen| seen.accepted_at.is_some());
            let newest = seen.first().map(|newest| newest.tools.clone()).unwrap_or_default();
            let changed = last.map(|last| rows::differences(&last.tools, &newest)).unwrap_or_default();
            let accepted = match only_show {
                true => seen.first().map(|newest| newest.accepted_at.is_none()),
                false => rows::accept_manifest(tx, &asked, &by, now, &IdGenerator::system())?,
            };
            Ok(Some((accepted, changed)))
        });
        found.await?.ok_or_else(|| not_found_failure(&arguments.name))
    })?;
    let Some(accepted) = accepted else {
        let failure = CommandFailure::not_found(format!("connector {name} has never listed its tools"));
        return Err(failure.hint("run it once: `munshi serve`, then `munshi connector list`"));
    };
    context.output.print_result(
        &json!({ "connector": name, "accepted": accepted && !only_show, "changed": changed }),
        |_, _| {
            if !accepted {
                return format!("The tools of {name} are unchanged since they were accepted.\n");
            }
            let lines: String = changed.iter().map(|line| format!("  {}\n", sanitize_line(line))).collect();
            let end = match only_show {
                true => "Nothing was accepted.\n",
                false => "Accepted. Their declarations take effect within seconds.\n",
            };
            format!("{lines}{end}")
        },
    )
}
