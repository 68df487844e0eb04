//! What an operator is in which tenant.

use munshi_store::{Error as StoreError, PlatformAdminTx, PlatformTx, Row, across_tenants, params, tenants};
use munshi_types::{OperatorId, Tenant, TenantId, TenantStatus, Timestamp};
use serde::Serialize;

use super::{Operator, rows};
use crate::error::{Error, Result};
use crate::keys::{self, ApiKeyRecord};
use crate::role::Role;
use crate::{links, persons};

/// A keeper has more tenants than a list shows; the first by name are.
const MOST: u32 = 500;

/// A tenant and what somebody is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantMembership {
    pub tenant: Tenant,
    pub role: Role,
}

/// Somebody who looks after a tenant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Member {
    #[serde(flatten)]
    pub operator: Operator,
    pub role: Role,
}

/// What came of a changed role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoleChange {
    pub before: Option<Role>,
    /// Keys that the operator had made with what they are no longer.
    pub revoked: Vec<ApiKeyRecord>,
}

/// What somebody is in a tenant. None where they are nothing there, or the tenant is archived or not there.
pub fn find_effective(
    tx: &mut PlatformTx<'_>,
    operator: &Operator,
    tenant: TenantId,
) -> Result<Option<(Tenant, Role)>> {
    let Some(found) = tenants::find(tx, tenant)? else { return Ok(None) };
    if found.status == TenantStatus::Archived {
        return Ok(None);
    }
    if operator.keeper {
        return Ok(Some((found, Role::Owner)));
    }
    Ok(find_granted(tx, operator.id, tenant)?.map(|role| (found, role)))
}

/// The role that was given there, whatever else they are.
pub fn find_granted(tx: &mut PlatformTx<'_>, operator: OperatorId, tenant: TenantId) -> Result<Option<Role>> {
    let role: Option<String> = tx.optional(
        across_tenants("SELECT role FROM operator_roles WHERE tenant_id = $1 AND operator_id = $2"),
        params![tenant, operator],
        |row| row.get(0),
    )?;
    Ok(role.map(|text| parse(&text)).transpose()?)
}

/// The tenants somebody looks after, by name; archived ones are left out.
pub fn list_workspaces(tx: &mut PlatformTx<'_>, operator: &Operator) -> Result<Vec<TenantMembership>> {
    let mut found = Vec::new();
    if operator.keeper {
        let page = tenants::list(tx, &munshi_store::PageRequest::new(None, MOST))?;
        found.extend(page.items.into_iter().map(|tenant| TenantMembership { tenant, role: Role::Owner }));
    } else {
        for (tenant, role) in list(tx, operator.id)? {
            found.extend(tenants::find(tx, tenant)?.map(|tenant| TenantMembership { tenant, role }));
        }
    }
    found.retain(|workspace| workspace.tenant.status != TenantStatus::Archived);
    found.sort_by(|a, b| a.tenant.name.as_str().cmp(b.tenant.name.as_str()));
    Ok(found)
}

/// Every role that was given to somebody.
pub fn list(tx: &mut PlatformTx<'_>, operator: OperatorId) -> Result<Vec<(TenantId, Role)>> {
    Ok(tx.all(
        across_tenants(
            "SELECT tenant_id, role FROM operator_roles WHERE operator_id = $1 ORDER BY tenant_id",
        ),
        params![operator],
        |row| Ok((row.get("tenant_id")?, role_at(row)?)),
    )?)
}

/// Everybody with a role in a tenant, the highest first. Keepers without one are not in it.
pub fn list_members(tx: &mut PlatformTx<'_>, tenant: TenantId) -> Result<Vec<Member>> {
    let mut members = tx.all(
        across_tenants(
            "SELECT o.id, o.email, o.name, o.keeper, o.password, o.proved_at, o.home, o.made_at, r.role
             FROM operator_roles r JOIN operators o ON o.id = r.operator_id
             WHERE r.tenant_id = $1 AND o.removed_at IS NULL ORDER BY o.email LIMIT 1000",
        ),
        params![tenant],
        |row| Ok(Member { operator: rows::read(row)?, role: role_at(row)? }),
    )?;
    members.sort_by_key(|member| member.role);
    Ok(members)
}

/// Somebody who may open a tenant's pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantOperator {
    pub operator: Operator,
    /// What they were given there; none for keepers, who are owners everywhere.
    pub role: Option<Role>,
}

impl TenantOperator {
    /// Whether the account's e-mail counts as theirs in this tenant: they proved it, or were invited by it here.
    pub fn has_known_email(&self, tenant: TenantId) -> bool {
        self.operator.proved_at.is_some() || self.operator.home == Some(tenant)
    }
}

/// Everybody with a role in a tenant, and keepers.
pub fn list_of_tenant(tx: &mut PlatformTx<'_>, tenant: TenantId) -> Result<Vec<TenantOperator>> {
    let listed = tx.all(
        across_tenants(
            "SELECT o.id, o.email, o.name, o.keeper, o.password, o.proved_at, o.home, o.made_at, r.role
             FROM operators o LEFT JOIN operator_roles r ON r.tenant_id = $1 AND r.operator_id = o.id
             WHERE o.removed_at IS NULL AND (o.keeper OR r.operator_id IS NOT NULL) ORDER BY o.email LIMIT 1000",
        ),
        params![tenant],
        |row| {
            let role = row.get::<Option<String>>("role")?.map(|text| parse(&text)).transpose()?;
            Ok(TenantOperator { operator: rows::read(row)?, role })
        },
    )?;
    Ok(listed)
}

/// Gives a role in a tenant, in place of the one before. If it changed, whoever has it signs in again: what a browser was
/// let in for is not what it may do now. Who stands lower than before has made no link and no key. An account that nobody
/// has proved gets a role, or a higher one, only in the tenant that made it.
pub fn grant(
    tx: &mut PlatformAdminTx<'_, '_>,
    operator: OperatorId,
    tenant: TenantId,
    role: Role,
    now: Timestamp,
) -> Result<RoleChange> {
    replace(tx, operator, tenant, role, now)
}

/// The same for whoever follows an invitation, which is no administration: whoever lets them in tells the audit.
pub fn grant_invited(
    tx: &mut PlatformTx<'_>,
    operator: OperatorId,
    tenant: TenantId,
    role: Role,
    now: Timestamp,
) -> Result<RoleChange> {
    replace(tx, operator, tenant, role, now)
}

fn replace(
    tx: &mut PlatformTx<'_>,
    operator: OperatorId,
    tenant: TenantId,
    role: Role,
    now: Timestamp,
) -> Result<RoleChange> {
    let before = find_granted(tx, operator, tenant)?;
    if before == Some(role) {
        return Ok(RoleChange { before, revoked: Vec::new() });
    }
    if before.is_none_or(|before| role < before) {
        require_verified(tx, operator, tenant)?;
    }
    tx.execute(
        across_tenants(
            "INSERT INTO operator_roles (tenant_id, operator_id, role, given_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (tenant_id, operator_id) DO UPDATE SET role = excluded.role, given_at = excluded.given_at",
        ),
        params![tenant, operator, role.as_str(), now],
    )?;
    let mut revoked = Vec::new();
    if before.is_some_and(|before| before < role) {
        links::expire_made_by(tx, operator, Some(tenant), now)?;
        revoked = revoke_made_by(tx, operator, tenant, now)?;
    }
    if before.is_some() {
        crate::sign_ins::end_all(tx, operator)?;
    }
    revoked.extend(sync_person_role(tx, operator, (tenant, Some(role)), now)?);
    Ok(RoleChange { before, revoked })
}

/// Takes a role away, and ends the sign-ins, links and keys that were made with it.
pub fn revoke(
    tx: &mut PlatformAdminTx<'_, '_>,
    operator: OperatorId,
    tenant: TenantId,
    now: Timestamp,
) -> Result<RoleChange> {
    let before = find_granted(tx, operator, tenant)?;
    let mut revoked = Vec::new();
    if before.is_some() {
        tx.execute(
            across_tenants("DELETE FROM operator_roles WHERE tenant_id = $1 AND operator_id = $2"),
            params![tenant, operator],
        )?;
        links::expire_made_by(tx, operator, Some(tenant), now)?;
        revoked = revoke_made_by(tx, operator, tenant, now)?;
        crate::sign_ins::end_all(tx, operator)?;
        revoked.extend(sync_person_role(tx, operator, (tenant, None), now)?);
    }
    Ok(RoleChange { before, revoked })
}

/// Whether an account may get a role, or a higher one: its e-mail was proved, or it was made for this very tenant.
fn require_verified(tx: &mut PlatformTx<'_>, operator: OperatorId, tenant: TenantId) -> Result<()> {
    rows::lock(tx, operator)?;
    match rows::find(tx, operator)? {
        Some(account) if account.proved_at.is_none() && account.home != Some(tenant) => {
            Err(Error::Unproved(account.email))
        }
        _ => Ok(()),
    }
}

/// Keys that an operator answers for, in a tenant where they are less than they were. A keeper is owner still.
fn revoke_made_by(
    tx: &mut PlatformTx<'_>,
    operator: OperatorId,
    tenant: TenantId,
    now: Timestamp,
) -> Result<Vec<ApiKeyRecord>> {
    if rows::find(tx, operator)?.is_some_and(|account| account.keeper) {
        return Ok(Vec::new());
    }
    let maker = links::render_maker(operator);
    tx.as_tenant(tenant, |tx| keys::revoke_made_by(tx, &maker, now))
}

/// The same wherever they were something: a keeper, in every tenant there is.
pub(super) fn revoke_keys_everywhere(
    tx: &mut PlatformTx<'_>,
    operator: &Operator,
    now: Timestamp,
) -> Result<Vec<(TenantId, ApiKeyRecord)>> {
    let mut places: Vec<TenantId> = list(tx, operator.id)?.into_iter().map(|(tenant, _)| tenant).collect();
    let mut page = operator.keeper.then(|| munshi_store::PageRequest::new(None, MOST));
    while let Some(request) = page {
        let listed = tenants::list(tx, &request)?;
        places.extend(listed.items.iter().map(|tenant| tenant.id));
        page = listed.next.map(|after| munshi_store::PageRequest::new(Some(after), MOST));
    }
    places.sort_unstable();
    places.dedup();
    let maker = links::render_maker(operator.id);
    let mut revoked = Vec::new();
    for tenant in places {
        let keys = tx.as_tenant(tenant, |tx| keys::revoke_made_by(tx, &maker, now))?;
        revoked.extend(keys.into_iter().map(|key| (tenant, key)));
    }
    Ok(revoked)
}

/// Whom the operator is among the tenant's people has the same role, and none where they have none any more. Gives the keys
/// that ended with it.
pub(super) fn sync_person_role(
    tx: &mut PlatformTx<'_>,
    operator: OperatorId,
    (tenant, role): (TenantId, Option<Role>),
    now: Timestamp,
) -> Result<Vec<ApiKeyRecord>> {
    tx.as_tenant(tenant, |tx| match persons::sync_operator_role(tx, operator, role)? {
        Some((before, after)) => keys::revoke_after_role_loss(tx, &before, &after, now),
        None => Ok(Vec::new()),
    })
}

/// Holds those who own a tenant until the transaction ends, and gives how many they are: of two who take the role from
/// each other at once, the second sees what the first has done.
pub fn lock_owners(tx: &mut PlatformTx<'_>, tenant: TenantId) -> Result<usize> {
    let owners: Vec<OperatorId> = tx.all(
        across_tenants((
            "SELECT operator_id FROM operator_roles WHERE tenant_id = $1 AND role = 'owner' ORDER BY operator_id",
            "SELECT operator_id FROM operator_roles WHERE tenant_id = $1 AND role = 'owner' ORDER BY operator_id
             FOR UPDATE",
        )),
        params![tenant],
        |row| row.get(0),
    )?;
    Ok(owners.len())
}

fn role_at(row: &Row<'_>) -> munshi_store::Result<Role> {
    parse(&row.get::<String>("role")?)
}

fn parse(text: &str) -> munshi_store::Result<Role> {
    text.parse().map_err(|error: crate::role::RoleError| StoreError::Decode(error.to_string()))
}
