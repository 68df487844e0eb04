//! Sealing what an older version stored plain, while everything else goes on.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use munshi_config::Config;
use munshi_conversations::retention::seal_files_of_before;
use munshi_identity::row_sealing::{self, RowsOfBefore, SealingStep};
use munshi_keys::{find_rewritten, mark_rewritten};
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{Db, PageRequest, PlatformTx, Tx, in_background, maintenance};
use munshi_types::{Clock, TenantId};
use tokio_util::sync::CancellationToken;

use crate::database::ConfiguredDatabase;
use crate::failure::Result;
use crate::housekeeping;

/// Between two units, so that people's come first on SQLite too.
const BREATH: Duration = Duration::from_millis(5);
/// Where the keys or the database can't be reached it is tried again after this.
const PAUSE: Duration = Duration::from_secs(30);

/// Of every crate whose tables were plain once, in the order they are worked on.
fn list_rows_of_before() -> Vec<RowsOfBefore> {
    let lists = [
        &[row_sealing::CONTACTS],
        munshi_conversations::ROWS_OF_BEFORE,
        munshi_safety::ROWS_OF_BEFORE,
        munshi_pack::ROWS_OF_BEFORE,
    ];
    lists.concat()
}

/// What seals one tenant after another, and ends when nothing plain is left.
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

    /// Works until nothing is left, or until it is told to stop: the next start goes on from there.
    pub async fn run(self, stop: CancellationToken) {
        loop {
            match in_background(self.seal_all(&stop)).await {
                Ok(()) => break,
                Err(failure) => {
                    tracing::warn!(error = failure.message, "sealing older text failed; retrying later");
                }
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(PAUSE) => {}
            }
        }
        stop.cancelled().await;
    }

    async fn seal_all(&self, stop: &CancellationToken) -> Result<()> {
        for tenant in list_tenants(&self.db).await? {
            let done = self.db.read(tenant, row_sealing::list_done).await?;
            let left = self.rows.iter().filter(|rows| !done.iter().any(|name| name == rows.name()));
            let mut is_new = false;
            for rows in left {
                is_new = true;
                while self.seal_next(tenant, *rows).await? == SealingStep::More {
                    tokio::select! {
                        biased;
                        () = stop.cancelled() => return Ok(()),
                        () = tokio::time::sleep(BREATH) => {}
                    }
                }
            }
            // Files have no row that says they are done; the last of the tables stands for them.
            if is_new {
                let files = seal_files_of_before(&self.db, &self.archive, tenant).await?;
                tracing::debug!(%tenant, files, "older text is sealed");
            }
        }
        // What stood plain is in the log no more.
        if let Err(error) = self.db.empty_log().await {
            tracing::debug!(%error, "the log was not emptied; it is at the next start");
        }
        Ok(())
    }

    async fn seal_next(&self, tenant: TenantId, rows: RowsOfBefore) -> Result<SealingStep> {
        let now = self.clock.now();
        Ok(self.db.write(tenant, move |tx: &mut Tx<'_>| rows.seal_next(tx, now)).await?)
    }

    /// Whether every tenant's text is sealed.
    async fn is_done(&self) -> Result<bool> {
        for tenant in list_tenants(&self.db).await? {
            let done = self.db.read(tenant, row_sealing::list_done).await?;
            if self.rows.iter().any(|rows| !done.iter().any(|name| name == rows.name())) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Writes the database's file anew, once, after everything in it was sealed: what was overwritten may stand in it still. Before anything
/// is served, since nobody can write meanwhile.
pub async fn rewrite_once(
    config: &Config,
    database: &ConfiguredDatabase,
    db: &Db,
    clock: &Arc<dyn Clock>,
) -> Result<()> {
    if find_rewritten(db).await?.is_some() || !RowSealer::from_config(config, db, clock).is_done().await? {
        return Ok(());
    }
    if maintenance::rewrite_file(&database.address, &database.options).await? {
        tracing::info!(
            "the database file was written anew: nothing an older version stored plain is left in it"
        );
    }
    Ok(mark_rewritten(db, clock.now()).await?)
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
