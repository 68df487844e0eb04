//! Which sessions of a tenant change, for whoever watches all of them.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use munshi_conversations::session_changes::{self, ChangedSession, SessionNews};
use munshi_conversations::session_waits;
use munshi_store::Tx;
use munshi_types::{PersonId, SessionId, TenantId, Timestamp};
use tokio::time::Instant;
use uuid::Uuid;

use crate::hub::LiveHub;
use crate::watchers::ChangeWatch;
use crate::{RetryBackoff, SWEEP};

/// So many changes are read at a time.
const PAGE: u32 = 500;
/// Sessions of a busy tenant change many times a second: they are read together, no more often than this.
const PAUSE: Duration = Duration::from_millis(250);
/// Clocks of nodes differ, and a unit is stored some time after it was begun: a change may appear behind a later one. What
/// appears later than this is found when its session changes next.
const LOOKBACK: Duration = Duration::from_secs(10);
/// Before the sessions of any moment.
const FIRST: SessionId = SessionId::from_uuid(Uuid::nil());

/// When they had changed, and how much was said in them.
type ToldSessions = HashMap<SessionId, (Timestamp, i64)>;

pub struct TenantFollower {
    hub: LiveHub,
    watch: ChangeWatch,
    tenant: TenantId,
    /// Whose unread messages are counted; nobody's while none.
    reader: Option<PersonId>,
    /// The newest change that was seen.
    newest: Timestamp,
    /// Behind which change it is read next.
    from: (Timestamp, SessionId),
    /// What was told of the last while.
    told: ToldSessions,
    queue: VecDeque<SessionNews>,
    is_dirty: bool,
    read_at: Option<Instant>,
    retries: RetryBackoff,
}

impl TenantFollower {
    pub(crate) fn new(hub: LiveHub, tenant: TenantId, since: Timestamp) -> Self {
        let watch = hub.watch_tenant(tenant);
        Self {
            hub,
            watch,
            tenant,
            reader: None,
            newest: since,
            // What was stamped before, and is stored only now, is not left out.
            from: (since.minus(LOOKBACK), FIRST),
            told: ToldSessions::new(),
            queue: VecDeque::new(),
            is_dirty: true,
            read_at: None,
            retries: RetryBackoff::default(),
        }
    }

    /// Counts what somebody has not read, too.
    #[must_use]
    pub fn with_reader(self, reader: Option<PersonId>) -> Self {
        Self { reader, ..self }
    }

    /// The next session that has changed, as it is by then, whenever that is. Several changes of one session may be told as
    /// one. A call that is given up loses nothing.
    pub async fn next(&mut self) -> SessionNews {
        loop {
            if let Some(news) = self.queue.pop_front() {
                return news;
            }
            if !self.is_dirty {
                // Both ends mean the same: look.
                let told = &self.told;
                let is_told = |found: &ChangedSession| {
                    told.get(&found.session) == Some(&(found.changed_at, found.messages))
                };
                let _woken = tokio::time::timeout(SWEEP, self.watch.changed(is_told)).await;
                self.is_dirty = true;
            }
            if let Some(read_at) = self.read_at {
                tokio::time::sleep_until(read_at + PAUSE).await;
            }
            let (from, reader, told) = (self.from, self.reader, self.told.clone());
            let read = move |tx: &mut Tx<'_>| list_news(tx, from, reader, &told);
            match self.hub.db().read(self.tenant, read).await {
                Ok(news) => {
                    self.retries.succeed(self.hub.outage());
                    self.enqueue_news(news);
                }
                Err(error) => {
                    let failed = self.retries.fail(self.hub.outage());
                    if failed.is_news {
                        tracing::warn!(tenant = %self.tenant, %error, "following tenants failed; trying again");
                    }
                    tokio::time::sleep(failed.pause).await;
                }
            }
        }
    }

    fn enqueue_news(&mut self, news: Vec<SessionNews>) {
        let last = news.last().map(|last| (last.changed_at, last.session));
        self.newest = last.map_or(self.newest, |(last, _)| self.newest.max(last));
        self.is_dirty = news.len() >= PAGE as usize;
        self.read_at = (!self.is_dirty).then(Instant::now);
        // A clock that is ahead of ours hides nothing that is stamped by others.
        let seen = self.newest.min(self.hub.clock().now()).minus(LOOKBACK);
        self.from = last.filter(|_| self.is_dirty).unwrap_or((seen, FIRST));
        for one in news {
            let state = (one.changed_at, one.pulse.messages);
            if self.told.insert(one.session, state) != Some(state) {
                self.queue.push_back(one);
            }
        }
        // What is read again is remembered.
        let oldest = seen.minus(LOOKBACK);
        self.told.retain(|_, (changed_at, _)| *changed_at > oldest);
    }
}

/// A page of what has changed, with what those want that were not told.
fn list_news(
    tx: &mut Tx<'_>,
    from: (Timestamp, SessionId),
    reader: Option<PersonId>,
    told: &ToldSessions,
) -> munshi_store::Result<Vec<SessionNews>> {
    let mut news = session_changes::list_news(tx, from, PAGE)?;
    let is_new = |one: &&SessionNews| told.get(&one.session) != Some(&(one.changed_at, one.pulse.messages));
    let fresh: Vec<SessionId> = news.iter().filter(is_new).map(|one| one.session).collect();
    let attention = session_waits::load_attention(tx, reader, &fresh)?;
    for one in &mut news {
        one.attention = attention.get(&one.session).copied().unwrap_or_default();
    }
    Ok(news)
}
