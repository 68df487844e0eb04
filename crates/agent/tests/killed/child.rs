//! The process that is killed: the engine with its jobs and sweeps, as the product wires them.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use munshi_agent::holders::ProcessIdentity;
use munshi_agent::outbox::{
    ChannelSender, DeliveryCertainty, SendFault, SendIdempotency, SendReceipt, SendRetryability,
};
use munshi_agent::{TurnEngine, TurnEngineParts, TurnSettings};
use munshi_jobs::{JobQueue, JobRegistry as Kinds, JobRunner, JobRunnerOptions as Jobs};
use munshi_lang::Phrasebook;
use munshi_llm::gateway::{Capability, GatewayParts, ModelRoute};
use munshi_llm::pricing::{ModelPrice, PriceBook};
use munshi_llm::{
    ChatRequest, ChatStream, Embedding, Gateway, ModelError, ModelRole, ModelTarget, Provider, WireFormat,
};
use munshi_pack::PackRegistry;
use munshi_safety::acts::{ActServices, Permit};
use munshi_safety::budget::{BudgetGovernor, BudgetSettings as Budgets};
use munshi_store::{DatabaseAddress, Db, Migrations, StoreOptions, Tx, params};
use munshi_test_support::models::{ScriptedModel, ScriptedTurn, build_call_events, build_text_events};
use munshi_tiers::BindingResolver;
use munshi_tiers::prompt::FenceKey;
use munshi_tools::{
    ConnectorOrigin, LookupOutcome, NoActJournal, ReadToolHandler, RemoteToolHandler, ToolConnector,
    ToolDispatcher, ToolFailure, ToolHandler, ToolOutput, ToolRegistry, WriteToolHandler,
};
use munshi_types::tier::Channel;
use munshi_types::{
    Clock, Effect, IdGenerator, InboundMessage, OutboundMessage, RunId, SystemClock, SystemRandom, Timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::killed::outside::{Wish, ask};
use crate::killed::shop::{MIGRATIONS, TOOLS, spec};

/// The end of a message that breaks every process that works on it.
pub(crate) const ABORT: &str = " abort";

/// What the parent tells it.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(crate) url: String,
    /// Where the world is.
    pub(crate) world: u16,
    /// How many seconds later than it is.
    pub(crate) later: u64,
}

/// What a message is answered at the door: the run that stands for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ack {
    pub(crate) run: RunId,
}

#[derive(Debug)]
struct Later(Duration);

impl Clock for Later {
    fn now(&self) -> Timestamp {
        SystemClock.now().plus(self.0)
    }
}

struct Elsewhere {
    world: u16,
    effect: Effect,
}

#[async_trait]
impl RemoteToolHandler for Elsewhere {
    async fn call(&self, permit: &Permit) -> Result<ToolOutput, ToolFailure> {
        let wish = match self.effect {
            Effect::Read => Wish::Read,
            _ => Wish::Act {
                tool: permit.tool().to_string(),
                key: permit.idempotency_key(),
                text: permit.arguments()["text"].as_str().unwrap().to_owned(),
            },
        };
        let told = ask(self.world, &wish).await;
        told.map_err(|error| ToolFailure::uncertain("line", error.to_string()))?;
        Ok(ToolOutput::new(json!({ "done": true })))
    }

    async fn look_up(&self, permit: &Permit) -> Result<LookupOutcome, ToolFailure> {
        if self.effect != Effect::Checked {
            return Ok(LookupOutcome::CanNotTell);
        }
        let told = ask(self.world, &Wish::Look { key: permit.idempotency_key() }).await;
        let told = told.map_err(|error| ToolFailure::uncertain("line", error.to_string()))?;
        Ok(if told.found {
            LookupOutcome::Happened(ToolOutput::new(json!({ "found": true })))
        } else {
            LookupOutcome::DidNot
        })
    }
}

struct Notes;

impl WriteToolHandler for Notes {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let text = permit.arguments()["text"].as_str().unwrap_or_default();
        tx.execute(
            "INSERT INTO notes (tenant_id, act_id, text) VALUES ($1, $2, $3)",
            params![permit.act(), text],
        )?;
        Ok(ToolOutput::new(json!({ "noted": true })))
    }
}

struct Count;

impl ReadToolHandler for Count {
    fn read(&self, _: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let count: i64 =
            tx.one("SELECT COUNT(*) FROM notes WHERE tenant_id = $1", params![], |row| row.get(0))?;
        Ok(ToolOutput::new(json!({ "count": count })))
    }
}

fn registry(world: u16) -> ToolRegistry {
    let connector =
        |name: &str, maker| ToolConnector { name: name.to_owned(), maker, declares: true, conduct: None };
    let mut registry = ToolRegistry::default();
    for (name, effect) in TOOLS {
        let (maker, body) = match name {
            "count" => (ConnectorOrigin::House, ToolHandler::Look(Arc::new(Count))),
            "note" => (ConnectorOrigin::House, ToolHandler::Write(Arc::new(Notes))),
            _ => (ConnectorOrigin::Foreign, ToolHandler::Far(Arc::new(Elsewhere { world, effect }))),
        };
        let from = if maker == ConnectorOrigin::House { "shop" } else { "elsewhere" };
        registry.add(spec(name, effect), connector(from, maker), body).unwrap();
    }
    registry
}

/// Calls the tools that the person named, one after another, and then says that it is done. It goes by what it is shown
/// alone, so it says the same in every process.
struct Obedient;

#[async_trait]
impl Provider for Obedient {
    async fn stream(&self, target: &ModelTarget, request: &ChatRequest) -> Result<ChatStream, ModelError> {
        let last =
            request.messages.iter().rposition(|said| said.role == ModelRole::User && !said.text().is_empty());
        let (asked, since) = request.messages.split_at(last.map_or(0, |last| last + 1));
        let words = asked.last().map(munshi_llm::ChatMessage::text).unwrap_or_default();
        if words.ends_with(ABORT) {
            std::process::abort();
        }
        let mut words = words.split_whitespace().skip_while(|word| *word != "Parcel").skip(1);
        let parcel = words.next().unwrap_or_default().to_owned();
        let tools: Vec<&str> = words.take_while(|word| TOOLS.iter().any(|(name, _)| name == word)).collect();
        let results = since.iter().flat_map(|said| &said.parts);
        let done = results.filter(|part| matches!(part, munshi_llm::ModelMessagePart::ToolResult(_))).count();
        let events = match tools.get(done) {
            Some(tool) => build_call_events(tool, &json!({ "text": parcel })),
            None => build_text_events(&format!("It is done: {parcel}.")),
        };
        let turn = ScriptedTurn::events(events).with_pause(Duration::from_millis(4));
        ScriptedModel::new([turn]).stream(target, request).await
    }

    async fn embed(&self, _: &ModelTarget, _: &[String]) -> Result<Embedding, ModelError> {
        Err(ModelError::Unauthorised)
    }
}

/// The channel's other side keeps keys.
struct Post {
    world: u16,
}

#[async_trait]
impl ChannelSender for Post {
    fn channel(&self) -> Channel {
        Channel::Telegram
    }

    fn idempotency(&self) -> SendIdempotency {
        SendIdempotency::Keyed
    }

    async fn send(&self, outbound: &OutboundMessage) -> Result<SendReceipt, SendFault> {
        let wish = Wish::Reply {
            key: outbound.id.to_string(),
            address: outbound.to.address.clone(),
            text: outbound.text.clone(),
        };
        match ask(self.world, &wish).await {
            Ok(_) => Ok(SendReceipt::default()),
            Err(error) => Err(SendFault {
                why: error.to_string(),
                retryable: SendRetryability::Yes,
                happened: DeliveryCertainty::Maybe,
            }),
        }
    }
}

fn engine(part: &Part, db: &Db, clock: &Arc<dyn Clock>) -> (TurnEngine, ToolDispatcher, JobQueue) {
    let ids = IdGenerator::new(clock.clone(), Arc::new(SystemRandom));
    let registry = Arc::new(registry(part.world));
    let office =
        Arc::new(ActServices::new(ids.clone(), BudgetGovernor::new(Budgets::default(), ids.clone())));
    let dispatcher = ToolDispatcher::new(db.clone(), office.clone(), registry.clone(), clock.clone());
    let specs = registry.names().map(|name| registry.get(name.as_str()).unwrap().known.spec.clone());
    let price = ModelPrice { input: 1_000, output: 5_000, ..ModelPrice::FREE };
    let mut book = Phrasebook::core().unwrap();
    munshi_guardrails::add_phrases(&mut book).unwrap();
    let queue = JobQueue::new(clock.clone(), ids);
    let engine = TurnEngine::new(TurnEngineParts {
        db: db.clone(),
        resolver: BindingResolver::new(db.clone()).with_tools(specs.map(Arc::new).collect()),
        gateway: Gateway::new(GatewayParts {
            targets: vec![ModelTarget::new("one", WireFormat::OpenAi, "", "m")],
            provider: Arc::new(Obedient),
            prices: PriceBook::new([("m".to_owned(), price)].into()),
            clock: clock.clone(),
            random: Arc::new(SystemRandom),
        }),
        route: Arc::new(ModelRoute {
            targets: [(Capability::Default, vec!["one".to_owned()])].into(),
            ..ModelRoute::default()
        }),
        dispatcher: dispatcher.clone(),
        office,
        house: Arc::new(PackRegistry::default()),
        queue: queue.clone(),
        book: Arc::new(book),
        clock: clock.clone(),
        random: Arc::new(SystemRandom),
        fence_key: FenceKey::new([7; 16]),
        settings: TurnSettings {
            sweep: Duration::from_millis(500),
            process: (db.engine() == "postgres").then(|| ProcessIdentity::current(None)).flatten(),
            ..TurnSettings::default()
        },
        senders: vec![Arc::new(Post { world: part.world })],
    });
    (engine, dispatcher, queue)
}

/// Until it is killed.
pub(crate) fn run(part: &Part) {
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let address: DatabaseAddress = part.url.parse().unwrap();
        let options = StoreOptions { connections: 8, readers: 2, ..StoreOptions::default() };
        let db = Db::open(&address, &options, &Migrations::new(&MIGRATIONS).unwrap()).await.unwrap();
        let clock: Arc<dyn Clock> = Arc::new(Later(Duration::from_secs(part.later)));
        let (engine, dispatcher, queue) = engine(part, &db, &clock);
        let mut kinds = Kinds::default();
        engine.install(&mut kinds, None);
        let options = Jobs { poll: Duration::from_millis(100), ..Jobs::default() };
        let runner = JobRunner::new(db, &queue, Arc::new(SystemRandom), kinds, options);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        std::io::stdout().write_all(format!("\n<<ready {port}>>\n").as_bytes()).unwrap();
        let stop = CancellationToken::new();
        tokio::join!(
            runner.run(stop.clone()),
            engine.serve(stop),
            sweep(dispatcher),
            door(listener, engine.clone()),
        );
    });
}

/// As the job of the product does, only more often.
async fn sweep(dispatcher: ToolDispatcher) {
    loop {
        dispatcher.sweep(Arc::new(NoActJournal)).await.unwrap();
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

async fn door(listener: TcpListener, engine: TurnEngine) {
    let mut open = JoinSet::new();
    while let Ok((socket, _)) = listener.accept().await {
        let engine = engine.clone();
        open.spawn(async move {
            let taken = take(socket, &engine).await;
            taken.unwrap_or_else(|error| panic!("a message was turned away: {error}"));
        });
    }
}

async fn take(socket: TcpStream, engine: &TurnEngine) -> munshi_agent::Result<()> {
    let mut socket = BufReader::new(socket);
    let mut line = String::new();
    if socket.read_line(&mut line).await.unwrap() == 0 {
        return Ok(());
    }
    let inbound: InboundMessage = serde_json::from_str(&line).unwrap();
    let received = engine.receive(inbound).await?;
    let mut ack = serde_json::to_string(&Ack { run: received.run }).unwrap();
    ack.push('\n');
    socket.write_all(ack.as_bytes()).await.unwrap();
    Ok(())
}
