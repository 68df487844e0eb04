//! What is stored of logins on their way. No secret: of every text that lets somebody go on there is a hash.

use std::time::Duration;

use munshi_store::{
    JsonText, PlatformTx, Row, RowId, RowMark, SealedBy, SealedCell, SealedColumn, Tx, across_tenants,
    is_sealed, params,
};
use munshi_types::{TenantId, Timestamp};
use serde::{Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};

use super::losses;
use crate::error::Result;

const BODY: SealedColumn = SealedColumn::new("connector_logins", "body");

/// So long are rows kept after their time, for whoever wonders why a link no longer works.
const KEPT: Duration = Duration::from_secs(24 * 3600);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoginRowKind {
    Link,
    State,
}

impl LoginRowKind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::State => "state",
        }
    }
}

/// One that was found.
pub(super) struct LoginRow<T> {
    pub(super) tenant: TenantId,
    pub(super) connector: String,
    pub(super) body: T,
}

pub(super) fn hash(text: &str) -> Vec<u8> {
    Sha256::digest(text.as_bytes()).to_vec()
}

/// Where the body of the row of this hash is sealed.
fn body_cell(hash: &[u8]) -> SealedCell {
    let hex = hash.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    BODY.cell(RowId::named(&[&hex]))
}

/// Writes one down, and forgets those that are long over.
pub(super) fn insert(
    tx: &mut Tx<'_>,
    (kind, text): (LoginRowKind, &str),
    connector: &str,
    body: &impl Serialize,
    (now, until): (Timestamp, Timestamp),
) -> Result<()> {
    tx.execute(
        "DELETE FROM connector_logins WHERE tenant_id = $1 AND expires_at < $2",
        params![now.minus(KEPT)],
    )?;
    let hash = hash(text);
    let body = tx.seal_json(SealedBy::Tenant, body_cell(&hash), body)?;
    tx.execute(
        "INSERT INTO connector_logins (tenant_id, hash, kind, connector, body, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6)",
        params![hash, kind.as_str(), connector, body, until],
    )?;
    Ok(())
}

/// One that is good now.
pub(super) fn find<T: DeserializeOwned>(
    tx: &mut PlatformTx<'_>,
    (kind, text): (LoginRowKind, &str),
    now: Timestamp,
) -> Result<Option<LoginRow<T>>> {
    let found = tx.optional(
        across_tenants(
            "SELECT l.tenant_id, l.connector, l.body FROM connector_logins l JOIN tenants t ON t.id = l.tenant_id
             WHERE l.hash = $1 AND l.kind = $2 AND l.used_at IS NULL AND l.expires_at > $3 AND t.status = 'active'",
        ),
        params![hash(text), kind.as_str(), now],
        |row| read_row(row, text),
    )?;
    Ok(found)
}

/// A row that has the tenant, the connector and the body.
fn read_row<T: DeserializeOwned>(row: &Row<'_>, text: &str) -> munshi_store::Result<LoginRow<T>> {
    let tenant = row.get(0)?;
    let body = row.get_sealed_of::<JsonText>(tenant, 2, body_cell(&hash(text)))?;
    Ok(LoginRow { tenant, connector: row.get(1)?, body: body.read()? })
}

/// One that was used, and whose time is not over.
pub(super) fn find_used<T: DeserializeOwned>(
    tx: &mut PlatformTx<'_>,
    (kind, text): (LoginRowKind, &str),
    now: Timestamp,
) -> Result<Option<LoginRow<T>>> {
    let found = tx.optional(
        across_tenants(
            "SELECT l.tenant_id, l.connector, l.body FROM connector_logins l JOIN tenants t ON t.id = l.tenant_id
             WHERE l.hash = $1 AND l.kind = $2 AND l.used_at IS NOT NULL AND l.expires_at > $3 AND t.status = 'active'",
        ),
        params![hash(text), kind.as_str(), now],
        |row| read_row(row, text),
    )?;
    Ok(found)
}

/// The same as [`find`] where it is theirs who come with it, and it is good no more: of two who come, one gets it.
pub(super) fn redeem<T: DeserializeOwned>(
    tx: &mut PlatformTx<'_>,
    (kind, text): (LoginRowKind, &str),
    now: Timestamp,
    is_theirs: impl Fn(&T) -> bool,
) -> Result<Option<LoginRow<T>>> {
    let found = find(tx, (kind, text), now)?.filter(|found: &LoginRow<T>| is_theirs(&found.body));
    let Some(found) = found else { return Ok(None) };
    let used = tx.execute(
        across_tenants(
            "UPDATE connector_logins SET used_at = $3 WHERE hash = $1 AND kind = $2 AND used_at IS NULL",
        ),
        params![hash(text), kind.as_str(), now],
    )?;
    Ok((used > 0).then_some(found))
}

/// What the last login stands for that was begun at a connector in vain: nobody came back in time.
pub(super) fn find_last_abandoned<T: DeserializeOwned>(
    tx: &mut Tx<'_>,
    connector: &str,
    now: Timestamp,
) -> Result<Option<T>> {
    let found = tx.optional(
        "SELECT hash, body FROM connector_logins
         WHERE tenant_id = $1 AND connector = $2 AND kind = 'state' AND used_at IS NULL AND expires_at <= $3
         ORDER BY expires_at DESC LIMIT 1",
        params![connector, now],
        |row| row.get_sealed::<JsonText>(1, body_cell(&row.get::<Vec<u8>>(0)?)),
    )?;
    Ok(found.map(|body| body.read()).transpose()?)
}

/// A link, as it is kept.
pub(super) struct LoginLinkRow<T> {
    pub(super) hash: Vec<u8>,
    pub(super) connector: String,
    pub(super) body: T,
}

/// The tenant's links whose time is not over, used or not.
pub(super) fn list_links<T: DeserializeOwned>(
    tx: &mut Tx<'_>,
    now: Timestamp,
) -> Result<Vec<LoginLinkRow<T>>> {
    let sql = "SELECT hash, connector, body FROM connector_logins
               WHERE tenant_id = $1 AND kind = 'link' AND expires_at > $2 ORDER BY hash";
    Ok(tx.all(sql, params![now], read_link)?)
}

/// The same, held until the transaction ends.
pub(super) fn lock_links<T: DeserializeOwned>(
    tx: &mut Tx<'_>,
    now: Timestamp,
) -> Result<Vec<LoginLinkRow<T>>> {
    let sql = (
        "SELECT hash, connector, body FROM connector_logins
         WHERE tenant_id = $1 AND kind = 'link' AND expires_at > $2 ORDER BY hash",
        "SELECT hash, connector, body FROM connector_logins
         WHERE tenant_id = $1 AND kind = 'link' AND expires_at > $2 ORDER BY hash FOR UPDATE",
    );
    Ok(tx.all(sql, params![now], read_link)?)
}

fn read_link<T: DeserializeOwned>(row: &Row<'_>) -> munshi_store::Result<LoginLinkRow<T>> {
    let hash: Vec<u8> = row.get(0)?;
    let body = row.get_sealed::<JsonText>(2, body_cell(&hash))?.read()?;
    Ok(LoginLinkRow { hash, connector: row.get(1)?, body })
}

pub(super) fn set_body(tx: &mut Tx<'_>, hash: &[u8], body: &impl Serialize) -> Result<()> {
    let body = tx.seal_json(SealedBy::Tenant, body_cell(hash), body)?;
    tx.execute(
        "UPDATE connector_logins SET body = $3 WHERE tenant_id = $1 AND hash = $2 AND kind = 'link'",
        params![hash, body],
    )?;
    Ok(())
}

/// Seals the rows from before they were sealed. They live for a day, so there are few, and all are sealed at once.
pub(crate) fn seal_logins_of_before(
    tx: &mut Tx<'_>,
    _: RowMark,
    _: u32,
) -> munshi_store::Result<Option<RowMark>> {
    let logins: Vec<(Vec<u8>, JsonText)> = tx.all(
        (
            "SELECT hash, body FROM connector_logins WHERE tenant_id = $1 ORDER BY hash",
            "SELECT hash, body FROM connector_logins WHERE tenant_id = $1 ORDER BY hash FOR NO KEY UPDATE",
        ),
        params![],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    for (hash, body) in logins.iter().filter(|(_, body)| !is_sealed(body.as_str())) {
        let sealed = tx.seal_written(SealedBy::Tenant, body_cell(hash), body)?;
        tx.execute(
            "UPDATE connector_logins SET body = $3 WHERE tenant_id = $1 AND hash = $2",
            params![hash, sealed],
        )?;
    }
    Ok(None)
}

/// Uses up the link that a login was begun with, if it had one. False where it led to another login before.
pub(super) fn redeem_link(tx: &mut Tx<'_>, link: Option<&[u8]>, now: Timestamp) -> Result<bool> {
    let Some(link) = link else { return Ok(true) };
    let used = tx.execute(
        "UPDATE connector_logins SET used_at = $3
         WHERE tenant_id = $1 AND hash = $2 AND kind = 'link' AND used_at IS NULL",
        params![link.to_vec(), now],
    )?;
    Ok(used > 0)
}

/// Whether a link has led to a login, its own or another.
pub(super) fn is_used(tx: &mut Tx<'_>, link: &[u8]) -> Result<bool> {
    let sql = "SELECT 1 FROM connector_logins WHERE tenant_id = $1 AND hash = $2 AND used_at IS NOT NULL";
    Ok(tx.optional(sql, params![link.to_vec()], |_| Ok(()))?.is_some())
}

/// Forgets every way to a connector that was taken away.
pub(super) fn delete_by_connector(tx: &mut Tx<'_>, connector: &str) -> Result<()> {
    tx.execute("DELETE FROM connector_logins WHERE tenant_id = $1 AND connector = $2", params![connector])?;
    Ok(losses::clear(tx, connector)?)
}

/// Links to a connector lead nowhere any more once somebody has logged in.
pub(super) fn close_links(tx: &mut Tx<'_>, connector: &str, now: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE connector_logins SET used_at = $3
         WHERE tenant_id = $1 AND connector = $2 AND kind = 'link' AND used_at IS NULL",
        params![connector, now],
    )?;
    Ok(())
}

/// Whether it is ours to renew this connector's login, until then.
pub(super) fn claim_renewal(
    tx: &mut Tx<'_>,
    connector: &str,
    (now, until): (Timestamp, Timestamp),
) -> Result<bool> {
    let name = format!("renewal {} {connector}", tx.tenant());
    let taken = tx.execute(
        "INSERT INTO connector_logins (tenant_id, hash, kind, connector, body, expires_at)
         VALUES ($1, $2, 'renewal', $3, $4, $5)
         ON CONFLICT (tenant_id, hash) DO UPDATE SET expires_at = excluded.expires_at
         WHERE connector_logins.tenant_id = $1 AND connector_logins.expires_at <= $6",
        params![hash(&name), connector, JsonText::of(&())?, until, now],
    )?;
    Ok(taken > 0)
}

/// Ends it, unless its time was over and it is another's by now.
pub(super) fn release_renewal(tx: &mut Tx<'_>, connector: &str, until: Timestamp) -> Result<()> {
    tx.execute(
        "DELETE FROM connector_logins
         WHERE tenant_id = $1 AND connector = $2 AND kind = 'renewal' AND expires_at = $3",
        params![connector, until],
    )?;
    Ok(())
}
