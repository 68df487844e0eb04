//! Messages leave the index before they leave the table.

use munshi_store::{Db, Tx, in_background};
use munshi_types::TenantId;
use uuid::Uuid;

use super::BREATH;
use crate::error::Result;

/// Takes messages out of the index, some at a time: in the one transaction that removes them all, everybody else would wait for
/// as many rows as they have words. Whatever is added again before that one it takes out itself. If that one never comes, the
/// nightly look through everything adds them again.
pub(crate) async fn remove_from_index(db: &Db, tenant: TenantId, ids: Vec<Uuid>) -> Result<()> {
    in_background(remove_all(db, tenant, ids)).await
}

async fn remove_all(db: &Db, tenant: TenantId, mut ids: Vec<Uuid>) -> Result<()> {
    while !ids.is_empty() {
        let left = ids.clone();
        let unit = move |tx: &mut Tx<'_>| -> munshi_store::Result<usize> {
            let count = munshi_index::count_removable(tx, &left)?;
            munshi_index::remove(tx, left.get(..count).unwrap_or_default())?;
            Ok(count)
        };
        let count = db.write(tenant, unit).await?;
        ids.drain(..count.clamp(1, ids.len()));
        tokio::time::sleep(BREATH).await;
    }
    Ok(())
}
