//! Whom was forgotten, as the main database keeps it.

use std::collections::BTreeMap;

use munshi_store::{
    Cursor, JsonText, KeyErasure, Page, PageRequest, PlatformTx, Result, Row, Tx, across_tenants, params,
    sql_in_both_orders,
};
use munshi_types::{DataKeyId, ErasureId, Id, PersonId, TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErasureState {
    /// What is under way for them is coming to its end.
    Begun,
    /// Nobody can read their text any more; its rows are being removed.
    KeysDestroyed,
    Done,
}

/// Somebody forgotten, or about to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Erasure {
    pub id: ErasureId,
    /// The person and everybody who turned out to be them; none for a record of a pack alone.
    pub persons: Vec<PersonId>,
    /// In the order of the persons.
    pub keys: Vec<DataKeyId>,
    /// By pack.
    pub records: BTreeMap<String, Vec<Uuid>>,
    pub asked_by: String,
    pub asked_at: Timestamp,
    pub destroyed_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
    /// What went so far, by kind.
    pub counts: BTreeMap<String, u64>,
}

/// What the store of keys writes down of it.
#[derive(Serialize, Deserialize)]
struct LoggedErasure {
    persons: Vec<PersonId>,
    keys: Vec<DataKeyId>,
    records: BTreeMap<String, Vec<Uuid>>,
    asked_by: String,
    asked_at: Timestamp,
}

impl Erasure {
    pub fn state(&self) -> ErasureState {
        match (self.destroyed_at, self.ended_at) {
            (_, Some(_)) => ErasureState::Done,
            (Some(_), None) => ErasureState::KeysDestroyed,
            (None, None) => ErasureState::Begun,
        }
    }

    /// Each person with their key.
    pub(crate) fn list_owned_keys(&self) -> impl Iterator<Item = (PersonId, DataKeyId)> {
        self.persons.iter().copied().zip(self.keys.iter().copied())
    }

    /// As it is written down beside the keys.
    pub(crate) fn to_key_erasure(&self, tenant: TenantId) -> KeyErasure {
        let body = json!({
            "persons": self.persons,
            "keys": self.keys,
            "records": self.records,
            "asked_by": self.asked_by,
            "asked_at": self.asked_at,
        });
        KeyErasure { tenant, id: self.id, keys: self.keys.clone(), body }
    }

    /// As the store of keys remembers it, to be carried out on this database.
    pub(crate) fn from_key_erasure(id: ErasureId, body: &Value) -> Result<Self> {
        let logged: LoggedErasure = JsonText::of(body)?.read()?;
        Ok(Self {
            id,
            persons: logged.persons,
            keys: logged.keys,
            records: logged.records,
            asked_by: logged.asked_by,
            asked_at: logged.asked_at,
            destroyed_at: None,
            ended_at: None,
            counts: BTreeMap::new(),
        })
    }
}

/// Adds one; false where it is there.
pub(crate) fn add(tx: &mut Tx<'_>, erasure: &Erasure) -> Result<bool> {
    let added = tx.execute(
        "INSERT INTO erasures (tenant_id, id, persons, keys, records, asked_by, asked_at, counts)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (tenant_id, id) DO NOTHING",
        params![
            erasure.id,
            JsonText::of(&erasure.persons)?,
            JsonText::of(&erasure.keys)?,
            JsonText::of(&erasure.records)?,
            erasure.asked_by,
            erasure.asked_at,
            JsonText::of(&erasure.counts)?
        ],
    )?;
    Ok(added > 0)
}

pub fn find(tx: &mut Tx<'_>, id: ErasureId) -> Result<Option<Erasure>> {
    tx.optional(
        "SELECT id, persons, keys, records, asked_by, asked_at, destroyed_at, ended_at, counts FROM erasures
         WHERE tenant_id = $1 AND id = $2",
        params![id],
        read,
    )
}

/// The same, held until the unit ends: two who carry it out count everything once.
pub(crate) fn lock(tx: &mut Tx<'_>, id: ErasureId) -> Result<Option<Erasure>> {
    tx.optional(
        (
            "SELECT id, persons, keys, records, asked_by, asked_at, destroyed_at, ended_at, counts FROM erasures
             WHERE tenant_id = $1 AND id = $2",
            "SELECT id, persons, keys, records, asked_by, asked_at, destroyed_at, ended_at, counts FROM erasures
             WHERE tenant_id = $1 AND id = $2 FOR UPDATE",
        ),
        params![id],
        read,
    )
}

/// A tenant's, newest first or the other way round.
pub fn list(tx: &mut Tx<'_>, request: &PageRequest) -> Result<Page<Erasure>> {
    let rows = tx.all(
        request.choose(sql_in_both_orders!(
            "SELECT id, persons, keys, records, asked_by, asked_at, destroyed_at, ended_at, counts FROM erasures
             WHERE tenant_id = $1 AND (asked_at, id) < ($2, $3) ORDER BY asked_at DESC, id DESC LIMIT $4"
        )),
        params![request.after.time, request.after.id, request.fetch_limit()],
        read,
    )?;
    Ok(Page::from_rows(rows, request, |erasure| Cursor { time: erasure.asked_at, id: erasure.id.as_uuid() }))
}

pub(crate) fn add_count(tx: &mut Tx<'_>, erasure: &mut Erasure, name: &str, count: u64) -> Result<()> {
    *erasure.counts.entry(name.to_owned()).or_default() += count;
    tx.execute(
        "UPDATE erasures SET counts = $3 WHERE tenant_id = $1 AND id = $2",
        params![erasure.id, JsonText::of(&erasure.counts)?],
    )?;
    Ok(())
}

pub(crate) fn mark_destroyed(tx: &mut Tx<'_>, id: ErasureId, now: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE erasures SET destroyed_at = COALESCE(destroyed_at, $3) WHERE tenant_id = $1 AND id = $2",
        params![id, now],
    )?;
    Ok(())
}

/// False where another has ended it.
pub(crate) fn end(tx: &mut Tx<'_>, id: ErasureId, now: Timestamp) -> Result<bool> {
    let sql = "UPDATE erasures SET ended_at = $3 WHERE tenant_id = $1 AND id = $2 AND ended_at IS NULL";
    Ok(tx.execute(sql, params![id, now])? > 0)
}

/// One that is not done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenErasure {
    pub(crate) tenant: TenantId,
    pub(crate) id: ErasureId,
    asked_at: Timestamp,
}

/// What is not done, of all tenants, the oldest first.
pub(crate) fn list_open(
    tx: &mut PlatformTx<'_>,
    after: Option<OpenErasure>,
    limit: u32,
) -> Result<Vec<OpenErasure>> {
    let (asked_at, id) =
        after.map_or((Timestamp::EPOCH, Uuid::nil()), |after| (after.asked_at, after.id.as_uuid()));
    tx.all(
        across_tenants(
            "SELECT tenant_id, id, asked_at FROM erasures WHERE ended_at IS NULL AND (asked_at, id) > ($1, $2)
             ORDER BY asked_at, id LIMIT $3",
        ),
        params![asked_at, id, limit],
        |row| Ok(OpenErasure { tenant: row.get(0)?, id: row.get(1)?, asked_at: row.get(2)? }),
    )
}

/// All there are, in the order of tenants and ids.
pub(crate) fn list_ids(
    tx: &mut PlatformTx<'_>,
    after: Option<(TenantId, ErasureId)>,
    limit: u32,
) -> Result<Vec<(TenantId, ErasureId)>> {
    let (tenant, id) =
        after.map_or((Uuid::nil(), Uuid::nil()), |(tenant, id)| (tenant.as_uuid(), id.as_uuid()));
    tx.all(
        across_tenants(
            "SELECT tenant_id, id FROM erasures WHERE (tenant_id, id) > ($1, $2) ORDER BY tenant_id, id LIMIT $3",
        ),
        params![tenant, id, limit],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// Those whose keys were destroyed last, of all tenants.
pub fn list_newest_destroyed(tx: &mut PlatformTx<'_>, limit: u32) -> Result<Vec<(TenantId, ErasureId)>> {
    tx.all(
        across_tenants(
            "SELECT tenant_id, id FROM erasures WHERE destroyed_at IS NOT NULL ORDER BY destroyed_at DESC, id DESC LIMIT $1",
        ),
        params![limit],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// Whether this database knows of what the store of keys remembers; none where it does not have the tenant.
pub fn is_known(tx: &mut PlatformTx<'_>, entry: &KeyErasure) -> Result<Option<bool>> {
    let found = tx.optional(
        across_tenants(
            "SELECT e.id FROM tenants t LEFT JOIN erasures e ON e.tenant_id = $1 AND e.id = $2 WHERE t.id = $1",
        ),
        params![entry.tenant, entry.id],
        |row| row.get::<Option<ErasureId>>(0),
    )?;
    Ok(found.map(|known| known.is_some()))
}

/// Whether this version can carry out what the store of keys remembers; [`replay`](crate::ErasureService::replay) skips what it can't.
pub fn is_readable(entry: &KeyErasure) -> bool {
    Erasure::from_key_erasure(entry.id, &entry.body).is_ok()
}

fn read(row: &Row<'_>) -> Result<Erasure> {
    Ok(Erasure {
        id: row.get("id")?,
        persons: row.get::<JsonText>("persons")?.read()?,
        keys: row.get::<JsonText>("keys")?.read()?,
        records: row.get::<JsonText>("records")?.read()?,
        asked_by: row.get("asked_by")?,
        asked_at: row.get("asked_at")?,
        destroyed_at: row.get("destroyed_at")?,
        ended_at: row.get("ended_at")?,
        counts: row.get::<JsonText>("counts")?.read()?,
    })
}
