//! Two transactions that meet at a chosen moment. Only Postgres has several writers at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use munshi_store::{PlatformTx, across_tenants, tenants};

use crate::database::TestDb;
use crate::wait::{PATIENCE, wait_until};

/// Keeps one unit of the store open, its work done and not committed, until it is released. Clones are the same hold.
#[derive(Clone, Default)]
pub struct UnitHold {
    reached: Arc<AtomicBool>,
    released: Arc<AtomicBool>,
}

impl UnitHold {
    /// Called by the unit where it is to wait. The store runs units on threads of its own, so this may block.
    pub fn wait(&self) {
        self.reached.store(true, Ordering::SeqCst);
        let began = Instant::now();
        while !self.released.load(Ordering::SeqCst) {
            assert!(began.elapsed() < PATIENCE, "nobody releases the unit");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits until the unit has come there.
    pub async fn reached(&self) {
        wait_until(async || self.reached.load(Ordering::SeqCst)).await;
    }

    pub fn release(&self) {
        self.released.store(true, Ordering::SeqCst);
    }

    /// Begins `second` while the unit is held, and releases the unit as soon as `second` waits for a lock or is done.
    pub async fn run_against<T>(&self, test: &TestDb, second: impl Future<Output = T>) -> T {
        self.reached().await;
        let mut second = std::pin::pin!(second);
        let done = tokio::select! {
            done = &mut second => Some(done),
            () = test.until_units_wait(1) => None,
        };
        self.release();
        match done {
            Some(done) => done,
            None => second.await,
        }
    }
}

impl TestDb {
    /// Waits until so many units of this Postgres database wait for locks that others hold.
    pub async fn until_units_wait(&self, wanted: i64) {
        wait_until(async || self.count_waiting_units().await == wanted).await;
    }

    async fn count_waiting_units(&self) -> i64 {
        let sql = "SELECT COUNT(DISTINCT l.pid) FROM pg_lock_status() AS l
                   JOIN pg_stat_get_activity(NULL) AS a ON a.pid = l.pid
                   JOIN pg_stat_get_activity(pg_backend_pid()) AS own ON own.datid = a.datid
                   WHERE NOT l.granted";
        let count = move |tx: &mut PlatformTx<'_>| tx.one(across_tenants(sql), &[], |row| row.get(0));
        self.db.platform(tenants::TENANTS).read(count).await.unwrap()
    }
}
