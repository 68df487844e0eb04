//! The end of keys, and what is written down of it.

use munshi_store::{Cursor, JsonText, KeyErasure, PlatformTx, Row, across_tenants, params};
use munshi_types::{DataKeyId, ErasureId, Id, TenantId, Timestamp};
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::key_store::{KEYS, KeyStore};
use crate::keyring::{DestroyedKey, OVERLAP};

/// So many rows are read at once.
const PAGE: i64 = 1000;

impl KeyStore {
    /// Destroys persons' keys: what is sealed by them, here and in every copy, opens no more once older copies of this store are gone.
    /// An entry that names a key of the tenant's own is refused whole: with that key everybody's text and addresses would go, and whoever
    /// can write to the main database could ask for it.
    pub(crate) async fn destroy(&mut self, entry: KeyErasure) -> Result<()> {
        let (now, body) = (self.clock.now(), JsonText::of(&entry.body)?);
        let write = move |tx: &mut PlatformTx<'_>| {
            refuse_own_keys(tx, &entry)?;
            for id in &entry.keys {
                tx.execute(
                    across_tenants(
                        "DELETE FROM data_keys WHERE tenant_id = $1 AND id = $2 AND kind = 'person'",
                    ),
                    params![entry.tenant, *id],
                )?;
                write_destroyed(tx, (entry.tenant, *id), now)?;
            }
            tx.execute(
                across_tenants(
                    "INSERT INTO key_erasures (tenant_id, id, body, at) VALUES ($1, $2, $3, $4)
                     ON CONFLICT (tenant_id, id) DO NOTHING",
                ),
                params![entry.tenant, entry.id, body, now],
            )?;
            Ok::<_, Error>(())
        };
        self.db.platform(KEYS).write(write).await?;
        self.cleared.forget();
        Ok(())
    }

    /// Destroys the keys by which a tenant's search index hashed words before it had this one: copies of the index can't be tried with
    /// guesses any more. Beside the last one these are what came back with an older copy of this store, and what was made for an index
    /// that was not begun after all.
    pub(crate) async fn destroy_other_index_keys(
        &mut self,
        tenant: TenantId,
        kept: DataKeyId,
    ) -> Result<Vec<DataKeyId>> {
        let now = self.clock.now();
        let write = move |tx: &mut PlatformTx<'_>| {
            let others: Vec<DataKeyId> = tx.all(
                across_tenants(
                    "SELECT id FROM data_keys WHERE tenant_id = $1 AND kind = 'index' AND id <> $2 ORDER BY id",
                ),
                params![tenant, kept],
                |row| row.get(0),
            )?;
            for id in &others {
                tx.execute(
                    across_tenants(
                        "DELETE FROM data_keys WHERE tenant_id = $1 AND id = $2 AND kind = 'index'",
                    ),
                    params![tenant, *id],
                )?;
                write_destroyed(tx, (tenant, *id), now)?;
            }
            Ok::<_, Error>(others)
        };
        let destroyed = self.db.platform(KEYS).write(write).await?;
        if !destroyed.is_empty() {
            self.cleared.forget();
        }
        Ok(destroyed)
    }

    /// What keys were destroyed for. Which keys these were stands in the bodies.
    pub(crate) async fn list_erasures(
        &self,
        after: Option<(TenantId, ErasureId)>,
        limit: u32,
    ) -> Result<Vec<KeyErasure>> {
        let (tenant, id) =
            after.map_or((Uuid::nil(), Uuid::nil()), |(tenant, id)| (tenant.as_uuid(), id.as_uuid()));
        let read = move |tx: &mut PlatformTx<'_>| {
            tx.all(
                across_tenants(
                    "SELECT tenant_id, id, body FROM key_erasures WHERE (tenant_id, id) > ($1, $2)
                     ORDER BY tenant_id, id LIMIT $3",
                ),
                params![tenant, id, limit],
                read_erasure,
            )
        };
        Ok(self.db.platform(KEYS).read(read).await?)
    }

    /// Those that were written down last before a place, the newest first.
    pub(crate) async fn list_newest_erasures(
        &self,
        before: Cursor,
        limit: u32,
    ) -> Result<Vec<(Cursor, KeyErasure)>> {
        let read = move |tx: &mut PlatformTx<'_>| {
            tx.all(
                across_tenants(
                    "SELECT tenant_id, id, body, at FROM key_erasures WHERE (at, id) < ($1, $2)
                     ORDER BY at DESC, id DESC LIMIT $3",
                ),
                params![before.time, before.id, limit],
                |row| {
                    let erasure = read_erasure(row)?;
                    Ok((Cursor { time: row.get(3)?, id: erasure.id.as_uuid() }, erasure))
                },
            )
        };
        Ok(self.db.platform(KEYS).read(read).await?)
    }

    pub(crate) async fn has_erasure(&self, tenant: TenantId, id: ErasureId) -> Result<bool> {
        let read = move |tx: &mut PlatformTx<'_>| {
            let text = "SELECT 1 FROM key_erasures WHERE tenant_id = $1 AND id = $2";
            tx.optional(across_tenants(text), params![tenant, id], |_| Ok(()))
        };
        Ok(self.db.platform(KEYS).read(read).await?.is_some())
    }

    /// Keys destroyed since then, by whichever node.
    pub(crate) async fn list_destroyed(&self, since: Timestamp) -> Result<Vec<DestroyedKey>> {
        // Another's clock may run ahead of what is destroyed by ours.
        let since = since.min(self.clock.now().minus(OVERLAP));
        let (mut all, mut after): (Vec<DestroyedKey>, _) = (Vec::new(), (since, Uuid::nil()));
        loop {
            let read = move |tx: &mut PlatformTx<'_>| {
                tx.all(
                    across_tenants(
                        "SELECT tenant_id, id, destroyed_at FROM destroyed_keys WHERE (destroyed_at, id) > ($1, $2)
                         ORDER BY destroyed_at, id LIMIT $3",
                    ),
                    params![after.0, after.1, PAGE],
                    |row| Ok(DestroyedKey { tenant: row.get(0)?, id: row.get(1)?, at: row.get(2)? }),
                )
            };
            let page = self.db.platform(KEYS).read(read).await.map_err(Error::Store)?;
            let Some(last) = page.last().copied() else { return Ok(all) };
            let is_last = i64::try_from(page.len()).unwrap_or(i64::MAX) < PAGE;
            all.extend(page);
            if is_last {
                return Ok(all);
            }
            after = (last.at, last.id.as_uuid());
        }
    }
}

/// A body that can't be read is nothing: it keeps back no other, and whoever wanted it says so.
fn read_erasure(row: &Row<'_>) -> munshi_store::Result<KeyErasure> {
    let body = row.get::<JsonText>(2)?.read().unwrap_or_default();
    Ok(KeyErasure { tenant: row.get(0)?, id: row.get(1)?, keys: Vec::new(), body })
}

fn write_destroyed(
    tx: &mut PlatformTx<'_>,
    (tenant, id): (TenantId, DataKeyId),
    now: Timestamp,
) -> Result<()> {
    tx.execute(
        across_tenants(
            "INSERT INTO destroyed_keys (tenant_id, id, destroyed_at) VALUES ($1, $2, $3)
             ON CONFLICT (tenant_id, id) DO NOTHING",
        ),
        params![tenant, id, now],
    )?;
    Ok(())
}

/// Before anything is destroyed. A key that is not there was destroyed before, or is another store's.
fn refuse_own_keys(tx: &mut PlatformTx<'_>, entry: &KeyErasure) -> Result<()> {
    let text = "SELECT kind FROM data_keys WHERE tenant_id = $1 AND id = $2 AND kind <> 'person'";
    for key in &entry.keys {
        let own =
            tx.optional(across_tenants(text), params![entry.tenant, *key], |row| row.get::<String>(0))?;
        if let Some(kind) = own {
            let what = format!(
                "erasure {} names key {key}, which is no person's: it is the key `{kind}` of tenant {}. No key was destroyed",
                entry.id, entry.tenant
            );
            return Err(Error::Store(munshi_store::Error::ErasureRefused(what)));
        }
    }
    Ok(())
}
