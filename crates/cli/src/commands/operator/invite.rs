//! `munshi operator invite EMAIL`

use clap::Args;
use munshi_identity::Role;
use munshi_identity::links::{self, InvitationScope, LinkPurpose, NewOneTimeLink};
use munshi_identity::operators::OPERATORS;
use munshi_store::PlatformTx;
use munshi_types::{IdGenerator, SystemRandom, TenantId};
use munshi_wiring::account;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::Result;
use serde_json::json;

use super::{Shown, Telling};
use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct OperatorInviteArguments {
    /// E-mail to invite
    email: String,
    #[command(flatten)]
    what: What,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct What {
    /// owner, admin, staff or viewer of the tenant
    #[arg(long)]
    role: Option<Role>,
    /// Keeper of the installation: owner of every tenant
    #[arg(long)]
    keeper: bool,
}

pub(super) fn run(context: &CommandContext, arguments: &OperatorInviteArguments) -> Result<()> {
    let config = context.config()?;
    let database = ConfiguredDatabase::single_connection(&config)?;
    let life = account::invitation_life(&config);
    let (link, token) = context.block_on(async {
        let db = database.open().await?;
        let place = match arguments.what.role {
            Some(role) => InvitationScope::Workspace { tenant: arguments.of.find_open(&db).await?.id, role },
            None => InvitationScope::Everywhere,
        };
        let tenants = match place {
            InvitationScope::Workspace { tenant, .. } => vec![tenant],
            InvitationScope::Everywhere => Vec::new(),
        };
        let actor = arguments.operator.resolve_actor(context, &db, TenantId::PLATFORM).await?;
        let telling = Telling { actor, ids: IdGenerator::system(), now: context.now() };
        let purpose = LinkPurpose::Invitation { email: arguments.email.clone(), place };
        let unit = move |tx: &mut PlatformTx<'_>| -> Result<_> {
            let by = telling.actor.id.clone();
            let new = NewOneTimeLink { purpose: &purpose, made_by: &by, life };
            let (link, token) = links::make(tx, &telling.ids, &SystemRandom, &new, telling.now)?;
            let payload = json!({ "kind": "invitation", "place": place });
            telling.record(tx, &tenants, "link.made", link.id.to_string(), payload)?;
            Ok((link, token))
        };
        db.platform(OPERATORS).write(unit).await
    })?;
    Shown::new(&config, &token, link.ends_at).print_result(
        context,
        &format!("Send this link to {}; `munshi operator withdraw` revokes it.", arguments.email),
    )
}
