//! `munshi operator list`

use clap::Args;
use munshi_identity::Role;
use munshi_identity::operators::{self, OPERATORS, Operator, roles};
use munshi_store::{PlatformTx, tenants};
use munshi_types::TenantName;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::Result;
use serde::Serialize;

use super::invitations;
use crate::context::CommandContext;
use crate::output::TextStyler;
use crate::output::formatting::format_time;
use crate::output::table::OutputTable;

#[derive(Debug, Args)]
pub(crate) struct OperatorListArguments {
    /// Only operators of this tenant, and keepers
    #[arg(long, value_name = "NAME")]
    tenant: Option<TenantName>,
    /// List open invitations instead
    #[arg(long)]
    invited: bool,
}

#[derive(Debug, Serialize)]
struct Item {
    #[serde(flatten)]
    operator: Operator,
    roles: Vec<Given>,
}

#[derive(Debug, Serialize)]
struct Given {
    tenant: TenantName,
    role: Role,
}

pub(super) fn run(context: &CommandContext, arguments: &OperatorListArguments) -> Result<()> {
    if arguments.invited {
        return invitations::run(context, arguments.tenant.as_ref());
    }
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let mut items = context.block_on(async {
        let db = database.open().await?;
        Ok(db.platform(OPERATORS).read(read).await?)
    })?;
    if let Some(name) = &arguments.tenant {
        items.retain(|item| item.operator.keeper || item.roles.iter().any(|given| given.tenant == *name));
    }
    context.output.print_result(&items, render_text)
}

fn read(tx: &mut PlatformTx<'_>) -> Result<Vec<Item>, munshi_identity::Error> {
    let mut items = Vec::new();
    for operator in operators::list(tx)? {
        let mut given = Vec::new();
        for (tenant, role) in roles::list(tx, operator.id)? {
            given.extend(tenants::find(tx, tenant)?.map(|tenant| Given { tenant: tenant.name, role }));
        }
        items.push(Item { operator, roles: given });
    }
    Ok(items)
}

fn render_text(items: &Vec<Item>, painter: TextStyler) -> String {
    if items.is_empty() {
        return "There is no operator yet. Create a link for the first one with `munshi operator link`."
            .to_owned();
    }
    let mut table = OutputTable::new(&["E-MAIL", "NAME", "ACCESS", "SINCE (UTC)"]);
    for Item { operator, roles } in items {
        let mut places: Vec<String> =
            roles.iter().map(|given| format!("{} ({})", given.tenant, given.role)).collect();
        if operator.keeper {
            places.insert(0, "everything (keeper)".to_owned());
        }
        let places = if places.is_empty() { "-".to_owned() } else { places.join(", ") };
        table.add_row([
            operator.email.as_str().into(),
            operator.name.as_str().into(),
            places.into(),
            format_time(operator.made_at).into(),
        ]);
    }
    table.render(painter)
}
