//! `munshi connector add NAME`

use clap::Args;
use munshi_connectors::declared::{ConnectorEntries, ConnectorEntry};
use munshi_connectors::rows;
use munshi_types::{ConnectorName, TenantName};
use serde::Serialize;

use super::{ConnectorTransportArguments, put};
use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::failure::{CommandFailure, Exit, Result};
use crate::wiring::connectors::{self, CONNECTORS_FILE, taken};
use crate::wiring::database::ConfiguredDatabase;
use crate::wiring::given_back::{LoginRevocationPlan, LoginRevocationReport};
use crate::wiring::tools;

#[derive(Debug, Args)]
pub(crate) struct ConnectorAddArguments {
    /// Its name; the names of its tools begin with it
    name: ConnectorName,
    #[command(flatten)]
    reach: ConnectorTransportArguments,
    /// Put it in the place of one that has the name
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

#[derive(Debug, Serialize)]
struct Added {
    tenant: TenantName,
    connector: ConnectorName,
    version: i64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    /// What became of the login of the one before it, at another place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logins: Vec<LoginRevocationReport>,
}

pub(super) fn run(context: &CommandContext, arguments: ConnectorAddArguments) -> Result<()> {
    let ConnectorAddArguments { name, reach, replace, of, operator } = arguments;
    let entry = reach.entry()?;
    let warnings = [connectors::bare(&name, &entry), connectors::unreadable(&name, &entry)].concat();
    let config = context.config()?;
    let typed = ConnectorEntries([(name.clone(), entry.clone())].into());
    if let Some(what) = connectors::refused_path(&typed, &connectors::protected(&config)) {
        return Err(CommandFailure::usage(what));
    }
    let database = ConfiguredDatabase::for_one_question(&config)?;
    let registry = tools::registry()?;
    let (connector, now) = (name.clone(), context.now());
    let added = context.block_on(async {
        let db = database.open().await?;
        let tenant = of.find_open(&db).await?;
        let by = operator.known_in(context, &db, tenant.id).await?;
        let (_, known) = db.read(tenant.id, rows::current).await?;
        let before = ConnectorEntries(known.0.into_iter().filter(|(known, _)| *known == name).collect());
        let left: Vec<_> = before.left_behind(&typed).into_iter().map(|name| (tenant.id, name)).collect();
        let going = LoginRevocationPlan::of((context, &config), &db, &left).await?;
        let version = db.write(tenant.id, move |tx| -> munshi_connectors::Result<Option<i64>> {
            let (_, mut declared) = rows::current(tx)?;
            if declared.0.contains_key(&name) && !replace {
                return Ok(None);
            }
            // What was said of its tools stays.
            let tools = declared.0.remove(&name).map(|known| known.tools).unwrap_or_default();
            declared.0.insert(name.clone(), ConnectorEntry { tools, ..entry });
            if let Some(name) = taken(&registry, &declared) {
                return Err(munshi_connectors::Error::Invalid(format!(
                    "{name} is a pack's name: choose another"
                )));
            }
            put(tx, &declared, &by, &format!("add {name}"), now).map(Some)
        });
        let version = version.await?.ok_or_else(|| {
            CommandFailure::new(Exit::AlreadyThere, format!("there is a connector called {connector}"))
                .hint("--replace puts this one in its place")
        })?;
        let logins = going.give_back().await;
        Ok(Added { tenant: tenant.name, connector, version, warnings, logins })
    })?;
    context.output.answer(&added, |added, painter| {
        let Added { tenant, connector, logins, warnings, .. } = added;
        let warned = warnings.iter().map(|words| painter.doubtful(&format!("! {words}\n")));
        let gone: String = logins.iter().map(|gone| gone.words.clone()).chain(warned).collect();
        format!(
            "Added the connector {connector}. A running server starts it within seconds; `munshi connector list` shows how it is.\n\
             Next: `munshi connector test {connector}`, open it in policy.toml under [connectors.{connector}], and name it in an \
             agent's `connectors`.\n\
             If {tenant} has a folder, `munshi export` writes its {CONNECTORS_FILE}; applying an older one takes this back.\n{gone}"
        )
    })
}
