//! One account, asked over and over by whoever holds it.

use std::sync::Arc;
use std::time::Duration;

use munshi_store::Tx;
use munshi_types::{LeaseId, Timestamp};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::listener::ListenPace;
use super::rows::{self, HeardBy, ListenState, ListenedAccount};
use crate::error::{Error, Result};
use crate::incoming::{ChannelEvent, ChannelIntake};
use crate::link::{ChannelLink, LinkFault, PolledEvents};

/// A link that does not come back by then is asked anew.
const LONGEST_POLL: Duration = Duration::from_secs(120);
/// No provider keeps us waiting for longer.
const LONGEST_ASKED_PAUSE: Duration = Duration::from_secs(3600);
/// Of a fault, so much is noted.
const LONGEST_FAULT: usize = 500;
/// What was said so shortly before an account was declared is taken all the same: clocks differ.
const SLACK: Duration = Duration::from_secs(60);

pub(super) struct AccountAsker {
    pub intake: ChannelIntake,
    pub pace: ListenPace,
    pub holder: LeaseId,
    pub of: Arc<ListenedAccount>,
    /// Cancelled when the account is not ours any more, and when the node stops.
    pub stop: CancellationToken,
}

/// Why an account is not asked any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AskerEnd {
    /// It is another's or gone, it has changed, or its provider tells by itself; or the node stops.
    Released,
    /// Nobody can ask it as it is.
    Unusable,
}

/// What one round came to.
enum AskRound {
    Heard { is_empty: bool },
    Failed(LinkFault),
    Ended(AskerEnd),
}

impl AccountAsker {
    /// Until it is stopped, or the account is not to be asked any more.
    pub(super) async fn run(self) -> AskerEnd {
        let mut pause = self.pace.first_pause;
        let (mut since, mut end) = (None, AskerEnd::Released);
        while !self.stop.is_cancelled() {
            let begun = Instant::now();
            match self.ask(&mut since).await {
                Ok(AskRound::Ended(why)) => {
                    end = why;
                    break;
                }
                Ok(AskRound::Heard { is_empty }) => {
                    pause = self.pace.first_pause;
                    if is_empty {
                        self.wait(pause.saturating_sub(begun.elapsed())).await;
                    }
                }
                Ok(AskRound::Failed(fault)) => {
                    let asked = fault.retry_after.unwrap_or_default().min(LONGEST_ASKED_PAUSE);
                    self.wait(pause.max(asked)).await;
                    pause = (pause * 2).min(self.pace.longest_pause);
                }
                Err(error) => {
                    tracing::warn!(tenant = %self.of.tenant, channel = %self.of.name, %error, "a channel can't be listened to; retrying");
                    self.wait(pause).await;
                    pause = (pause * 2).min(self.pace.longest_pause);
                }
            }
        }
        let (name, holder) = (self.of.name.clone(), self.holder);
        let release = move |tx: &mut Tx<'_>| rows::release(tx, &name, holder);
        if let Err(error) = self.intake.accounts.db().write(self.of.tenant, release).await {
            tracing::debug!(channel = %self.of.name, %error, "an account could not be let go of; its lease ends by itself");
        }
        end
    }

    async fn wait(&self, pause: Duration) {
        if !pause.is_zero() {
            tokio::select! {
                () = self.stop.cancelled() => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    async fn ask(&self, since: &mut Option<Timestamp>) -> Result<AskRound> {
        let (tenant, db) = (self.of.tenant, self.intake.accounts.db());
        let Some(link) = self.intake.accounts.find_link(tenant, &self.of.name).await? else {
            return Ok(AskRound::Ended(AskerEnd::Unusable));
        };
        let (name, holder) = (self.of.name.clone(), self.holder);
        let load = move |tx: &mut Tx<'_>| rows::load_held(tx, &name, holder);
        let Some(state) = db.read(tenant, load).await? else {
            return Ok(AskRound::Ended(AskerEnd::Released));
        };
        if !link.is_asked() && state.cursor.is_none() {
            return self.have_it_told(&link, &state).await;
        }
        let polled = tokio::select! {
            // Nothing was stored, so whoever asks next hears the same.
            () = self.stop.cancelled() => return Ok(AskRound::Ended(AskerEnd::Released)),
            polled = tokio::time::timeout(LONGEST_POLL, link.poll(state.cursor.as_deref())) => polled,
        };
        match polled {
            // It was asked until now: what waits there is heard first.
            Ok(Ok(heard)) if !link.is_asked() => {
                self.store(&link, &state, heard).await?;
                self.have_it_told(&link, &state).await
            }
            Ok(Ok(heard)) => {
                let heard = self.leave_out_history(&link, heard, since).await?;
                self.store(&link, &state, heard).await
            }
            Ok(Err(fault)) => self.note(&state, fault).await,
            Err(_) => self.note(&state, LinkFault::passing("the provider did not answer in time")).await,
        }
    }

    /// Sets up that the provider tells by itself from now on.
    async fn have_it_told(&self, link: &Arc<dyn ChannelLink>, state: &ListenState) -> Result<AskRound> {
        let report = tokio::select! {
            () = self.stop.cancelled() => return Ok(AskRound::Ended(AskerEnd::Released)),
            report = link.inspect() => report,
        };
        if let Some(why) = report.steps.into_iter().find_map(|step| step.failed) {
            return self.note(state, LinkFault::passing(why)).await;
        }
        let (name, holder) = (self.of.name.clone(), self.holder);
        let end = move |tx: &mut Tx<'_>| match rows::load_held(tx, &name, holder)? {
            Some(_) => rows::set_listens(tx, &name, false),
            // It changed meanwhile: whoever claims it looks anew.
            None => Ok(()),
        };
        self.intake.accounts.db().write(self.of.tenant, end).await?;
        Ok(AskRound::Ended(AskerEnd::Released))
    }

    /// Without what was said before the account was declared here.
    async fn leave_out_history(
        &self,
        link: &Arc<dyn ChannelLink>,
        heard: PolledEvents,
        since: &mut Option<Timestamp>,
    ) -> Result<PolledEvents> {
        if !link.replays_history() || heard.events.is_empty() {
            return Ok(heard);
        }
        if since.is_none() {
            let name = self.of.name.clone();
            let find = move |tx: &mut Tx<'_>| crate::rows::find_declared_at(tx, &name);
            *since = self.intake.accounts.db().read(self.of.tenant, find).await?;
        }
        let Some(from) = since.map(|since| since.minus(SLACK)) else { return Ok(heard) };
        let is_new = |event: &ChannelEvent| event.happened_at.is_none_or(|at| at >= from);
        Ok(PolledEvents { events: heard.events.into_iter().filter(is_new).collect(), ..heard })
    }

    async fn store(
        &self,
        link: &Arc<dyn ChannelLink>,
        state: &ListenState,
        heard: PolledEvents,
    ) -> Result<AskRound> {
        let moves = heard.next.is_some() && heard.next != state.cursor;
        if heard.events.is_empty() && !moves && state.fault.is_none() {
            return Ok(AskRound::Heard { is_empty: true });
        }
        let is_empty = heard.events.is_empty();
        let (intake, of, holder) = (self.intake.clone(), self.of.clone(), self.holder);
        let (channel, now) = (link.channel(), self.intake.clock.now());
        let unit = move |tx: &mut Tx<'_>| {
            let (queue, ids, account) = (&intake.queue, &intake.ids, &of.name);
            let by = HeardBy { queue, ids, account, channel, holder, now };
            rows::store_heard(tx, &by, &heard).map_err(Error::from)
        };
        let stored = self.intake.accounts.db().write(self.of.tenant, unit).await?;
        Ok(match stored {
            Some(_) => AskRound::Heard { is_empty },
            None => AskRound::Ended(AskerEnd::Released),
        })
    }

    /// Tells it once where it stays the same.
    async fn note(&self, state: &ListenState, fault: LinkFault) -> Result<AskRound> {
        let what: String = fault.what.chars().take(LONGEST_FAULT).collect();
        if state.fault.as_deref() != Some(what.as_str()) {
            tracing::warn!(tenant = %self.of.tenant, channel = %self.of.name, why = what, "a channel can't be heard");
            let (name, holder, now) = (self.of.name.clone(), self.holder, self.intake.clock.now());
            let note = move |tx: &mut Tx<'_>| rows::note_fault(tx, &name, holder, &what, now);
            self.intake.accounts.db().write(self.of.tenant, note).await?;
        }
        Ok(AskRound::Failed(fault))
    }
}
