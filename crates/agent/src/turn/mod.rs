//! One turn, from the stored message to the stored answer.
//!
//! [`TurnSetup`] is what is decided before the first stage and never changes, [`TurnState`] what is stored,
//! [`StageNotes`] what one stage leaves for the next. The stages are methods of [`Turn`], a file
//! each, and [`stages`] calls them in their order: [`prepare`] reads, [`think`] asks a model, [`act`] calls tools,
//! [`check`] looks at the reply, [`respond`] stores it. [`consent`] is for messages that answer a question, [`halt`] for
//! turns that end otherwise, [`join`] for messages that come meanwhile. Nothing here is written but in the transactions of acts ([`journal`]) and of the reply.

mod act;
mod approval_questions;
mod callback_address;
mod check;
mod choose;
mod close;
mod connector_tools;
mod consent;
mod detach;
mod evidence;
mod halt;
mod hand_over;
mod join;
mod journal;
mod line_outlook;
mod logins;
mod media;
mod notes;
mod pause;
mod prepare;
mod proposed_act;
mod query;
mod reply;
mod reply_scene;
mod respond;
mod screen;
mod setup;
mod stages;
mod state;
mod think;
mod timings;
mod transient;
mod turn_outcome;
mod withdrawal;

use std::sync::Arc;
use std::time::{Duration, Instant};

use munshi_conversations::runs::{self, RunLease};
use munshi_conversations::{Error, Result, RunEvent, RunState, sessions};
use munshi_tiers::{ActivePlace, BindingResolution};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

pub(crate) use journal::{CallJournal, body as journal_body};
pub(crate) use prepare::{list_whispers, to_earlier_message};
pub(crate) use query::QueryVector;
pub(crate) use reply::render_pieces;
pub(crate) use reply_scene::{ReplyScene, choose_rules};
pub(crate) use respond::RespondOutcome;
pub(crate) use think::{render_handoff, to_prompt_message};
pub(crate) use turn_outcome::{StagesOutcome, TurnOutcome};

use self::join::JoinProgress;
use self::media::MessageMedia;
use self::notes::StageNotes;
use self::reply::ReplyWriter;
use self::setup::{TurnInput, TurnSetup};
use self::state::TurnState;
use self::timings::TurnStopwatch;
use crate::engine::TurnEngineInner;
use crate::run_channels::RunChannel;

/// A turn under way, in one process.
pub(crate) struct Turn {
    setup: TurnSetup,
    state: TurnState,
    /// What followers are told, and what is stored as the reply.
    reply: ReplyWriter,
    timings: TurnStopwatch,
    /// What came with the message; none before it is read.
    media: Option<MessageMedia>,
    /// What is known of messages that came behind it.
    joining: JoinProgress,
}

/// What came of preparing a turn.
pub(crate) enum TurnPreparation {
    Ready(Box<Turn>),
    /// Its conversation was handed on, and is there by now.
    Elsewhere(ActivePlace),
}

impl Turn {
    /// Reads what the turn needs, on one snapshot. Where its conversation is somewhere else than with this binding, nothing
    /// is prepared but told where, unless that was looked up.
    pub(crate) async fn prepare(
        engine: Arc<TurnEngineInner>,
        lease: RunLease,
        binding: Arc<BindingResolution>,
        (run_channel, stop): (Arc<RunChannel>, CancellationToken),
        (is_looked_up, ahead): (bool, Arc<QueryVector>),
    ) -> Result<TurnPreparation> {
        let begun = Instant::now();
        let now = engine.clock.now();
        let (everybody, resolved) = (engine.clone(), binding.clone());
        let may_use_remote_model = engine.gateway.targets().iter().any(|target| !target.is_local());
        let read = move |tx: &mut munshi_store::Tx<'_>| -> Result<_> {
            let run = runs::find(tx, lease.run)?.ok_or(Error::NoRun)?;
            if run.epoch != lease.epoch || run.ended_at.is_some() {
                return Err(Error::LostRun(lease.run));
            }
            let session = sessions::find(tx, run.conversation()?.session)?.ok_or(Error::NoRun)?;
            if let Some(place) = prepare::find_place(&run, &session).filter(|_| !is_looked_up) {
                return Ok(Err(place));
            }
            let mut prepared = prepare::read(tx, &run, session, &resolved, (&everybody, &ahead), now)?;
            if may_use_remote_model {
                prepared.load_known_people(tx, &everybody.people)?;
            }
            let is_left = lease.epoch > 1 && munshi_safety::budget::has_open_reservations(tx, lease.run)?;
            Ok(Ok((run, prepared, is_left)))
        };
        let (run, prepared, is_left) = match engine.db.read(lease.tenant, read).await? {
            Ok(read) => read,
            Err(place) => return Ok(TurnPreparation::Elsewhere(place)),
        };
        if is_left {
            let governor = engine.ingest_services.governor.clone();
            engine.db.write(lease.tenant, move |tx| governor.release_run(tx, lease.run)).await?;
        }
        if run.cancel_asked {
            stop.cancel();
        }
        let (setup, snapshot, entities) =
            TurnSetup::build(engine, TurnInput { lease, run, binding, prepared, stop })?;
        let turn = Self::new(setup, TurnState::new(snapshot, entities), run_channel, begun);
        Ok(TurnPreparation::Ready(Box::new(turn)))
    }

    fn new(setup: TurnSetup, mut state: TurnState, run_channel: Arc<RunChannel>, begun: Instant) -> Self {
        let mut reply = ReplyWriter::begin(run_channel, setup.lease, setup.build_reply_settings());
        reply.replay(&state.snapshot.said, &state.snapshot.marks);
        if !setup.prepared.skipped.is_empty() {
            let skipped = json!({ "skipped": setup.prepared.skipped });
            state.add_step(RunState::Preparing, skipped, Duration::ZERO, setup.engine.clock.now());
        }
        state.restore_entities(&setup);
        let (timings, joining) = (TurnStopwatch::begin(begun), JoinProgress::default());
        Self { setup, state, reply, timings, media: None, joining }
    }

    /// What the first stage is handed.
    pub(crate) fn begin_notes(&self) -> StageNotes {
        let mut notes = StageNotes::default();
        notes.acts.take_up(&self.state.snapshot);
        notes
    }

    /// Goes on as another team or binding, after what this one has said and broken: its clocks run on.
    pub(crate) fn continue_from(&mut self, before: Self) {
        self.timings = before.timings;
        self.reply.add_violations(before.reply.into_violations());
    }

    /// How long storing the message took, where this process did that.
    pub(crate) fn set_ingest_time(&mut self, ingest: Duration) {
        self.timings.ingest = ingest;
    }

    /// A new state, and how long the last one took.
    fn enter(&mut self, state: RunState) {
        let Some((before, took)) = self.timings.enter(state) else { return };
        self.step(before, Value::Null, took);
        let what = state.as_str().to_owned();
        self.reply.emit_transient(RunEvent::Thinking { what });
    }

    fn step(&mut self, state: RunState, body: Value, took: Duration) {
        self.state.add_step(state, body, took, self.setup.engine.clock.now());
    }

    /// What the tokens of models elsewhere stand for; it is kept wherever an answer of theirs is.
    fn encode_pseudonyms(&self) -> Option<Value> {
        let said = [self.reply.raw(), self.reply.text()].map(str::to_owned);
        let stored = said.into_iter().chain(self.state.list_stored_texts());
        let session = self.state.transient.storable_pseudonyms(&self.setup.redactor, stored);
        (!session.is_empty()).then(|| serde_json::to_value(&session).ok()).flatten()
    }

    /// Brings the snapshot up to what was said and spent.
    fn sync(&mut self) {
        self.state.snapshot.said = self.reply.raw().to_owned();
        self.state.snapshot.marks = self.reply.marks().to_vec();
        self.state.snapshot.drawn = self.setup.budget.drawn();
        (self.state.snapshot.output, self.state.snapshot.is_unpriced) =
            (self.setup.budget.output(), !self.setup.budget.is_priced());
        self.state.snapshot.generation = self.reply.generation();
        self.state.snapshot.masked = self.encode_pseudonyms();
        let used = self.setup.budget.used();
        (self.state.snapshot.used.tokens, self.state.snapshot.used.money) = (used.tokens, used.money);
    }
}
