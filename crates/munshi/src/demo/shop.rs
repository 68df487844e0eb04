//! The ready tenant of the ledger pack, with an owner and a history.

use munshi_channels::{accounts, rows};
use munshi_cli::context::CommandContext;
use munshi_config::Config;
use munshi_identity::{Person, Role, persons};
use munshi_ledger::books::balances;
use munshi_ledger::demo::{self, DemoContext, DemoHistory};
use munshi_store::{Db, PlatformTx, Tx, tenants};
use munshi_types::tier::TierName;
use munshi_types::{IdGenerator, PersonId, SeededRandom, Tenant, TenantId, Timestamp, Zone};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};
use munshi_wiring::{create_tenant, packs};

/// The ready tenant, its binding, and the handle of its page.
const TENANT: &str = "kirana";
const BINDING: &str = "counter";
const HANDLE: &str = "kirana-counter";
const OWNER: &str = "Savita Kulkarni";

pub(super) struct DemoShop {
    pub(super) tenant: TenantId,
    pub(super) owner: PersonId,
    pub(super) binding: TierName,
    pub(super) handle: &'static str,
    pub(super) entries: i64,
}

/// Opens it. One that was kept from before goes on as it is.
pub(super) async fn open(
    context: &CommandContext,
    config: &Config,
    days: u16,
    seed: u64,
) -> Result<DemoShop> {
    let packs = packs::load_registry()?;
    let ready = packs.tenants.iter().find(|(_, ready)| ready.name == TENANT);
    let (_, ready) = ready.ok_or_else(|| CommandFailure::failed("this build has no demo shop"))?;
    create_tenant::apply_template(config, ready, context.now()).await?;
    let db = ConfiguredDatabase::from_config(config)?.open().await?;
    let tenant = get_tenant(&db).await?;
    let owner = find_or_add_owner(&db, tenant.id, context.now()).await?;
    declare_log(&db, tenant.id, context.now()).await?;
    fill(&db, &tenant, context.now(), days, seed).await?;
    let entries =
        db.read(tenant.id, balances::load_totals).await.map_err(|error| to_command_failure(&error))?.entries;
    let binding = BINDING.parse().map_err(|error| CommandFailure::failed(format!("{error}")))?;
    Ok(DemoShop { tenant: tenant.id, owner, binding, handle: HANDLE, entries })
}

async fn get_tenant(db: &Db) -> Result<Tenant> {
    let name = TENANT.parse().map_err(|error| CommandFailure::failed(format!("{error}")))?;
    let find = move |tx: &mut PlatformTx<'_>| tenants::find_by_name(tx, &name);
    let found = db.platform(tenants::TENANTS).read(find).await?;
    found.ok_or_else(|| CommandFailure::failed("can't create the demo shop"))
}

/// Its owner, who is whoever sits here.
async fn find_or_add_owner(db: &Db, tenant: TenantId, now: Timestamp) -> Result<PersonId> {
    let unit = move |tx: &mut Tx<'_>| -> Result<PersonId, munshi_identity::Error> {
        let known = persons::list_members(tx)?.into_iter().find(|person| person.role == Some(Role::Owner));
        if let Some(owner) = known {
            return Ok(owner.id);
        }
        let owner = Person { role: Some(Role::Owner), ..Person::new(&IdGenerator::system(), OWNER, now) };
        persons::upsert(tx, &owner)?;
        Ok(owner.id)
    };
    db.write(tenant, unit).await.map_err(|error| CommandFailure::failed(error.to_string()))
}

/// What would leave is shown, and reaches nobody.
async fn declare_log(db: &Db, tenant: TenantId, now: Timestamp) -> Result<()> {
    let unit = move |tx: &mut Tx<'_>| -> Result<(), munshi_channels::Error> {
        if rows::load_accounts(tx)?.0 == 0 {
            let declared = accounts::parse("[shown]\nkind = \"log\"\n")?;
            rows::save_accounts(tx, &declared, "demo", "", now)?;
        }
        Ok(())
    };
    db.write(tenant, unit).await.map_err(|error| CommandFailure::failed(error.to_string()))
}

/// Writes the history through the books' own door, some days at a time.
async fn fill(db: &Db, tenant: &Tenant, now: Timestamp, days: u16, seed: u64) -> Result<()> {
    let zone: Zone = tenant.zone.clone();
    let unit = move |tx: &mut Tx<'_>| -> munshi_ledger::Result<()> {
        let (ids, random) = (IdGenerator::system(), SeededRandom::new(seed));
        let telling = DemoContext { ids: &ids, random: &random, now, zone: &zone };
        let play: Option<DemoHistory> = demo::create(tx, &telling, days)?;
        if let Some(mut play) = play {
            while demo::write_next_day(tx, &telling, &mut play)? {}
        }
        Ok(())
    };
    // All or nothing: one that is broken off is begun again.
    db.write(tenant.id, unit).await.map_err(|error| to_command_failure(&error))
}

fn to_command_failure(error: &munshi_ledger::Error) -> CommandFailure {
    CommandFailure::failed(format!("can't write the demo ledger: {error}"))
}
