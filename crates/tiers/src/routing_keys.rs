//! The addresses that lead to bindings.

use std::collections::{BTreeMap, BTreeSet};

use munshi_store::{PlatformScope, PlatformTx, Row, Tx, across_tenants, params};
use munshi_types::tier::{RoutingKey, RoutingKeyKind, TierName};
use munshi_types::{TenantId, TenantName, TierId};

use crate::error::{Error, Result};
use crate::rows::parse_column;

/// Finding the tenant that an address belongs to, and keeping addresses apart between tenants.
pub const ROUTING: PlatformScope = PlatformScope::new("routing");

/// Where an address leads.
pub(crate) fn find(tx: &mut PlatformTx<'_>, key: &RoutingKey) -> Result<Option<(TenantId, TierId)>> {
    Ok(tx.optional(
        across_tenants("SELECT tenant_id, binding_id FROM routing_keys WHERE kind = $1 AND address = $2"),
        params![key.kind().as_str(), key.text()],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?)
}

/// Those of the addresses that lead to other tenants than this one, and where.
pub(crate) fn list_taken(
    tx: &mut PlatformTx<'_>,
    tenant: Option<TenantId>,
    wanted: &[RoutingKey],
) -> Result<BTreeMap<RoutingKey, (TenantId, TierId)>> {
    let mut taken = BTreeMap::new();
    for key in wanted {
        if let Some(held) = find(tx, key)?.filter(|(holder, _)| Some(*holder) != tenant) {
            taken.insert(key.clone(), held);
        }
    }
    Ok(taken)
}

/// Those of the handles that nobody has yet and that are the name of one other tenant's binding: its page is found by that
/// name, and would be somebody else's.
pub(crate) fn list_shadowing(
    tx: &mut PlatformTx<'_>,
    tenant: Option<&TenantName>,
    wanted: &[RoutingKey],
) -> Result<BTreeSet<RoutingKey>> {
    let mut shadowing = BTreeSet::new();
    for key in wanted.iter().filter(|key| key.kind() == RoutingKeyKind::Handle) {
        let Ok(name) = key.text().parse::<TierName>() else { continue };
        if find(tx, key)?.is_some() {
            continue;
        }
        let holders = crate::resolve::list_holders(tx, &name)?;
        if matches!(holders.as_deref(), Some([holder]) if Some(holder) != tenant) {
            shadowing.insert(key.clone());
        }
    }
    Ok(shadowing)
}

/// Lets go of the addresses that no active binding of the tenant wants. Archived bindings keep theirs.
pub(crate) fn release_unwanted(
    tx: &mut Tx<'_>,
    wanted: &BTreeMap<RoutingKey, TierId>,
    archived: &BTreeSet<TierId>,
) -> Result<()> {
    for (key, binding) in &list_held(tx)? {
        if !wanted.contains_key(key) && !archived.contains(binding) {
            tx.execute(
                "DELETE FROM routing_keys WHERE tenant_id = $1 AND kind = $2 AND address = $3",
                params![key.kind().as_str(), key.text()],
            )?;
        }
    }
    Ok(())
}

/// Makes the wanted addresses lead to their bindings, those of the tenant's archived ones among them. Everybody has
/// let go of theirs before, so that an address can move from one tenant to another.
pub(crate) fn assign(tx: &mut Tx<'_>, wanted: &BTreeMap<RoutingKey, TierId>) -> Result<()> {
    let held: BTreeMap<RoutingKey, TierId> = list_held(tx)?.into_iter().collect();
    for (key, binding) in wanted {
        match held.get(key) {
            Some(now) if now == binding => {}
            Some(_) => {
                tx.execute(
                    "UPDATE routing_keys SET binding_id = $4 WHERE tenant_id = $1 AND kind = $2 AND address = $3",
                    params![key.kind().as_str(), key.text(), *binding],
                )?;
            }
            None => add(tx, key, *binding)?,
        }
    }
    Ok(())
}

fn add(tx: &mut Tx<'_>, key: &RoutingKey, binding: TierId) -> Result<()> {
    let added = tx.execute(
        "INSERT INTO routing_keys (tenant_id, kind, address, binding_id) VALUES ($1, $2, $3, $4)",
        params![key.kind().as_str(), key.text(), binding],
    );
    match added {
        Err(munshi_store::Error::Conflict { .. }) => Err(Error::Taken(key.clone())),
        other => Ok(other.map(|_| ())?),
    }
}

fn list_held(tx: &mut Tx<'_>) -> Result<Vec<(RoutingKey, TierId)>> {
    Ok(tx.all("SELECT kind, address, binding_id FROM routing_keys WHERE tenant_id = $1", &[], |row| {
        Ok((read(row)?, row.get("binding_id")?))
    })?)
}

fn read(row: &Row<'_>) -> munshi_store::Result<RoutingKey> {
    let kind: RoutingKeyKind = parse_column(row, "kind")?;
    let address: String = row.get("address")?;
    RoutingKey::new(kind, &address)
        .map_err(|error| munshi_store::Error::Decode(format!("column `address`: {error}")))
}
