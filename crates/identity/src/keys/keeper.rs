//! Keys of whoever keeps the installation: they open what belongs to no tenant, and every tenant as its owner. They are
//! made on the machine alone.

use munshi_store::{
    Cursor, Error as StoreError, Page, PageRequest, PlatformAdminTx, PlatformTx, Row, across_tenants, params,
    sql_in_both_orders,
};
use munshi_types::{Id, IdGenerator, KeyId, Random, TenantId, TenantStatus, Timestamp};

use super::ApiKeyRecord;
use super::authenticate::{ApiCaller, AuthenticatedCaller};
use super::bounds::{KeyCeiling, KeyMaker, KeySpeaker};
use super::rows::{check_name, read_speaker, revoke_made_by};
use super::text::{KeyHash, KeyText};
use crate::error::{Error, Result};
use crate::principal::{Principal, PrincipalStanding};
use crate::role::Role;

/// Before the id of a keeper's key that made another.
const KEEPER_AS_MAKER: &str = "keeper key ";

/// A keeper's key as it is listed: everything but its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeeperKeyRecord {
    pub id: KeyId,
    pub name: String,
    /// How its text begins.
    pub handle: String,
    pub speaks_as: KeySpeaker,
    pub made_by: String,
    pub made_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    /// Right to about a minute.
    pub last_used_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

/// A keeper's key to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewKeeperKey {
    pub name: String,
    pub speaks_as: KeySpeaker,
    pub made_by: String,
    pub expires_at: Option<Timestamp>,
}

/// How a keeper's key is named as the maker of others, and in the audit.
pub fn render_keeper_maker(id: KeyId) -> String {
    format!("{KEEPER_AS_MAKER}{id}")
}

/// The keeper's key that answers for another.
pub(super) fn parse_keeper_maker(name: &str) -> Option<KeyId> {
    name.strip_prefix(KEEPER_AS_MAKER)?.parse().ok()
}

/// Whether a keeper's key opens anything.
pub(super) fn is_open(tx: &mut PlatformTx<'_>, id: KeyId, now: Timestamp) -> Result<bool> {
    let key = find_by_id(tx, id)?;
    Ok(key.is_some_and(|key| key.revoked_at.is_none() && key.expires_at.is_none_or(|end| now < end)))
}

/// Makes a keeper's key. Its text is in the answer and nowhere else.
pub fn add_keeper_key(
    tx: &mut PlatformAdminTx<'_, '_>,
    ids: &IdGenerator,
    random: &dyn Random,
    new: &NewKeeperKey,
    now: Timestamp,
) -> Result<(KeeperKeyRecord, KeyText)> {
    check_name(&new.name)?;
    if new.expires_at.is_some_and(|end| end <= now) {
        return Err(Error::Invalid("the key would already have expired: give a later time".to_owned()));
    }
    let (id, text): (KeyId, _) = (ids.next(), KeyText::random_keeper(random));
    let added = tx.execute(
        across_tenants(
            "INSERT INTO keeper_keys (id, name, handle, hash, speaks_as, made_by, made_at, expires_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (name) WHERE revoked_at IS NULL DO NOTHING",
        ),
        params![
            id,
            new.name,
            text.handle(),
            text.hash().as_bytes(),
            new.speaks_as.as_str(),
            new.made_by,
            now,
            new.expires_at
        ],
    )?;
    if added == 0 {
        return Err(Error::NameTaken(new.name.clone()));
    }
    let NewKeeperKey { name, speaks_as, made_by, expires_at } = new.clone();
    let handle = text.handle().to_owned();
    let (last_used_at, revoked_at) = (None, None);
    let key = KeeperKeyRecord {
        id,
        name,
        handle,
        speaks_as,
        made_by,
        made_at: now,
        expires_at,
        last_used_at,
        revoked_at,
    };
    Ok((key, text))
}

/// By id, by how its text begins, or by name: of several that had it, the one that is not revoked.
pub fn find_keeper_key(tx: &mut PlatformTx<'_>, given: &str) -> Result<Option<KeeperKeyRecord>> {
    if let Ok(id) = given.parse::<KeyId>() {
        return find_by_id(tx, id);
    }
    let handle = KeyText::parse_handle(given).unwrap_or(given);
    Ok(tx.optional(
        across_tenants(
            "SELECT id, name, handle, speaks_as, made_by, made_at, expires_at, last_used_at, revoked_at
             FROM keeper_keys WHERE handle = $1 OR name = $2
             ORDER BY CASE WHEN revoked_at IS NULL THEN 0 ELSE 1 END, made_at DESC, id DESC LIMIT 1",
        ),
        params![handle, given],
        read,
    )?)
}

fn find_by_id(tx: &mut PlatformTx<'_>, id: KeyId) -> Result<Option<KeeperKeyRecord>> {
    Ok(tx.optional(
        across_tenants(
            "SELECT id, name, handle, speaks_as, made_by, made_at, expires_at, last_used_at, revoked_at
             FROM keeper_keys WHERE id = $1",
        ),
        params![id],
        read,
    )?)
}

/// Newest first or the other way round, those that are revoked among them.
pub fn list_keeper_keys(tx: &mut PlatformTx<'_>, request: &PageRequest) -> Result<Page<KeeperKeyRecord>> {
    let rows = tx.all(
        across_tenants(request.choose(sql_in_both_orders!(
            "SELECT id, name, handle, speaks_as, made_by, made_at, expires_at, last_used_at, revoked_at
             FROM keeper_keys WHERE (made_at, id) < ($1, $2) ORDER BY made_at DESC, id DESC LIMIT $3"
        ))),
        params![request.after.time, request.after.id, request.fetch_limit()],
        read,
    )?;
    Ok(Page::from_rows(rows, request, |key| Cursor { time: key.made_at, id: key.id.as_uuid() }))
}

/// Takes a keeper's key back, with the tenants' keys that were made with it; none where it was revoked before.
pub fn revoke_keeper_key(
    tx: &mut PlatformAdminTx<'_, '_>,
    id: KeyId,
    now: Timestamp,
) -> Result<Option<Vec<(TenantId, ApiKeyRecord)>>> {
    let changed = tx.execute(
        across_tenants("UPDATE keeper_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL"),
        params![id, now],
    )?;
    if changed == 0 {
        return Ok(None);
    }
    let maker = render_keeper_maker(id);
    let tenants: Vec<TenantId> = tx.all(
        across_tenants(
            "SELECT tenant_id FROM api_keys WHERE maker = $1
             UNION SELECT tenant_id FROM api_key_secrets WHERE maker = $1 ORDER BY 1",
        ),
        params![maker],
        |row| row.get(0),
    )?;
    let mut revoked = Vec::new();
    for tenant in tenants {
        let keys = tx.as_tenant(tenant, |tx| revoke_made_by(tx, &maker, now))?;
        revoked.extend(keys.into_iter().map(|key| (tenant, key)));
    }
    Ok(Some(revoked))
}

/// Whom a keeper's key stands for, and when its use was last noted.
pub(super) fn look_up(
    tx: &mut PlatformTx<'_>,
    text: &KeyText,
    now: Timestamp,
) -> Result<Option<(AuthenticatedCaller, Option<Timestamp>)>> {
    let found = tx.optional(
        across_tenants(
            "SELECT id, name, handle, hash, speaks_as, made_by, made_at, expires_at, last_used_at, revoked_at
             FROM keeper_keys WHERE handle = $1 AND revoked_at IS NULL",
        ),
        params![text.handle()],
        |row| Ok((read(row)?, row.get::<Vec<u8>>("hash")?)),
    )?;
    let Some((key, stored)) = found else { return Ok(None) };
    let hash = text.hash();
    let is_it = KeyHash::from_stored(&stored).is_some_and(|stored| stored.equals(&hash));
    if !is_it || key.expires_at.is_some_and(|end| end <= now) {
        return Ok(None);
    }
    let caller = ApiCaller {
        tenant: TenantId::PLATFORM,
        tenant_status: TenantStatus::Active,
        key: key.id,
        key_name: key.name,
        operator: None,
        keeper: true,
        speaks_as: key.speaks_as,
        ceiling: KeyCeiling { role: Some(Role::Owner), ..KeyCeiling::default() },
        maker: KeyMaker::from_name(render_keeper_maker(key.id)),
        principal: owner_of(TenantId::PLATFORM),
        areas: None,
        bindings: None,
        until: key.expires_at,
    };
    Ok(Some((AuthenticatedCaller { caller, hash, until: key.expires_at }, key.last_used_at)))
}

impl ApiCaller {
    /// A keeper in one of the installation's tenants: its owner.
    pub fn enter_tenant(&self, tenant: TenantId, status: TenantStatus) -> Self {
        Self { tenant, tenant_status: status, principal: owner_of(tenant), ..self.clone() }
    }
}

fn owner_of(tenant: TenantId) -> Principal {
    Principal { standing: PrincipalStanding::Member(Role::Owner), ..Principal::anonymous(tenant) }
}

fn read(row: &Row<'_>) -> Result<KeeperKeyRecord, StoreError> {
    Ok(KeeperKeyRecord {
        id: row.get("id")?,
        name: row.get("name")?,
        handle: row.get("handle")?,
        speaks_as: read_speaker(row)?,
        made_by: row.get("made_by")?,
        made_at: row.get("made_at")?,
        expires_at: row.get("expires_at")?,
        last_used_at: row.get("last_used_at")?,
        revoked_at: row.get("revoked_at")?,
    })
}
