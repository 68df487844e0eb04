//! The binding that is asked, and what answers for it: this process, or the server that has the database.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use munshi_agent::{MessageReceipt, TurnEngine};
use munshi_config::Config;
use munshi_connectors::ConnectorHost;
use munshi_conversations::RunEvent;
use munshi_jobs::JobQueue;
use munshi_store::Db;
use munshi_tiers::{BindingResolution, BindingResolver};
use munshi_types::tier::{Channel, TierName};
use munshi_types::{
    ClientScreen, Clock, IdGenerator, InboundMessage, InboundSender, InboundTarget, Language, MessageId,
    PersonId, RunId, SystemRandom, TenantName,
};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::engine::ConfiguredEngine;
use munshi_wiring::failure::{CommandFailure, Result};
use munshi_wiring::installation;
use munshi_wiring::lock::DatabaseLock;

use super::binding;
use super::reply::{AskEventListener, AskReply};
use super::server_client::{AskMessage, RunningServerClient};
use super::speaker::{self, AskSpeaker, AskSpeakerContext};
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;

/// How long another command may have the database, or a server be about to start.
const TIMEOUT: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(50);
/// How often it is looked for what stands before a question.
const CLEARING: Duration = Duration::from_secs(1);
/// How long a turn that is told to stop may take to do so.
const STOPPING: Duration = Duration::from_secs(5);

/// Whom to ask, and how.
pub(in crate::commands) struct AskTarget<'a> {
    pub(in crate::commands) binding: &'a TierName,
    pub(in crate::commands) tenant: Option<&'a TenantName>,
    pub(in crate::commands) language: Option<Language>,
    /// For a running server.
    pub(in crate::commands) key: Option<&'a str>,
    pub(in crate::commands) operator: &'a OperatorArguments,
}

pub(in crate::commands) struct AskClient {
    db: Db,
    engine: TurnEngine,
    /// Stopped at the end, with what it started.
    host: ConnectorHost,
    place: Arc<BindingResolution>,
    asking: AskSpeakerContext,
    clock: Arc<dyn Clock>,
    /// None where this process answers.
    server: Option<RunningServerClient>,
    /// Held until the end, where this process answers from a SQLite file.
    _lock: Option<DatabaseLock>,
    interrupted: AtomicBool,
    /// The last answer that was given to whoever asks here, and to whom.
    shown: Mutex<Option<(PersonId, MessageId)>>,
}

impl AskClient {
    pub(in crate::commands) async fn open(
        context: &CommandContext,
        config: &Config,
        wanted: &AskTarget<'_>,
    ) -> Result<Self> {
        let database = ConfiguredDatabase::from_config(config)?;
        let db = database.open_or_create(config, context.now()).await?;
        let resolver = BindingResolver::new(db.clone()).with_tools(installation::tools()?);
        let place = binding::find(&db, &resolver, wanted.tenant, wanted.binding).await?;
        let clock = context.clock.clone();
        let ids = IdGenerator::new(clock.clone(), Arc::new(SystemRandom));
        let actor = wanted.operator.resolve_actor(context, &db, place.tenant).await?;
        let asking =
            AskSpeakerContext { actor, ids: ids.clone(), now: context.now(), language: wanted.language };
        let (lock, server) = match acquire_database(&database).await? {
            Held::Ours(_) if wanted.key.is_some() => {
                return Err(CommandFailure::refused("--key needs a running server")
                    .hint("start the server, or remove --key and MUNSHI_KEY"));
            }
            Held::Ours(lock) => (lock, None),
            Held::By(address) => {
                (None, Some(RunningServerClient::connect(address, &db, &place, &asking, wanted.key).await?))
            }
        };
        let turns =
            ConfiguredEngine::build(config, &db, &clock, resolver, JobQueue::new(clock.clone(), ids), None)
                .await?;
        if server.is_none() {
            turns.host.start_tenant(place.tenant).await?;
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
            interrupted: AtomicBool::new(false),
            shown: Mutex::default(),
        })
    }

    /// The person of this name; without one the key's, or the operator.
    pub(in crate::commands) async fn resolve_speaker(&self, given: Option<&str>) -> Result<AskSpeaker> {
        let own = self.server.as_ref().and_then(RunningServerClient::person).map(|person| person.to_string());
        let given = given.map(str::to_owned).or(own);
        let asking = AskSpeakerContext { now: self.clock.now(), ..self.asking.clone() };
        self.db.write(self.place.tenant, move |tx| speaker::find(tx, given.as_deref(), &asking)).await
    }

    /// Says it, lets the listener hear what comes, and gives what came of it as it is stored.
    pub(in crate::commands) async fn ask(
        &self,
        who: &AskSpeaker,
        text: &str,
        listener: &mut dyn AskEventListener,
    ) -> Result<AskReply> {
        let run = match &self.server {
            None => self.ask_engine(who, text, listener).await?,
            Some(server) => self.ask_server(server, who, text, listener).await?,
        };
        let outcome = tokio::select! {
            outcome = self.engine.wait_for_outcome(self.place.tenant, run) => outcome?,
            failure = self.wait_for_interrupt() => return Err(failure),
        };
        if let Some(message) = outcome.message {
            if outcome.asks {
                let client = Some(ClientScreen::COMMAND_LINE.to_owned());
                self.engine.note_shown(self.place.tenant, run, message, client).await;
            }
            *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = Some((who.id, message));
        }
        let (tenant, binding) = (self.place.tenant_name.clone(), self.place.binding_name.clone());
        Ok(AskReply { tenant, binding, person: who.clone(), outcome })
    }

    async fn ask_server(
        &self,
        server: &RunningServerClient,
        who: &AskSpeaker,
        text: &str,
        listener: &mut dyn AskEventListener,
    ) -> Result<RunId> {
        let begun = OnceLock::new();
        let words = AskMessage { text, seen: self.find_last_shown(who) };
        let said = server.send_message(&self.place.binding_name, who.id, words, (listener, &begun));
        tokio::select! {
            run = said => run,
            failure = self.wait_for_interrupt() => {
                if let Some(run) = begun.get() {
                    server.cancel(*run).await;
                }
                Err(failure)
            }
        }
    }

    async fn ask_engine(
        &self,
        who: &AskSpeaker,
        text: &str,
        listener: &mut dyn AskEventListener,
    ) -> Result<RunId> {
        let received = self.engine.receive(self.inbound(who, text)).await?;
        let mut following = self.engine.follow(received.tenant, received.run, None).await?;
        let mut clearing = std::pin::pin!(self.sweep_earlier_runs(&received));
        loop {
            let next = tokio::select! {
                next = following.next() => next,
                () = &mut clearing => continue,
                failure = self.wait_for_interrupt() => {
                    self.cancel_run(received.run).await;
                    return Err(failure);
                }
            };
            match next {
                Some((_, event)) => listener.on_event(&event)?,
                None => return Ok(received.run),
            }
        }
    }

    /// What a dead process left in this conversation comes first. All else is for a server, which has what it takes: keys
    /// of models, and time. Never ends.
    async fn sweep_earlier_runs(&self, received: &MessageReceipt) {
        loop {
            if let Err(error) = self.engine.sweep_session(received.tenant, received.session).await {
                tracing::warn!(%error, "failed to look up earlier messages; retrying");
            }
            tokio::time::sleep(CLEARING).await;
        }
    }

    fn inbound(&self, who: &AskSpeaker, text: &str) -> InboundMessage {
        let place = &self.place;
        InboundMessage {
            channel: Channel::Api,
            to: InboundTarget::Binding {
                tenant: place.tenant_name.clone(),
                binding: place.binding_name.clone(),
            },
            from: InboundSender { person: Some(who.id), ..InboundSender::default() },
            outside_id: self.asking.ids.next::<MessageId>().to_string(),
            text: text.to_owned(),
            attached: Vec::new(),
            locale: None,
            sent_at: None,
            reply_to: None,
            screen: ClientScreen {
                seen: self.find_last_shown(who),
                client: Some(ClientScreen::COMMAND_LINE.to_owned()),
                ..ClientScreen::default()
            },
        }
    }

    /// What this process has told them last.
    fn find_last_shown(&self, who: &AskSpeaker) -> Option<MessageId> {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.filter(|(person, _)| *person == who.id).map(|(_, message)| message)
    }

    /// Ends only when somebody presses Ctrl-C.
    pub(in crate::commands) async fn wait_for_interrupt(&self) -> CommandFailure {
        if tokio::signal::ctrl_c().await.is_err() {
            // Where signals can't be heard, the system's own way ends the program.
            std::future::pending::<()>().await;
        }
        self.interrupted.store(true, Ordering::Relaxed);
        CommandFailure::failed("interrupted")
    }

    pub(in crate::commands) fn was_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// For those who go on after an answer was stopped: whether it was, since the last time.
    pub(in crate::commands) fn clear_interruption(&self) -> bool {
        self.interrupted.swap(false, Ordering::Relaxed)
    }

    pub(in crate::commands) fn binding(&self) -> &BindingResolution {
        &self.place
    }

    pub(in crate::commands) fn db(&self) -> &Db {
        &self.db
    }

    /// Where the server is that answers; none where this process does.
    pub(in crate::commands) fn server_address(&self) -> Option<std::net::SocketAddr> {
        self.server.as_ref().map(RunningServerClient::address)
    }

    /// What they are spoken to in from now on, where no message tells.
    pub(in crate::commands) fn set_language(&mut self, language: Language) {
        self.asking.language = Some(language);
    }

    /// The turn stops at its next step, so that nothing is left half done.
    async fn cancel_run(&self, run: RunId) {
        let tenant = self.place.tenant;
        if self.engine.cancel(tenant, run).await.is_ok() {
            let _ended = tokio::time::timeout(STOPPING, self.engine.wait_for_outcome(tenant, run)).await;
        }
    }

    pub(in crate::commands) async fn close(self) {
        self.engine.finish().await;
        self.host.stop().await;
        if let Some(server) = &self.server {
            server.revoke_key(&self.db, &self.place, &self.asking, self.clock.now()).await;
        }
    }
}

enum Held {
    /// By this process; Postgres has no lock.
    Ours(Option<DatabaseLock>),
    /// By a server that listens here.
    By(std::net::SocketAddr),
}

/// Takes the lock, or finds the server that has it. Another command that has it is waited for.
async fn acquire_database(database: &ConfiguredDatabase) -> Result<Held> {
    let Some(file) = database.file() else { return Ok(Held::Ours(None)) };
    let began = tokio::time::Instant::now();
    loop {
        let refused = match DatabaseLock::take(file) {
            Ok(lock) => return Ok(Held::Ours(Some(lock))),
            Err(failure) => failure,
        };
        if let Some(address) = DatabaseLock::find_server_address(file) {
            return Ok(Held::By(address));
        }
        if began.elapsed() > TIMEOUT {
            return Err(refused);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// What a listener makes of an event that came over the wire.
pub(in crate::commands) fn dispatch_event(listener: &mut dyn AskEventListener, data: &str) -> Result<()> {
    match serde_json::from_str::<RunEvent>(data) {
        Ok(event) => listener.on_event(&event),
        // A server of another version tells more than this one knows.
        Err(_) => Ok(()),
    }
}
