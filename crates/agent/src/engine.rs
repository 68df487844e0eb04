//! The one way in: a message is taken, its turn goes on by itself, and whoever wants to can follow.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use munshi_jobs::{Queue, Registry};
use munshi_lang::Phrasebook;
use munshi_llm::Gateway;
use munshi_llm::chat::Usage as Tokens;
use munshi_llm::gateway::{Route, Use};
use munshi_pack::House;
use munshi_safety::acts::Office;
use munshi_safety::budget::Amount;
use munshi_safety::privacy::{KnownPeople, refuse_aadhaar};
use munshi_store::Db;
use munshi_tiers::prompt::{FenceKey, Spoken};
use munshi_tiers::{Answer, Resolution, Resolver};
use munshi_tools::Dispatcher;
use munshi_types::{
    Clock, Ids, Inbound, MessageId, PersonId, Random, RunId, SessionId, TenantId, Timestamp, To,
};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::error::{Error, Result};
use crate::hub::{Hub, Room};
use crate::ingest::{self, Desk, Door, Fate, Incoming, Said};
use crate::keeping::{Summariser, Summarising};
use crate::outbox::{self, Deliverer};
use crate::rules::Rulebook;
use crate::runs::{self, Held};
use crate::settings::Settings;
use crate::state::Halt;
use crate::turn::{End, Tongue, Turn};

/// A run that was taken up more often than this breaks whoever takes it up.
const MOST_EPOCHS: i64 = 8;

/// More queued runs are not remembered; what is forgotten is looked up.
const MOST_PLACES: usize = 10_000;

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
    /// Turns under way here.
    pub(crate) tasks: TaskTracker,
    /// Cancelled when the process is to end at once: turns stop where they are and are taken up by another.
    pub(crate) abandon: CancellationToken,
    /// Since when this process may hold runs.
    pub(crate) born: Timestamp,
    /// Where queued runs of this process will be resolved to, so that nothing is looked up twice.
    places: Mutex<HashMap<RunId, Waiting>>,
}

/// What is known of a turn before it begins.
#[derive(Clone)]
pub(crate) struct Waiting {
    pub(crate) place: Arc<Resolution>,
    pub(crate) ingest: Duration,
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
        let desk = Desk { governor, queue: parts.queue, ids: ids.clone() };
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
                tasks: TaskTracker::new(),
                born,
                abandon: CancellationToken::new(),
                places: Mutex::default(),
            }),
        }
    }

    /// Returns once the message is on disk; the turn goes on in the background.
    pub async fn receive(&self, inbound: Inbound) -> Result<Received> {
        let begun = Instant::now();
        let inner = &self.inner;
        let place = inner.find(&inbound.to, inbound.from.person).await?;
        let to = inbound.to.clone();
        let incoming = inner.incoming(inbound, &place);
        let taken = ingest::receive(&inner.db, place.tenant, &inner.desk, Arc::new(incoming)).await?;
        let received = Received {
            tenant: place.tenant,
            run: taken.run,
            session: taken.session,
            message: taken.message,
            person: taken.person,
            fate: taken.fate,
        };
        if taken.fate == Fate::SeenBefore || taken.halted.is_some() {
            return Ok(received);
        }
        // Who is in a slice is known only now.
        let place = inner.find(&to, Some(taken.person)).await.unwrap_or(place);
        let waiting = Waiting { place, ingest: begun.elapsed() };
        match taken.begun {
            Some(begun) => self.start(begun.held, Some(waiting)),
            None => inner.remember(taken.run, waiting),
        }
        Ok(received)
    }

    /// Goes on with a run that waited for a person, after somebody answered elsewhere. One that somebody works on, or
    /// that has ended, is left alone.
    pub async fn take_up(&self, tenant: TenantId, run: RunId) -> Result<()> {
        let now = self.inner.clock.now();
        let unit = move |tx: &mut munshi_store::Tx<'_>| -> Result<_> {
            let known = runs::find(tx, run)?.ok_or(Error::NoRun)?;
            match known.state {
                crate::state::RunState::WaitingApproval => Ok(runs::take_up(tx, run, now)?),
                _ => Ok(None),
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
        self.inner.hub.open(held.run, self.inner.clock.now());
        self.inner.tasks.spawn(async move {
            let abandon = engine.inner.abandon.clone();
            tokio::select! {
                biased;
                () = abandon.cancelled() => {}
                () = engine.carry(held, waiting) => {}
            }
        });
    }

    async fn carry(&self, mut held: Held, mut waiting: Option<Waiting>) {
        loop {
            let next = self.inner.clone().carry_one(held, waiting.take()).await;
            let Some(next) = next else { return };
            held = next;
            waiting = self.inner.recall(held.run);
            self.inner.hub.open(held.run, self.inner.clock.now());
        }
    }
}

impl Inner {
    /// One run to its end. What breaks ends it with an excuse; what can't even be said is left for another to take up.
    async fn carry_one(self: Arc<Self>, held: Held, waiting: Option<Waiting>) -> Option<Held> {
        let room = self.hub.open(held.run, self.clock.now());
        let stop = room.arm();
        let work = self.clone().turn(held, waiting, (room.clone(), stop.clone()), None);
        let failed = match self.while_held(held, &stop, AssertUnwindSafe(work).catch_unwind()).await {
            Some(Ok(Ok(next))) => return next,
            None | Some(Ok(Err(Error::LostRun(_)))) => {
                self.hub.forget(held.run);
                return None;
            }
            Some(Ok(Err(error))) => error.to_string(),
            Some(Err(_)) => "a turn panicked".to_owned(),
        };
        tracing::error!(run = %held.run, error = %failed, "a turn broke");
        let halt = Halt::Broken(failed);
        let excuse = self.clone().turn(held, None, (room, stop.clone()), Some(halt.clone()));
        match self.while_held(held, &stop, AssertUnwindSafe(excuse).catch_unwind()).await {
            Some(Ok(Ok(next))) => return next,
            Some(Ok(Err(Error::LostRun(_)))) | None => {}
            // Not even that could be prepared: the bare row is ended, or another tries again when the lease passes.
            Some(_) => match self.close(held, halt).await {
                Ok(next) => {
                    self.hub.forget(held.run);
                    return next;
                }
                Err(error) => tracing::error!(run = %held.run, %error, "a run could not be ended"),
            },
        }
        self.hub.forget(held.run);
        None
    }

    /// Does the work and keeps the run meanwhile. None where it was lost.
    async fn while_held<T>(
        &self,
        held: Held,
        stop: &CancellationToken,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let keep = async {
            loop {
                tokio::time::sleep(self.settings.renew).await;
                let now = self.clock.now();
                match self.db.write(held.tenant, move |tx| runs::renew(tx, held, now)).await {
                    Ok(renewed) if renewed.cancel_asked => stop.cancel(),
                    Ok(_) => {}
                    Err(Error::LostRun(_)) => return,
                    Err(error) => tracing::warn!(run = %held.run, %error, "a lease could not be renewed"),
                }
            }
        };
        tokio::select! {
            done = work => Some(done),
            () = keep => None,
        }
    }

    async fn turn(
        self: Arc<Self>,
        held: Held,
        waiting: Option<Waiting>,
        (room, stop): (Arc<Room>, CancellationToken),
        broken: Option<Halt>,
    ) -> Result<Option<Held>> {
        let (place, ingest) = match waiting {
            Some(waiting) => (waiting.place, waiting.ingest),
            None => (self.place_when_awake(held).await?, Duration::ZERO),
        };
        let mut turn = Turn::prepare(self, held, place, room, stop).await?;
        turn.took(ingest);
        let worn_out =
            || (held.epoch > MOST_EPOCHS).then(|| Halt::Broken("nobody could finish it".to_owned()));
        let end = match broken.or_else(worn_out) {
            Some(halt) => End::Halted(halt),
            None => turn.walk().await?,
        };
        turn.respond(end).await
    }

    /// A tenant that rests is waited for; the run stays ours meanwhile.
    async fn place_when_awake(&self, held: Held) -> Result<Arc<Resolution>> {
        loop {
            match self.place_of(held).await {
                Err(Error::TenantPaused { .. }) => tokio::time::sleep(self.settings.renew).await,
                found => return found,
            }
        }
    }

    /// Where a run's binding leads by now.
    async fn place_of(&self, held: Held) -> Result<Arc<Resolution>> {
        let found = self.db.read(held.tenant, move |tx| runs::find(tx, held.run)).await?;
        let run = found.ok_or(Error::NoRun)?;
        let person = run.person.to_string();
        let answer = self.resolver.by_id(held.tenant, run.binding, Some(&person)).await?;
        bound(answer, || run.binding.to_string())
    }

    async fn find(&self, to: &To, person: Option<PersonId>) -> Result<Arc<Resolution>> {
        let person = person.map(|person| person.to_string());
        let answer = match to {
            To::Address(key) => self.resolver.resolve(key, person.as_deref()).await?,
            To::Binding { tenant, binding } => {
                self.resolver.by_name(tenant, binding, person.as_deref()).await?
            }
        };
        bound(answer, || match to {
            To::Address(key) => key.to_string(),
            To::Binding { tenant, binding } => format!("{tenant}/{binding}"),
        })
    }

    fn incoming(&self, inbound: Inbound, place: &Resolution) -> Incoming {
        let tongue = Tongue::of(&inbound.text, &[], None, &place.human.body.speech);
        let is_sure = munshi_lang::detect(&inbound.text).is_some_and(|found| found.is_sure());
        let language = is_sure.then(|| tongue.person.clone());
        let door = match refuse_aadhaar(&inbound.text) {
            Some(_) => {
                let halt = Halt::RefusedAtDoor("an Aadhaar number".to_owned());
                Door::Shut(halt, self.said("aadhaar-refused", &tongue))
            }
            None => Door::Open,
        };
        let limit = self.said("limit-reached", &tongue);
        Incoming {
            binding: place.binding_id,
            zone: place.zone.clone(),
            most: self.most(place),
            language: language.filter(|_| door == Door::Open),
            tokens: Spoken::new(&inbound.text).tokens(),
            door,
            limit_reached: Arc::new(move |_| limit.clone()),
            decision: None,
            now: self.clock.now(),
            inbound,
        }
    }

    fn said(&self, phrase: &str, tongue: &Tongue) -> Said {
        let text = self.book.say(phrase, tongue.voice, &[]).unwrap_or_else(|error| {
            tracing::error!(%error, phrase, "a phrase can't be said");
            String::new()
        });
        Said { text, language: Some(tongue.person.clone()), suggestions: Vec::new() }
    }

    /// The most that a plain turn may use: one interaction, and one call of the dearest model that may be asked first.
    pub(crate) fn most(&self, place: &Resolution) -> Amount {
        let route = munshi_tiers::route(&place.agent.body, &self.route);
        let uses = [Use::ChatTools, Use::Default, Use::Multilingual, Use::Voice];
        let firsts = uses.iter().filter_map(|wanted| route.targets.get(wanted)?.first());
        let budgets = place.cast.budgets();
        let output = budgets.output.map_or(2_048, u64::from);
        let input = u64::from(budgets.ceiling);
        let now = self.clock.now();
        let mut most = Amount::interaction();
        for target in firsts.filter_map(|name| self.gateway.target(name).ok()) {
            if target.stays_here() {
                continue;
            }
            let usage = Tokens { cache_write_1h: input, output, ..Tokens::default() };
            let cost = self.gateway.prices().cost(target, &usage, now);
            most.tokens = input + output;
            most.output = output;
            most.money = match (most.money, cost) {
                (Some(known), Some(cost)) => Some(known.max(cost)),
                _ => None,
            };
        }
        most
    }

    /// The model of this machine, where there is one.
    pub(crate) fn here(&self) -> Option<&str> {
        let here = self.gateway.targets().iter().find(|target| target.stays_here())?;
        Some(here.name.as_str())
    }

    /// What must never be said by name.
    pub(crate) fn model_names(&self) -> Vec<String> {
        self.gateway.targets().iter().filter(|target| !target.stays_here()).map(|t| t.model.clone()).collect()
    }

    fn remember(&self, run: RunId, waiting: Waiting) {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that another node took up are never asked for.
        if places.len() >= MOST_PLACES {
            places.clear();
        }
        places.insert(run, waiting);
    }

    fn recall(&self, run: RunId) -> Option<Waiting> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner).remove(&run)
    }
}

fn bound(answer: Answer, what: impl FnOnce() -> String) -> Result<Arc<Resolution>> {
    match answer {
        Answer::Bound(place) => Ok(place),
        Answer::TenantPaused(tenant) => Err(Error::TenantPaused { tenant }),
        Answer::TenantArchived(tenant) => Err(Error::TenantArchived { tenant }),
        Answer::BindingArchived { binding, .. } => Err(Error::BindingArchived { binding }),
        Answer::Unknown => Err(Error::NoBinding(what())),
    }
}
