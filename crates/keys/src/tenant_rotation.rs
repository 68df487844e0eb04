//! Bringing in another key of a tenant, step by step, so that a crash between any two leaves everything readable and running it again goes
//! on where it stopped.
//!
//! 1. The next key is made, under the next number. From here on new keys are wrapped by it, and there are two rows: that is how an unfinished
//!    rotation is known.
//! 2. What the one before wraps is wrapped by it, some at a time. Each row says which number it needs, and both are there.
//! 3. Nothing needs the one before any more: its row goes. Whoever makes keys holds the row of the number that they use, so none comes
//!    in between.
//!
//! The keys that seal stay what they are: nothing in the main database changes, and no node notices.

use std::collections::BTreeMap;
use std::sync::Arc;

use munshi_store::{JsonText, PlatformTx, across_tenants, params};
use munshi_types::{Id, TenantId, Timestamp};

use crate::cipher::SealKey;
use crate::error::{Error, Result};
use crate::key_loading::{TenantKeys, list_tenant_keys};
use crate::key_store::{KEYS, KeyStore, insert_tenant_key};
use crate::key_traces::mark_rewrapped;
use crate::key_wrapper::{KeyWrapper, WrappedKey, wrap_data_key};

/// How many keys are wrapped anew in one unit of work: units that want a key wait for it.
const STEP: i64 = 100;

/// What rotating a tenant's key did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TenantKeyRotation {
    /// The number of the key in use.
    pub number: i64,
    /// How many keys were wrapped anew, this time.
    pub keys: u64,
    /// Whether a rotation was finished that had been cut short.
    pub resumed: bool,
}

/// Where a rotation begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TenantRotationStart {
    pub number: i64,
    pub resumed: bool,
}

/// What one step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TenantRotationStep {
    /// So many keys were wrapped anew; there may be more.
    Rewrapped(u64),
    Finished,
}

impl KeyStore {
    /// Makes the next key, unless one was made that does not wrap everything yet. None for a tenant that has no keys.
    pub(crate) async fn begin_tenant_rotation(
        &mut self,
        tenant: TenantId,
    ) -> Result<Option<TenantRotationStart>> {
        let (wrapper, now) = (self.wrapper(), self.clock.now());
        self.db.platform(KEYS).write(move |tx| begin(tx, &wrapper, tenant, now)).await
    }

    pub(crate) async fn continue_tenant_rotation(&mut self, tenant: TenantId) -> Result<TenantRotationStep> {
        let (wrapper, now) = (self.wrapper(), self.clock.now());
        let step = self.db.platform(KEYS).write(move |tx| rewrap_next(tx, &wrapper, tenant, now)).await?;
        if step == TenantRotationStep::Finished {
            // The one before is wiped from this process's memory, too.
            self.tenants.remove(&tenant);
            // What it wrapped stands in the log and in rows that were removed, and whoever has the one before opens it there.
            self.cleared.forget();
        }
        Ok(step)
    }

    /// Tenants of which a rotation was begun and not finished.
    pub(crate) async fn list_unfinished_rotations(&self) -> Result<Vec<TenantId>> {
        let read = |tx: &mut PlatformTx<'_>| {
            let text =
                "SELECT tenant_id FROM tenant_keys GROUP BY tenant_id HAVING count(*) > 1 ORDER BY tenant_id";
            tx.all(across_tenants(text), &[], |row| row.get(0))
        };
        Ok(self.db.platform(KEYS).read(read).await?)
    }
}

/// The numbers of a tenant's keys, held until the transaction ends: of two who begin at once, the second waits and finds what the first
/// made.
fn lock_numbers(tx: &mut PlatformTx<'_>, tenant: TenantId) -> Result<Vec<i64>> {
    Ok(tx.all(
        across_tenants((
            "SELECT number FROM tenant_keys WHERE tenant_id = $1 ORDER BY number",
            "SELECT number FROM tenant_keys WHERE tenant_id = $1 ORDER BY number FOR UPDATE",
        )),
        params![tenant],
        |row| row.get(0),
    )?)
}

fn begin(
    tx: &mut PlatformTx<'_>,
    wrapper: &KeyWrapper,
    tenant: TenantId,
    now: Timestamp,
) -> Result<Option<TenantRotationStart>> {
    let held = lock_numbers(tx, tenant)?;
    // What another made while this waited is not among those that are held.
    let numbers: Vec<i64> = list_tenant_keys(tx, tenant)?.iter().map(|key| key.number).collect();
    let Some(number) = numbers.iter().max().copied() else { return Ok(None) };
    if numbers.len() > 1 {
        return Ok(Some(TenantRotationStart { number, resumed: true }));
    }
    if held != numbers {
        let what = "the tenant's key is being rotated by another process".to_owned();
        return Err(Error::Store(munshi_store::Error::Busy(what)));
    }
    insert_tenant_key(tx, wrapper, (tenant, number + 1), now)?;
    Ok(Some(TenantRotationStart { number: number + 1, resumed: false }))
}

fn rewrap_next(
    tx: &mut PlatformTx<'_>,
    wrapper: &KeyWrapper,
    tenant: TenantId,
    now: Timestamp,
) -> Result<TenantRotationStep> {
    let mut keys = TenantKeys::new();
    for row in list_tenant_keys(tx, tenant)? {
        let key = wrapper.unwrap(tenant, row.number, &row.master, &row.wrapped)?;
        keys.insert(row.number, Arc::new(key));
    }
    let Some((number, next)) = keys.pop_last() else { return Ok(TenantRotationStep::Finished) };
    if keys.is_empty() {
        return Ok(TenantRotationStep::Finished);
    }
    let rewrapper = Rewrapper { wrapper, tenant, number, next, before: keys };
    let rewrapped = rewrapper.rewrap_batch(tx)?;
    if rewrapped > 0 {
        return Ok(TenantRotationStep::Rewrapped(rewrapped));
    }
    // Waits for whoever is making keys by the one before. Those may be new.
    lock_numbers(tx, tenant)?;
    match rewrapper.rewrap_batch(tx)? {
        0 => {
            tx.execute(
                across_tenants("DELETE FROM tenant_keys WHERE tenant_id = $1 AND number < $2"),
                params![tenant, number],
            )?;
            mark_rewrapped(tx, now)?;
            Ok(TenantRotationStep::Finished)
        }
        late => Ok(TenantRotationStep::Rewrapped(late)),
    }
}

/// As the statement takes bytes.
fn encode_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        text.extend([byte >> 4, byte & 15].map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)])));
        text
    })
}

/// What wraps a tenant's keys by the next one.
struct Rewrapper<'w> {
    wrapper: &'w KeyWrapper,
    tenant: TenantId,
    number: i64,
    next: Arc<SealKey>,
    before: BTreeMap<i64, Arc<SealKey>>,
}

impl Rewrapper<'_> {
    fn rewrap_batch(&self, tx: &mut PlatformTx<'_>) -> Result<u64> {
        let (tenant, random) = (self.tenant, self.wrapper.random.as_ref());
        let rows = tx.all(
            across_tenants((
                "SELECT id, kind, wrapped_by, wrapped FROM data_keys
                 WHERE tenant_id = $1 AND wrapped_by < $2 ORDER BY id LIMIT $3",
                "SELECT id, kind, wrapped_by, wrapped FROM data_keys
                 WHERE tenant_id = $1 AND wrapped_by < $2 ORDER BY id LIMIT $3 FOR UPDATE",
            )),
            params![tenant, self.number, STEP],
            WrappedKey::read,
        )?;
        let mut anew = Vec::with_capacity(rows.len());
        for row in &rows {
            let missing = || Error::Key(format!("the key {} of tenant {tenant} is missing", row.number));
            let key = row.unwrap(tenant, self.before.get(&row.number).ok_or_else(missing)?)?;
            let wrapped = wrap_data_key(&key, (tenant, row.id, row.kind), &self.next, random)?;
            anew.push([row.id.as_uuid().simple().to_string(), encode_hex(&wrapped)]);
        }
        if !anew.is_empty() {
            tx.execute(
                across_tenants((
                    "UPDATE data_keys SET wrapped_by = $2, wrapped = unhex(anew.wrapped)
                     FROM (SELECT json_extract(value, '$[0]') AS id, json_extract(value, '$[1]') AS wrapped
                           FROM json_each($3)) AS anew
                     WHERE data_keys.tenant_id = $1 AND data_keys.id = unhex(anew.id)",
                    "UPDATE data_keys SET wrapped_by = $2, wrapped = decode(anew.one ->> 1, 'hex')
                     FROM jsonb_array_elements($3::jsonb) AS anew (one)
                     WHERE data_keys.tenant_id = $1 AND data_keys.id = (anew.one ->> 0)::uuid",
                )),
                params![tenant, self.number, JsonText::of(&anew)?],
            )?;
        }
        Ok(rows.len() as u64)
    }
}
