//! Asking what has changed.

use std::collections::BTreeSet;
use std::time::Duration;

use metrics::gauge;
use munshi_types::TenantId;
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::BindingResolver;
use crate::error::Result;
use crate::routing_keys::ROUTING;
use crate::rows;

/// One indexed statement that almost always finds nothing.
const PAUSE: Duration = Duration::from_millis(300);
/// What was changed past this program, by hand in the database, shows after this time too.
const LONGEST_MEMORY: Duration = Duration::from_secs(60);

/// The number of the newest change that this node knows. Nodes of one installation have the same.
const CHANGE: &str = "munshi_tiers_change";

impl BindingResolver {
    /// Keeps what is remembered true until told to stop. While the database can't be reached, what is remembered is
    /// answered as it was.
    pub async fn watch(&self, stop: CancellationToken) {
        let mut ticks = interval(PAUSE);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut renewed, mut is_blind) = (Instant::now(), false);
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                _ = ticks.tick() => {}
            }
            if renewed.elapsed() >= LONGEST_MEMORY && !is_blind {
                self.cache.invalidate_all();
                renewed = Instant::now();
            }
            match self.poll_changes().await {
                Ok(()) if is_blind => {
                    is_blind = false;
                    tracing::info!("tier change polling recovered");
                }
                Ok(()) => {}
                Err(error) if !is_blind => {
                    is_blind = true;
                    tracing::warn!(%error, "tier change polling failed; using cached tiers");
                }
                Err(_) => {}
            }
        }
    }

    /// Looks once, and forgets what has changed.
    pub async fn poll_changes(&self) -> Result<()> {
        let known = self.cache.known_change();
        let changed = self.db.platform(ROUTING).read(move |tx| rows::list_changed_since(tx, known)).await?;
        if let Some(count) = changed.iter().map(|(_, change)| *change).max() {
            let tenants: BTreeSet<TenantId> = changed.into_iter().map(|(tenant, _)| tenant).collect();
            self.cache.invalidate(&tenants, count);
            tracing::info!(change = count, tenants = tenants.len(), "tier changes in force");
        }
        self.cache.record_poll();
        #[allow(clippy::cast_precision_loss, reason = "a gauge is a float; nobody applies 2^52 times")]
        gauge!(CHANGE).set(self.cache.known_change().max(0) as f64);
        Ok(())
    }

    /// How long ago the database last said what has changed; what changed since is not known here.
    pub fn time_since_poll(&self) -> Duration {
        self.cache.time_since_poll()
    }
}
