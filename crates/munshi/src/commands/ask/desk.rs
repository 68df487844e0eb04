//! The binding that is asked, and what answers for it: this process, or the server that has the database.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use munshi_agent::{Engine, Event};
use munshi_config::Config;
use munshi_connectors::Host;
use munshi_jobs::Queue;
use munshi_store::Db;
use munshi_tiers::{Resolution, Resolver};
use munshi_types::tier::Channel;
use munshi_types::{Clock, Ids, Inbound, MessageId, RunId, Sender, SystemRandom, To};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::reply::{Listener, Told};
use super::server::Server;
use super::who::{self, Asking, Who};
use super::{Arguments, place};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::wiring::database::Database;
use crate::wiring::engine::Turns;
use crate::wiring::installed;
use crate::wiring::lock::Lock;

/// How long another command may have the database, or a server be about to start.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(50);
/// How long a turn that is told to stop may take to do so.
const STOPPING: Duration = Duration::from_secs(5);

pub(super) struct Desk {
    db: Db,
    engine: Engine,
    /// Stopped at the end, with what it started.
    host: Host,
    place: Arc<Resolution>,
    asking: Asking,
    clock: Arc<dyn Clock>,
    /// None where this process answers.
    server: Option<Server>,
    /// Held until the end, where this process answers from a SQLite file.
    _lock: Option<Lock>,
    /// The engine taking up what was left behind, as every node does.
    tasks: JoinSet<()>,
    stop: CancellationToken,
    interrupted: AtomicBool,
}

impl Desk {
    pub(super) async fn open(context: &Context, config: &Config, arguments: &Arguments) -> Result<Self> {
        let database = Database::of(config)?;
        if database.file().is_some_and(|file| !file.exists()) {
            return Err(place::no_tenant());
        }
        let db = database.open().await?;
        let resolver = Resolver::new(db.clone()).offering(installed::tools()?);
        let place = place::find(&db, &resolver, arguments.tenant.as_ref(), &arguments.binding).await?;
        let clock = context.clock.clone();
        let ids = Ids::new(clock.clone(), Arc::new(SystemRandom));
        let actor = arguments.operator.known_in(context, &db, place.tenant).await?;
        let asking = Asking { actor, ids: ids.clone(), now: context.now(), language: arguments.language };
        let (lock, server) = match hold(&database).await? {
            Held::Ours(lock) => (lock, None),
            Held::By(address) => {
                let given = arguments.key.as_deref();
                (None, Some(Server::reach(address, &db, &place, &asking, given).await?))
            }
        };
        let turns = Turns::of(config, &db, &clock, resolver, Queue::new(clock.clone(), ids)).await?;
        let (mut tasks, stop) = (JoinSet::new(), CancellationToken::new());
        if server.is_none() {
            turns.host.open(place.tenant).await?;
            let (engine, stop) = (turns.engine.clone(), stop.clone());
            tasks.spawn(async move { engine.serve(stop).await });
        }
        Ok(Self {
            db,
            engine: turns.engine,
            host: turns.host,
            place,
            asking,
            clock,
            server,
            _lock: lock,
            tasks,
            stop,
            interrupted: AtomicBool::new(false),
        })
    }

    /// The person of this name; without one the key's, or the operator.
    pub(super) async fn who(&self, given: Option<&str>) -> Result<Who> {
        let own = self.server.as_ref().and_then(Server::person).map(|person| person.to_string());
        let given = given.map(str::to_owned).or(own);
        let asking = Asking { now: self.clock.now(), ..self.asking.clone() };
        self.db.write(self.place.tenant, move |tx| who::find(tx, given.as_deref(), &asking)).await
    }

    /// Says it, lets the listener hear what comes, and gives what came of it as it is stored.
    pub(super) async fn ask(&self, who: &Who, text: &str, listener: &mut dyn Listener) -> Result<Told> {
        let run = match &self.server {
            None => self.here(who, text, listener).await?,
            Some(server) => {
                let said = server.say(&self.place.binding_name, who.id, text, listener);
                tokio::select! {
                    run = said => run?,
                    failure = self.interruption() => return Err(failure),
                }
            }
        };
        let outcome = tokio::select! {
            outcome = self.engine.outcome(self.place.tenant, run) => outcome?,
            failure = self.interruption() => return Err(failure),
        };
        let (tenant, binding) = (self.place.tenant_name.clone(), self.place.binding_name.clone());
        Ok(Told { tenant, binding, person: who.clone(), outcome })
    }

    async fn here(&self, who: &Who, text: &str, listener: &mut dyn Listener) -> Result<RunId> {
        let received = self.engine.receive(self.inbound(who, text)).await?;
        let mut following = self.engine.follow(received.tenant, received.run, None).await?;
        loop {
            let next = tokio::select! {
                next = following.next() => next,
                failure = self.interruption() => {
                    self.give_up(received.run).await;
                    return Err(failure);
                }
            };
            match next {
                Some((_, event)) => listener.hear(&event)?,
                None => return Ok(received.run),
            }
        }
    }

    fn inbound(&self, who: &Who, text: &str) -> Inbound {
        let place = &self.place;
        Inbound {
            channel: Channel::Api,
            to: To::Binding { tenant: place.tenant_name.clone(), binding: place.binding_name.clone() },
            from: Sender { person: Some(who.id), ..Sender::default() },
            outside_id: self.asking.ids.next::<MessageId>().to_string(),
            text: text.to_owned(),
            attached: Vec::new(),
            locale: None,
            sent_at: None,
            reply_to: None,
        }
    }

    /// Ends only when somebody presses Ctrl-C.
    pub(super) async fn interruption(&self) -> Failure {
        if tokio::signal::ctrl_c().await.is_err() {
            // Where signals can't be heard, the system's own way ends the program.
            std::future::pending::<()>().await;
        }
        self.interrupted.store(true, Ordering::Relaxed);
        Failure::failed("interrupted")
    }

    pub(super) fn was_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// The turn stops at its next step, so that nothing is left half done.
    async fn give_up(&self, run: RunId) {
        let tenant = self.place.tenant;
        if self.engine.cancel(tenant, run).await.is_ok() {
            let _ended = tokio::time::timeout(STOPPING, self.engine.outcome(tenant, run)).await;
        }
    }

    pub(super) async fn close(mut self) {
        self.stop.cancel();
        while self.tasks.join_next().await.is_some() {}
        self.host.stop().await;
        if let Some(server) = &self.server {
            server.leave(&self.db, &self.place, &self.asking, self.clock.now()).await;
        }
    }
}

enum Held {
    /// By this process; Postgres has no lock.
    Ours(Option<Lock>),
    /// By a server that listens here.
    By(std::net::SocketAddr),
}

/// Takes the lock, or finds the server that has it. Another command that has it is waited for.
async fn hold(database: &Database) -> Result<Held> {
    let Some(file) = database.file() else { return Ok(Held::Ours(None)) };
    let began = tokio::time::Instant::now();
    loop {
        let refused = match Lock::take(file) {
            Ok(lock) => return Ok(Held::Ours(Some(lock))),
            Err(failure) => failure,
        };
        if let Some(address) = Lock::address(file) {
            return Ok(Held::By(address));
        }
        if began.elapsed() > PATIENCE {
            return Err(refused);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// What a listener makes of an event that came over the wire.
pub(super) fn heard(listener: &mut dyn Listener, data: &str) -> Result<()> {
    match serde_json::from_str::<Event>(data) {
        Ok(event) => listener.hear(&event),
        // A server of another version tells more than this one knows.
        Err(_) => Ok(()),
    }
}
