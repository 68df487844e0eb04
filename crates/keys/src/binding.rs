//! The main database and its store of keys know each other.

use munshi_store::{Db, PlatformScope, PlatformTx, across_tenants, params};
use munshi_types::Timestamp;
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::worker::{KeyWorker, WantedStore};

/// The main database's side of its store of keys.
const SEALING: PlatformScope = PlatformScope::new("sealing");

/// Tells the worker which store this database wants. Where nothing is sealed yet, a store is made and written down. A store that
/// is written down is looked at when a key is asked for, or by [`KeyWorker::store_id`].
pub async fn bind_store(db: &Db, worker: &KeyWorker, now: Timestamp) -> Result<()> {
    if let Some(known) = find_store(db).await? {
        worker.set_wanted(WantedStore::Known(known));
        return Ok(());
    }
    worker.set_wanted(WantedStore::Any);
    let made = worker.store_id().await?;
    let claim = move |tx: &mut PlatformTx<'_>| {
        tx.execute(
            across_tenants(
                "INSERT INTO sealed_by (slot, store_id, since) VALUES (1, $1, $2) ON CONFLICT (slot) DO NOTHING",
            ),
            params![made, now],
        )
    };
    db.platform(SEALING).write(claim).await?;
    match find_store(db).await? {
        Some(known) if known != made => Err(Error::Key(
            "another node gave this database its store of keys at the same moment: name that one in keys.url \
             (MUNSHI__KEYS__URL) and start this one again"
                .to_owned(),
        )),
        _ => Ok(()),
    }
}

/// The store that seals this database's text, once there is one.
pub async fn find_store(db: &Db) -> Result<Option<Uuid>> {
    let read = |tx: &mut PlatformTx<'_>| {
        tx.optional(across_tenants("SELECT store_id FROM sealed_by WHERE slot = 1"), &[], |row| row.get(0))
    };
    Ok(db.platform(SEALING).read(read).await?)
}

/// When the main database's file was written anew after everything in it was sealed.
pub async fn find_rewritten(db: &Db) -> Result<Option<Timestamp>> {
    let read = |tx: &mut PlatformTx<'_>| {
        let text = "SELECT rewritten_at FROM sealed_by WHERE slot = 1";
        tx.optional(across_tenants(text), &[], |row| row.get::<Option<Timestamp>>(0))
    };
    Ok(db.platform(SEALING).read(read).await?.flatten())
}

pub async fn mark_rewritten(db: &Db, now: Timestamp) -> Result<()> {
    let text = "UPDATE sealed_by SET rewritten_at = $1 WHERE slot = 1";
    let mark = move |tx: &mut PlatformTx<'_>| tx.execute(across_tenants(text), params![now]);
    db.platform(SEALING).write(mark).await?;
    Ok(())
}
