//! `munshi key add NAME`

use std::time::Duration;

use clap::Args;
use munshi_identity::Role;
use munshi_identity::keys::{self, AreaGrant, KeyMaker, KeySpeaker, KeySubject, NewApiKey};
use munshi_store::{Db, Tx};
use munshi_tiers::history;
use munshi_types::tier::{TierKind, TierName, TierStatus};
use munshi_types::{BindingId, Id, IdGenerator, SystemRandom, Tenant, Timestamp};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};

use super::{Shown, Telling};
use crate::commands::person;
use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::output::formatting::format_time;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug, Args)]
pub(crate) struct KeyAddArguments {
    /// Display name, such as the program that uses it
    name: String,
    #[command(flatten)]
    standing: Standing,
    /// Who speaks through it: `person` if somebody types what is sent, such as at a till; otherwise `program`. A person
    /// must confirm what a program writes
    #[arg(long, value_name = "person|program")]
    speaks_as: KeySpeaker,
    /// API area it may access, such as chat or persons:read; repeatable. Default: everything the role allows
    #[arg(long, value_name = "AREA")]
    area: Vec<AreaGrant>,
    /// Binding it may access; repeatable. Default: all
    #[arg(long, value_name = "NAME")]
    binding: Vec<TierName>,
    /// Days until it expires. Default: never
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=3650))]
    days: Option<u32>,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

/// Whose standing it carries.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Standing {
    /// owner, admin, staff or viewer
    #[arg(long)]
    role: Option<Role>,
    /// Person it acts for: name, phone, e-mail, @handle or id
    #[arg(long)]
    person: Option<String>,
}

pub(super) fn run(context: &CommandContext, arguments: KeyAddArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let shown = context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find_open(&db).await?;
        let bindings = bindings(&db, &tenant, &arguments.binding).await?;
        let actor = arguments.operator.resolve_actor(context, &db, tenant.id).await?;
        let telling = Telling { actor, ids: IdGenerator::system(), now: context.now() };
        db.write(tenant.id, move |tx| make(tx, arguments, bindings, &telling)).await
    })?;
    context.output.print_result(&shown, |shown, _| {
        let end =
            shown.key.expires_at.map_or_else(String::new, |end| format!(" until {} UTC", format_time(end)));
        let name = &shown.key.name;
        format!("Created {name}, valid{end}. Store the key now; it is not shown again:\n\n{}\n", shown.text)
    })
}

fn make(
    tx: &mut Tx<'_>,
    arguments: KeyAddArguments,
    bindings: Option<Vec<BindingId>>,
    telling: &Telling,
) -> Result<Shown> {
    let new = NewApiKey {
        carries: resolve_subject(tx, &arguments.standing)?,
        name: arguments.name,
        areas: (!arguments.area.is_empty()).then_some(arguments.area),
        bindings,
        expires_at: arguments.days.map(|days| end(telling.now, days)),
        speaks_as: arguments.speaks_as,
        made_by: telling.actor.id.clone(),
        maker: KeyMaker::from_name(telling.actor.id.clone()),
    };
    let made = keys::add(tx, &telling.ids, &SystemRandom, &new, telling.now)?;
    telling.record(tx, "api_key.made", &made.key)?;
    Ok(Shown::from_issued(made))
}

fn end(now: Timestamp, days: u32) -> Timestamp {
    now.plus(DAY.saturating_mul(days))
}

fn resolve_subject(tx: &mut Tx<'_>, standing: &Standing) -> Result<KeySubject> {
    match (standing.role, &standing.person) {
        (Some(role), _) => Ok(KeySubject::Role(role)),
        (None, Some(given)) => Ok(KeySubject::Person(person::find(tx, given)?.id)),
        (None, None) => Err(CommandFailure::usage("no role or person given").hint("use --role or --person")),
    }
}

/// By name, as people know them; a key keeps their ids.
async fn bindings(db: &Db, tenant: &Tenant, names: &[TierName]) -> Result<Option<Vec<BindingId>>> {
    if names.is_empty() {
        return Ok(None);
    }
    let mut tiers = history::list_tiers(db, &tenant.name).await?;
    tiers.retain(|tier| tier.kind == TierKind::Binding && tier.status == TierStatus::Active);
    let id = |name: &TierName| {
        let found = tiers.iter().find(|tier| tier.name == *name);
        found.map(|tier| BindingId::from_uuid(tier.id.as_uuid())).ok_or_else(|| {
            CommandFailure::not_found(format!("{} has no binding called {name}", tenant.name))
                .hint(format!("`munshi tier list {}` shows them all", tenant.name))
        })
    };
    names.iter().map(id).collect::<Result<_>>().map(Some)
}
