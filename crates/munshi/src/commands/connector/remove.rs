//! `munshi connector remove NAME`

use clap::Args;
use munshi_connectors::login::GivenBack;
use munshi_connectors::rows;
use munshi_types::ConnectorName;
use serde_json::json;

use super::{missing, put};
use crate::commands::tenant::Of;
use crate::commands::vault::Operator;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::wiring::connectors;
use crate::wiring::database::Database;

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
    let (version, given_back) = context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find_open(&db).await?;
        let by = arguments.operator.known_in(context, &db, tenant.id).await?;
        let name = arguments.name.clone();
        let logins = connectors::logins(&config, &db, &context.clock).await?;
        let last = logins.last_login(tenant.id, &name).await?;
        let version = db.write(tenant.id, move |tx| -> munshi_connectors::Result<Option<i64>> {
            let (_, mut declared) = rows::current(tx)?;
            if declared.0.remove(&name).is_none() {
                return Ok(None);
            }
            put(tx, &declared, &by, &format!("remove {name}"), now).map(Some)
        });
        let version = version.await?.ok_or_else(|| missing(&arguments.name))?;
        // Forgotten here first: whatever the service says, nobody uses it any more.
        let given_back = match &last {
            Some(last) => Some(logins.give_back(last).await),
            None => None,
        };
        Ok::<_, Failure>((version, given_back))
    })?;
    let name = &arguments.name;
    let (word, words) = given_back.as_ref().map_or((None, String::new()), |given| told(name, given));
    let shown = json!({ "connector": name, "version": version, "login": word });
    context.output.answer(&shown, |_, _| {
        format!(
            "Removed the connector {name}. A running server stops it within seconds; its folder and log stay.\n{words}"
        )
    })
}

/// What became of its login, in a word and in words.
fn told(name: &ConnectorName, given: &GivenBack) -> (Option<&'static str>, String) {
    match given {
        GivenBack::Revoked => {
            (Some("revoked"), "Its login is forgotten here, and revoked at its service.\n".to_owned())
        }
        GivenBack::NotTaken { at } => (
            Some("forgotten"),
            format!(
                "Its login is forgotten here. {at} can't be told: end it there, where you let {name} in.\n"
            ),
        ),
        GivenBack::NotHeard { at, why } => (
            Some("forgotten"),
            format!(
                "Its login is forgotten here, and not revoked: {why}. End it at {at}, where you let {name} in.\n"
            ),
        ),
    }
}
