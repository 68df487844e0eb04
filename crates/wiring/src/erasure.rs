//! Forgetting people, as the installation is set up.

use std::sync::Arc;

use munshi_erasure::{AddressedRecords, ERASURES, ErasureService, rows};
use munshi_identity::persons::AddressHash;
use munshi_jobs::JobQueue;
use munshi_keys::KeyWorker;
use munshi_store::{Cursor, Db, PlatformTx, Tx};
use munshi_types::{Clock, IdGenerator, SystemClock, SystemRandom, Timestamp};

use crate::failure::{CommandFailure, Result};
use crate::packs;

/// How many of those who were forgotten last are compared.
const COMPARED: u32 = 5;
/// So many are read at once.
const PAGE: u32 = 50;

pub fn build(db: &Db, clock: &Arc<dyn Clock>) -> Result<ErasureService> {
    let ids = IdGenerator::new(clock.clone(), Arc::new(SystemRandom));
    let queue = JobQueue::new(clock.clone(), ids.clone());
    Ok(ErasureService {
        db: db.clone(),
        packs: packs::load_registry()?,
        addressed: vec![Arc::new(WaitingArrivals(queue.clone()))],
        queue,
        clock: clock.clone(),
        ids,
    })
}

/// What came from other platforms and waits, or could not be taken in.
struct WaitingArrivals(JobQueue);

impl AddressedRecords for WaitingArrivals {
    fn name(&self) -> &'static str {
        "messages on their way in"
    }

    fn forget(
        &self,
        tx: &mut Tx<'_>,
        addresses: &[AddressHash],
        now: Timestamp,
    ) -> munshi_erasure::Result<u64> {
        Ok(munshi_channels::incoming::forget_senders(tx, &self.0, addresses, now)?)
    }
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
/// For commands that work without a server. Without the store nothing is read at all: the books are plain, and of an older copy they
/// name people who were forgotten since.
pub(crate) async fn replay_if_due(db: &Db, keys: &KeyWorker) -> Result<()> {
    match is_replay_due(db, keys).await? {
        true => replay(db, &(Arc::new(SystemClock) as Arc<dyn Clock>)).await.map(drop),
        false => Ok(()),
    }
}

/// Whether this database does not know of one of those that the store of keys wrote down last. Only those count that a replay would carry
/// out here.
async fn is_database_older(db: &Db, keys: &KeyWorker) -> Result<bool> {
    let (mut left, mut before) = (COMPARED, Cursor::START);
    while left > 0 {
        let logged = keys.list_newest_erasures(before, PAGE).await?;
        let Some((last, _)) = logged.last() else { return Ok(false) };
        before = *last;
        let read = move |tx: &mut PlatformTx<'_>| {
            let mut known = Vec::new();
            for (_, entry) in logged.iter().filter(|(_, entry)| rows::is_readable(entry)) {
                known.extend(rows::is_known(tx, entry)?);
            }
            Ok::<_, munshi_store::Error>(known)
        };
        for is_known in db.platform(ERASURES).read(read).await? {
            if !is_known {
                return Ok(true);
            }
            left = left.saturating_sub(1);
        }
    }
    Ok(false)
}

async fn is_replay_due(db: &Db, keys: &KeyWorker) -> Result<bool> {
    if is_database_older(db, keys).await? {
        return Ok(true);
    }
    let read = |tx: &mut PlatformTx<'_>| rows::list_newest_destroyed(tx, COMPARED);
    for (tenant, id) in db.platform(ERASURES).read(read).await? {
        if !keys.knows_erasure(tenant, id).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use munshi_keys::{CachedKeyring, KeyStorePlace, MasterKeySource, WantedStore};
    use munshi_store::{DatabaseAddress, KeyErasure, Keyring, StoreOptions, params};
    use munshi_test_support::database::MORNING;
    use munshi_test_support::{TestDb, on_both_engines};
    use munshi_types::{ErasureId, TenantId};
    use serde_json::{Value, json};

    use super::*;

    /// A store of keys in a file.
    struct TestKeyLog {
        worker: KeyWorker,
        keyring: Arc<CachedKeyring>,
    }

    impl TestKeyLog {
        fn open(test: &TestDb) -> Self {
            let folder = test.place.folder();
            let place = KeyStorePlace {
                address: DatabaseAddress::sqlite(folder.join("keys.db")),
                owner: None,
                options: StoreOptions { readers: 1, ..StoreOptions::default() },
            };
            let masters = MasterKeySource::File(folder.join("vault.key"));
            let worker = KeyWorker::new(place, masters.into(), test.clock.clone(), Arc::new(SystemRandom));
            worker.set_wanted(WantedStore::Any);
            let keyring = CachedKeyring::new(worker.clone(), test.clock.clone(), Arc::new(SystemRandom), 10);
            Self { worker, keyring: Arc::new(keyring) }
        }

        async fn add(&self, test: &TestDb, tenant: TenantId, body: Value) -> ErasureId {
            let (keyring, id) = (self.keyring.clone(), test.ids.next());
            // Each at a time of its own.
            test.clock.advance(Duration::from_secs(1));
            let entry = KeyErasure { tenant, id, keys: Vec::new(), body };
            tokio::task::spawn_blocking(move || keyring.destroy_keys(&entry)).await.unwrap().unwrap();
            id
        }
    }

    fn forget_somebody() -> Value {
        json!({ "persons": [], "keys": [], "records": {}, "asked_by": "a test", "asked_at": MORNING })
    }

    on_both_engines! {
        with [munshi_store::MIGRATIONS, munshi_erasure::MIGRATIONS];

        async fn what_is_not_done_here_hides_nothing_and_is_no_reason(test: TestDb) {
            let (tenant, log) = (test.add_tenant("shop").await, TestKeyLog::open(&test));
            // A later version's.
            log.add(&test, tenant, json!({ "persons": "everybody" })).await;
            log.add(&test, test.ids.next(), forget_somebody()).await;
            assert!(!is_replay_due(&test.db, &log.worker).await.unwrap());
            let missing = log.add(&test, tenant, forget_somebody()).await;
            for _ in 0..60 {
                log.add(&test, test.ids.next(), forget_somebody()).await;
            }
            assert!(is_replay_due(&test.db, &log.worker).await.unwrap(), "behind those of tenants that this copy lacks");
            let add = move |tx: &mut Tx<'_>| {
                tx.execute(
                    "INSERT INTO erasures (tenant_id, id, persons, keys, records, asked_by, asked_at, counts)
                     VALUES ($1, $2, '[]', '[]', '{}', 'a test', $3, '{}')",
                    params![missing, MORNING],
                )
            };
            test.db.write(tenant, add).await.unwrap();
            assert!(!is_replay_due(&test.db, &log.worker).await.unwrap());
        }
    }
}
