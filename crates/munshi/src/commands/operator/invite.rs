//! `munshi operator invite EMAIL`

use clap::Args;
use munshi_identity::Role;
use munshi_identity::links::{self, NewLink, Place, Purpose};
use munshi_identity::operators::OPERATORS;
use munshi_store::PlatformTx;
use munshi_types::{Ids, SystemRandom, TenantId};
use serde_json::json;

use super::{Shown, Telling};
use crate::commands::tenant::Of;
use crate::commands::vault::Operator;
use crate::context::Context;
use crate::failure::Result;
use crate::wiring::account;
use crate::wiring::database::Database;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Who is invited
    email: String,
    #[command(flatten)]
    what: What,
    #[command(flatten)]
    of: Of,
    #[command(flatten)]
    operator: Operator,
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

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<()> {
    let config = context.config()?;
    let database = Database::for_one_question(&config)?;
    let life = account::invitation_life(&config);
    let (link, token) = context.block_on(async {
        let db = database.open().await?;
        let place = match arguments.what.role {
            Some(role) => Place::Workspace { tenant: arguments.of.find_open(&db).await?.id, role },
            None => Place::Everywhere,
        };
        let tenants = match place {
            Place::Workspace { tenant, .. } => vec![tenant],
            Place::Everywhere => Vec::new(),
        };
        let actor = arguments.operator.known_in(context, &db, TenantId::PLATFORM).await?;
        let telling = Telling { actor, ids: Ids::system(), now: context.now() };
        let purpose = Purpose::Invitation { email: arguments.email.clone(), place };
        let unit = move |tx: &mut PlatformTx<'_>| -> Result<_> {
            let by = telling.actor.id.clone();
            let new = NewLink { purpose: &purpose, made_by: &by, life };
            let (link, token) = links::make(tx, &telling.ids, &SystemRandom, &new, telling.now)?;
            let payload = json!({ "kind": "invitation", "place": place });
            telling.tell(tx, &tenants, "link.made", link.id.to_string(), payload)?;
            Ok((link, token))
        };
        db.platform(OPERATORS).write(unit).await
    })?;
    Shown::of(&config, &token, link.ends_at).answer(
        context,
        &format!("Send this link to {}; `munshi operator withdraw` takes it back.", arguments.email),
    )
}
