//! The one way in: a message is taken, its turn goes on by itself, and whoever wants to can follow.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use munshi_jobs::{Queue, Registry};
use munshi_lang::Phrasebook;
use munshi_llm::Gateway;
use munshi_llm::gateway::Route;
use munshi_pack::House;
use munshi_safety::acts::Office;
use munshi_safety::privacy::KnownPeople;
use munshi_safety::rate_limits::RateLimit;
use munshi_store::Db;
use munshi_tiers::prompt::FenceKey;
use munshi_tiers::{Resolution, Resolver};
use munshi_tools::Dispatcher;
use munshi_types::{Clock, Ids, Inbound, MessageId, PersonId, Random, RunId, SessionId, TenantId, Timestamp};
use tokio::sync::RwLock;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use crate::brought::Brought;
use crate::error::{Error, Result};
use crate::hub::Hub;
use crate::ingest::{self, Desk, Fate, Incoming};
use crate::keeping::{Summariser, Summarising};
use crate::key_use::KeyUse;
use crate::outbox::{self, Deliverer};
use crate::recover;
use crate::rules::Rulebook;
use crate::runs::{self, Held};
use crate::settings::Settings;
use crate::state::RunState;
use crate::turn::meter;

/// What an engine is made of.
pub struct Parts {
    pub db: Db,
    pub resolver: Resolver,
    pub gateway: Gateway,
    /// The installation's own choice of models.
    pub route: Arc<Route>,
    pub dispatcher: Dispatcher,
    pub office: Arc<Office>,
    pub house: Arc<House>,
    pub queue: Queue,
    pub book: Arc<Phrasebook>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    pub fence_key: FenceKey,
    pub settings: Settings,
    pub senders: Vec<Arc<dyn outbox::Sender>>,
}

/// Takes messages and answers them. Clones share everything.
#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) db: Db,
    pub(crate) resolver: Resolver,
    pub(crate) gateway: Gateway,
    pub(crate) route: Arc<Route>,
    pub(crate) dispatcher: Dispatcher,
    pub(crate) office: Arc<Office>,
    pub(crate) house: Arc<House>,
    pub(crate) book: Arc<Phrasebook>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Ids,
    pub(crate) fence_key: FenceKey,
    pub(crate) settings: Settings,
    pub(crate) senders: Vec<Arc<dyn outbox::Sender>>,
    pub(crate) desk: Desk,
    pub(crate) rules: Rulebook,
    pub(crate) people: KnownPeople,
    pub(crate) hub: Hub,
    /// Held by every turn under way here, and whole by one that goes on alone.
    pub(crate) turns: Arc<RwLock<()>>,
    /// When this process began to take runs.
    pub(crate) started: tokio::time::Instant,
    /// Tasks under way here.
    pub(crate) tasks: TaskTracker,
    /// Cancelled when the process is to end at once: turns stop where they are and are taken up by another.
    pub(crate) abandon: CancellationToken,
    /// Since when this process may hold runs.
    pub(crate) born: Timestamp,
    /// Where queued runs of this process will be resolved to, so that nothing is looked up twice.
    pub(crate) places: Mutex<HashMap<RunId, Waiting>>,
    /// How far the round over the runs that wait for a person has come.
    pub(crate) round: Mutex<recover::Round>,
}

/// What is known of a turn before it begins.
#[derive(Clone)]
pub(crate) struct Waiting {
    pub(crate) place: Arc<Resolution>,
    pub(crate) person: PersonId,
    pub(crate) ingest: Duration,
}

/// What comes with a message beside its words.
#[derive(Default)]
pub struct ReceiveOptions {
    /// What a program sent along: the context of this run.
    pub brought: Option<Brought>,
    /// How often whoever sent it may; where one is reached nothing is stored.
    pub limits: Vec<RateLimit>,
    /// The API key it came through.
    pub key_use: Option<KeyUse>,
}

/// A message that is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    pub tenant: TenantId,
    pub run: RunId,
    pub session: SessionId,
    pub message: MessageId,
    pub person: PersonId,
    pub fate: Fate,
}

impl Engine {
    pub fn new(parts: Parts) -> Self {
        let ids = Ids::new(parts.clock.clone(), parts.random);
        let governor = Arc::new(parts.office.governor.clone());
        let holder = parts.settings.process.is_some().then(|| ids.next());
        let desk = Desk { governor, queue: parts.queue, ids: ids.clone(), holder };
        let born = parts.clock.now();
        Self {
            inner: Arc::new(Inner {
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
                rules: Rulebook::default(),
                people: KnownPeople::default(),
                hub: Hub::default(),
                turns: Arc::default(),
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
    pub async fn receive(&self, inbound: Inbound) -> Result<Received> {
        self.receive_limited(inbound, ReceiveOptions::default()).await
    }

    /// The same with what its channel knows of it beside the words.
    pub async fn receive_limited(&self, inbound: Inbound, options: ReceiveOptions) -> Result<Received> {
        let engine = self.clone();
        self.detached(async move { engine.take_in(inbound, options, runs::MESSAGE).await }).await
    }

    /// The same for a message that came through an API key.
    pub async fn receive_through(&self, inbound: Inbound, key: KeyUse) -> Result<Received> {
        let options = ReceiveOptions { key_use: Some(key), ..ReceiveOptions::default() };
        self.receive_limited(inbound, options).await
    }

    /// The same for a program that keeps the conversation itself: what it brings is the context of this run.
    pub async fn receive_with(&self, inbound: Inbound, brought: Brought, key: KeyUse) -> Result<Received> {
        let options =
            ReceiveOptions { brought: Some(brought), key_use: Some(key), ..ReceiveOptions::default() };
        self.receive_limited(inbound, options).await
    }

    /// The same for a turn whose acts are rehearsed and not done, for whoever wants to see what would happen.
    pub async fn rehearse(&self, inbound: Inbound) -> Result<Received> {
        let engine = self.clone();
        self.detached(
            async move { engine.take_in(inbound, ReceiveOptions::default(), runs::REHEARSAL).await },
        )
        .await
    }

    /// Does it to its end also where nobody waits for it any more: what is stored is begun, whoever hangs up meanwhile.
    pub(crate) async fn detached<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let done = self.inner.tasks.spawn(work.in_current_span()).await;
        done.unwrap_or_else(|error| match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(munshi_store::Error::Busy("the process is ending".to_owned()).into()),
        })
    }

    async fn take_in(
        &self,
        inbound: Inbound,
        options: ReceiveOptions,
        kind: &'static str,
    ) -> Result<Received> {
        let begun = Instant::now();
        let inner = &self.inner;
        let place = inner.find(&inbound.to, inbound.from.person).await?;
        let (to, channel) = (inbound.to.clone(), inbound.channel);
        let ReceiveOptions { brought, limits, key_use } = options;
        let incoming = Incoming { kind, limits, key_use, ..inner.incoming(inbound, brought, &place) };
        let taken = ingest::receive(&inner.db, place.tenant, &inner.desk, Arc::new(incoming)).await?;
        let received = Received {
            tenant: place.tenant,
            run: taken.run,
            session: taken.session,
            message: taken.message,
            person: taken.person,
            fate: taken.fate,
        };
        if let Some(halt) = taken.halted.as_ref().filter(|_| kind == runs::MESSAGE) {
            meter::came_to(channel, halt.code());
        }
        if taken.fate == Fate::SeenBefore || taken.halted.is_some() {
            return Ok(received);
        }
        // Who is in a slice is known only now.
        let place = inner.find(&to, Some(taken.person)).await.unwrap_or(place);
        let waiting = Waiting { place, person: taken.person, ingest: begun.elapsed() };
        match taken.begun {
            Some(begun) => self.start(begun.held, Some(waiting)),
            None => inner.remember(taken.run, waiting),
        }
        Ok(received)
    }

    /// Goes on with a run that waited for a person, after somebody answered elsewhere. One that somebody works on, that has
    /// ended, or of which nothing was answered is left alone: it would only ask again.
    pub async fn take_up(&self, tenant: TenantId, run: RunId) -> Result<()> {
        let engine = self.clone();
        self.detached(async move { engine.go_on(tenant, run).await }).await
    }

    /// Goes on with every run that somebody's login at a connector's service lets go on.
    pub async fn take_up_let_in(&self) -> Result<()> {
        let engine = self.clone();
        self.detached(async move { engine.sweep_answered().await.map(drop) }).await
    }

    async fn go_on(&self, tenant: TenantId, run: RunId) -> Result<()> {
        let (now, inner) = (self.inner.clock.now(), self.inner.clone());
        let unit = move |tx: &mut munshi_store::Tx<'_>| -> Result<_> {
            let known = runs::find(tx, run)?.ok_or(Error::NoRun)?;
            match known.state == RunState::WaitingApproval && recover::is_answered(tx, &inner, &known, now)? {
                true => Ok(runs::take_up(tx, run, inner.desk.terms(now))?),
                false => Ok(None),
            }
        };
        if let Some(run) = self.inner.db.write(tenant, unit).await? {
            self.start(run.held(tenant), None);
        }
        Ok(())
    }

    /// The jobs that turns make: sending what leaves, and keeping conversations short.
    pub fn install(&self, registry: &mut Registry, model: Option<Arc<dyn Summariser>>) {
        let inner = &self.inner;
        let (db, clock) = (inner.db.clone(), inner.clock.clone());
        let (queue, senders) = (inner.desk.queue.clone(), inner.senders.iter().cloned());
        Deliverer::new(db.clone(), queue, clock, senders).install(registry);
        Summarising { db, model }.install(registry);
    }

    /// Works on a run that this process holds, and on those behind it in its session.
    pub(crate) fn start(&self, held: Held, waiting: Option<Waiting>) {
        let engine = self.clone();
        self.inner.hub.open(held, self.inner.clock.now());
        self.inner.tasks.spawn(async move {
            let abandon = engine.inner.abandon.clone();
            tokio::select! {
                biased;
                () = abandon.cancelled() => {}
                () = engine.carry(held, waiting) => {}
            }
        });
    }
}
