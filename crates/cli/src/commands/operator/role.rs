//! `munshi operator role EMAIL ROLE`

use clap::Args;
use munshi_identity::Role;
use munshi_identity::operators::{OPERATORS, roles};
use munshi_store::PlatformTx;
use munshi_types::{IdGenerator, TenantName};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::Result;
use serde::Serialize;
use serde_json::json;

use super::{Telling, find};
use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct OperatorRoleArguments {
    /// E-mail of the operator
    email: String,
    /// owner, admin, staff, viewer, or none
    #[arg(value_parser = parse_role)]
    role: Wanted,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

#[derive(Clone, Copy, Debug)]
struct Wanted(Option<Role>);

fn parse_role(text: &str) -> Result<Wanted, String> {
    match text {
        "none" => Ok(Wanted(None)),
        text => text
            .parse()
            .map(|role| Wanted(Some(role)))
            .map_err(|error: munshi_identity::RoleError| error.to_string()),
    }
}

#[derive(Debug, Serialize)]
struct Changed {
    email: String,
    tenant: TenantName,
    before: Option<Role>,
    now: Option<Role>,
    /// Keys that they had made and that open nothing any more.
    revoked: Vec<String>,
}

pub(super) fn run(context: &CommandContext, arguments: &OperatorRoleArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let changed = context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find_open(&db).await?;
        let actor = arguments.operator.resolve_actor(context, &db, tenant.id).await?;
        let telling = Telling { actor, ids: IdGenerator::system(), now: context.now() };
        let (email, Wanted(role)) = (arguments.email.clone(), arguments.role);
        let unit = move |tx: &mut PlatformTx<'_>| -> Result<_> {
            let operator = find(tx, &email)?;
            let change = match role {
                Some(role) => roles::grant(tx, operator.id, tenant.id, role, telling.now)?,
                None => roles::revoke(tx, operator.id, tenant.id, telling.now)?,
            };
            let before = change.before;
            if before != role {
                let payload = json!({ "before": before, "now": role });
                telling.record(
                    tx,
                    &[tenant.id],
                    "operator.role_changed",
                    operator.id.to_string(),
                    payload,
                )?;
            }
            telling.record_revoked_keys(tx, tenant.id, &change.revoked)?;
            let revoked = change.revoked.into_iter().map(|key| key.name).collect();
            Ok(Changed { email: operator.email, tenant: tenant.name, before, now: role, revoked })
        };
        db.platform(OPERATORS).write(unit).await
    })?;
    context.output.print_result(&changed, |changed, _| {
        let Changed { email, tenant, now, revoked, .. } = changed;
        let keys = super::render_revoked_keys(revoked);
        match now {
            Some(role) => format!("{email} is now {role} of {tenant}.{keys}"),
            None => format!("{email} no longer has a role in {tenant}.{keys}"),
        }
    })
}
