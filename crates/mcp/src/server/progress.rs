//! Telling a client that waits that something goes on, where it asked to be told.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};

/// Soon enough that nothing on the way takes the line for dead.
const EVERY: Duration = Duration::from_secs(5);

/// The steps of one call: taken, at work, done; between the last two, a sign of life now and then.
pub struct McpCallProgress {
    to: Option<(Peer<RoleServer>, ProgressToken)>,
    steps: f64,
}

impl McpCallProgress {
    pub(super) fn from_context(context: &RequestContext<RoleServer>) -> Self {
        let to = context.meta.get_progress_token().map(|token| (context.peer.clone(), token));
        Self { to, steps: 0.0 }
    }

    /// Whether somebody listens: then the answer is a stream, which may take as long as it likes.
    pub fn is_requested(&self) -> bool {
        self.to.is_some()
    }

    /// Does the work, and tells of it.
    pub async fn run<T>(mut self, work: impl Future<Output = T>) -> T {
        self.notify("taken").await;
        self.notify("at work").await;
        tokio::pin!(work);
        let done = loop {
            tokio::select! {
                done = &mut work => break done,
                () = tokio::time::sleep(EVERY), if self.is_requested() => self.notify("at work").await,
            }
        };
        self.notify("done").await;
        done
    }

    /// A client that has gone hears nothing, and that is no fault.
    async fn notify(&mut self, what: &str) {
        let Some((peer, token)) = &self.to else { return };
        let step = ProgressNotificationParam::new(token.clone(), self.steps).with_message(what);
        let _ = peer.notify_progress(step).await;
        self.steps += 1.0;
    }
}
