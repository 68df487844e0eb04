//! A business whose staff write to it, wired as the product wires it.

use std::sync::Arc;

use anyhow::Result;
use munshi_agent::TurnEngine as Turns;
use munshi_conversations::ingest::IngestServices;
use munshi_identity::Role;
use munshi_store::{Db, StoreOptions};
use munshi_test_app::{TenantFiles, TestAppBuilder, build_message, list_migrations, notes};
use munshi_test_support::{DatabaseEngine, TestDb};
use munshi_tiers::{AddressResolution, BindingResolution};
use munshi_types::tier::RoutingKey;
use munshi_types::{InboundMessage, InboundTarget, PersonId, SystemClock, TenantId};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::gateway::{connect, target};
use crate::runs::{Stepping, build_tools};

pub(super) const HUMAN: &str = "+++\nname = \"Meera\"\nidentity = \"You keep the books of a shop in Pune.\"\n\
    guardrails = [\"never-human\", \"no-secrets\"]\n[speech]\nlanguages = [\"en\", \"hi\", \"hi-latn\"]\nlock = \"open\"\n+++\n\n\
    Kind, short, exact with money. Never in a hurry.\n";
pub(super) const TEAM: &str = "+++\nname = \"Counter\"\nrole = \"You work at the counter.\"\nmembers = [\"meera\"]\n+++\n\n\
    Serve whoever comes. What is not in the books is not known.\n";
pub(super) const AGENT: &str =
    "name = \"Plain\"\nguardrails = [\"no-secrets\"]\n[policy]\nautonomy = \"act\"\n";
/// What is asked where nothing else is.
pub(crate) const QUESTION: &str = "How much does Ramesh owe me, and since when?";
/// More than ever write at once, so that nobody's turn comes round before their last answer.
const STAFF: usize = 1024;

pub(crate) struct Shop {
    test: TestDb,
    pub(crate) db: Db,
    pub(crate) tenant: TenantId,
    pub(crate) staff: Vec<PersonId>,
    pub(crate) turns: Turns,
    pub(crate) desk: IngestServices,
    pub(crate) place: Arc<BindingResolution>,
    key: RoutingKey,
    /// Work that nobody typed, and how much of it is done at once.
    pub(crate) stepping: Stepping,
    /// Ends with the shop.
    _serving: JoinSet<()>,
}

impl Shop {
    pub(crate) fn open_blocking(engine: DatabaseEngine, runtime: &Runtime, model: &str) -> Result<Self> {
        runtime.block_on(Self::open(engine, model))
    }

    async fn open(engine: DatabaseEngine, model: &str) -> Result<Self> {
        let test = TestDb::open_with(engine, &list_migrations(&[]), StoreOptions::default()).await;
        let mut target = target(model, "mock");
        target.dialect.stream = false;
        let (provider, prices) = connect(&target)?;
        let builder = TestAppBuilder::new(test.db.clone(), Arc::new(SystemClock)).with_model(provider);
        let stepping = Stepping::default();
        let builder = builder.with_packs(stepping.build_packs()).with_tools(build_tools()?);
        let app = builder.with_prices(prices).with_targets(vec![target]).build();
        let files = TenantFiles::shop("shop").with_file("humans/meera.md", HUMAN);
        let tenant = app
            .apply_tenant(
                &files.with_file("teams/counter.md", TEAM).with_agent(AGENT).with_policy(notes::OPEN_POLICY),
            )
            .await;
        let names = (0..STAFF).map(|number| format!("Asha {number}"));
        let staff = app.add_people(tenant, Some(Role::Staff), names).await;
        let key = "handle:shop".parse().map_err(anyhow::Error::msg)?;
        let place = match app.resolver.resolve(&key, None).await? {
            AddressResolution::Bound(place) => place,
            _ => anyhow::bail!("nobody answers"),
        };
        let governor = Arc::new(app.act_services.governor.clone());
        let desk = IngestServices::new(governor, app.queue, app.ids, None, 256);
        // Who finds no place waits for one, as in the product.
        let mut serving = JoinSet::new();
        let engine = app.engine.clone();
        serving.spawn(async move { engine.serve(CancellationToken::new()).await });
        Ok(Self {
            test,
            db: app.db,
            tenant,
            staff,
            turns: app.engine,
            desk,
            place,
            key,
            stepping,
            _serving: serving,
        })
    }

    /// Lets the database look at its tables, as a server that has run for a minute has done by itself.
    pub(crate) fn analyze_tables(&self) {
        if self.test.engine() == DatabaseEngine::Postgres {
            self.test.place.run_as_superuser("ANALYZE");
        }
    }

    pub(crate) fn message(&self, person: PersonId, text: &str) -> InboundMessage {
        let id = self.desk.ids.next::<munshi_types::MessageId>().to_string();
        let to = InboundTarget::Address(self.key.clone());
        build_message(to, person, &id, text)
    }
}
