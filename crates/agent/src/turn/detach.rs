//! Calling a tool that may take long: past its soft limit the turn goes on without it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use munshi_conversations::commit::{self, RunProgress};
use munshi_conversations::late_acts::{self, DetachOutcome};
use munshi_conversations::snapshot::{CallIndex, EpochStamp, ExchangeCall};
use munshi_conversations::{Error, Result, RunState, runs};
use munshi_tools::{ActJournal, Error as ToolsError, ToolAnswer, ToolCallRequest};
use munshi_types::{ActId, Conduct, ToolName};
use tokio::task::JoinError;
use tokio_util::task::AbortOnDropHandle;

use super::Turn;
use super::setup::TurnSetup;
use crate::deferred_results::DetachableJournal;
use crate::engine::TurnEngine;

/// How long one waits for an act that is not decided about when its soft limit is over.
const AGAIN: Duration = Duration::from_millis(100);
/// How long one waits before an act is left once more, where the database could not be reached.
const HELD_UP: Duration = Duration::from_millis(500);

/// What the dispatcher said.
type Said = Result<Option<ToolAnswer>, ToolsError>;

/// What is asked of the dispatcher.
pub(super) enum DispatchRequest {
    Anew(Box<ToolCallRequest>),
    /// Of an act that stands in the books.
    Again {
        act: ActId,
        conduct: Arc<Conduct>,
        tools: Vec<ToolName>,
    },
}

impl Turn {
    /// What came of it; none where an act that should be known is not. One that takes longer than its soft limit is left
    /// to itself: it goes on, here or after a crash elsewhere, and is told of later.
    pub(super) async fn dispatch(
        &self,
        call_index: CallIndex,
        called: &ExchangeCall,
        asked: DispatchRequest,
        journal: Arc<dyn ActJournal>,
    ) -> Result<Option<ToolAnswer>> {
        let wait_at_most = self.setup.tool(&called.tool).and_then(|tool| tool.known.spec.wait_at_most);
        let Some(wait_at_most) = wait_at_most.filter(|_| self.setup.run.kind == runs::MESSAGE) else {
            return Ok(self.setup.send_to_dispatcher(asked, journal).await?);
        };
        let is_told = AtomicBool::new(false);
        let leaving = Arc::new(DetachableJournal { inner: self.setup.engine.clone(), journal, is_told });
        let asking = self.setup.send_to_dispatcher(asked, leaving.clone());
        let (engine, session) =
            (TurnEngine { inner: self.setup.engine.clone() }, self.setup.conversation.session);
        let tenant = self.setup.tenant();
        let abandon = self.setup.engine.abandon.clone();
        let call = self.setup.engine.tasks.spawn(async move {
            tokio::select! {
                biased;
                // As a crash would: whoever takes the act up knows what to do about it.
                () = abandon.cancelled() => None,
                answer = asking => {
                    if leaving.is_told.load(Ordering::SeqCst) {
                        engine.try_sweep_session(tenant, session).await;
                    }
                    Some(answer)
                }
            }
        });
        // It ends with the turn until it was left: whoever takes the run up relies on it that nobody is at its acts.
        let call = AbortOnDropHandle::new(call);
        let Some(ended) = self.wait_or_detach(call_index, called, wait_at_most, call).await? else {
            return Ok(Some(ToolAnswer::Working { act: called.act }));
        };
        match ended {
            Ok(Some(answer)) => Ok(answer?),
            // The process is ending, and this turn with it.
            Ok(None) => std::future::pending().await,
            Err(broke) => match broke.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(munshi_store::Error::Busy("the process is shutting down".to_owned()).into()),
            },
        }
    }

    /// How the call ended; none where it is left to itself.
    async fn wait_or_detach(
        &self,
        call_index: CallIndex,
        called: &ExchangeCall,
        wait_at_most: Duration,
        mut call: AbortOnDropHandle<Option<Said>>,
    ) -> Result<Option<Result<Option<Said>, JoinError>>> {
        let (mut wait, mut is_unsure) = (wait_at_most, false);
        loop {
            if let Ok(ended) = tokio::time::timeout(wait, &mut call).await {
                return Ok(Some(ended));
            }
            match self.detach_call(call_index, called).await {
                Ok(DetachOutcome::Yes) => break,
                Ok(DetachOutcome::NotYet) => wait = AGAIN,
                Ok(DetachOutcome::No) => return Ok(Some(call.await)),
                // That it stands there already is the answer to whether it was left.
                Err(Error::Store(munshi_store::Error::Conflict { .. })) if is_unsure => break,
                // The call goes on meanwhile, and so does the turn's hold on the run.
                Err(error) if error.is_transient() => {
                    is_unsure |= matches!(error, Error::Store(munshi_store::Error::OutcomeUnknown));
                    wait = HELD_UP;
                }
                Err(error) => return Err(error),
            }
        }
        call.detach();
        Ok(None)
    }

    /// Leaves an act to itself, and writes down with the run that it did: it is not asked for again.
    async fn detach_call(&self, call_index: CallIndex, called: &ExchangeCall) -> Result<DetachOutcome> {
        let (lease, act, now) = (self.setup.lease, called.act, self.setup.engine.clock.now());
        let person = self.setup.run.person();
        let mut snapshot = self.state.snapshot.clone();
        snapshot.record_answer(
            call_index,
            &ToolAnswer::Working { act },
            EpochStamp { epoch: lease.epoch, now },
        );
        let unit = move |tx: &mut munshi_store::Tx<'_>| -> Result<DetachOutcome> {
            let left = late_acts::detach(tx, act, lease.run, now)?;
            if left == DetachOutcome::Yes {
                let progress = RunProgress {
                    lease,
                    person,
                    state: RunState::Observing,
                    snapshot: &snapshot,
                    steps: &[],
                    calls: &[],
                };
                commit::save_progress(tx, &progress)?;
            }
            Ok(left)
        };
        self.setup.engine.db.write(self.setup.tenant(), unit).await
    }

    pub(super) fn say_working(&mut self) {
        self.say_phrase("working-on-it", &[]);
    }
}

impl TurnSetup {
    fn send_to_dispatcher(
        &self,
        asked: DispatchRequest,
        journal: Arc<dyn ActJournal>,
    ) -> impl Future<Output = Said> + Send + 'static {
        let (dispatcher, tenant) = (self.engine.dispatcher.clone(), self.tenant());
        async move {
            match asked {
                DispatchRequest::Anew(want) => dispatcher.call(*want, journal).await.map(Some),
                DispatchRequest::Again { act, conduct, tools } => {
                    dispatcher.resume(tenant, act, conduct, &tools, journal).await
                }
            }
        }
    }
}
