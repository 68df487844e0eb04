//! The one way in: a message is taken, its turn goes on by itself, and whoever wants to can follow.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use munshi_jobs::{JobQueue, JobRegistry};
use munshi_lang::Phrasebook;
use munshi_llm::Gateway;
use munshi_llm::gateway::ModelRoute;
use munshi_pack::PackRegistry;
use munshi_privacy::KnownPeopleCache;
use munshi_safety::acts::ActServices;
use munshi_safety::rate_limits::RateLimit;
use munshi_store::Db;
use munshi_tiers::prompt::FenceKey;
use munshi_tiers::{BindingResolution, BindingResolver};
use munshi_tools::ToolDispatcher;
use munshi_types::{
    Clock, HolderId, IdGenerator, InboundMessage, MessageId, PersonId, Random, RunId, SessionId, TenantId,
    Timestamp,
};
use tokio::sync::RwLock;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use crate::client_context::ClientContext;
use crate::error::{Error, Result};
use crate::ingest::{self, IngestServices, IngestStatus, RoutedMessage};
use crate::key_use::KeyUse;
use crate::outbox::{self, OutboxDeliverer};
use crate::recover;
use crate::retention::{Summariser, SummaryJob};
use crate::rules::BindingRulesCache;
use crate::run_channels::RunChannels;
use crate::runs::{self, RunLease};
use crate::settings::TurnSettings;
use crate::state::RunState;
use crate::turn::turn_metrics;

/// What an engine is made of.
pub struct TurnEngineParts {
    pub db: Db,
    pub resolver: BindingResolver,
    pub gateway: Gateway,
    /// The installation's own choice of models.
    pub route: Arc<ModelRoute>,
    pub dispatcher: ToolDispatcher,
    pub office: Arc<ActServices>,
    pub house: Arc<PackRegistry>,
    pub queue: JobQueue,
    pub book: Arc<Phrasebook>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    pub fence_key: FenceKey,
    pub settings: TurnSettings,
    pub senders: Vec<Arc<dyn outbox::ChannelSender>>,
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
    pub(crate) office: Arc<ActServices>,
    pub(crate) house: Arc<PackRegistry>,
    pub(crate) book: Arc<Phrasebook>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: IdGenerator,
    pub(crate) fence_key: FenceKey,
    pub(crate) settings: TurnSettings,
    pub(crate) senders: Vec<Arc<dyn outbox::ChannelSender>>,
    pub(crate) desk: IngestServices,
    pub(crate) rules: BindingRulesCache,
    pub(crate) people: KnownPeopleCache,
    pub(crate) hub: RunChannels,
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
    pub(crate) born: Timestamp,
    /// Where queued runs of this process will be resolved to, so that nothing is looked up twice.
    pub(crate) places: Mutex<HashMap<RunId, PendingTurn>>,
    /// How far the round over the runs that wait for a person has come.
    pub(crate) round: Mutex<recover::RecoveryCursor>,
}

/// What is known of a turn before it begins.
#[derive(Clone)]
pub(crate) struct PendingTurn {
    pub(crate) place: Arc<BindingResolution>,
    pub(crate) person: PersonId,
    pub(crate) ingest: Duration,
}

/// What comes with a message beside its words.
#[derive(Default)]
pub struct ReceiveOptions {
    /// What a program sent along: the context of this run.
    pub brought: Option<ClientContext>,
    /// How often whoever sent it may; where one is reached nothing is stored.
    pub limits: Vec<RateLimit>,
    /// The API key it came through.
    pub key_use: Option<KeyUse>,
}

/// A message that is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageReceipt {
    pub tenant: TenantId,
    pub run: RunId,
    pub session: SessionId,
    pub message: MessageId,
    pub person: PersonId,
    pub fate: IngestStatus,
}

impl TurnEngine {
    pub fn new(parts: TurnEngineParts) -> Self {
        let ids = IdGenerator::new(parts.clock.clone(), parts.random);
        let governor = Arc::new(parts.office.governor.clone());
        let holder = parts.settings.process.is_some().then(|| ids.next());
        let desk = IngestServices { governor, queue: parts.queue, ids: ids.clone(), holder };
        let (process, born) = (holder.unwrap_or_else(|| ids.next()), parts.clock.now());
        Self {
            inner: Arc::new(TurnEngineInner {
                db: parts.db,
                resolver: parts.resolver,
                gateway: parts.gateway,
                route: parts.route,
                dispatcher: parts.dispatcher,
                office: parts.office,
                house: parts.house,
                book: parts.book,
                clock: parts.clock,
                ids,
                fence_key: parts.fence_key,
                settings: parts.settings,
                senders: parts.senders,
                desk,
                rules: BindingRulesCache::default(),
                people: KnownPeopleCache::default(),
                hub: RunChannels::default(),
                turns: Arc::default(),
                process,
                started: tokio::time::Instant::now(),
                tasks: TaskTracker::new(),
                born,
                abandon: CancellationToken::new(),
                places: Mutex::default(),
                round: Mutex::default(),
            }),
        }
    }

    /// Returns once the message is on disk; the turn goes on in the background.
    pub async fn receive(&self, inbound: InboundMessage) -> Result<MessageReceipt> {
        self.receive_with_options(inbound, ReceiveOptions::default()).await
    }

    /// The same with what its channel knows of it beside the words.
    pub async fn receive_with_options(
        &self,
        inbound: InboundMessage,
        options: ReceiveOptions,
    ) -> Result<MessageReceipt> {
        let engine = self.clone();
        self.run_detached(async move { engine.accept(inbound, options, runs::MESSAGE).await }).await
    }

    /// The same for a message that came through an API key.
    pub async fn receive_with_key(&self, inbound: InboundMessage, key: KeyUse) -> Result<MessageReceipt> {
        let options = ReceiveOptions { key_use: Some(key), ..ReceiveOptions::default() };
        self.receive_with_options(inbound, options).await
    }

    /// The same for a turn whose acts are rehearsed and not done, for whoever wants to see what would happen.
    pub async fn receive_dry_run(&self, inbound: InboundMessage) -> Result<MessageReceipt> {
        let engine = self.clone();
        self.run_detached(
            async move { engine.accept(inbound, ReceiveOptions::default(), runs::REHEARSAL).await },
        )
        .await
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

    async fn accept(
        &self,
        inbound: InboundMessage,
        options: ReceiveOptions,
        kind: &'static str,
    ) -> Result<MessageReceipt> {
        let begun = Instant::now();
        let inner = &self.inner;
        let place = inner.resolve_target(&inbound.to, inbound.from.person).await?;
        let (to, channel) = (inbound.to.clone(), inbound.channel);
        let ReceiveOptions { brought, limits, key_use } = options;
        let incoming =
            RoutedMessage { kind, limits, key_use, ..inner.build_routed_message(inbound, brought, &place) };
        let taken = ingest::receive(&inner.db, place.tenant, &inner.desk, Arc::new(incoming)).await?;
        let received = MessageReceipt {
            tenant: place.tenant,
            run: taken.run,
            session: taken.session,
            message: taken.message,
            person: taken.person,
            fate: taken.fate,
        };
        if let Some(halt) = taken.halted.as_ref().filter(|_| kind == runs::MESSAGE) {
            turn_metrics::count_outcome(channel, halt.code());
        }
        if taken.fate == IngestStatus::SeenBefore || taken.halted.is_some() {
            return Ok(received);
        }
        // Who is in a slice is known only now.
        let place = inner.resolve_target(&to, Some(taken.person)).await.unwrap_or(place);
        let waiting = PendingTurn { place, person: taken.person, ingest: begun.elapsed() };
        match taken.begun {
            Some(begun) => self.start(begun.held, Some(waiting)),
            None => inner.remember_pending_turn(taken.run, waiting),
        }
        Ok(received)
    }

    /// Goes on with a run that waited for a person, after somebody answered elsewhere. One that somebody works on, that has
    /// ended, or of which nothing was answered is left alone: it would only ask again.
    pub async fn resume(&self, tenant: TenantId, run: RunId) -> Result<()> {
        let engine = self.clone();
        self.run_detached(async move { engine.resume_if_answered(tenant, run).await }).await
    }

    /// Goes on with every run that somebody's login at a connector's service lets go on.
    pub async fn resume_after_login(&self) -> Result<()> {
        let engine = self.clone();
        self.run_detached(async move { engine.sweep_answered().await.map(drop) }).await
    }

    async fn resume_if_answered(&self, tenant: TenantId, run: RunId) -> Result<()> {
        let (now, inner) = (self.inner.clock.now(), self.inner.clone());
        let unit = move |tx: &mut munshi_store::Tx<'_>| -> Result<_> {
            let known = runs::find(tx, run)?.ok_or(Error::NoRun)?;
            match known.state == RunState::WaitingApproval && recover::can_resume(tx, &inner, &known, now)? {
                true => Ok(runs::claim(tx, run, inner.desk.terms(now))?),
                false => Ok(None),
            }
        };
        if let Some(run) = self.inner.db.write(tenant, unit).await? {
            self.start(run.lease(tenant), None);
        }
        Ok(())
    }

    /// The jobs that turns make: sending what leaves, and keeping conversations short.
    pub fn install(&self, registry: &mut JobRegistry, model: Option<Arc<dyn Summariser>>) {
        let inner = &self.inner;
        let (db, clock) = (inner.db.clone(), inner.clock.clone());
        let (queue, senders) = (inner.desk.queue.clone(), inner.senders.iter().cloned());
        OutboxDeliverer::new(db.clone(), queue, clock, senders).install(registry);
        SummaryJob { db, model }.install(registry);
    }

    /// Works on a run that this process holds, and on those behind it in its session.
    pub(crate) fn start(&self, held: RunLease, waiting: Option<PendingTurn>) {
        let engine = self.clone();
        self.inner.hub.open(held, self.inner.clock.now());
        self.inner.tasks.spawn(async move {
            let abandon = engine.inner.abandon.clone();
            tokio::select! {
                biased;
                () = abandon.cancelled() => {}
                () = engine.run_queue(held, waiting) => {}
            }
        });
    }
}
