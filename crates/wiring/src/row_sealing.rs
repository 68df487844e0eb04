//! Sealing what an older version stored plain, while everything else goes on.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use munshi_config::Config;
use munshi_conversations::retention::{check_clock, expire_files, seal_files_of_before};
use munshi_identity::persons::SEALING;
use munshi_identity::row_sealing::{self, RowsOfBefore, SealingStep};
use munshi_keys::{find_rewritten, mark_rewritten};
use munshi_llm::calls::{CALLS_OF_BEFORE, key_hashes_of_before};
use munshi_safety::policy;
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{Db, PageRequest, PlatformTx, Tx, in_background, maintenance};
use munshi_types::{Clock, TenantId, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::database::ConfiguredDatabase;
use crate::failure::Result;
use crate::housekeeping;

/// Between two units, so that people's come first on SQLite too.
const BREATH: Duration = Duration::from_millis(5);
/// Where the keys or the database can't be reached it is tried again after this.
const PAUSE: Duration = Duration::from_secs(30);
/// After everything was looked through.
const REST: Duration = Duration::from_secs(3600);

/// Of every crate whose tables were plain once, in the order they are worked on.
fn list_rows_of_before() -> Vec<RowsOfBefore> {
    let lists = [
        &[row_sealing::CONTACTS, row_sealing::CODES],
        munshi_conversations::ROWS_OF_BEFORE,
        munshi_safety::ROWS_OF_BEFORE,
        munshi_pack::ROWS_OF_BEFORE,
        munshi_connectors::ROWS_OF_BEFORE,
    ];
    let below = [
        RowsOfBefore::Table(&munshi_jobs::JOBS_OF_BEFORE),
        RowsOfBefore::Table(&CALLS_OF_BEFORE),
        RowsOfBefore::Own { name: "llm_calls.prompt_hash", seal_next: key_hashes_of_before },
    ];
    [lists.concat(), below.to_vec()].concat()
}

/// What seals one tenant after another.
pub struct RowSealer {
    db: Db,
    clock: Arc<dyn Clock>,
    archive: PathBuf,
    rows: Vec<RowsOfBefore>,
}

impl RowSealer {
    pub fn from_config(config: &Config, db: &Db, clock: &Arc<dyn Clock>) -> Self {
        let archive = housekeeping::archive_folder(config);
        Self { db: db.clone(), clock: clock.clone(), archive, rows: list_rows_of_before() }
    }

    /// Works until it is told to stop; the next start goes on from there. Tenants that are made meanwhile have nothing plain, and are
    /// looked through once like any other.
    pub async fn run(self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            let pause = match in_background(self.seal_all(&stop)).await {
                Ok(()) => REST,
                Err(failure) => {
                    tracing::warn!(
                        error = failure.message,
                        "some older text is not sealed yet; retrying later"
                    );
                    PAUSE
                }
            };
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// One tenant's trouble keeps no other waiting; all of it is tried again later.
    async fn seal_all(&self, stop: &CancellationToken) -> Result<()> {
        let (mut is_any_new, mut failed) = (false, None);
        for tenant in list_tenants(&self.db).await? {
            match self.seal_tenant(tenant, stop).await {
                Ok(is_new) => is_any_new |= is_new,
                Err(failure) => {
                    tracing::warn!(%tenant, error = failure.message, "sealing a tenant's older text failed");
                    failed = Some(failure);
                }
            }
        }
        // What stood plain is in the log no more.
        if is_any_new && let Err(error) = self.db.empty_log().await {
            tracing::debug!(%error, "the log was not emptied; it is at the next start");
        }
        failed.map_or(Ok(()), Err)
    }

    /// Whether there was anything to look through.
    async fn seal_tenant(&self, tenant: TenantId, stop: &CancellationToken) -> Result<bool> {
        if stop.is_cancelled() {
            return Ok(false);
        }
        self.expire_files(tenant).await?;
        let files = seal_files_of_before(&self.db, &self.archive, tenant).await?;
        let done = self.db.read(tenant, row_sealing::list_done).await?;
        let mut is_new = files > 0;
        for rows in self.rows.iter().filter(|rows| !done.iter().any(|name| name == rows.name())) {
            is_new = true;
            while self.seal_next(tenant, *rows).await? == SealingStep::More {
                tokio::select! {
                    biased;
                    () = stop.cancelled() => return Ok(is_new),
                    () = tokio::time::sleep(BREATH) => {}
                }
            }
        }
        Ok(is_new)
    }

    /// What a tenant keeps no longer of this node's archive: the nightly job looks through that of one node alone.
    async fn expire_files(&self, tenant: TenantId) -> Result<()> {
        let (_, policy) = self.db.read(tenant, policy::load_current).await?;
        let now = self.clock.now();
        let ended = check_clock(&self.db, tenant, policy.retention, now).await?;
        expire_files(&self.archive, tenant, ended.messages_days, now).await?;
        Ok(())
    }

    async fn seal_next(&self, tenant: TenantId, rows: RowsOfBefore) -> Result<SealingStep> {
        let now = self.clock.now();
        Ok(self.db.write(tenant, move |tx: &mut Tx<'_>| rows.seal_next(tx, now)).await?)
    }
}

/// How far sealing what an older version stored plain has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealingProgress {
    pub tenants: usize,
    /// Of these, so many were looked through to their end.
    pub done: usize,
    /// When something that stood plain was sealed last.
    pub changed_at: Option<Timestamp>,
    /// SQLite: when the file was written anew last.
    pub rewritten_at: Option<Timestamp>,
}

impl SealingProgress {
    pub async fn load(db: &Db) -> Result<Self> {
        let (tenants, rows) = (list_tenants(db).await?, list_rows_of_before());
        let mut done = 0;
        for tenant in &tenants {
            let names = db.read(*tenant, row_sealing::list_done).await?;
            done += usize::from(rows.iter().all(|rows| names.iter().any(|name| name == rows.name())));
        }
        let changed_at = db.platform(SEALING).read(row_sealing::find_last_change).await?;
        Ok(Self { tenants: tenants.len(), done, changed_at, rewritten_at: find_rewritten(db).await? })
    }

    pub fn is_done(&self) -> bool {
        self.done == self.tenants
    }

    /// Whether what was overwritten may stand in the file still.
    pub fn has_traces(&self) -> bool {
        match (self.rewritten_at, self.changed_at) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(rewritten), Some(changed)) => changed >= rewritten,
        }
    }
}

/// Writes the database's file anew after everything in it was sealed, once for each walk that found something: what was overwritten may
/// stand in it still. Before anything is served, since nobody can write meanwhile.
pub async fn rewrite_if_due(database: &ConfiguredDatabase, db: &Db, clock: &Arc<dyn Clock>) -> Result<()> {
    let progress = SealingProgress::load(db).await?;
    if !progress.has_traces() || !progress.is_done() {
        return Ok(());
    }
    tracing::info!(
        "writing the database file anew, so that nothing an older version stored plain is left in it"
    );
    match maintenance::rewrite_file(&database.address, &database.options).await {
        // After the last change by whichever clock, or each start would do it again.
        Ok(_) => {
            let changed = progress.changed_at.map(|at| at.plus(Duration::from_micros(1)));
            mark_rewritten(db, changed.map_or(clock.now(), |after| after.max(clock.now()))).await?;
        }
        // Nothing is wrong with the database: it is tried again at the next start.
        Err(error) => {
            tracing::warn!(%error, "the database file was not written anew; free disk space of twice its size is needed");
        }
    }
    Ok(())
}

async fn list_tenants(db: &Db) -> Result<Vec<TenantId>> {
    let (mut all, mut after) = (vec![TenantId::PLATFORM], None);
    loop {
        let request = PageRequest::new(after, PageRequest::LARGEST);
        let page =
            db.platform(TENANTS).read(move |tx: &mut PlatformTx<'_>| tenants::list(tx, &request)).await?;
        all.extend(page.items.iter().map(|tenant| tenant.id));
        after = page.next;
        if after.is_none() {
            all.dedup();
            return Ok(all);
        }
    }
}
