//! `munshi connector add NAME`

use clap::Args;
use munshi_connectors::entries::{ConnectorEntries, ConnectorEntry};
use munshi_connectors::rows;
use munshi_operations::folders::CONNECTORS_FILE;
use munshi_types::{ConnectorName, TenantName};
use munshi_wiring::connectors::{self, find_pack_conflict};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Exit, Result};
use munshi_wiring::revoke_logins::{LoginRevocationPlan, LoginRevocationReport};
use munshi_wiring::tools;
use serde::Serialize;

use super::{ConnectorTransportArguments, save_entries};
use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct ConnectorAddArguments {
    /// Name, and prefix of its tools' names
    name: ConnectorName,
    #[command(flatten)]
    reach: ConnectorTransportArguments,
    /// Replace an existing connector of this name
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
    let warnings =
        [connectors::list_secret_warnings(&name, &entry), connectors::list_path_warnings(&name, &entry)]
            .concat();
    let config = context.config()?;
    let typed = ConnectorEntries([(name.clone(), entry.clone())].into());
    if let Some(what) = connectors::refused_path(&typed, &connectors::list_protected_paths(&config)) {
        return Err(CommandFailure::usage(what));
    }
    let database = ConfiguredDatabase::single_connection(&config)?;
    let registry = tools::registry()?;
    let (connector, now) = (name.clone(), context.now());
    let added = context.block_on(async {
        let db = database.open().await?;
        let tenant = of.find_open(&db).await?;
        let by = operator.resolve_actor(context, &db, tenant.id).await?;
        let (_, known) = db.read(tenant.id, rows::load_entries).await?;
        let before = ConnectorEntries(known.0.into_iter().filter(|(known, _)| *known == name).collect());
        let left: Vec<_> =
            before.list_stale_logins(&typed).into_iter().map(|name| (tenant.id, name)).collect();
        let going = LoginRevocationPlan::load(&config, &db, &context.clock, &left).await?;
        let version = db.write(tenant.id, move |tx| -> munshi_connectors::Result<Option<i64>> {
            let (_, mut declared) = rows::load_entries(tx)?;
            if declared.0.contains_key(&name) && !replace {
                return Ok(None);
            }
            // What was said of its tools stays.
            let tools = declared.0.remove(&name).map(|known| known.tools).unwrap_or_default();
            declared.0.insert(name.clone(), ConnectorEntry { tools, ..entry });
            if let Some(name) = find_pack_conflict(&registry, &declared) {
                return Err(munshi_connectors::Error::Invalid(format!(
                    "{name} is the name of a pack: choose another"
                )));
            }
            save_entries(tx, &declared, &by, &format!("add {name}"), now).map(Some)
        });
        let version = version.await?.ok_or_else(|| {
            CommandFailure::new(Exit::AlreadyThere, format!("connector {connector} already exists"))
                .hint("use --replace to replace it")
        })?;
        let logins = going.revoke().await;
        Ok(Added { tenant: tenant.name, connector, version, warnings, logins })
    })?;
    context.output.print_result(&added, |added, painter| {
        let Added { tenant, connector, logins, warnings, .. } = added;
        let warned = warnings.iter().map(|words| painter.doubtful(&format!("! {words}\n")));
        let gone: String = logins.iter().map(|gone| gone.words.clone()).chain(warned).collect();
        format!(
            "Added the connector {connector}. A running server starts it within seconds; `munshi connector list` shows its state.\n\
             Next: `munshi connector test {connector}`, allow it in policy.toml under [connectors.{connector}], and add it to an \
             agent's `connectors`.\n\
             If {tenant} has a folder, `munshi export` writes its {CONNECTORS_FILE}; applying an older one reverts this.\n{gone}"
        )
    })
}
