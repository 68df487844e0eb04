//! The addresses that lead to bindings.

use std::collections::{BTreeMap, BTreeSet};

use munshi_store::{Door, PlatformTx, Row, Tx, across_tenants, params};
use munshi_types::tier::{KeyKind, RoutingKey};
use munshi_types::{TenantId, TierId};

use crate::error::{Error, Result};
use crate::rows::word;

/// Finding the tenant that an address belongs to, and keeping addresses apart between tenants.
pub const ROUTING: Door = Door::new("routing");

/// Where an address leads.
pub(crate) fn find(tx: &mut PlatformTx<'_>, key: &RoutingKey) -> Result<Option<(TenantId, TierId)>> {
    Ok(tx.optional(
        across_tenants("SELECT tenant_id, binding_id FROM routing_keys WHERE kind = $1 AND address = $2"),
        params![key.kind().as_str(), key.text()],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?)
}

/// Those of the addresses that lead to other tenants than this one.
pub(crate) fn taken(
    tx: &mut PlatformTx<'_>,
    tenant: Option<TenantId>,
    wanted: &[RoutingKey],
) -> Result<BTreeSet<RoutingKey>> {
    let mut taken = BTreeSet::new();
    for key in wanted {
        if find(tx, key)?.is_some_and(|(holder, _)| Some(holder) != tenant) {
            taken.insert(key.clone());
        }
    }
    Ok(taken)
}

/// Makes the tenant's addresses those of its active bindings. Archived bindings keep theirs unless another of the
/// tenant's bindings wants them.
pub(crate) fn set(
    tx: &mut Tx<'_>,
    wanted: &BTreeMap<RoutingKey, TierId>,
    archived: &BTreeSet<TierId>,
) -> Result<()> {
    let held: BTreeMap<RoutingKey, TierId> = held(tx)?.into_iter().collect();
    for (key, binding) in &held {
        if !wanted.contains_key(key) && !archived.contains(binding) {
            tx.execute(
                "DELETE FROM routing_keys WHERE tenant_id = $1 AND kind = $2 AND address = $3",
                params![key.kind().as_str(), key.text()],
            )?;
        }
    }
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

fn held(tx: &mut Tx<'_>) -> Result<Vec<(RoutingKey, TierId)>> {
    Ok(tx.all("SELECT kind, address, binding_id FROM routing_keys WHERE tenant_id = $1", &[], |row| {
        Ok((read(row)?, row.get("binding_id")?))
    })?)
}

fn read(row: &Row<'_>) -> munshi_store::Result<RoutingKey> {
    let kind: KeyKind = word(row, "kind")?;
    let address: String = row.get("address")?;
    RoutingKey::new(kind, &address)
        .map_err(|error| munshi_store::Error::Decode(format!("column `address`: {error}")))
}
