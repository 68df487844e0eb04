//! Whether this process can do its work: the database answers, so does the store of keys, the queue is being looked at, and so are
//! changes of tiers.
//!
//! Anyone who reaches the port can read this, so it says what is wrong without naming hosts or paths; the log does.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use munshi_connectors::ConnectorHost;
use munshi_jobs::JobRunner;
use munshi_store::{Db, Error};
use munshi_tiers::BindingResolver;
use munshi_types::{Clock, Timestamp};
use munshi_web::{Readiness, ReadinessCheck};
use munshi_wiring::keeper_alerts::{KeeperAlert, KeeperAlertsFuture, NodeChecks};
use munshi_wiring::key_watch::{KeyStoreState, KeyStoreWatch};

/// A queue or tiers that were not looked at for this long (a queue: for ten of its rounds) are stuck.
const TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Clone)]
pub(crate) struct ReadinessParts {
    pub(crate) db: Db,
    pub(crate) keys: KeyStoreWatch,
    pub(crate) runner: Arc<JobRunner>,
    pub(crate) resolver: BindingResolver,
    pub(crate) connectors: ConnectorHost,
    pub(crate) clock: Arc<dyn Clock>,
    /// How often the runner looks.
    pub(crate) poll: Duration,
    /// Until its first look the runner has this long.
    pub(crate) started: Timestamp,
}

impl Readiness for ReadinessParts {
    fn run_checks(&self) -> Pin<Box<dyn Future<Output = Vec<ReadinessCheck>> + Send + '_>> {
        Box::pin(async {
            vec![self.store().await, self.keys(), self.jobs(), self.tiers(), self.connectors()]
        })
    }
}

impl ReadinessParts {
    /// The same probes, for whoever tells the keeper what is wrong.
    pub(crate) fn to_node_checks(&self) -> NodeChecks {
        let probes = self.clone();
        Arc::new(move || -> KeeperAlertsFuture {
            let probes = probes.clone();
            Box::pin(async move { probes.run_checks().await.into_iter().filter_map(to_alert).collect() })
        })
    }

    async fn store(&self) -> ReadinessCheck {
        match self.db.check().await {
            Ok(()) => ReadinessCheck::pass("store", self.db.engine()),
            Err(error) => to_failed_check(&error),
        }
    }

    /// What the look of the last second said: a probe asks nothing of the store itself.
    fn keys(&self) -> ReadinessCheck {
        let hint = "check that it runs and that keys.url names it; Munshi retries, and the log has details";
        match self.keys.state() {
            KeyStoreState::Answering => ReadinessCheck::pass("keys", "the store of keys answers"),
            KeyStoreState::Unavailable => {
                ReadinessCheck::fail("keys", "the store of keys can't be reached, or refuses", hint)
            }
            KeyStoreState::Failing => {
                ReadinessCheck::fail("keys", "unexpected error of the store of keys", "see the log")
            }
            KeyStoreState::Stuck { seconds } => {
                let detail = format!("the store of keys last answered {seconds} s ago");
                ReadinessCheck::fail("keys", detail, hint)
            }
        }
    }

    fn jobs(&self) -> ReadinessCheck {
        let last = self.runner.last_poll().unwrap_or(self.started);
        let quiet = self.clock.now().since(last);
        if quiet <= TIMEOUT.max(self.poll * 10) {
            return ReadinessCheck::pass("jobs", "polling the queue");
        }
        let detail = format!("last poll of the queue was {} s ago", quiet.as_secs());
        ReadinessCheck::fail("jobs", detail, "check the store, then the log; a restart is safe")
    }

    fn tiers(&self) -> ReadinessCheck {
        let quiet = self.resolver.time_since_poll();
        if quiet <= TIMEOUT {
            return ReadinessCheck::pass("tiers", "watching for changes");
        }
        let detail = format!("last check for changes was {} s ago", quiet.as_secs());
        ReadinessCheck::fail("tiers", detail, "check the store, then the log; cached tiers are still served")
    }

    /// One that is out of order is its tenant's trouble: it is told here, and the node goes on for all others.
    fn connectors(&self) -> ReadinessCheck {
        let told: Vec<String> = self
            .connectors
            .count()
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(state, count)| format!("{count} {state}"))
            .collect();
        ReadinessCheck::pass("connectors", if told.is_empty() { "none".to_owned() } else { told.join(", ") })
    }
}

fn to_alert(check: ReadinessCheck) -> Option<KeeperAlert> {
    let ReadinessCheck { name, ok, detail, hint } = check;
    // A database that is damaged is another alert than one that is busy. What other probes say has times in it.
    let key = if name == "store" { format!("store: {detail}") } else { name };
    let text = [Some(detail), hint].into_iter().flatten().collect::<Vec<_>>().join("\n");
    (!ok).then_some(KeeperAlert { key, text })
}

fn to_failed_check(error: &Error) -> ReadinessCheck {
    let (detail, hint) = match error {
        Error::Full => ("the disk is full", "free some space; nothing was lost"),
        Error::Corrupt(_) => ("the database is damaged", "run `munshi doctor`, then restore a backup"),
        Error::Busy(_) => ("the database is busy", "check what locks it; Munshi retries"),
        Error::Unavailable { .. } | Error::OutcomeUnknown => {
            ("the database can't be reached", "check that it runs; Munshi retries, and the log has details")
        }
        _ => ("unexpected database error", "see the log"),
    };
    ReadinessCheck::fail("store", detail, hint)
}
