//! Adding an entry, in the transaction of what it records.

use munshi_store::{Tx, params};
use munshi_types::{EntryId, IdGenerator, Timestamp};

use super::entry::{AuditEntry, ChainHash, NewAuditEntry, clean_name};
use super::read::hash_at;
use super::redaction::redact_text;
use crate::error::Result;

/// Adds an entry to the chain of the transaction's tenant. It is there if and only if the transaction commits.
///
/// Phones and secrets in it are hidden. Whoever should be recognised again by their phone is named by a
/// [`derive_pseudonym`](super::pseudonym()).
///
/// Call it last: on Postgres it holds the end of the tenant's chain until the transaction ends, so what stands after it
/// makes others wait, and who locks anything after it may wait for each other forever.
pub fn append(tx: &mut Tx<'_>, new: &NewAuditEntry, now: Timestamp, ids: &IdGenerator) -> Result<EntryId> {
    let mut end = lock_or_create_head(tx)?;
    add(tx, &mut end, new, now, ids)
}

/// Adds several, one after another. The end of the chain is asked for once.
pub fn append_all(tx: &mut Tx<'_>, new: &[NewAuditEntry], now: Timestamp, ids: &IdGenerator) -> Result<()> {
    if new.is_empty() {
        return Ok(());
    }
    let mut end = lock_or_create_head(tx)?;
    new.iter().try_for_each(|new| add(tx, &mut end, new, now, ids).map(drop))
}

fn add(
    tx: &mut Tx<'_>,
    (seq, prev): &mut (i64, ChainHash),
    new: &NewAuditEntry,
    now: Timestamp,
    ids: &IdGenerator,
) -> Result<EntryId> {
    *seq += 1;
    let mut entry = AuditEntry {
        tenant: tx.tenant(),
        seq: *seq,
        id: ids.next(),
        made_at: now,
        actor_kind: new.actor.kind.as_str().to_owned(),
        actor_id: clean_name(&redact_text(&new.actor.id)),
        event: new.event.as_str().to_owned(),
        subject: clean_name(&redact_text(&new.subject)),
        payload: new.render_payload(),
        prev: *prev,
        hash: ChainHash::START,
    };
    entry.hash = entry.computed_hash();
    *prev = entry.hash;
    insert(tx, &entry)?;
    Ok(entry.id)
}

/// The end of the chain, held until the transaction ends; a chain without entries gets its row first.
fn lock_or_create_head(tx: &mut Tx<'_>) -> Result<(i64, ChainHash)> {
    if let Some(head) = lock_head(tx)? {
        return Ok(head);
    }
    tx.execute(
        "INSERT INTO audit_heads (tenant_id, seq, hash) VALUES ($1, 0, $2) ON CONFLICT (tenant_id) DO NOTHING",
        params![&ChainHash::START.0[..]],
    )?;
    Ok(lock_head(tx)?.unwrap_or((0, ChainHash::START)))
}

fn lock_head(tx: &mut Tx<'_>) -> Result<Option<(i64, ChainHash)>> {
    Ok(tx.optional(
        (
            "SELECT seq, hash FROM audit_heads WHERE tenant_id = $1",
            "SELECT seq, hash FROM audit_heads WHERE tenant_id = $1 FOR UPDATE",
        ),
        &[],
        |row| Ok((row.get(0)?, hash_at(row, 1)?)),
    )?)
}

/// One statement moves the head and adds the entry: on SQLite by a trigger.
fn insert(tx: &mut Tx<'_>, entry: &AuditEntry) -> Result<()> {
    tx.send(
        (
            "INSERT INTO audit_entries (tenant_id, seq, id, made_at, actor_kind, actor_id, event, subject, payload,
                                        prev_hash, hash)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
            "WITH moved AS (UPDATE audit_heads SET seq = $2, hash = $11 WHERE tenant_id = $1)
             INSERT INTO audit_entries (tenant_id, seq, id, made_at, actor_kind, actor_id, event, subject, payload,
                                        prev_hash, hash)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        ),
        params![
            entry.seq,
            entry.id,
            entry.made_at,
            entry.actor_kind,
            entry.actor_id,
            entry.event,
            entry.subject,
            entry.payload,
            &entry.prev.0[..],
            &entry.hash.0[..]
        ],
    )?;
    Ok(())
}
