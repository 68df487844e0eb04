//! `munshi connector remove NAME`

use clap::Args;
use munshi_connectors::rows;
use munshi_types::ConnectorName;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};
use munshi_wiring::revoke_logins::LoginRevocationPlan;
use serde_json::json;

use super::{not_found_failure, save_entries};
use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct ConnectorRemoveArguments {
    name: ConnectorName,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &ConnectorRemoveArguments) -> Result<()> {
    let config = context.config()?;
    let database = ConfiguredDatabase::single_connection(&config)?;
    let now = context.now();
    let (version, gone) = context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find_open(&db).await?;
        let by = arguments.operator.resolve_actor(context, &db, tenant.id).await?;
        let name = arguments.name.clone();
        let going =
            LoginRevocationPlan::load(&config, &db, &context.clock, &[(tenant.id, name.clone())]).await?;
        let version = db.write(tenant.id, move |tx| -> munshi_connectors::Result<Option<i64>> {
            let (_, mut declared) = rows::load_entries(tx)?;
            if declared.0.remove(&name).is_none() {
                return Ok(None);
            }
            save_entries(tx, &declared, &by, &format!("remove {name}"), now).map(Some)
        });
        let version = version.await?.ok_or_else(|| not_found_failure(&arguments.name))?;
        // Forgotten here first: whatever the service says, nobody uses it any more.
        Ok::<_, CommandFailure>((version, going.revoke().await.pop()))
    })?;
    let name = &arguments.name;
    let shown =
        json!({ "connector": name, "version": version, "login": gone.as_ref().map(|gone| gone.login) });
    let words = gone.map(|gone| gone.words).unwrap_or_default();
    context.output.print_result(&shown, |_, _| {
        format!(
            "Removed the connector {name}. A running server stops it within seconds; its folder and log are kept.\n{words}"
        )
    })
}
