//! One connection to one connector, and the handle that calls go through while connections come and go.
//!
//! # Layout
//! - [`ConnectorHandle`]: the handle of its tools; `session`: one connection, which speaks the protocol by `munshi-mcp`
//! - `open`: starting one; `child`: a process of our own; [`InProcessConnector`]: in the process; `logs`: what it says beside

mod child;
mod in_process;
pub(crate) mod logs;
mod open;
mod session;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use munshi_privacy::Scrubber;
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

pub use in_process::InProcessConnector;
pub use logs::read_last_lines;
pub(crate) use open::{ConnectorOpenRequest, ConnectorServices};
pub(crate) use session::{ConnectorConnection, ConnectorSession};

use crate::login::ConnectorCredential;
use crate::state::{ConnectorState, ConnectorStatus};

/// How long a call waits for a connector that is starting, before it says so.
const TIMEOUT: Duration = Duration::from_secs(5);

/// What a connector's tools hold on to.
#[derive(Debug)]
pub(crate) struct ConnectorHandle {
    pub name: String,
    /// No other of this process has it: a connector that is declared anew goes over a line of its own.
    pub number: u64,
    /// The session there is, and how the connector is. Written by its supervisor alone.
    now: watch::Receiver<ConnectorSnapshot>,
    /// Has its supervisor look again.
    look_again: Arc<Notify>,
}

/// How a connector is at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConnectorSnapshot {
    pub session: Option<Arc<ConnectorSession>>,
    pub standing: ConnectorStatus,
    /// Knows the secrets that were opened for it.
    pub scrubber: Scrubber,
    /// What lets us in, where its service asks for that.
    pub pass: Option<Arc<ConnectorCredential>>,
    /// How often it was found to want a login.
    pub shut: u64,
}

impl ConnectorHandle {
    pub(crate) fn new(
        name: String,
        look_again: Arc<Notify>,
    ) -> (watch::Sender<ConnectorSnapshot>, Arc<Self>) {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let (tell, now) = watch::channel(ConnectorSnapshot::default());
        let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        (tell, Arc::new(Self { name, number, now, look_again }))
    }

    /// The session, once there is one. What stands in its place says why there is none.
    pub(crate) async fn wait_for_session(&self) -> Result<Arc<ConnectorSession>, ConnectorStatus> {
        let mut now = self.now.clone();
        let (state, shut) = {
            let now = now.borrow_and_update();
            (now.standing.state, now.shut)
        };
        // Somebody may have logged in a moment ago: it is asked once more before anybody is told.
        if state == ConnectorState::WantsLogin {
            self.look_again.notify_one();
        }
        let ready = |now: &ConnectorSnapshot| {
            now.session.is_some()
                || (now.standing.state == ConnectorState::WantsLogin && now.shut > shut)
                || now.standing.state == ConnectorState::Degraded
                || now.standing.state == ConnectorState::Stopped
        };
        let found = timeout(TIMEOUT, now.wait_for(ready)).await.is_ok_and(|seen| seen.is_ok());
        let seen = self.now.borrow();
        match (&seen.session, found) {
            (Some(session), _) => Ok(session.clone()),
            _ => Err(seen.standing.clone()),
        }
    }

    pub(crate) fn scrubber(&self) -> Scrubber {
        let now = self.now.borrow();
        // Where there is a pass, it is all that was opened.
        now.pass.as_ref().map_or_else(|| now.scrubber.clone(), |pass| pass.scrubber())
    }
}
