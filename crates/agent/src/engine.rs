//! What turns are carried by in one process, and how work begins there.

use std::sync::{Arc, Mutex};

use munshi_conversations::chat_places::{ChatPlace, ChatPlaces};
use munshi_conversations::ingest::IngestServices;
use munshi_conversations::runs::RunLease;
use munshi_conversations::{Result, outbox};
use munshi_jobs::JobQueue;
use munshi_lang::Phrasebook;
use munshi_llm::Gateway;
use munshi_llm::gateway::ModelRoute;
use munshi_pack::PackRegistry;
use munshi_privacy::KnownPeopleCache;
use munshi_safety::acts::ActServices;
use munshi_safety::pipeline::CompiledTool;
use munshi_store::Db;
use munshi_tiers::BindingResolver;
use munshi_tiers::prompt::FenceKey;
use munshi_tools::ToolDispatcher;
use munshi_types::{Clock, HolderId, IdGenerator, Random, RunId, TenantId, Timestamp};
use tokio::sync::RwLock;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use crate::pending_turns::{PendingTurn, PendingTurns};
use crate::rules::BindingRulesCache;
use crate::run_channels::RunChannels;
use crate::settings::TurnSettings;
use crate::waiting_counts::WaitingCounts;

/// What an engine is made of.
pub struct TurnEngineParts {
    pub db: Db,
    pub resolver: BindingResolver,
    pub gateway: Gateway,
    /// The installation's own choice of models.
    pub route: Arc<ModelRoute>,
    pub dispatcher: ToolDispatcher,
    pub act_services: Arc<ActServices>,
    pub packs: Arc<PackRegistry>,
    pub queue: JobQueue,
    pub phrasebook: Arc<Phrasebook>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    pub fence_key: FenceKey,
    pub settings: TurnSettings,
    /// Where the accounts are found by which replies leave.
    pub senders: Arc<dyn outbox::SenderDirectory>,
}

/// Takes messages and answers them. Clones share everything.
#[derive(Clone)]
pub struct TurnEngine {
    pub(crate) inner: Arc<TurnEngineInner>,
}

pub(crate) struct TurnEngineInner {
    pub(crate) db: Db,
    pub(crate) resolver: BindingResolver,
    pub(crate) gateway: Gateway,
    pub(crate) route: Arc<ModelRoute>,
    pub(crate) dispatcher: ToolDispatcher,
    pub(crate) act_services: Arc<ActServices>,
    pub(crate) packs: Arc<PackRegistry>,
    pub(crate) phrasebook: Arc<Phrasebook>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: IdGenerator,
    pub(crate) fence_key: FenceKey,
    pub(crate) settings: TurnSettings,
    pub(crate) senders: Arc<dyn outbox::SenderDirectory>,
    pub(crate) ingest_services: IngestServices,
    pub(crate) rules: BindingRulesCache,
    pub(crate) people: KnownPeopleCache,
    pub(crate) run_channels: RunChannels,
    /// Of which every turn under way here has one.
    pub(crate) places: Arc<ChatPlaces>,
    /// How many wait for one, here and elsewhere.
    pub(crate) waiting: WaitingCounts,
    /// Held by every turn under way here, and whole by one that goes on alone.
    pub(crate) turns: Arc<RwLock<()>>,
    /// What this process calls itself where it marks a run.
    pub(crate) process: HolderId,
    /// When this process began to take runs.
    pub(crate) started: tokio::time::Instant,
    /// Tasks under way here.
    pub(crate) tasks: TaskTracker,
    /// Cancelled when the process is to end at once: turns stop where they are and are taken up by another.
    pub(crate) abandon: CancellationToken,
    /// Since when this process may hold runs.
    pub(crate) holding_since: Timestamp,
    /// The resolved bindings of queued runs, so that none is looked up twice.
    pub(crate) pending_turns: PendingTurns,
    /// How far the sweep over runs that wait for a person has come.
    pub(crate) waiting_cursor: Mutex<RecoveryCursor>,
}

/// Behind which run the next reading begins; none is the first.
pub(crate) type RecoveryCursor = Option<(Timestamp, RunId)>;

impl TurnEngine {
    /// A tool that the tenant can use now: one of the installation's, or of its connectors that run here.
    pub fn find_tool(&self, tenant: TenantId, name: &str) -> Option<Arc<CompiledTool>> {
        self.inner.dispatcher.find_tool(tenant, name).map(|tool| tool.known)
    }

    /// What makes jobs, and wakes the runner of this process for them.
    pub fn job_queue(&self) -> JobQueue {
        self.inner.ingest_services.queue.clone()
    }

    pub fn new(parts: TurnEngineParts) -> Self {
        let ids = IdGenerator::new(parts.clock.clone(), parts.random);
        let governor = Arc::new(parts.act_services.governor.clone());
        let holder = parts.settings.process.is_some().then(|| ids.next());
        let most = parts.settings.chat_places;
        let ingest_services = IngestServices::new(governor, parts.queue, ids.clone(), holder, most);
        let places = ingest_services.places.clone();
        let (process, holding_since) = (holder.unwrap_or_else(|| ids.next()), parts.clock.now());
        let engine = Self {
            inner: Arc::new(TurnEngineInner {
                db: parts.db,
                resolver: parts.resolver,
                gateway: parts.gateway,
                route: parts.route,
                dispatcher: parts.dispatcher,
                act_services: parts.act_services,
                packs: parts.packs,
                phrasebook: parts.phrasebook,
                clock: parts.clock,
                ids,
                fence_key: parts.fence_key,
                settings: parts.settings,
                senders: parts.senders,
                ingest_services,
                rules: BindingRulesCache::default(),
                people: KnownPeopleCache::default(),
                run_channels: RunChannels::default(),
                places,
                waiting: WaitingCounts::default(),
                turns: Arc::default(),
                process,
                started: tokio::time::Instant::now(),
                tasks: TaskTracker::new(),
                holding_since,
                abandon: CancellationToken::new(),
                pending_turns: PendingTurns::default(),
                waiting_cursor: Mutex::default(),
            }),
        };
        engine.inner.connect_tool_runs();
        engine
    }

    /// Does it to its end also where nobody waits for it any more: what is stored is begun, whoever hangs up meanwhile.
    pub(crate) async fn run_detached<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let done = self.inner.tasks.spawn(work.in_current_span()).await;
        done.unwrap_or_else(|error| match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(munshi_store::Error::Busy("the process is shutting down".to_owned()).into()),
        })
    }

    /// Works on a run that this process holds, and on those behind it in its session.
    pub(crate) fn start(&self, lease: RunLease, waiting: Option<PendingTurn>, place: ChatPlace) {
        let engine = self.clone();
        self.inner.run_channels.open(lease, self.inner.clock.now());
        self.inner.tasks.spawn(async move {
            let abandon = engine.inner.abandon.clone();
            tokio::select! {
                biased;
                () = abandon.cancelled() => {}
                () = engine.run_queue(lease, waiting, place) => {}
            }
        });
    }
}
