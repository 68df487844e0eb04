//! The process that is killed: a whole node with the notice board, as `munshi serve` has one. It counts its own commits.

use std::io::{BufRead, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use metrics::{Counter, CounterFn, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use munshi_agent::TurnSettings;
use munshi_conversations::holders::ProcessIdentity;
use munshi_http::{AllowedHosts, GuardedHttpClients};
use munshi_jobs::{JobRegistry, JobRunner, JobRunnerOptions};
use munshi_llm::gateway::{Capability, GatewayParts, ModelRoute};
use munshi_llm::pricing::PriceBook;
use munshi_llm::{
    ChatMessage, ChatRequest, ChatStream, Embedding, Gateway, ModelError, ModelMessagePart, ModelRole,
    ModelTarget, Provider, WireFormat,
};
use munshi_pack::{PackJobParts, PackModelParts, PackModels, PackRegistry};
use munshi_safety::budget::{self, BudgetSettings};
use munshi_store::{DatabaseAddress, Db, Migration, Migrations, StoreOptions};
use munshi_test_app::TestApp;
use munshi_test_support::models::{ScriptedModel, ScriptedTurn, build_call_events, build_text_events};
use munshi_tools::NoActJournal;
use munshi_types::{Clock, IdGenerator, SystemClock, SystemRandom, Timestamp};
use munshi_web::{HttpServer, ServerOptions, pack_operation_routes, routes};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::pack::{self, Board};
use super::rounds::Society;
use super::world;
use crate::api::support::{Installation, Known, OtherPacks, Place, Setup};

const AGENT: &str = "name = \"Caretaker\"\n\
    tools = [\"pin_notice\", \"read_notice\", \"find_notice\", \"remind_me\", \"remind_all\", \"send_circular\"]\n\
    [policy]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n";
const POLICY: &str = "[connectors.board]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n\
    [connectors.society]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n";

/// What the parent tells it.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(crate) url: String,
    pub(crate) folder: PathBuf,
    pub(crate) world: u16,
    pub(crate) known: Known,
    /// How many seconds later than it is.
    pub(crate) later: u64,
    /// It ends itself after so many commits.
    pub(crate) commits: Option<i64>,
}

pub(crate) fn migrations() -> Vec<&'static [Migration]> {
    let mut all = crate::api::support::migrations();
    all.push(pack::MIGRATIONS);
    all
}

/// A clock that the parent moves on.
#[derive(Debug, Default)]
pub(crate) struct MovedClock(AtomicU64);

impl Clock for MovedClock {
    fn now(&self) -> Timestamp {
        SystemClock.now().plus(Duration::from_secs(self.0.load(Ordering::SeqCst)))
    }
}

/// The store counts the units that it has committed and not yet answered: the process ends there. Dying just before a commit leaves
/// the same database as dying after the one before it; what was asked of others meanwhile is the world's to end it at.
struct CommitLimit(AtomicI64);

impl CounterFn for CommitLimit {
    fn increment(&self, units: u64) {
        if units > 0 && self.0.fetch_sub(1, Ordering::SeqCst) == 1 {
            std::process::abort();
        }
    }

    fn absolute(&self, _: u64) {}
}

struct CommitRecorder(Arc<CommitLimit>);

impl Recorder for CommitRecorder {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        let has =
            |name: &str, value: &str| key.labels().any(|label| label.key() == name && label.value() == value);
        let is_commit = key.name() == "munshi_store_units_total";
        match is_commit && has("kind", "write") && has("outcome", "committed") {
            true => Counter::from_arc(self.0.clone()),
            false => Counter::noop(),
        }
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

/// Calls the tool that the person names, and then says that it is done. It goes by what it is shown alone, so it says the same in
/// every process; the world hears of each question.
struct Obedient {
    world: u16,
}

impl Obedient {
    fn answer(request: &ChatRequest) -> ScriptedTurn {
        let is_persons = |said: &ChatMessage| said.role == ModelRole::User && !said.text().is_empty();
        let last = request.messages.iter().rposition(is_persons);
        let (asked, since) = request.messages.split_at(last.map_or(0, |last| last + 1));
        let words = asked.last().map(ChatMessage::text).unwrap_or_default();
        let mut results = since.iter().flat_map(|said| &said.parts);
        let is_done = results.any(|part| matches!(part, ModelMessagePart::ToolResult(_)));
        let wish = words.split_once("Call ").and_then(|(_, rest)| rest.split_once(' '));
        match wish.filter(|_| !is_done) {
            Some((tool, rest)) => {
                let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
                ScriptedTurn::events(build_call_events(tool, &values.next().unwrap().unwrap()))
            }
            None => ScriptedTurn::events(build_text_events("It is done.")),
        }
    }
}

#[async_trait]
impl Provider for Obedient {
    async fn stream(&self, target: &ModelTarget, request: &ChatRequest) -> Result<ChatStream, ModelError> {
        world::ask_model(self.world).await;
        ScriptedModel::new([Self::answer(request)]).stream(target, request).await
    }

    async fn embed(&self, _: &ModelTarget, _: &[String]) -> Result<Embedding, ModelError> {
        Err(ModelError::Unauthorised)
    }
}

fn build_models(app: &TestApp, provider: Arc<dyn Provider>) -> PackModels {
    let named = vec!["one".to_owned()];
    let targets = [(Capability::Default, named.clone()), (Capability::Summariser, named)].into();
    PackModels::new(PackModelParts {
        gateway: Gateway::new(GatewayParts {
            targets: vec![ModelTarget::new("one", WireFormat::OpenAi, "", "m")],
            provider,
            prices: PriceBook::default(),
            clock: app.clock.clone(),
            random: Arc::new(SystemRandom),
        }),
        route: Arc::new(ModelRoute { targets, ..ModelRoute::default() }),
        classes: Arc::default(),
        act_services: app.act_services.clone(),
        packs: app.packs.clone(),
        db: app.db.clone(),
        clock: app.clock.clone(),
    })
}

/// The installation in this process: the parent's own prepares tenants, the child's serves them.
pub(crate) async fn open(place: Place, known: Known, world: u16) -> Installation {
    let address = format!("127.0.0.1:{world}");
    let clients = GuardedHttpClients::new(AllowedHosts::new([address.clone()])).unwrap();
    let url = format!("http://{address}");
    let society = Society { clients: clients.clone(), address: url.clone() };
    let board = Board { clock: place.clock.clone(), feed: url, society };
    let registry = PackRegistry::install_all(&[Arc::new(board)]).unwrap();
    let process = (place.db.engine() == "postgres").then(|| ProcessIdentity::current(None)).flatten();
    let model: Arc<dyn Provider> = Arc::new(Obedient { world });
    let asked = model.clone();
    let packs = OtherPacks {
        registry,
        model,
        add_services: Box::new(move |app, services| {
            services.with_http(clients).with_models(Arc::new(build_models(app, asked)))
        }),
        agent: AGENT,
        policy: POLICY,
    };
    let turns = TurnSettings { sweep: Duration::from_millis(300), process, ..TurnSettings::default() };
    let setup = Setup { packs: Some(packs), turns, ..Setup::default() };
    let model = Arc::new(ScriptedModel::new([]));
    Installation::start((place, known), (model, Arc::default()), setup).await
}

/// Until it dies.
pub(crate) fn run(part: &Part) {
    let limit = Arc::new(CommitLimit(AtomicI64::new(part.commits.unwrap_or(i64::MAX))));
    let recorder: &'static CommitRecorder = Box::leak(Box::new(CommitRecorder(limit)));
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    // The store makes its counters on the thread that opens it.
    let runtime = builder.enable_all().on_thread_start(move || {
        std::mem::forget(metrics::set_default_local_recorder(recorder));
    });
    runtime.build().unwrap().block_on(serve(part));
}

async fn serve(part: &Part) {
    let address: DatabaseAddress = part.url.parse().unwrap();
    let keyring = Some(munshi_test_support::memory_keyring(IdGenerator::system()));
    let options = StoreOptions { connections: 8, readers: 2, keyring, ..StoreOptions::default() };
    let db = Db::open(&address, &options, &Migrations::new(&migrations()).unwrap()).await.unwrap();
    let moved = Arc::new(MovedClock(AtomicU64::new(part.later)));
    follow_time(moved.clone());
    let clock: Arc<dyn Clock> = moved;
    let ids = IdGenerator::new(clock.clone(), Arc::new(SystemRandom));
    let place = Place { db: db.clone(), clock: clock.clone(), ids: ids.clone(), folder: part.folder.clone() };
    let house = open(place, part.known, part.world).await;
    let services = house.pack_services.clone();
    let mut registry = JobRegistry::default();
    house.engine.install(&mut registry, None);
    house.engine.install_background(&mut registry, 8, services.clone());
    let parts = PackJobParts { db: db.clone(), clock, ids, queue: house.queue.clone(), services };
    house.packs.register_jobs(&mut registry, &parts).unwrap();
    let options = JobRunnerOptions {
        poll: Duration::from_millis(100),
        keep_done: Duration::from_secs(90 * 86_400),
        ..JobRunnerOptions::default()
    };
    let runner = JobRunner::new(db, &house.queue, Arc::new(SystemRandom), registry, options);
    let server = HttpServer::bind("127.0.0.1:0").await.unwrap();
    let ready = format!("\n<<ready {}>>\n", server.address().port());
    std::io::stdout().write_all(ready.as_bytes()).unwrap();
    let stop = CancellationToken::new();
    let routes = routes().merge(pack_operation_routes(&house.packs));
    tokio::join!(
        runner.run(stop.clone()),
        house.engine.serve(stop.clone()),
        sweep(&house),
        server.serve(routes, house.app.clone(), ServerOptions::default(), stop),
    );
}

/// The parent says on standard input how much later it is.
fn follow_time(clock: Arc<MovedClock>) {
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            clock.0.store(line.trim().parse().unwrap(), Ordering::SeqCst);
        }
    });
}

/// As the jobs of the product do, only more often.
async fn sweep(house: &Installation) {
    loop {
        house.dispatcher.sweep(Arc::new(NoActJournal)).await.unwrap();
        budget::sweep(&house.db, &BudgetSettings::default(), house.now()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}
