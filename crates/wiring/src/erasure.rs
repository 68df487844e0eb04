//! Forgetting people, as the installation is set up, and letting go of keys that other nodes have destroyed.

use std::sync::Arc;
use std::time::Duration;

use munshi_erasure::ErasureService;
use munshi_jobs::JobQueue;
use munshi_store::Db;
use munshi_types::{Clock, IdGenerator, SystemRandom};
use tokio_util::sync::CancellationToken;

use crate::failure::{CommandFailure, Result};
use crate::packs;

/// How soon a node lets go of a key that another has destroyed.
const LOOK: Duration = Duration::from_secs(1);

pub fn build(db: &Db, clock: &Arc<dyn Clock>) -> Result<ErasureService> {
    let ids = IdGenerator::new(clock.clone(), Arc::new(SystemRandom));
    Ok(ErasureService {
        db: db.clone(),
        packs: packs::load_registry()?,
        queue: JobQueue::new(clock.clone(), ids.clone()),
        clock: clock.clone(),
        ids,
    })
}

/// Forgets in this database whom the store of keys remembers as forgotten: it may be an older copy. Before anything is served.
pub async fn replay(db: &Db, clock: &Arc<dyn Clock>) -> Result<usize> {
    let replayed = build(db, clock)?.replay().await;
    let erasures = replayed.map_err(|error| {
        CommandFailure::failed(format!(
            "people who were forgotten can't be forgotten in this database: {error}"
        ))
        .hint("nothing is served before that; start again")
    })?;
    if erasures > 0 {
        tracing::warn!(
            erasures,
            "this database had people who were forgotten before; they are forgotten again"
        );
    }
    Ok(erasures)
}

/// Lets go of keys that other nodes have destroyed, until it is told to stop.
pub async fn watch_destroyed(db: Db, stop: CancellationToken) {
    let mut looks = tokio::time::interval(LOOK);
    looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = looks.tick() => {}
        }
        let Ok(keyring) = db.keyring() else { return };
        match tokio::task::spawn_blocking(move || keyring.drop_destroyed()).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::warn!(%error, "destroyed keys can't be looked for; retrying"),
            Err(error) => tracing::warn!(%error, "looking for destroyed keys was stopped"),
        }
    }
}
