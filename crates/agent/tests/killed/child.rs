//! The process that is killed: the engine with its jobs and sweeps, as the product wires them.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use munshi_agent::{TurnEngine, TurnSettings};
use munshi_conversations::holders::ProcessIdentity;
use munshi_conversations::outbox::{ChannelSender, SendFault, SendIdempotency, SendReceipt};
use munshi_jobs::{JobRegistry as Kinds, JobRunner, JobRunnerOptions as Jobs};
use munshi_llm::pricing::{ModelPrice, PriceBook};
use munshi_llm::{ChatRequest, ChatStream, Embedding, ModelError, ModelRole, ModelTarget, Provider};
use munshi_pack::operation::PackServices;
use munshi_pack::{ChildRun, FromPack, NextStep, PackRegistry, RunHistory, RunKind};
use munshi_safety::acts::Permit;
use munshi_store::{DatabaseAddress, Db, Migrations, StoreOptions, Tx};
use munshi_test_app::notes::{NoteTool, build_foreign_connector, build_house_connector, count_notes};
use munshi_test_app::{TestApp, TestAppBuilder};
use munshi_test_support::models::{ScriptedModel, ScriptedTurn, build_call_events, build_text_events};
use munshi_tools::{
    LookupOutcome, NoActJournal, ReadToolHandler, RemoteToolHandler, ToolDispatcher, ToolFailure,
    ToolHandler, ToolOutput, ToolRegistry,
};
use munshi_types::tier::Channel;
use munshi_types::{
    Autonomy, Clock, Effect, InboundMessage, OutboundMessage, RunId, SystemClock, SystemRandom, Timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::killed::outside::{Wish, ask};
use crate::killed::shop::{TOOLS, migrations, spec};

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
    /// So many messages at once, and so many runs in the background.
    pub(crate) places: (usize, usize),
    /// How many seconds its jobs are held.
    pub(crate) job_lease: u64,
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

/// Work that nobody typed: the tools of its input one after another, a moment's rest, and then a run of its own for the last.
struct Errand;

#[async_trait]
impl RunKind for Errand {
    fn name(&self) -> &'static str {
        "errand"
    }

    fn scopes(&self) -> &'static [&'static str] {
        &["shop.*"]
    }

    fn autonomy(&self) -> Autonomy {
        Autonomy::Act
    }

    async fn next_step(&self, history: &RunHistory) -> Result<NextStep, String> {
        let input: ErrandInput =
            serde_json::from_value(history.input.clone()).map_err(|error| error.to_string())?;
        let done = history.outcomes.len();
        let rest = |tools: &[String]| ErrandInput {
            parcel: input.parcel.clone(),
            tools: tools.to_vec(),
            splits: false,
        };
        Ok(match input.tools.split_last() {
            Some((last, before)) if input.splits => match before.get(done) {
                Some(tool) => {
                    NextStep::Call { tool: tool.clone(), arguments: json!({ "text": input.parcel }) }
                }
                None if done == before.len() => {
                    NextStep::WaitUntil(history.now.plus(Duration::from_millis(100)))
                }
                None if done == before.len() + 1 => {
                    let input = serde_json::to_value(rest(std::slice::from_ref(last)))
                        .map_err(|error| error.to_string())?;
                    NextStep::Begin(vec![ChildRun { kind: ERRAND.to_owned(), input }])
                }
                None => NextStep::End(json!(input.parcel)),
            },
            _ => match input.tools.get(done) {
                Some(tool) => {
                    NextStep::Call { tool: tool.clone(), arguments: json!({ "text": input.parcel }) }
                }
                None => NextStep::End(json!(input.parcel)),
            },
        })
    }
}

pub(crate) const ERRAND: &str = "sample.errand";

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct ErrandInput {
    pub(crate) parcel: String,
    pub(crate) tools: Vec<String>,
    /// Whether the last tool is left to a run of its own.
    pub(crate) splits: bool,
}

fn packs() -> PackRegistry {
    let mut packs = PackRegistry::default();
    packs.run_kinds.push(FromPack { pack: "sample", what: Arc::new(Errand) });
    packs
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

struct Count;

impl ReadToolHandler for Count {
    fn read(&self, _: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        Ok(ToolOutput::new(json!({ "count": count_notes(tx)? })))
    }
}

fn registry(world: u16) -> ToolRegistry {
    let mut registry = ToolRegistry::default();
    for (name, effect) in TOOLS {
        let (connector, body) = match name {
            "count" => (build_house_connector(), ToolHandler::Read(Arc::new(Count))),
            "note" => (build_house_connector(), ToolHandler::Write(Arc::new(NoteTool))),
            _ => (build_foreign_connector(), ToolHandler::Remote(Arc::new(Elsewhere { world, effect }))),
        };
        registry.add(spec(name, effect), connector, body).unwrap();
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
            Err(error) => Err(SendFault::unknown(error.to_string())),
        }
    }
}

/// A process whose tools and channel are in the world at this port.
pub(crate) fn app(db: &Db, clock: Arc<dyn Clock>, world: u16, chat_places: usize) -> TestApp {
    let price = ModelPrice { input: 1_000, output: 5_000, ..ModelPrice::FREE };
    let settings = TurnSettings {
        sweep: Duration::from_millis(500),
        chat_places,
        process: (db.engine() == "postgres").then(|| ProcessIdentity::current(None)).flatten(),
        ..TurnSettings::default()
    };
    let builder = TestAppBuilder::new(db.clone(), clock).with_tools(registry(world)).with_settings(settings);
    let builder = builder.with_packs(packs());
    let builder = builder.with_model(Arc::new(Obedient)).with_senders(vec![Arc::new(Post { world })]);
    builder.with_prices(PriceBook::new([("m".to_owned(), price)].into())).build()
}

/// Until it is killed.
pub(crate) fn run(part: &Part) {
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let address: DatabaseAddress = part.url.parse().unwrap();
        let keyring = Some(munshi_test_support::memory_keyring(munshi_types::IdGenerator::system()));
        let options = StoreOptions { connections: 8, readers: 2, keyring, ..StoreOptions::default() };
        let db = Db::open(&address, &options, &Migrations::new(&migrations()).unwrap()).await.unwrap();
        let clock: Arc<dyn Clock> = Arc::new(Later(Duration::from_secs(part.later)));
        let (chat, background) = part.places;
        let TestApp { engine, dispatcher, queue, .. } = app(&db, clock, part.world, chat);
        let mut kinds = Kinds::default();
        engine.install(&mut kinds, None);
        engine.install_background(&mut kinds, background, PackServices::default());
        let (poll, lease) = (Duration::from_millis(100), Duration::from_secs(part.job_lease));
        let options = Jobs { poll, lease, ..Jobs::default() };
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

async fn take(socket: TcpStream, engine: &TurnEngine) -> munshi_conversations::Result<()> {
    let mut socket = BufReader::new(socket);
    let mut line = String::new();
    if socket.read_line(&mut line).await.unwrap() == 0 {
        return Ok(());
    }
    let inbound: InboundMessage = serde_json::from_str(&line).unwrap();
    let received = engine.receive(inbound).await?;
    let mut ack = serde_json::to_string(&Ack { run: received.run }).unwrap();
    ack.push('\n');
    // Who no longer waits sends it again.
    let _gone = socket.write_all(ack.as_bytes()).await;
    Ok(())
}
