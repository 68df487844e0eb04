//! Two small businesses behind one router.

mod acts;
mod browser;
mod client;
mod files;
mod hosts;
mod house_parts;
mod pages;
mod rows;
mod tools;
mod webhooks;

pub(crate) use acts::add_undoable;
pub(crate) use browser::{Browser, PASSWORD, encoded};
pub(crate) use client::{OpenStream, Reply, Told, chat, follow, text_of};
pub(crate) use files::LARGEST_FILE;
pub(crate) use hosts::{HOST_SECRET, claims, signed};
pub(crate) use pages::PAGE_KEY;
pub(crate) use rows::{add_consents, add_outgoing, bury_job};
pub(crate) use tools::World;
pub(crate) use webhooks::HOOK_SECRET;

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use munshi_agent::TurnSettings;
use munshi_connectors::ConnectorLogins;
use munshi_conversations::outbox::{ChannelSender, FixedSenders};
use munshi_identity::codes::CodeKey;
use munshi_identity::hosts::HostTokenVerifier;
use munshi_identity::keys::{
    self, ApiKeyCache, AreaGrant, KeyMaker, KeySpeaker, KeySubject, NewApiKey, NewKeeperKey,
};
use munshi_identity::passwords::{PasswordCost, PasswordService};
use munshi_identity::persons::{self, PersonFilter};
use munshi_identity::{Role, links};
use munshi_llm::Provider;
use munshi_operations::HouseParts;
use munshi_pack::{PackRegistry, PackServices};
use munshi_safety::budget::{BudgetSettings as Budgets, UsagePlan};
use munshi_safety::vault::Vault;
use munshi_store::{Db, Migration, PageRequest, Tx};
use munshi_test_app::{TenantFiles, TestApp, TestAppBuilder, list_migrations, notes};
use munshi_test_support::TestDb;
use munshi_test_support::database::MORNING;
use munshi_test_support::models::{ScriptedModel, ScriptedTurn};
use munshi_test_support::{administer, administer_platform};
use munshi_types::{BindingId, Clock, IdGenerator, PersonId, SystemRandom, TenantId};
use munshi_web::account::authenticator::SignInAuthenticator;
use munshi_web::api::{ApiParts, CodeKeySource, StreamPace};
use munshi_web::{
    Api, App, Metrics, ServerOptions, SignInServices, VisitorServices, build_router, pack_operation_routes,
    routes,
};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

const AGENT: &str = "name = \"Plain\"\ntools = [\"count\", \"note\", \"wipe\", \"show\"]\n\
                     [policy]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n";

/// Every table that the API needs.
pub(crate) fn migrations() -> Vec<&'static [Migration]> {
    list_migrations(&[munshi_connectors::MIGRATIONS, munshi_channels::MIGRATIONS, notes::MIGRATIONS])
}

/// A tenant and those who work there.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Business {
    pub(crate) tenant: TenantId,
    pub(crate) owner: PersonId,
    pub(crate) staff: PersonId,
    pub(crate) binding: BindingId,
}

/// One process of the installation, with two tenants, `shop` and `other`: what a [`TestApp`] has, behind a router.
pub(crate) struct Installation {
    turns: TestApp,
    pub(crate) app: App,
    pub(crate) shop: Business,
    pub(crate) other: Business,
    pub(crate) model: Arc<ScriptedModel>,
    pub(crate) world: Arc<World>,
    pub(crate) vault: Option<Vault>,
    pub(crate) router: Router,
    pub(crate) pack_services: PackServices,
    /// Hears what changes, as long as the installation is there.
    _live: tokio::task::JoinSet<()>,
}

impl std::ops::Deref for Installation {
    type Target = TestApp;

    fn deref(&self) -> &TestApp {
        &self.turns
    }
}

/// What differs from one installation to another.
pub(crate) struct Setup {
    pub(crate) budgets: Budgets,
    /// Whether the model of this machine answers, and no scripted one.
    pub(crate) offline: bool,
    pub(crate) account: SignInServices,
    /// Ways to people's phones.
    pub(crate) senders: Vec<Arc<dyn ChannelSender>>,
    /// How people let us into connectors' services.
    pub(crate) logins: Option<ConnectorLogins>,
    /// Other packs than the notes, whose tools are then the only ones.
    pub(crate) packs: Option<OtherPacks>,
    pub(crate) turns: TurnSettings,
    pub(crate) stream_pace: StreamPace,
}

type AddServices = Box<dyn FnOnce(&TestApp, PackServices) -> PackServices + Send>;

/// Packs of a test's own, and what they need.
pub(crate) struct OtherPacks {
    pub(crate) registry: PackRegistry,
    pub(crate) model: Arc<dyn Provider>,
    /// What they work with besides the vault.
    pub(crate) add_services: AddServices,
    pub(crate) agent: &'static str,
    pub(crate) policy: &'static str,
}

/// Where an installation runs.
pub(crate) struct Place {
    pub(crate) db: Db,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: IdGenerator,
    pub(crate) folder: PathBuf,
}

impl Place {
    fn of(test: &TestDb, db: Db) -> Self {
        Self { db, clock: test.clock.clone(), ids: test.ids.clone(), folder: test.place.folder() }
    }
}

impl Default for Setup {
    /// Large enough budgets that no test of something else meets a limit of money or interactions.
    fn default() -> Self {
        Self {
            budgets: Budgets { plan: UsagePlan::Business, ..Budgets::default() },
            offline: false,
            account: account(),
            senders: Vec::new(),
            logins: None,
            packs: None,
            turns: TurnSettings::default(),
            stream_pace: StreamPace::default(),
        }
    }
}

/// Signing in with a password alone, which is hashed as cheaply as can be.
pub(crate) fn account() -> SignInServices {
    account_hashing(PasswordCost::LEAST)
}

fn account_hashing(cost: PasswordCost) -> SignInServices {
    SignInServices {
        passwords: PasswordService::with_cost(Arc::new(SystemRandom), cost).unwrap(),
        public_url: None,
        invitation_life: links::INVITATION_LIFE,
        oidc: None,
    }
}

struct FixedCodes;

#[async_trait]
impl CodeKeySource for FixedCodes {
    async fn load_key(&self, _: TenantId) -> munshi_safety::Result<CodeKey> {
        Ok(CodeKey::new(&[7; 32]))
    }
}

/// The two tenants, once they are there.
pub(crate) type Known = Option<(Business, Business)>;

impl Installation {
    pub(crate) async fn open(test: &TestDb, script: impl IntoIterator<Item = ScriptedTurn>) -> Self {
        Self::open_with(test, script, Setup::default()).await
    }

    pub(crate) async fn open_with(
        test: &TestDb,
        script: impl IntoIterator<Item = ScriptedTurn>,
        setup: Setup,
    ) -> Self {
        let model = Arc::new(ScriptedModel::new(script));
        Self::start((Place::of(test, test.db.clone()), None), (model, Arc::default()), setup).await
    }

    /// Where the time that a hash takes is what is tested: passwords cost what they cost in the product.
    pub(crate) async fn open_with_slow_passwords(test: &TestDb) -> Self {
        let account = account_hashing(PasswordCost::RECOMMENDED);
        Self::open_with(test, [], Setup { account, ..Setup::default() }).await
    }

    /// Another process on the same database and in the same world.
    pub(crate) async fn again(&self, test: &TestDb, script: impl IntoIterator<Item = ScriptedTurn>) -> Self {
        let parts = (Arc::new(ScriptedModel::new(script)), self.world.clone());
        let place = (Place::of(test, test.open_again().await), Some((self.shop, self.other)));
        Self::start(place, parts, Setup::default()).await
    }

    pub(crate) async fn start(
        (place, known): (Place, Known),
        (model, world): (Arc<ScriptedModel>, Arc<World>),
        mut setup: Setup,
    ) -> Self {
        let budgets = setup.budgets.clone();
        let files = setup.packs.as_ref().map_or((AGENT, notes::OPEN_POLICY), |of| (of.agent, of.policy));
        let (turns, add_services) = build_turns(&place, &mut setup, (&model, &world));
        let (shop, other) = match known {
            Some(known) => known,
            None => (business(&turns, "shop", files).await, business(&turns, "other", files).await),
        };
        let TestApp { engine, db, clock, ids, resolver, act_services: office, packs, queue, .. } =
            turns.clone();
        let blobs = place.folder.join("blobs");
        let house_parts = house_parts::TestParts {
            db: db.clone(),
            clock: clock.clone(),
            ids: ids.clone(),
            queue,
            budgets,
            folder: place.folder,
            packs: packs.clone(),
            logins: setup.logins.clone(),
        };
        // Tests of logins bring a vault of their own.
        let vault = match &setup.logins {
            None => Some(house_parts.open_vault().await.unwrap()),
            Some(_) => None,
        };
        let intake = house_parts.build_intake().await;
        let pack_services = build_pack_services(&turns, vault.as_ref(), add_services);
        let hosts = || HostTokenVerifier::new(db.clone(), Arc::new(hosts::FixedHosts));
        let proofs = SignInAuthenticator {
            db: db.clone(),
            clock: clock.clone(),
            ids: ids.clone(),
            hosts: hosts(),
            public_url: setup.account.public_url.clone(),
        };
        let routes = routes().merge(pack_operation_routes(&packs));
        let visits = VisitorServices {
            proofs: Arc::new(proofs),
            tools: vec![Arc::new(tools::score_spec())],
            packs,
            pack_services: pack_services.clone(),
            ..VisitorServices::default()
        };
        let live = munshi_live::LiveHub::new(db.clone(), clock.clone());
        let parts = ApiParts {
            db: db.clone(),
            engine,
            keys: ApiKeyCache::new(db.clone(), clock.clone()),
            house_parts: Arc::new(house_parts),
            resolver,
            act_services: office,
            codes: Arc::new(FixedCodes),
            account: setup.account,
            hosts: hosts(),
            senders: Arc::new(FixedSenders::new(setup.senders)),
            intake,
            logins: setup.logins,
            files: files::build(&db, &clock, &ids, &blobs),
            file_address_lifetime: std::time::Duration::from_secs(900),
            live: live.clone(),
            stream_pace: setup.stream_pace,
            clock,
            random: Arc::new(SystemRandom),
            reply_timeout: world.patience(),
            key_limit: munshi_web::api::limits::KEY_LIMIT,
            address_limit: munshi_web::api::limits::ADDRESS_LIMIT,
        };
        let api = Api::with_visitors(parts, visits);
        let app = App::with_api(ids, metrics(), || std::future::ready(Vec::new()), api);
        let router = build_router(routes, &app, &ServerOptions::default());
        let mut task = tokio::task::JoinSet::new();
        task.spawn(async move { live.run(CancellationToken::new()).await });
        Self { turns, app, shop, other, model, world, vault, router, pack_services, _live: task }
    }

    pub(crate) fn now(&self) -> munshi_types::Timestamp {
        self.clock.now()
    }

    /// A key of the shop that stands for a role.
    pub(crate) async fn key(&self, role: Role) -> String {
        self.key_with(self.shop.tenant, KeySubject::Role(role), None, None).await
    }

    /// The same; for an area that must be named, one that names it.
    pub(crate) async fn naming_key(&self, role: Role, area: Option<keys::Area>) -> String {
        match area.filter(|area| area.must_be_named() || *area == keys::Area::Tiers) {
            Some(keys::Area::Tiers) => {
                let named = ["tiers", "bindings"];
                self.key_with(self.shop.tenant, KeySubject::Role(role), Some(&named), None).await
            }
            // Whoever grants what a program asked for must be allowed to do it.
            Some(keys::Area::Administration) => {
                let named = ["administration", "persons"];
                self.key_with(self.shop.tenant, KeySubject::Role(role), Some(&named), None).await
            }
            Some(area) => {
                self.key_with(self.shop.tenant, KeySubject::Role(role), Some(&[area.as_str()]), None).await
            }
            None => self.key(role).await,
        }
    }

    pub(crate) async fn key_of(&self, tenant: TenantId, role: Role) -> String {
        self.key_with(tenant, KeySubject::Role(role), None, None).await
    }

    /// One with which somebody types.
    pub(crate) async fn key_with(
        &self,
        tenant: TenantId,
        carries: KeySubject,
        areas: Option<&[&str]>,
        bindings: Option<Vec<BindingId>>,
    ) -> String {
        self.key_speaking(KeySpeaker::Person, tenant, carries, (areas, bindings)).await
    }

    pub(crate) async fn key_speaking(
        &self,
        speaks_as: KeySpeaker,
        tenant: TenantId,
        carries: KeySubject,
        (areas, bindings): (Option<&[&str]>, Option<Vec<BindingId>>),
    ) -> String {
        let areas = areas.map(|areas| areas.iter().map(|text| text.parse::<AreaGrant>().unwrap()).collect());
        let id: munshi_types::KeyId = self.ids.next();
        let new = NewApiKey {
            name: id.to_string(),
            carries,
            areas,
            bindings,
            expires_at: None,
            speaks_as,
            made_by: format!("maker of {id}"),
            maker: KeyMaker::from_name(format!("maker of {id}")),
        };
        let ids = self.ids.clone();
        let made = self
            .db
            .write(tenant, move |tx| administer(tx, |tx| keys::add(tx, &ids, &SystemRandom, &new, MORNING)));
        made.await.unwrap().text.reveal().to_owned()
    }

    /// A keeper's key, with which somebody types.
    pub(crate) async fn keeper_key(&self, name: &str) -> String {
        let (ids, name) = (self.ids.clone(), name.to_owned());
        let unit = move |tx: &mut munshi_store::PlatformTx<'_>| {
            administer_platform(tx, |tx| {
                let made_by = "whoever sits here".to_owned();
                let new = NewKeeperKey { name, speaks_as: KeySpeaker::Person, made_by, expires_at: None };
                keys::add_keeper_key(tx, &ids, &SystemRandom, &new, MORNING)
            })
        };
        let (_, text) = self.db.platform(keys::KEYS).write(unit).await.unwrap();
        text.reveal().to_owned()
    }

    /// As if a key of the shop had never been revoked or rotated.
    pub(crate) async fn restore_key(&self, id: &str) {
        let id: munshi_types::KeyId = id.parse().unwrap();
        let unit = move |tx: &mut munshi_store::Tx<'_>| {
            let restore = "UPDATE api_keys SET revoked_at = NULL WHERE tenant_id = $1 AND id = $2";
            tx.execute(restore, munshi_store::params![id])
        };
        self.db.write(self.shop.tenant, unit).await.unwrap();
    }

    /// One number out of the database.
    pub(crate) async fn number(&self, tenant: TenantId, sql: &'static str) -> i64 {
        self.read_number(tenant, sql).await
    }

    /// How many people have exactly this name.
    pub(crate) async fn count_named(&self, tenant: TenantId, name: &'static str) -> usize {
        let unit = move |tx: &mut Tx<'_>| persons::list_by_name(tx, name);
        self.db.read(tenant, unit).await.unwrap().len()
    }

    /// How all its people are reached, and who each is.
    pub(crate) async fn all_addresses(&self, tenant: TenantId) -> Vec<(PersonId, String)> {
        let unit = |tx: &mut Tx<'_>| {
            let everybody = persons::list(tx, PersonFilter::Everybody, &PageRequest::new(None, 1000))?.items;
            let mut all = Vec::new();
            for person in everybody {
                let addresses = persons::list_addresses(tx, person.id)?;
                all.extend(addresses.iter().map(|address| (person.id, address.as_str().to_owned())));
            }
            Ok::<_, munshi_store::Error>(all)
        };
        self.db.read(tenant, unit).await.unwrap()
    }

    /// Somebody the shop deals with.
    pub(crate) async fn customer(&self, name: &str) -> PersonId {
        self.add_person(self.shop.tenant, name, None).await
    }
}

/// What packs work with besides the database.
fn build_pack_services(
    turns: &TestApp,
    vault: Option<&Vault>,
    add_services: Option<AddServices>,
) -> PackServices {
    let services = PackServices::new(Arc::new(turns.engine.run_starter()));
    let services = match vault {
        Some(vault) => services.with_vault(vault.clone()),
        None => services,
    };
    match add_services {
        Some(add) => add(turns, services),
        None => services,
    }
}

fn build_turns(
    place: &Place,
    setup: &mut Setup,
    (model, world): (&Arc<ScriptedModel>, &Arc<World>),
) -> (TestApp, Option<AddServices>) {
    let builder = TestAppBuilder::new(place.db.clone(), place.clock.clone()).with_ids(place.ids.clone());
    let builder = builder.with_budgets(setup.budgets.clone()).with_settings(std::mem::take(&mut setup.turns));
    if let Some(OtherPacks { registry, model, add_services, .. }) = setup.packs.take() {
        return (builder.with_packs(registry).with_model(model).build(), Some(add_services));
    }
    let builder = builder.with_packs(pages::house()).with_tools(tools::registry(world));
    (if setup.offline { builder.build() } else { builder.with_model(model.clone()).build() }, None)
}

async fn business(app: &TestApp, name: &str, (agent, policy): (&str, &str)) -> Business {
    let tenant = app.apply_tenant(&files(name).with_agent(agent).with_policy(policy)).await;
    let tiers = munshi_tiers::history::list_tiers(&app.db, &name.parse().unwrap()).await.unwrap();
    let binding =
        tiers.iter().find(|tier| tier.name.as_str() == "counter" && tier.kind.as_str() == "binding");
    let binding = BindingId::from_uuid(munshi_types::Id::as_uuid(binding.unwrap().id));
    let owner = app.add_person(tenant, "Farid", Some(Role::Owner)).await;
    let staff = app.add_person(tenant, "Asha", Some(Role::Staff)).await;
    Business { tenant, owner, staff, binding }
}

/// A business with two bindings for its people and one for whoever comes.
pub(crate) fn files(name: &str) -> TenantFiles {
    let tiers = "human = \"meera\"\nteam = \"counter\"\nagent = \"plain\"\n";
    let work = |key: &str| format!("{tiers}door = \"work\"\nkeys = [\"handle:{name}-{key}\"]\n");
    let front =
        format!("{tiers}channels = [\"web\"]\nkeys = [\"handle:{name}-front\", \"host:{name}.example\"]\n");
    TenantFiles::unbound(name)
        .with_agent(AGENT)
        .with_file("bindings/counter.toml", &work("counter"))
        .with_file("bindings/back.toml", &work("back"))
        .with_file("bindings/front.toml", &front)
}

fn metrics() -> Metrics {
    static RECORDER: std::sync::OnceLock<Metrics> = std::sync::OnceLock::new();
    RECORDER.get_or_init(|| Metrics::install(&munshi_types::SystemClock).unwrap()).clone()
}
