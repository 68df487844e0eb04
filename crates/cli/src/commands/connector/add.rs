//! `munshi connector add NAME`

use clap::Args;
use munshi_operations::connectors::{AddConnector, AddConnectorInput, AddedConnectorView};
use munshi_operations::folders::CONNECTORS_FILE;
use munshi_types::ConnectorName;
use munshi_wiring::failure::Result;

use super::ConnectorTransportArguments;
use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::table::sanitize_line;

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

pub(super) fn run(context: &CommandContext, arguments: ConnectorAddArguments) -> Result<()> {
    let ConnectorAddArguments { name, reach, replace, of, operator } = arguments;
    let input = AddConnectorInput { replace, ..reach.into_input(context, name)? };
    let target = OperationTarget { of: &of, operator: Some(&operator) };
    let added = context.run_operation::<AddConnector>(&target, &input)?;
    context.output.print_result(&added, |added, painter| {
        let AddedConnectorView { tenant, connector, login_notes, warnings, .. } = added;
        let warned = warnings.iter().map(|words| painter.doubtful(&format!("! {}\n", sanitize_line(words))));
        let gone: String = login_notes.iter().map(|note| sanitize_line(note) + "\n").chain(warned).collect();
        format!(
            "Added the connector {connector}. A running server starts it within seconds; `munshi connector list` shows its state.\n\
             Next: `munshi connector test {connector}`, allow it in policy.toml under [connectors.{connector}], and add it to an \
             agent's `connectors`.\n\
             If {tenant} has a folder, `munshi export` writes its {CONNECTORS_FILE}; applying an older one reverts this.\n{gone}"
        )
    })
}
