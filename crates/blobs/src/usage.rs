//! How much a tenant has in the store, counted in the transactions that promise and remove it.

use munshi_store::{Tx, params};

use crate::error::{Error, Result};
use crate::refusal::UploadRefusal;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlobUsage {
    pub bytes: u64,
    pub files: u64,
}

pub fn load_usage(tx: &mut Tx<'_>) -> munshi_store::Result<BlobUsage> {
    let found =
        tx.optional("SELECT bytes, files FROM blob_usage WHERE tenant_id = $1", params![], |row| {
            Ok(BlobUsage { bytes: to_count(row.get(0)?), files: to_count(row.get(1)?) })
        })?;
    Ok(found.unwrap_or_default())
}

/// Counts a file before its bytes are written: of two uploads that would fit alone, one passes.
pub(crate) fn reserve(tx: &mut Tx<'_>, bytes: u64, quota: u64) -> Result<()> {
    tx.execute(
        "INSERT INTO blob_usage (tenant_id, bytes, files) VALUES ($1, 0, 0) ON CONFLICT (tenant_id) DO NOTHING",
        params![],
    )?;
    let counted = tx.execute(
        "UPDATE blob_usage SET bytes = bytes + $2, files = files + 1 WHERE tenant_id = $1 AND bytes + $2 <= $3",
        params![to_column(bytes), to_column(quota)],
    )?;
    if counted == 0 { Err(Error::Refused(UploadRefusal::QuotaReached { quota })) } else { Ok(()) }
}

/// Gives room back once the bytes are gone.
pub(crate) fn give_back(tx: &mut Tx<'_>, bytes: u64) -> munshi_store::Result<()> {
    tx.execute(
        "UPDATE blob_usage SET bytes = bytes - $2, files = files - 1 WHERE tenant_id = $1",
        params![to_column(bytes)],
    )?;
    Ok(())
}

pub(crate) fn to_column(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

pub(crate) fn to_count(column: i64) -> u64 {
    u64::try_from(column).unwrap_or(0)
}
