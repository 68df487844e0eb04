//! Whether this process can do its work: the database answers, the queue is being looked at, and so are changes of tiers.
//!
//! Anyone who reaches the port can read this, so it says what is wrong without naming hosts or paths; the log does.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use munshi_connectors::Host;
use munshi_jobs::Runner;
use munshi_store::{Db, Error};
use munshi_tiers::Resolver;
use munshi_types::{Clock, Timestamp};
use munshi_web::{Check, Readiness};

/// A queue or tiers that were not looked at for this long (a queue: for ten of its rounds) are stuck.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) struct Parts {
    pub(super) db: Db,
    pub(super) runner: Arc<Runner>,
    pub(super) resolver: Resolver,
    pub(super) connectors: Host,
    pub(super) clock: Arc<dyn Clock>,
    /// How often the runner looks.
    pub(super) poll: Duration,
    /// Until its first look the runner has this long.
    pub(super) started: Timestamp,
}

impl Readiness for Parts {
    fn ready(&self) -> Pin<Box<dyn Future<Output = Vec<Check>> + Send + '_>> {
        Box::pin(async { vec![self.store().await, self.jobs(), self.tiers(), self.connectors()] })
    }
}

impl Parts {
    async fn store(&self) -> Check {
        match self.db.check().await {
            Ok(()) => Check::pass("store", self.db.engine()),
            Err(error) => ailing(&error),
        }
    }

    fn jobs(&self) -> Check {
        let last = self.runner.last_look().unwrap_or(self.started);
        let quiet = self.clock.now().since(last);
        if quiet <= PATIENCE.max(self.poll * 10) {
            return Check::pass("jobs", "looking at the queue");
        }
        let detail = format!("the queue was last looked at {} s ago", quiet.as_secs());
        Check::fail("jobs", detail, "if the store is well, the log says why; a restart loses nothing")
    }

    fn tiers(&self) -> Check {
        let quiet = self.resolver.last_look();
        if quiet <= PATIENCE {
            return Check::pass("tiers", "changes are seen");
        }
        let detail = format!("changes were last looked for {} s ago", quiet.as_secs());
        Check::fail(
            "tiers",
            detail,
            "if the store is well, the log says why; what is remembered still answers",
        )
    }

    /// One that is out of order is its tenant's trouble: it is told here, and the node goes on for all others.
    fn connectors(&self) -> Check {
        let told: Vec<String> = self
            .connectors
            .count()
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(state, count)| format!("{count} {state}"))
            .collect();
        Check::pass("connectors", if told.is_empty() { "none".to_owned() } else { told.join(", ") })
    }
}

fn ailing(error: &Error) -> Check {
    let (detail, hint) = match error {
        Error::Full => ("the disk is full", "free some space; nothing was lost"),
        Error::Corrupt(_) => ("the database is damaged", "run `munshi doctor`, then restore a backup"),
        Error::Busy(_) => ("the database is busy", "see what holds it; it is tried again"),
        Error::Unavailable { .. } | Error::OutcomeUnknown => {
            ("the database can't be reached", "see that it runs; it is tried again, and the log says more")
        }
        _ => ("the database does not answer as it should", "the log says more"),
    };
    Check::fail("store", detail, hint)
}
