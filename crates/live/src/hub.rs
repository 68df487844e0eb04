//! The one task of a node that hears what changes.

use std::sync::{Arc, Mutex, PoisonError};

use munshi_store::{Announcement, Db};
use munshi_types::{Clock, Id, SessionId, TenantId, Timestamp};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::cursor::MessageCursor;
use crate::outage::OutageNotice;
use crate::remote_changes::{RemoteChanges, pause};
use crate::session_follower::SessionFollower;
use crate::tenant_follower::TenantFollower;
use crate::watchers::{ChangeWatch, WatchKey, Watchers};

/// Wakes those who follow. Cheap to clone; somebody must [`run`](Self::run) it.
#[derive(Clone)]
pub struct LiveHub(Arc<LiveHubParts>);

struct LiveHubParts {
    db: Db,
    clock: Arc<dyn Clock>,
    watchers: Watchers,
    outage: OutageNotice,
    /// From when the hub was made, so that nothing is missed until it runs; whoever runs it takes it.
    heard: Mutex<Option<Receiver<Announcement>>>,
}

impl LiveHub {
    pub fn new(db: Db, clock: Arc<dyn Clock>) -> Self {
        let heard = Mutex::new(Some(db.announcements()));
        let (watchers, outage) = (Watchers::default(), OutageNotice::default());
        Self(Arc::new(LiveHubParts { db, clock, watchers, outage, heard }))
    }

    /// Listens until told to stop. A second call ends at once: there is one for each hub.
    pub async fn run(&self, stop: CancellationToken) {
        let heard = self.0.heard.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(heard) = heard else { return };
        tokio::select! {
            () = stop.cancelled() => {}
            () = self.listen(heard) => {}
            () = self.ask_others() => {}
        }
    }

    /// Wakes whoever watches a session, from whatever it hears of it.
    pub fn watch_session(&self, tenant: TenantId, session: SessionId) -> ChangeWatch {
        self.0.watchers.watch(WatchKey { tenant, subject: Some(session.as_uuid()) })
    }

    /// The same for all sessions of a tenant.
    pub fn watch_tenant(&self, tenant: TenantId) -> ChangeWatch {
        self.0.watchers.watch(WatchKey { tenant, subject: None })
    }

    /// Follows a session from behind a message, or from its newest on.
    pub fn follow_session(
        &self,
        tenant: TenantId,
        session: SessionId,
        after: Option<MessageCursor>,
    ) -> SessionFollower {
        SessionFollower::new(self.clone(), (tenant, session), after)
    }

    /// Follows which sessions of a tenant change, from a time on.
    pub fn follow_tenant(&self, tenant: TenantId, since: Timestamp) -> TenantFollower {
        TenantFollower::new(self.clone(), tenant, since)
    }

    /// What all followers of this node know of an outage.
    pub fn outage(&self) -> &OutageNotice {
        &self.0.outage
    }

    pub(crate) fn db(&self) -> &Db {
        &self.0.db
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.0.clock
    }

    async fn listen(&self, mut heard: Receiver<Announcement>) {
        loop {
            match heard.recv().await {
                Ok(announced) => self.0.watchers.wake(announced.tenant, announced.subject),
                Err(RecvError::Lagged(missed)) => {
                    tracing::debug!(missed, "announcements dropped; waking every follower");
                    self.0.watchers.wake_all();
                }
                // The hub has a handle to the database, so this end stays open.
                Err(RecvError::Closed) => return std::future::pending().await,
            }
        }
    }

    /// Asks what other processes have changed: nodes, and commands that open a file beside its server.
    async fn ask_others(&self) {
        let (mut changes, mut is_blind) = (RemoteChanges::default(), false);
        let mut ticks = interval(pause(&self.0.db));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if self.0.watchers.is_empty() {
                continue;
            }
            match changes.look(&self.0.db, self.clock()).await {
                Ok(changed) => {
                    if std::mem::take(&mut is_blind) {
                        tracing::info!("following other processes' changes recovered");
                    }
                    self.0.watchers.wake_found(&changed);
                }
                Err(error) if !is_blind => {
                    is_blind = true;
                    tracing::warn!(%error, "following other processes' changes failed; trying again");
                }
                Err(_) => {}
            }
        }
    }
}
