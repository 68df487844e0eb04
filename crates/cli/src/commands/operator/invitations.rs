//! `munshi operator list --invited`

use munshi_identity::Role;
use munshi_identity::links::{self, InvitationScope, LinkPurpose, OneTimeLink};
use munshi_identity::operators::OPERATORS;
use munshi_store::{PlatformTx, tenants};
use munshi_types::{TenantName, Timestamp};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::Result;
use serde::Serialize;

use crate::context::CommandContext;
use crate::output::TextStyler;
use crate::output::formatting::format_time;
use crate::output::table::OutputTable;

#[derive(Debug, Serialize)]
struct Item {
    email: String,
    /// None for a keeper of the installation.
    tenant: Option<TenantName>,
    role: Option<Role>,
    made_by: String,
    ends_at: Timestamp,
}

pub(super) fn run(context: &CommandContext, only: Option<&TenantName>) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let now = context.now();
    let mut items = context.block_on(async {
        let db = database.open().await?;
        Ok(db.platform(OPERATORS).read(move |tx| read(tx, now)).await?)
    })?;
    items.retain(|item| only.is_none_or(|only| item.tenant.as_ref() == Some(only)));
    context.output.print_result(&items, render_text)
}

fn read(tx: &mut PlatformTx<'_>, now: Timestamp) -> Result<Vec<Item>, munshi_identity::Error> {
    let mut items = Vec::new();
    for OneTimeLink { purpose, made_by, ends_at, .. } in links::list_all_invitations(tx, now)? {
        let LinkPurpose::Invitation { email, place } = purpose else { continue };
        let (tenant, role) = match place {
            InvitationScope::Everywhere => (None, None),
            InvitationScope::Workspace { tenant, role } => {
                (tenants::find(tx, tenant)?.map(|found| found.name), Some(role))
            }
        };
        items.push(Item { email, tenant, role, made_by, ends_at });
    }
    Ok(items)
}

fn render_text(items: &Vec<Item>, painter: TextStyler) -> String {
    if items.is_empty() {
        return "No open invitations. Invite somebody with `munshi operator invite EMAIL`.".to_owned();
    }
    let mut table = OutputTable::new(&["E-MAIL", "ACCESS", "BY", "EXPIRES (UTC)"]);
    for Item { email, tenant, role, made_by, ends_at } in items {
        let place = match (tenant, role) {
            (Some(tenant), Some(role)) => format!("{tenant} ({role})"),
            _ => "everything (keeper)".to_owned(),
        };
        table.add_row([
            email.as_str().into(),
            place.into(),
            made_by.as_str().into(),
            format_time(*ends_at).into(),
        ]);
    }
    table.render(painter)
}
