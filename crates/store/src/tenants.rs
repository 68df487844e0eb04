//! The tenants of the installation. The store owns this one table, since every other table hangs from it.

use munshi_types::{Tenant, TenantId, TenantName, TenantStatus, Zone};

use crate::admin_tx::PlatformAdminTx;
use crate::error::{Error, Result};
use crate::page::{Cursor, Page, PageRequest};
use crate::row::Row;
use crate::sql::across_tenants;
use crate::tx::{PlatformScope, PlatformTx, Tx};
use crate::{params, sql_in_both_orders};

/// Managing tenants: adding, listing, pausing, archiving.
pub const TENANTS: PlatformScope = PlatformScope::new("tenants");

/// Adds a tenant; a name that is taken, even by an archived tenant, is a [`Error::Conflict`].
pub fn add(tx: &mut PlatformTx<'_>, tenant: &Tenant) -> Result<()> {
    tx.execute(
        across_tenants(
            "INSERT INTO tenants (id, name, zone, status, created_at) VALUES ($1, $2, $3, $4, $5)",
        ),
        params![
            tenant.id,
            tenant.name.as_str(),
            tenant.zone.as_str(),
            tenant.status.as_str(),
            tenant.created_at
        ],
    )?;
    Ok(())
}

pub fn find(tx: &mut PlatformTx<'_>, id: TenantId) -> Result<Option<Tenant>> {
    tx.optional(
        across_tenants("SELECT id, name, zone, status, created_at FROM tenants WHERE id = $1"),
        params![id],
        read,
    )
}

pub fn find_by_name(tx: &mut PlatformTx<'_>, name: &TenantName) -> Result<Option<Tenant>> {
    tx.optional(
        across_tenants("SELECT id, name, zone, status, created_at FROM tenants WHERE name = $1"),
        params![name.as_str()],
        read,
    )
}

/// How the transaction's own tenant stands; none for the installation itself. A transaction that may not see it gets
/// none either, so take none for a no.
pub fn find_status(tx: &mut Tx<'_>) -> Result<Option<TenantStatus>> {
    let own = across_tenants("SELECT status FROM tenants WHERE id = $1");
    tx.optional(own.0, &[], |row| row.get::<String>(0)?.parse().map_err(Error::Decode))
}

/// What the transaction's tenant is called; it is so for ever. None where this database does not know it.
pub fn find_name(tx: &mut Tx<'_>) -> Result<Option<TenantName>> {
    let own = across_tenants("SELECT name FROM tenants WHERE id = $1");
    tx.optional(own.0, &[], |row| {
        row.get::<String>(0)?.parse().map_err(|error| Error::Decode(format!("{error}")))
    })
}

/// The time zone of the transaction's tenant.
pub fn find_zone(tx: &mut Tx<'_>) -> Result<Zone> {
    let own = across_tenants("SELECT zone FROM tenants WHERE id = $1");
    tx.one(own.0, &[], |row| row.get::<String>(0)?.parse().map_err(|error| Error::Decode(format!("{error}"))))
}

/// Newest first, or the other way round.
pub fn list(tx: &mut PlatformTx<'_>, request: &PageRequest) -> Result<Page<Tenant>> {
    let rows = tx.all(
        across_tenants(request.choose(sql_in_both_orders!(
            "SELECT id, name, zone, status, created_at FROM tenants
             WHERE (created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3"
        ))),
        params![request.after.time, request.after.id, request.fetch_limit()],
        read,
    )?;
    Ok(Page::from_rows(rows, request, |tenant| Cursor {
        time: tenant.created_at,
        id: munshi_types::Id::as_uuid(tenant.id),
    }))
}

/// False when there is no such tenant, or it is archived: that is for good.
pub fn set_status(tx: &mut PlatformAdminTx<'_, '_>, id: TenantId, status: TenantStatus) -> Result<bool> {
    let changed = tx.execute(
        across_tenants("UPDATE tenants SET status = $2 WHERE id = $1 AND status <> 'archived'"),
        params![id, status.as_str()],
    )?;
    Ok(changed > 0)
}

fn read(row: &Row<'_>) -> Result<Tenant> {
    let unreadable = |what: String| Error::Decode(what);
    Ok(Tenant {
        id: row.get(0)?,
        name: row.get::<String>(1)?.parse().map_err(|error| unreadable(format!("{error}")))?,
        zone: row.get::<String>(2)?.parse().map_err(|error| unreadable(format!("{error}")))?,
        status: row.get::<String>(3)?.parse().map_err(unreadable)?,
        created_at: row.get(4)?,
    })
}
