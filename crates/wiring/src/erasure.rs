//! Forgetting people, as the installation is set up, and letting go of keys that other nodes have destroyed.

use std::sync::Arc;
use std::time::Duration;

use munshi_erasure::{ERASURES, ErasureService, rows};
use munshi_jobs::JobQueue;
use munshi_keys::KeyWorker;
use munshi_store::{Db, PlatformTx};
use munshi_types::{Clock, IdGenerator, SystemClock, SystemRandom};
use tokio_util::sync::CancellationToken;

use crate::failure::{CommandFailure, Result};
use crate::packs;

/// How soon a node lets go of a key that another has destroyed.
const LOOK: Duration = Duration::from_secs(1);
/// How many of those who were forgotten last are compared.
const COMPARED: u32 = 5;

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

/// The same where this database and its store of keys do not both remember those who were forgotten last: one of them is a copy from before.
/// For commands that work without a server. With a store that can't be reached nothing that is sealed is read either.
pub(crate) async fn replay_if_due(db: &Db, keys: &KeyWorker) -> Result<()> {
    match is_replay_due(db, keys).await {
        Ok(true) => replay(db, &(Arc::new(SystemClock) as Arc<dyn Clock>)).await.map(drop),
        Ok(false) => Ok(()),
        Err(failure) => {
            tracing::debug!(
                error = failure.message,
                "whom the store of keys remembers as forgotten was not looked at"
            );
            Ok(())
        }
    }
}

async fn is_replay_due(db: &Db, keys: &KeyWorker) -> Result<bool> {
    let logged = keys.list_newest_erasures(COMPARED).await?;
    let read = move |tx: &mut PlatformTx<'_>| {
        let destroyed = rows::list_newest_destroyed(tx, COMPARED)?;
        for (tenant, id) in logged {
            if rows::is_missing(tx, tenant, id)? {
                return Ok((true, destroyed));
            }
        }
        Ok::<_, munshi_store::Error>((false, destroyed))
    };
    let (is_missing, destroyed) = db.platform(ERASURES).read(read).await?;
    if is_missing {
        return Ok(true);
    }
    for (tenant, id) in destroyed {
        if !keys.knows_erasure(tenant, id).await? {
            return Ok(true);
        }
    }
    Ok(false)
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
