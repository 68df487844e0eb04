//! `munshi connector remove NAME`

use clap::Args;
use munshi_connectors::rows;
use munshi_types::ConnectorName;
use serde_json::json;

use super::{missing, put};
use crate::commands::tenant::Of;
use crate::commands::vault::Operator;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::wiring::database::Database;
use crate::wiring::given_back::Going;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    name: ConnectorName,
    #[command(flatten)]
    of: Of,
    #[command(flatten)]
    operator: Operator,
}

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<()> {
    let config = context.config()?;
    let database = Database::for_one_question(&config)?;
    let now = context.now();
    let (version, gone) = context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find_open(&db).await?;
        let by = arguments.operator.known_in(context, &db, tenant.id).await?;
        let name = arguments.name.clone();
        let going = Going::of((context, &config), &db, &[(tenant.id, name.clone())]).await?;
        let version = db.write(tenant.id, move |tx| -> munshi_connectors::Result<Option<i64>> {
            let (_, mut declared) = rows::current(tx)?;
            if declared.0.remove(&name).is_none() {
                return Ok(None);
            }
            put(tx, &declared, &by, &format!("remove {name}"), now).map(Some)
        });
        let version = version.await?.ok_or_else(|| missing(&arguments.name))?;
        // Forgotten here first: whatever the service says, nobody uses it any more.
        Ok::<_, Failure>((version, going.give_back().await.pop()))
    })?;
    let name = &arguments.name;
    let shown =
        json!({ "connector": name, "version": version, "login": gone.as_ref().map(|gone| gone.login) });
    let words = gone.map(|gone| gone.words).unwrap_or_default();
    context.output.answer(&shown, |_, _| {
        format!(
            "Removed the connector {name}. A running server stops it within seconds; its folder and log stay.\n{words}"
        )
    })
}
