//! Carrying runs to their end: one after another in a session, each held by this process while it lasts.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;

use crate::engine::{Engine, Inner, Waiting};
use crate::error::{Error, Result};
use crate::hub::Room;
use crate::runs::{self, Held};
use crate::state::Halt;
use crate::turn::{End, Turn};

/// A run that was taken up more often than this without coming to an end or a pause breaks whoever takes it up.
const MOST_TRIES: i64 = 8;

impl Engine {
    pub(crate) async fn carry(&self, mut held: Held, mut waiting: Option<Waiting>) {
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
        let worn_out = turn.tries() > MOST_TRIES;
        let worn_out = worn_out.then(|| Halt::Broken("nobody could finish it".to_owned()));
        let end = match broken.or(worn_out) {
            Some(halt) => End::Halted(halt),
            None => turn.walk().await?,
        };
        turn.respond(end).await
    }
}
