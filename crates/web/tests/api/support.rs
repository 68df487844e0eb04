//! Two small businesses behind one router.

mod browser;
mod client;
mod hosts;
mod pages;
mod tools;

pub(crate) use browser::{Browser, PASSWORD, encoded};
pub(crate) use client::{Reply, Told, chat, follow, text_of};
pub(crate) use hosts::{HOST_SECRET, claims, signed};
pub(crate) use pages::PAGE_KEY;
pub(crate) use tools::{NOTES, World};

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use munshi_agent::outbox::ChannelSender;
use munshi_agent::{TurnEngine, TurnEngineParts, TurnSettings};
use munshi_connectors::ConnectorLogins;
use munshi_identity::codes::CodeKey;
use munshi_identity::hosts::HostTokenVerifier;
use munshi_identity::keys::{self, ApiKeyCache, AreaGrant, KeyMaker, KeySpeaker, KeySubject, NewApiKey};
use munshi_identity::passwords::PasswordService;
use munshi_identity::{Person, Role, persons};
use munshi_jobs::JobQueue;
use munshi_lang::Phrasebook;
use munshi_llm::gateway::{Capability, GatewayParts, ModelRoute};
use munshi_llm::pricing::PriceBook;
use munshi_llm::{Gateway, ModelTarget, Provider, WireFormat};
use munshi_pack::PackRegistry;
use munshi_safety::acts::ActServices;
use munshi_safety::budget::{BudgetGovernor, BudgetSettings as Budgets, UsagePlan};
use munshi_safety::policy;
use munshi_store::{Db, PlatformTx, Tx, params, tenants};
use munshi_test_support::TestDb;
use munshi_test_support::database::MORNING;
use munshi_test_support::models::{ScriptedModel, ScriptedTurn};
use munshi_tiers::{Authorship, BindingResolver, InstalledNames, VanishedTierPolicy, files};
use munshi_tools::ToolDispatcher;
use munshi_types::{BindingId, Clock, IdGenerator, PersonId, SystemRandom, TenantId, Zone};
use munshi_web::account::authenticator::SignInAuthenticator;
use munshi_web::api::{ApiParts, CodeKeySource};
use munshi_web::{Api, App, Metrics, ServerOptions, SignInServices, VisitorServices, build_router, routes};

/// What the tools of the tests may do.
const POLICY: &str = "[connectors.shop]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n\
                      [connectors.elsewhere]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n";
const HUMAN: &str = "+++\nname = \"Meera\"\nidentity = \"You keep the books of a shop.\"\n[speech]\n\
                     languages = [\"en\", \"hi\"]\nlock = \"open\"\n+++\n\nKind.\n";
const TEAM: &str =
    "+++\nname = \"Counter\"\nrole = \"You work at the counter.\"\nmembers = [\"meera\"]\n+++\n\nServe.\n";
const AGENT: &str = "name = \"Plain\"\ntools = [\"count\", \"note\", \"wipe\", \"show\"]\n\
                     [policy]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n";

/// A tenant and those who work there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Business {
    pub(crate) tenant: TenantId,
    pub(crate) owner: PersonId,
    pub(crate) staff: PersonId,
    pub(crate) binding: BindingId,
}

/// One process of the installation, with two tenants, `shop` and `other`.
pub(crate) struct Installation {
    pub(crate) app: App,
    pub(crate) shop: Business,
    pub(crate) other: Business,
    pub(crate) model: Arc<ScriptedModel>,
    pub(crate) world: Arc<World>,
    pub(crate) router: Router,
    pub(crate) db: Db,
    pub(crate) ids: IdGenerator,
    clock: Arc<dyn Clock>,
}

type Rest = (Budgets, ModelTarget, SignInServices, Vec<Arc<dyn ChannelSender>>);

struct FixedCodes;

#[async_trait]
impl CodeKeySource for FixedCodes {
    async fn load_key(&self, _: TenantId) -> munshi_safety::Result<CodeKey> {
        Ok(CodeKey::new(&[7; 32]))
    }
}

/// Large enough that no test of something else meets a limit of money or interactions.
pub(crate) fn budgets() -> Budgets {
    Budgets { plan: UsagePlan::Business, ..Budgets::default() }
}

impl Installation {
    pub(crate) async fn open(test: &TestDb, script: impl IntoIterator<Item = ScriptedTurn>) -> Self {
        Self::open_with(test, script, budgets()).await
    }

    pub(crate) async fn open_with(
        test: &TestDb,
        script: impl IntoIterator<Item = ScriptedTurn>,
        budgets: Budgets,
    ) -> Self {
        let (shop, other) = (business(test, "shop").await, business(test, "other").await);
        let model = Arc::new(ScriptedModel::new(script));
        Self::process(test, test.db.clone(), (shop, other), (model.clone(), model, Arc::default()), budgets)
    }

    /// Another process on the same database and in the same world.
    pub(crate) async fn again(&self, test: &TestDb, script: impl IntoIterator<Item = ScriptedTurn>) -> Self {
        let model = Arc::new(ScriptedModel::new(script));
        let parts = (model.clone(), model as Arc<dyn Provider>, self.world.clone());
        Self::process(test, test.open_again().await, (self.shop, self.other), parts, budgets())
    }

    /// The same businesses with another model.
    pub(crate) async fn thinking_with(
        test: &TestDb,
        provider: Arc<dyn Provider>,
        target: ModelTarget,
    ) -> Self {
        let (shop, other) = (business(test, "shop").await, business(test, "other").await);
        let parts = (Arc::new(ScriptedModel::new([])), provider, Arc::default());
        Self::made(test, test.db.clone(), (shop, other), parts, (budgets(), target))
    }

    fn process(
        test: &TestDb,
        db: Db,
        known: (Business, Business),
        parts: (Arc<ScriptedModel>, Arc<dyn Provider>, Arc<World>),
        budgets: Budgets,
    ) -> Self {
        Self::made(test, db, known, parts, (budgets, ModelTarget::new("one", WireFormat::OpenAi, "", "m")))
    }

    fn made(
        test: &TestDb,
        db: Db,
        (shop, other): (Business, Business),
        (model, provider, world): (Arc<ScriptedModel>, Arc<dyn Provider>, Arc<World>),
        (budgets, target): (Budgets, ModelTarget),
    ) -> Self {
        let account = SignInServices {
            passwords: PasswordService::new(Arc::new(SystemRandom)).unwrap(),
            public_url: None,
            invitation_life: munshi_identity::links::INVITATION_LIFE,
            oidc: None,
        };
        let parts = (model, provider, world);
        Self::with_account(test, db, (shop, other), parts, (budgets, target, account, Vec::new()))
    }

    /// The same with a way to people's phones.
    pub(crate) async fn reaching(
        test: &TestDb,
        script: impl IntoIterator<Item = ScriptedTurn>,
        phone: Arc<dyn ChannelSender>,
    ) -> Self {
        let (shop, other) = (business(test, "shop").await, business(test, "other").await);
        let model = Arc::new(ScriptedModel::new(script));
        let parts = (model.clone(), model as Arc<dyn Provider>, Arc::default());
        let target = ModelTarget::new("one", WireFormat::OpenAi, "", "m");
        let account = SignInServices {
            passwords: PasswordService::new(Arc::new(SystemRandom)).unwrap(),
            public_url: None,
            invitation_life: munshi_identity::links::INVITATION_LIFE,
            oidc: None,
        };
        Self::with_account(
            test,
            test.db.clone(),
            (shop, other),
            parts,
            (budgets(), target, account, vec![phone]),
        )
    }

    /// The same with another way to sign in.
    pub(crate) async fn signing_in(test: &TestDb, account: SignInServices) -> Self {
        let (shop, other) = (business(test, "shop").await, business(test, "other").await);
        let model = Arc::new(ScriptedModel::new([]));
        let target = ModelTarget::new("one", WireFormat::OpenAi, "", "m");
        let parts = (model.clone(), model as Arc<dyn Provider>, Arc::default());
        Self::with_account(
            test,
            test.db.clone(),
            (shop, other),
            parts,
            (budgets(), target, account, Vec::new()),
        )
    }

    /// The same where people let us into connectors' services.
    pub(crate) async fn letting_in(test: &TestDb, account: SignInServices, logins: ConnectorLogins) -> Self {
        let (shop, other) = (business(test, "shop").await, business(test, "other").await);
        let model = Arc::new(ScriptedModel::new([]));
        let target = ModelTarget::new("one", WireFormat::OpenAi, "", "m");
        let parts = (model.clone(), model as Arc<dyn Provider>, Arc::default());
        let rest = (budgets(), target, account, Vec::new());
        Self::with_logins(test, test.db.clone(), (shop, other), parts, (rest, Some(logins)))
    }

    fn with_account(
        test: &TestDb,
        db: Db,
        known: (Business, Business),
        parts: (Arc<ScriptedModel>, Arc<dyn Provider>, Arc<World>),
        rest: Rest,
    ) -> Self {
        Self::with_logins(test, db, known, parts, (rest, None))
    }

    fn with_logins(
        test: &TestDb,
        db: Db,
        (shop, other): (Business, Business),
        (model, provider, world): (Arc<ScriptedModel>, Arc<dyn Provider>, Arc<World>),
        ((budgets, target, account, senders), logins): (Rest, Option<ConnectorLogins>),
    ) -> Self {
        let clock: Arc<dyn Clock> = test.clock.clone();
        let registry = Arc::new(tools::registry(&world));
        let office =
            Arc::new(ActServices::new(test.ids.clone(), BudgetGovernor::new(budgets, test.ids.clone())));
        let specs = registry.names().map(|name| registry.get(name.as_str()).unwrap().known.spec.clone());
        let resolver = BindingResolver::new(db.clone()).with_tools(specs.map(Arc::new).collect());
        let engine = engine(test, &db, (&office, registry, resolver.clone()), (provider, target));
        let proofs = SignInAuthenticator {
            db: db.clone(),
            clock: clock.clone(),
            ids: test.ids.clone(),
            hosts: HostTokenVerifier::new(db.clone(), Arc::new(hosts::FixedHosts)),
            public_url: account.public_url.clone(),
        };
        let house = Arc::new(pages::house());
        let visits = VisitorServices { proofs: Arc::new(proofs), house, ..VisitorServices::default() };
        let parts = ApiParts {
            db: db.clone(),
            engine: engine.clone(),
            keys: ApiKeyCache::new(db.clone(), clock.clone()),
            resolver,
            office,
            codes: Arc::new(FixedCodes),
            account,
            hosts: HostTokenVerifier::new(db.clone(), Arc::new(hosts::FixedHosts)),
            senders,
            logins,
            clock,
            random: Arc::new(SystemRandom),
            patience: world.patience(),
            key_limit: munshi_web::api::limits::KEY,
            address_limit: munshi_web::api::limits::ADDRESS,
        };
        let api = Api::with_visitors(parts, visits);
        let app = App::with_api(test.ids.clone(), metrics(), || std::future::ready(Vec::new()), api);
        let router = build_router(routes(), &app, &ServerOptions::default());
        Self { app, shop, other, model, world, router, db, ids: test.ids.clone(), clock: test.clock.clone() }
    }

    pub(crate) fn now(&self) -> munshi_types::Timestamp {
        self.clock.now()
    }

    /// A key of the shop that stands for a role.
    pub(crate) async fn key(&self, role: Role) -> String {
        self.key_with(self.shop.tenant, KeySubject::Role(role), None, None).await
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
        let made = self.db.write(tenant, move |tx| keys::add(tx, &ids, &SystemRandom, &new, MORNING));
        made.await.unwrap().text.reveal().to_owned()
    }

    /// One number out of the database.
    pub(crate) async fn number(&self, tenant: TenantId, sql: &'static str) -> i64 {
        self.db.read(tenant, move |tx| tx.one(sql, params![], |row| row.get(0))).await.unwrap()
    }

    /// Somebody the shop deals with.
    pub(crate) async fn customer(&self, name: &str) -> PersonId {
        let person = Person::new(&self.ids, name, MORNING);
        let id = person.id;
        self.db.write(self.shop.tenant, move |tx: &mut Tx<'_>| persons::upsert(tx, &person)).await.unwrap();
        id
    }
}

type Made<'a> = (&'a Arc<ActServices>, Arc<munshi_tools::ToolRegistry>, BindingResolver);

fn engine(
    test: &TestDb,
    db: &Db,
    (office, registry, resolver): Made<'_>,
    (provider, target): (Arc<dyn Provider>, ModelTarget),
) -> TurnEngine {
    let clock: Arc<dyn Clock> = test.clock.clone();
    let name = target.name.clone();
    let gateway = Gateway::new(GatewayParts {
        targets: vec![target],
        provider,
        prices: PriceBook::default(),
        clock: clock.clone(),
        random: Arc::new(SystemRandom),
    });
    let mut book = Phrasebook::core().unwrap();
    munshi_guardrails::add_phrases(&mut book).unwrap();
    TurnEngine::new(TurnEngineParts {
        db: db.clone(),
        resolver,
        gateway,
        route: Arc::new(ModelRoute {
            targets: [(Capability::Default, vec![name])].into(),
            ..ModelRoute::default()
        }),
        dispatcher: ToolDispatcher::new(db.clone(), office.clone(), registry, clock.clone()),
        office: office.clone(),
        house: Arc::new(PackRegistry::default()),
        queue: JobQueue::new(clock.clone(), test.ids.clone()),
        book: Arc::new(book),
        clock,
        random: Arc::new(SystemRandom),
        fence_key: munshi_tiers::prompt::FenceKey::new([7; 16]),
        settings: TurnSettings::default(),
        senders: Vec::new(),
    })
}

async fn business(test: &TestDb, name: &'static str) -> Business {
    let folder = folder(&test.place.folder(), name);
    let installed = InstalledNames {
        tools: tools::registry(&Arc::default()).names().map(ToString::to_string).collect(),
        models: ["one".to_owned()].into(),
    };
    let folder = files::read(&folder, None).unwrap().remove(0);
    let made =
        munshi_tiers::plan_folder(&test.db, &folder, VanishedTierPolicy::Keep, &installed).await.unwrap();
    let by = Authorship { author: "asha".to_owned(), note: "first".to_owned(), made_at: MORNING };
    munshi_tiers::apply(&test.db, vec![made], Zone::default(), by, &test.ids, |_, _, _| Ok(()))
        .await
        .unwrap();
    let find = move |tx: &mut PlatformTx<'_>| tenants::find_by_name(tx, &name.parse().unwrap());
    let tenant = test.db.platform(tenants::TENANTS).read(find).await.unwrap().unwrap();
    let tiers = munshi_tiers::history::list_tiers(&test.db, &tenant.name).await.unwrap();
    let binding =
        tiers.iter().find(|tier| tier.name.as_str() == "counter" && tier.kind.as_str() == "binding");
    let binding = BindingId::from_uuid(munshi_types::Id::as_uuid(binding.unwrap().id));
    let ids = test.ids.clone();
    let people = test.db.write(tenant.id, move |tx| -> Result<_, munshi_safety::Error> {
        policy::apply(tx, &policy::parse(POLICY).unwrap(), "test", "", MORNING)?;
        let owner = Person { role: Some(Role::Owner), ..Person::new(&ids, "Farid", MORNING) };
        let staff = Person { role: Some(Role::Staff), ..Person::new(&ids, "Asha", MORNING) };
        persons::upsert(tx, &owner)?;
        persons::upsert(tx, &staff)?;
        Ok((owner.id, staff.id))
    });
    let (owner, staff) = people.await.unwrap();
    Business { tenant: tenant.id, owner, staff, binding }
}

fn folder(place: &Path, name: &str) -> PathBuf {
    let folder = place.join(name);
    let binding = |key: &str| {
        format!(
            "human = \"meera\"\nteam = \"counter\"\nagent = \"plain\"\ndoor = \"work\"\nkeys = [\"handle:{key}\"]\n"
        )
    };
    for (path, text) in [
        ("humans/meera.md", HUMAN.to_owned()),
        ("teams/counter.md", TEAM.to_owned()),
        ("agents/plain.toml", AGENT.to_owned()),
        ("bindings/counter.toml", binding(&format!("{name}-counter"))),
        ("bindings/back.toml", binding(&format!("{name}-back"))),
        (
            "bindings/front.toml",
            format!(
                "human = \"meera\"\nteam = \"counter\"\nagent = \"plain\"\nchannels = [\"web\"]\n\
                 keys = [\"handle:{name}-front\", \"host:{name}.example\"]\n"
            ),
        ),
    ] {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

fn metrics() -> Metrics {
    static RECORDER: std::sync::OnceLock<Metrics> = std::sync::OnceLock::new();
    RECORDER.get_or_init(|| Metrics::install(&munshi_types::SystemClock).unwrap()).clone()
}
