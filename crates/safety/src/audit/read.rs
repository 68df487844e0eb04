//! Entries as they stand, page by page.

use munshi_store::{
    Db, Error as StoreError, PlatformTx, Result as StoreResult, Row, SortOrder, Tx, across_tenants, params,
    sql_in_both_orders,
};
use munshi_types::{TenantId, Timestamp};

use super::AUDIT;
use super::entry::{AuditEntry, AuditEvent, ChainHash};
use crate::error::Result;

/// How many entries are read at a time.
pub const PAGE: u32 = 1000;

/// The end of one tenant's chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChainHead {
    pub tenant: TenantId,
    pub seq: i64,
    pub hash: ChainHash,
}

/// The newest entries, the oldest of them first.
pub fn tail(tx: &mut Tx<'_>, count: u32) -> Result<Vec<AuditEntry>> {
    let mut entries = tx.all(
        "SELECT tenant_id, seq, id, made_at, actor_kind, actor_id, event, subject, payload, prev_hash, hash
         FROM audit_entries WHERE tenant_id = $1 ORDER BY seq DESC LIMIT $2",
        params![count],
        read,
    )?;
    entries.reverse();
    Ok(entries)
}

/// What part of a chain is wanted.
#[derive(Clone, Debug)]
pub struct AuditListRequest {
    pub order: SortOrder,
    /// The number behind which it begins; none for the chain's end in that order.
    pub after: Option<i64>,
    /// Only entries of this event.
    pub event: Option<String>,
    pub count: u32,
}

/// Entries in the order that is asked for.
pub fn list(tx: &mut Tx<'_>, request: &AuditListRequest) -> Result<Vec<AuditEntry>> {
    let start = match request.order {
        SortOrder::Ascending => i64::MIN,
        SortOrder::Descending => i64::MAX,
    };
    let sql = sql_in_both_orders!(
        "SELECT tenant_id, seq, id, made_at, actor_kind, actor_id, event, subject, payload, prev_hash, hash
         FROM audit_entries WHERE tenant_id = $1 AND seq < $2 AND (event = $3 OR $4) ORDER BY seq DESC LIMIT $5"
    );
    let event = request.event.as_deref();
    Ok(tx.all(
        sql.choose(request.order),
        params![request.after.unwrap_or(start), event.unwrap_or_default(), event.is_none(), request.count],
        read,
    )?)
}

/// The entries after a number, in their order.
pub fn list_after(tx: &mut Tx<'_>, after: i64, count: u32) -> Result<Vec<AuditEntry>> {
    Ok(tx.all(
        "SELECT tenant_id, seq, id, made_at, actor_kind, actor_id, event, subject, payload, prev_hash, hash
         FROM audit_entries WHERE tenant_id = $1 AND seq > $2 ORDER BY seq LIMIT $3",
        params![after, count],
        read,
    )?)
}

/// Hands every entry of a chain to `each` as a line of JSON, a page at a time: memory does not grow with the chain.
/// Gives the number of lines.
pub async fn export(db: &Db, tenant: TenantId, mut each: impl FnMut(&str) -> Result<()>) -> Result<u64> {
    let (mut after, mut count) = (i64::MIN, 0);
    loop {
        let entries = db.read(tenant, move |tx| list_after(tx, after, PAGE)).await?;
        let Some(last) = entries.last() else { return Ok(count) };
        after = last.seq;
        for entry in &entries {
            each(&entry.to_line())?;
            count += 1;
        }
    }
}

/// What the head's row says, the number of the last entry, and how many there are, all seen at one moment.
pub(super) fn load_ends(tx: &mut Tx<'_>) -> Result<(Option<ChainHead>, i64, i64)> {
    let head =
        tx.optional("SELECT tenant_id, seq, hash FROM audit_heads WHERE tenant_id = $1", &[], read_head)?;
    let (last, count) = tx.one(
        "SELECT coalesce(max(seq), 0), count(*) FROM audit_entries WHERE tenant_id = $1",
        &[],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    Ok((head, last, count))
}

/// The first number that two entries have, which takes somebody who can lift the table's own rules.
pub(super) fn find_duplicate_seq(tx: &mut Tx<'_>) -> Result<Option<i64>> {
    Ok(tx.optional(
        "SELECT seq FROM audit_entries WHERE tenant_id = $1 GROUP BY seq HAVING count(*) > 1 ORDER BY seq LIMIT 1",
        &[],
        |row| row.get(0),
    )?)
}

/// The number of the entry after this one, whatever else it holds.
pub(super) fn next_seq(tx: &mut Tx<'_>, after: i64) -> Result<i64> {
    Ok(tx.one(
        "SELECT coalesce(min(seq), 0) FROM audit_entries WHERE tenant_id = $1 AND seq > $2",
        params![after],
        |row| row.get(0),
    )?)
}

/// Whether any entry of the chain has this hash.
pub(super) fn contains_hash(tx: &mut Tx<'_>, hash: ChainHash) -> Result<bool> {
    let found = tx.optional(
        "SELECT seq FROM audit_entries WHERE tenant_id = $1 AND hash = $2 LIMIT 1",
        params![&hash.0[..]],
        |_| Ok(()),
    )?;
    Ok(found.is_some())
}

/// The newest entry about the file of anchors, its event and its payload. The chain is the installation's, where few
/// others stand between.
pub(super) fn find_last_anchor_event(tx: &mut Tx<'_>) -> Result<Option<(String, String)>> {
    Ok(tx.optional(
        "SELECT event, payload FROM audit_entries
         WHERE tenant_id = $1 AND event IN ('audit.anchored', 'audit.anchors_restarted') ORDER BY seq DESC LIMIT 1",
        &[],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?)
}

/// The ends of all chains, a page at a time in the order of their tenants.
pub async fn list_heads(db: &Db) -> Result<Vec<ChainHead>> {
    let (mut heads, mut after) = (Vec::<ChainHead>::new(), None);
    loop {
        let page = db.platform(AUDIT).read(move |tx| list_heads_after(tx, after)).await?;
        let Some(last) = page.last() else { return Ok(heads) };
        after = Some(last.tenant);
        heads.extend(page);
    }
}

fn list_heads_after(tx: &mut PlatformTx<'_>, after: Option<TenantId>) -> Result<Vec<ChainHead>> {
    Ok(match after {
        None => tx.all(
            across_tenants("SELECT tenant_id, seq, hash FROM audit_heads ORDER BY tenant_id LIMIT $1"),
            params![PAGE],
            read_head,
        )?,
        Some(after) => tx.all(
            across_tenants(
                "SELECT tenant_id, seq, hash FROM audit_heads WHERE tenant_id > $1 ORDER BY tenant_id LIMIT $2",
            ),
            params![after, PAGE],
            read_head,
        )?,
    })
}

fn read_head(row: &Row<'_>) -> StoreResult<ChainHead> {
    Ok(ChainHead { tenant: row.get(0)?, seq: row.get(1)?, hash: hash_at(row, 2)? })
}

fn read(row: &Row<'_>) -> StoreResult<AuditEntry> {
    Ok(AuditEntry {
        tenant: row.get(0)?,
        seq: row.get(1)?,
        id: row.get(2)?,
        made_at: row.get::<Timestamp>(3)?,
        actor_kind: row.get(4)?,
        actor_id: row.get(5)?,
        event: row.get(6)?,
        subject: row.get(7)?,
        payload: row.get(8)?,
        prev: hash_at(row, 9)?,
        hash: hash_at(row, 10)?,
    })
}

/// A hash of another length is none that was ever written: it reads as one that matches nothing.
pub(super) fn hash_at(row: &Row<'_>, at: usize) -> StoreResult<ChainHash> {
    let bytes: Vec<u8> = row.get(at)?;
    Ok(ChainHash::from_bytes(&bytes).unwrap_or(ChainHash([0xff; 32])))
}

/// Whether the store could not make sense of a row, as opposed to not answering.
pub(super) fn is_unreadable(error: &crate::Error) -> bool {
    matches!(error, crate::Error::Store(StoreError::Decode(_)))
}

/// Whether the last look at all chains, which the installation's own chain has, found one that is broken.
pub fn is_last_verification_broken(tx: &mut Tx<'_>) -> munshi_store::Result<bool> {
    let last: Option<String> = tx.optional(
        "SELECT event FROM audit_entries WHERE tenant_id = $1 AND event IN ('audit.verified', 'audit.broken')
         ORDER BY seq DESC LIMIT 1",
        &[],
        |row| row.get(0),
    )?;
    Ok(last.as_deref() == Some(AuditEvent::AUDIT_BROKEN.as_str()))
}
