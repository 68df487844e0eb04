//! The accounts that this node asks.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use munshi_store::{PlatformTx, Tx};
use munshi_types::LeaseId;
use tokio::task::{Id as TaskId, JoinError, JoinSet};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use super::account::{AccountAsker, AskerEnd};
use super::rows::{self, CHANNEL_LISTENING, ListenedAccount};
use crate::error::Result;
use crate::incoming::ChannelIntake;

/// A node asks no more accounts than this; others take the rest.
const MOST: u16 = 2000;
/// So many are claimed at a look, so that nodes that start together share them.
const CLAIMED_AT_ONCE: usize = 32;
/// An account that was let go of since it can't be asked is left alone for so long.
const RESTS: Duration = Duration::from_secs(30);

/// Asks providers what is new, on one of the nodes for each account.
#[derive(Clone)]
pub struct ChannelListener {
    intake: ChannelIntake,
    pace: ListenPace,
    /// This listener among all, for its leases.
    holder: LeaseId,
}

/// How a listener works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListenPace {
    /// How often it looks which accounts there are, and renews its leases.
    pub look: Duration,
    /// How long an account stays ours without renewal: so long nobody asks it where a node dies.
    pub lease: Duration,
    /// The first pause after a fault; it doubles.
    pub first_pause: Duration,
    pub longest_pause: Duration,
}

impl Default for ListenPace {
    fn default() -> Self {
        Self {
            look: Duration::from_secs(2),
            lease: Duration::from_secs(45),
            first_pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(60),
        }
    }
}

/// What runs here.
#[derive(Default)]
struct RunningAskers {
    tasks: JoinSet<AskerEnd>,
    held: HashMap<ListenedAccount, CancellationToken>,
    names: HashMap<TaskId, ListenedAccount>,
    /// Until when they are not claimed again.
    resting: HashMap<ListenedAccount, Instant>,
    has_rechecked: bool,
}

impl ChannelListener {
    pub fn new(intake: ChannelIntake, pace: ListenPace) -> Self {
        let holder = intake.ids.next();
        Self { intake, pace, holder }
    }

    /// Listens until `stop` is cancelled; then what was heard is stored, and what was being asked is let go of.
    pub async fn run(self, stop: CancellationToken) {
        let mut running = RunningAskers::default();
        let mut look = tokio::time::interval(self.pace.look);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                Some(ended) = running.tasks.join_next_with_id(), if !running.tasks.is_empty() => {
                    running.note_end(ended);
                }
                _ = look.tick() => {
                    if let Err(error) = self.look(&mut running).await {
                        tracing::warn!(%error, "channels can't be listened to; retrying");
                    }
                }
            }
        }
        running.held.values().for_each(CancellationToken::cancel);
        while running.tasks.join_next().await.is_some() {}
        let holder = self.holder;
        let release = move |tx: &mut PlatformTx<'_>| rows::release_all(tx, holder);
        let released = self.intake.accounts.db().platform(CHANNEL_LISTENING).write(release).await;
        if let Err(error) = released {
            tracing::debug!(%error, "accounts could not be let go of; their leases end by themselves");
        }
    }

    /// Holds on to what is ours, lets go of what is not any more, and claims what nobody asks.
    async fn look(&self, running: &mut RunningAskers) -> Result<()> {
        if !running.has_rechecked {
            self.recheck().await?;
            running.has_rechecked = true;
        }
        let (holder, now) = (self.holder, self.intake.clock.now());
        let until = now.plus(self.pace.lease);
        let unit = move |tx: &mut PlatformTx<'_>| {
            let held = rows::renew(tx, holder, until)?;
            Ok::<_, crate::error::Error>((held, rows::list_unclaimed(tx, MOST, now)?))
        };
        let (held, unclaimed) = self.intake.accounts.db().platform(CHANNEL_LISTENING).write(unit).await?;
        running.keep(&held);
        let room = usize::from(MOST).saturating_sub(running.held.len()).min(CLAIMED_AT_ONCE);
        let wanted: Vec<_> = unclaimed.into_iter().filter(|of| running.may_claim(of)).take(room).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let unit = move |tx: &mut PlatformTx<'_>| {
            let mut claimed = Vec::new();
            for of in &wanted {
                if rows::claim(tx, of, holder, (now, until))? {
                    claimed.push(of.clone());
                }
            }
            Ok::<_, crate::error::Error>(claimed)
        };
        let claimed = self.intake.accounts.db().platform(CHANNEL_LISTENING).write(unit).await?;
        claimed.into_iter().for_each(|of| self.start(running, of));
        Ok(())
    }

    /// Accounts that were told by their providers until now may have to be asked since this process began, such as where the public address
    /// went.
    async fn recheck(&self) -> Result<()> {
        let db = self.intake.accounts.db();
        let silent = db.platform(CHANNEL_LISTENING).read(rows::list_silent).await?;
        for ListenedAccount { tenant, name } in silent {
            let link = self.intake.accounts.find_link(tenant, &name).await?;
            if link.is_some_and(|link| link.is_asked()) {
                db.write(tenant, move |tx: &mut Tx<'_>| rows::set_listens(tx, &name, true)).await?;
            }
        }
        Ok(())
    }

    fn start(&self, running: &mut RunningAskers, of: ListenedAccount) {
        let stop = CancellationToken::new();
        let asker = AccountAsker {
            intake: self.intake.clone(),
            pace: self.pace,
            holder: self.holder,
            of: Arc::new(of.clone()),
            stop: stop.clone(),
        };
        let task = running.tasks.spawn(asker.run());
        running.names.insert(task.id(), of.clone());
        running.held.insert(of, stop);
    }
}

impl RunningAskers {
    /// Stops whatever asks an account that is another's, has changed or is gone.
    fn keep(&mut self, held: &[ListenedAccount]) {
        let held: HashSet<&ListenedAccount> = held.iter().collect();
        let lost = self.held.iter().filter(|(of, _)| !held.contains(of));
        lost.for_each(|(_, stop)| stop.cancel());
        let now = Instant::now();
        self.resting.retain(|_, until| *until > now);
    }

    fn may_claim(&self, of: &ListenedAccount) -> bool {
        !self.held.contains_key(of) && !self.resting.contains_key(of)
    }

    fn note_end(&mut self, ended: std::result::Result<(TaskId, AskerEnd), JoinError>) {
        let (id, end) = match ended {
            Ok(ended) => ended,
            Err(error) => (error.id(), AskerEnd::Unusable),
        };
        let Some(of) = self.names.remove(&id) else { return };
        self.held.remove(&of);
        if end == AskerEnd::Unusable {
            self.resting.insert(of, Instant::now() + RESTS);
        }
    }
}

impl fmt::Debug for ChannelListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChannelListener").field("pace", &self.pace).finish_non_exhaustive()
    }
}
