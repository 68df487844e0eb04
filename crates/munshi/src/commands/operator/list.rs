//! `munshi operator list`

use clap::Args;
use munshi_identity::Role;
use munshi_identity::operators::{self, OPERATORS, Operator as Account, roles};
use munshi_store::{PlatformTx, tenants};
use munshi_types::TenantName;
use serde::Serialize;

use super::invitations;
use crate::context::CommandContext;
use crate::failure::Result;
use crate::output::TextStyler;
use crate::output::shown::moment;
use crate::output::table::OutputTable;
use crate::wiring::database::ConfiguredDatabase;

#[derive(Debug, Args)]
pub(crate) struct OperatorListArguments {
    /// Only those of this tenant, and keepers
    #[arg(long, value_name = "NAME")]
    tenant: Option<TenantName>,
    /// Who is invited and has not come yet
    #[arg(long)]
    invited: bool,
}

#[derive(Debug, Serialize)]
struct Item {
    #[serde(flatten)]
    operator: Account,
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
    let database = ConfiguredDatabase::for_one_question(&context.config()?)?;
    let mut items = context.block_on(async {
        let db = database.open().await?;
        Ok(db.platform(OPERATORS).read(read).await?)
    })?;
    if let Some(name) = &arguments.tenant {
        items.retain(|item| item.operator.keeper || item.roles.iter().any(|given| given.tenant == *name));
    }
    context.output.answer(&items, words)
}

fn read(tx: &mut PlatformTx<'_>) -> Result<Vec<Item>, munshi_identity::Error> {
    let mut items = Vec::new();
    for operator in operators::all(tx)? {
        let mut given = Vec::new();
        for (tenant, role) in roles::roles_of(tx, operator.id)? {
            given.extend(tenants::find(tx, tenant)?.map(|tenant| Given { tenant: tenant.name, role }));
        }
        items.push(Item { operator, roles: given });
    }
    Ok(items)
}

fn words(items: &Vec<Item>, painter: TextStyler) -> String {
    if items.is_empty() {
        return "There is no operator yet. `munshi operator link` makes a link for the first.".to_owned();
    }
    let mut table = OutputTable::new(&["E-MAIL", "NAME", "LOOKS AFTER", "SINCE (UTC)"]);
    for Item { operator, roles } in items {
        let mut places: Vec<String> =
            roles.iter().map(|given| format!("{} ({})", given.tenant, given.role)).collect();
        if operator.keeper {
            places.insert(0, "everything (keeper)".to_owned());
        }
        let places = if places.is_empty() { "-".to_owned() } else { places.join(", ") };
        table.row([
            operator.email.as_str().into(),
            operator.name.as_str().into(),
            places.into(),
            moment(operator.made_at).into(),
        ]);
    }
    table.render(painter)
}
